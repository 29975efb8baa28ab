"""The cheapest plan: builds, executions and iterations, and whether to stop early, for benchmarks that share builds.

A search over integers, since the t on few builds and whole builds dominate. For each number of builds the largest
variance that still meets every aim follows from the aim; for each number of executions the fewest iterations follow
from that variance. All variances are relative: divided by the squared mean.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import msgspec
import numpy as np

from gate.stats.planning import (
    CheapestPlan,
    Interval,
    PlanLimits,
    PlannedCase,
    Terms,
    execution_costs,
    largest_variance,
)
from gate.stats.power import below, detection, largest_variance_for, needed_noncentrality, noncentrality
from gate.stats.rounding import Array
from gate.stats.sequential import FEWEST_BUILDS, largest_futile, look_rounds
from gate.stats.special import ndtr, stdtrit


def cheapest(cases: Sequence[PlannedCase], terms: Terms, limits: PlanLimits) -> CheapestPlan | None:
    """Find the plan that meets every aim in the least time, on the average over no change and the aims' changes.

    Without a plan within the budget that does, the one that comes nearest: whose largest ratio of a variance to what
    the aim allows is smallest. None when two rounds of one execution of one value do not fit.

    A case without aims costs its time and asks for nothing; that is no use where stopping early is allowed, since
    nobody knows when it stops.

    Raises: ValueError: no case has an aim, or one has none and the limits allow to stop early.
    """
    aimed = [case.aims != () for case in cases]
    if not any(aimed) or (limits.early and not all(aimed)):
        raise ValueError("nothing to plan")
    search = _Search(cases, terms, limits)
    fewest = 2 if all(case.degrees > 0 for case in cases) else max(terms.min_builds, 2)
    counts = [b for b in range(fewest, limits.builds + 1) if b <= _EVERY or b % 4 == 0]
    fixed = [found for b in counts if (found := search.best_of((b,))) is not None]
    if not fixed:
        # below min_builds nothing can be called: it is what a budget that is too small leaves
        tight = [found for b in range(2, fewest) if (found := search.best_of((b,))) is not None]
        return msgspec.structs.replace(min(tight, key=_order)[0], reached=False) if tight else None
    fixed.sort(key=_order)
    best = fixed[0]
    # the levels of looks take a while to compute: only for what is promising without
    for builds in [plan.looks[-1] for plan, *_ in fixed[:_PROMISING]] if limits.early else ():
        for first in sorted({2, *(max(2, math.ceil(builds / part)) for part in (3, 2))}):
            if first >= builds:
                continue
            looks = look_rounds(first, builds)
            if best[0].reached and search.least(looks) >= best[1]:
                continue
            found = search.best_of(looks)
            if found is not None and _order(found) < _order(best):
                best = found
    return best[0]


_Found = tuple[CheapestPlan, float, float]
"""A plan, the average of its seconds that is compared, and the largest ratio of a variance to what its aim allows: at
most 1 where every aim is met."""


def _order(found: _Found) -> tuple[bool, float, float]:
    """Sort what meets every aim by time, and the rest by how near it comes: a tenth more or less is none."""
    plan, seconds, excess = found
    if plan.reached:
        return False, 0.0, seconds
    near = math.floor(math.log(excess) / math.log(1.1)) if 0 < excess < math.inf else excess
    return True, near, seconds


_PROMISING = 6
"""Numbers of builds for which looks are tried."""
_EVERY = 16
"""Builds up to which every number is tried; above, every fourth."""
_MORE = np.array([1.0, 1.2, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 20.0, 40.0])
"""Times the fewest iterations: where stopping early is possible, more of them may pay by stopping earlier."""
_GRID = np.geomspace(1e-10, 1.0, 61)


class _Search:
    """All plans of given looks at once; arrays are of shape (executions, iterations)."""

    def __init__(self, cases: Sequence[PlannedCase], terms: Terms, limits: PlanLimits) -> None:
        # one without an aim is only paid for
        self.cases = [case for case in cases if case.aims]
        self.terms, self.limits = terms, limits
        # give every number up to 40, then steps of a twentieth
        found = list(range(1, min(limits.executions, 40) + 1))
        while found[-1] < limits.executions:
            found.append(min(limits.executions, math.ceil(found[-1] * 1.05)))
        self.executions = np.array(found, dtype=np.float64)[:, None]
        self.build = max(case.costs.build for case in cases)
        self.costs = execution_costs(cases)
        places: dict[str, list[int]] = {}
        for place, case in enumerate(self.cases):
            places.setdefault(case.benchmark, []).append(place)
        self.of_benchmark = [*places.values()]
        self.costs_of_benchmark = [execution_costs(self.cases[i] for i in own) for own in self.of_benchmark]
        self.changes = (0.0, *sorted({aim.change for case in cases for aim in case.aims if aim.change > 0}))

    def least(self, looks: tuple[int, ...]) -> float:
        """Bound the time of a design from below: one execution of one value up to the first look."""
        return 2 * looks[0] * (self.build + sum(c.of_execution(1) for c in self.costs))

    def best_of(self, looks: tuple[int, ...]) -> _Found | None:
        """Find the best counts for these looks; None where none fits the budget."""
        builds = looks[-1]
        intervals = [self.terms.interval_of(case, builds) for case in self.cases]
        allowed = [self._allowed(case, interval, looks) for case, interval in zip(self.cases, intervals, strict=True)]
        iterations = self._iterations(allowed, builds)
        if len(looks) > 1:
            iterations = np.ceil(iterations * _MORE)
        within = self._within(builds)
        iterations = np.minimum(iterations, within)
        iterations[iterations < 1] = np.nan
        if np.isnan(iterations).all():
            return None
        most = 2 * builds * self._per_build(iterations)
        # the largest ratio of a variance to what its aim allows
        excess = np.zeros_like(iterations)
        for case, most_of in zip(self.cases, allowed, strict=True):
            ratio = self._variance(case, iterations) / most_of if most_of > 0 else np.full_like(iterations, np.inf)
            ratio = np.where(self.executions * iterations < case.values, np.inf, ratio)
            excess = np.maximum(excess, np.where(np.isnan(iterations), np.nan, ratio))
        stages = self._open(looks, intervals, iterations)

        def seconds(stages: Sequence[Sequence[Array]]) -> Array:
            """Return the expected time: builds go on while any case is open, executions while one of theirs is."""
            total = 2 * looks[0] * self._per_build(iterations)
            for before, after, still in zip(looks, looks[1:], stages, strict=False):
                part = self.build * (1 - np.prod([1 - p for p in still], axis=0))
                for own, costs in zip(self.of_benchmark, self.costs_of_benchmark, strict=True):
                    one = sum(c.start + c.warmup for c in costs) + iterations * sum(c.iteration for c in costs)
                    # the probability that one of its cases is open
                    some = still[own[0]] if len(own) == 1 else 1 - np.prod([1 - still[i] for i in own], axis=0)
                    part = part + some * self.executions * one
                total = total + 2 * (after - before) * part
            return total

        average = np.mean([seconds(stage) for stage in stages], axis=0)
        met = excess <= 1 + 1e-9
        reached = bool(met.any())
        if not reached:
            met = excess <= 1.02 * np.nanmin(excess)
        rank = np.where(met, average, np.inf)
        at = np.unravel_index(int(np.argmin(rank)), rank.shape)
        unchanged = seconds(stages[0])
        plan = CheapestPlan(
            looks=looks, executions=int(self.executions[at[0], 0]), iterations=int(iterations[at]),
            most=float(most[at]), expected=float(unchanged[at]), reached=reached,
        )  # fmt: skip
        return plan, float(average[at]), float(excess[at])

    def _per_build(self, iterations: Array) -> Array:
        total: Array = self.build + self.executions * sum(
            (c.start + c.warmup + iterations * c.iteration for c in self.costs), np.zeros_like(iterations)
        )
        return total

    def _within(self, builds: int) -> Array:
        """Return the most iterations that the budget and the limits leave."""
        most = np.full(self.executions.shape, float(self.limits.iterations))
        if self.limits.budget is None:
            return most
        left = (self.limits.budget / (2 * builds) - self.build) / self.executions
        left = left - sum(c.start + c.warmup for c in self.costs)
        each = sum(c.iteration for c in self.costs)
        # nothing per iteration to save: all or none
        fits = np.floor(left / each * (1 + 1e-12)) if each > 0 else np.where(left >= 0, np.inf, 0.0)
        found: Array = np.minimum(most, fits)
        return found

    def _allowed(self, case: PlannedCase, interval: Interval, looks: tuple[int, ...]) -> float:
        """Return the largest variance of a build's mean that meets the aims of a case."""
        builds = looks[-1]
        covariance = interval.covariance(case.components)
        found = []
        for aim in case.aims:
            if aim.half_width is not None:
                level = self.terms.nominal_levels(looks, interval)[-1]
                found.append(largest_variance(aim.half_width, builds, level, interval, covariance))
                continue
            levels = self.terms.family_levels(looks, interval)
            plain = msgspec.structs.replace(interval, shared=0.0)
            t = needed_noncentrality(looks, levels, plain, self.terms.min_builds, aim.power)
            found.append(largest_variance_for(aim.change, case.threshold, t, builds, covariance))
        return min(found)

    def _iterations(self, allowed: Sequence[float], builds: int) -> Array:
        """Return the fewest iterations for each number of executions; where none suffice, as many as the limits say."""
        fewest = np.ones(self.executions.shape)
        most = self._within(builds)
        for case, variance in zip(self.cases, allowed, strict=True):
            part = case.components
            room = self.executions * (variance - max(part.build, 0.0)) - max(part.execution, 0.0)
            with np.errstate(divide="ignore", invalid="ignore"):
                needed = np.ceil(part.effective_iteration / room * (1 - 1e-12))
            needed = np.where(room > 0, np.maximum(needed, 1), np.inf)
            fewest = np.maximum(fewest, np.maximum(needed, np.ceil(case.values / self.executions)))
        found: Array = np.where(np.isinf(fewest), np.maximum(most, 0), fewest)
        return found

    def _variance(self, case: PlannedCase, iterations: Array) -> Array:
        part = case.components
        within = max(part.execution, 0.0) + part.effective_iteration / iterations
        total: Array = max(part.build, 0.0) + within / self.executions
        return total

    # --- stopping early ---------------------------------------------------------------------------------------------

    def _open(
        self, looks: tuple[int, ...], intervals: Sequence[Interval], iterations: Array
    ) -> list[list[list[Array]]]:
        """Return for each change, each look but the last and each case the probability that it is still open after."""
        found = []
        for change in self.changes:
            settled = [np.zeros_like(iterations) for _ in self.cases]
            stages = []
            for k in range(len(looks) - 1):
                for i, (case, interval) in enumerate(zip(self.cases, intervals, strict=True)):
                    variance = self._variance(case, iterations) - interval.covariance(case.components)
                    table = _settled(
                        self.terms, case.threshold, msgspec.structs.replace(interval, shared=0.0), looks, k, change
                    )
                    now = np.interp(np.log(variance), np.log(_GRID), table)
                    # a bound from below: settled at one look or at another
                    settled[i] = np.maximum(settled[i], now)
                stages.append([1 - s for s in settled])
            found.append(stages)
        return found


@lru_cache(maxsize=4096)
def _settled(
    terms: Terms, threshold: float, interval: Interval, looks: tuple[int, ...], k: int, change: float
) -> tuple[float, ...]:
    """Return the probability of a verdict at look k, for each variance of _GRID, of what is not shared."""
    rounds = looks[k]
    t = noncentrality(_GRID, 0.0, change, threshold, rounds)
    worse = detection(t, rounds, terms.family_levels(looks, interval)[k], interval, terms.min_builds)
    # "not worse" asks for no builds and no family
    not_worse = detection(-t, rounds, terms.nominal_levels(looks, interval)[k], interval)
    if terms.gives_up and rounds >= FEWEST_BUILDS:
        # what is given up and what is not worse are both in the lower tail
        level = terms.family_levels(looks, interval)[-1] / 2
        z = largest_futile(rounds / looks[-1], level)
        df = interval.df(rounds)
        not_worse = np.maximum(not_worse, below(df, t, float(stdtrit(df, float(ndtr(z))))))
    return tuple(np.clip(worse + not_worse, 0.0, 1.0).tolist())
