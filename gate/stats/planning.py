"""Optimum repetition counts from the variance and the cost of each level, and the precision that counts lead to.

Kalibera and Jones 2012 (K&J), sections 6.1, 7.4 and 7.5. All variances are relative: divided by the squared mean.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal

import msgspec

from gate.stats.ratio import t_quantile
from gate.stats.sequential import spending
from gate.stats.shared_variance import FEWEST_CASES, expected_degrees

Method = Literal["fieller", "fieller-kj", "fieller-paired", "fieller-moderated", "paired", "paired-shared"]
ALWAYS_PAIRED = 6
"""Rounds from which on pairing costs less than layouts and drift that both sides share can save."""
KEYED, INDEPENDENT, UNKNOWN = 0.6, 0.4, 0.3
"""The correlation of base and head over rounds that a short plan goes by: where both sides share orders keyed by names,
where layouts are drawn independently, and where nothing is known."""


class Components(msgspec.Struct, frozen=True):
    """T2 of each level alone, divided by the squared mean; 0 or below: the level adds nothing."""

    iteration: float
    execution: float
    build: float
    correlation: float = 0.0
    """Of an iteration with the one before it in the same execution. It makes n iterations worth only n (1 -
    correlation)/(1 + correlation).
    """

    @property
    def effective_iteration(self) -> float:
        """The variance that, divided by the number of iterations, is what they leave in the mean of an execution."""
        r = min(max(self.correlation, 0.0), 0.99)
        return max(self.iteration, 0.0) * (1 + r) / (1 - r)


class Costs(msgspec.Struct, frozen=True):
    """Seconds: one build of one side; the start of an execution; its warm-up; one measured iteration."""

    build: float
    start: float
    warmup: float
    iteration: float

    def of_execution(self, iterations: float) -> float:
        """Return the seconds of one execution with so many measured iterations."""
        return self.start + self.warmup + iterations * self.iteration


class Counts(msgspec.Struct, frozen=True):
    """Builds of a side, executions of each, iterations of each."""

    builds: int
    executions: int
    iterations: int


def optimum(components: Components, costs: Costs) -> tuple[int | None, int | None]:
    """Return the executions of a build and the iterations of each that give the narrowest interval for the time.

    Rounded up (K&J eq. 14). None: the level above adds nothing, so the more of these the better, and only degrees of
    freedom ask for others.

    n1 = sqrt(c1 T2[1]/T2[2]), n2 = sqrt(c2/c1 T2[2]/T2[3]), c1 the cost of another execution before its first measured
    iteration, c2 of another build, both in iterations. A level that adds nothing is not repeated, and its cost comes on
    top of that of the level above. K&J leave that cost out: in Table IV there is no other, but for HTTP and TCP in
    Table VIII they repeat an execution for its warm-up although each takes a build.
    """
    one, two, three = components.effective_iteration, max(components.execution, 0.0), max(components.build, 0.0)
    unit = costs.iteration if costs.iteration > 0 else 1.0
    c1, c2 = (costs.start + costs.warmup) / unit, costs.build / unit
    if two == 0:
        return 1, _count(c1 + c2, one, three)
    if c1 == 0:
        # starting another execution is free: one iteration each
        return _count(c2, one + two, three), 1
    return _count(c2 / c1, two, three), _count(c1, one, two)


def _count(cost: float, below: float, above: float) -> int | None:
    if below == 0:
        return 1
    return None if above == 0 else max(1, math.ceil(math.sqrt(cost * below / above) - 1e-9))


def build_variance(components: Components, executions: float, iterations: float) -> float:
    """Return the relative variance of the mean of one build (K&J 7.4, f)."""
    within = max(components.execution, 0.0) + components.effective_iteration / iterations
    return max(components.build, 0.0) + within / executions


def without_shared(components: Components, shared: float, executions: float) -> Components:
    """Return what a round's ratio is left with: of the variance of builds, and then of executions, what is not shared.

    Build k of both sides has one seed, and so has execution j of round k: what both have in common is in both levels.

    Args:
        shared: relative covariance of the means of base and head of a round, of so many executions in each build.
    """
    build, execution = max(components.build, 0.0), max(components.execution, 0.0)
    of_builds = min(max(shared, 0.0), build)
    of_executions = min(max(shared, 0.0) - of_builds, execution / executions)
    return msgspec.structs.replace(
        components, build=build - of_builds, execution=max(execution - of_executions * executions, 0.0)
    )


class Interval(msgspec.Struct, frozen=True):
    """How the interval of the ratio will be made."""

    method: Method
    shared: float = 0.0
    """Relative covariance of the means of base and head of one round, which pairing takes out."""
    degrees: float = 0.0
    """What the remembered variance is worth (d0), or that of the other cases."""
    paired: bool = False
    """Rounds are paired; always so of fieller-paired, paired and paired-shared."""

    def present_df(self, builds: int) -> float:
        """Return the degrees of what so many builds a side tell of the variance."""
        return builds - 1.0 if self.by_round else 2.0 * (builds - 1)

    def df(self, builds: int) -> float:
        """Return the degrees of the t that the interval goes by."""
        if self.method == "fieller-kj":
            return builds - 1.0
        adds = self.method in ("fieller-moderated", "paired-shared")
        return self.present_df(builds) + (self.degrees if adds else 0.0)

    @property
    def by_round(self) -> bool:
        """Return whether base and head of a round are taken together."""
        return self.spends_less or (self.method == "fieller-moderated" and self.paired)

    @property
    def spends_less(self) -> bool:
        """Return whether it is paired without memory, and so spends less of alpha at looks."""
        return self.method in ("fieller-paired", "paired", "paired-shared")

    def covariance(self, components: Components) -> float:
        """Return the shared part of the variance, at most what builds add."""
        return min(max(self.shared, 0.0), max(components.build, 0.0)) if self.by_round else 0.0


def half_width(components: Components, counts: Counts, alpha: float, interval: Interval) -> float:
    """Return the expected half-width of the interval of the ratio of two like sides, relative to the ratio.

    Half the length of the Fieller set (K&J eq. 12) at the variance that components and counts lead to, with the
    interval's own degrees; inf where it would have no bounds.
    """
    t2 = t_quantile(interval.df(counts.builds), alpha / 2) ** 2 / counts.builds
    a = 1 - t2 * build_variance(components, counts.executions, counts.iterations)
    b = 1 - t2 * interval.covariance(components)
    return math.sqrt(max(b * b - a * a, 0.0)) / a if a > 0 else math.inf


def mean_half_width(components: Components, counts: Counts, alpha: float) -> float:
    """Return the expected half-width of the interval of one side's mean, relative to it (K&J eq. 11, Table VIII)."""
    variance = build_variance(components, counts.executions, counts.iterations) / counts.builds
    return t_quantile(counts.builds - 1, alpha / 2) * math.sqrt(variance)


def largest_variance(half: float, builds: int, alpha: float, interval: Interval, covariance: float) -> float:
    """Return the largest variance of a build's mean at which the half-width is still `half`: half_width inverted."""
    t2 = t_quantile(interval.df(builds), alpha / 2) ** 2 / builds
    return (1 - (1 - t2 * covariance) / math.sqrt(1 + half * half)) / t2


Choice = Literal["auto", "fieller", "fieller-kj", "fieller-paired", "fieller-moderated", "paired", "paired-shared"]


class Aim(msgspec.Struct, frozen=True):
    """What a plan must reach for a case: a half-width at most, or a change found with a power (half_width None)."""

    half_width: float | None
    change: float = 0.0
    power: float = 0.0


class PlannedCase(msgspec.Struct, frozen=True):
    """One finding to be, with what is known of its variance and of its cost."""

    benchmark: str
    """All share builds."""
    components: Components
    costs: Costs
    threshold: float
    aims: tuple[Aim, ...]
    shared: float = 0.0
    """Relative covariance of the means of base and head of a round."""
    degrees: float = 0.0
    """What its remembered variance is worth, 0 for none."""
    values: int = 1
    """Fewest values of a build, for a quantile."""
    treatment: str = ""
    """Cases of one benchmark at one treatment share executions."""


class Terms(msgspec.Struct, frozen=True):
    """The rules of the verdict: two-sided alpha, findings that share it, fewest builds, interval as configured."""

    alpha: float
    family: int
    min_builds: int
    interval: Choice = "auto"
    correlation: float = UNKNOWN
    """Of base and head over rounds, as short plans assume it; 1: they are paired, however short the plan."""
    cases: int = 1
    """Findings that share their variance, where there are enough; 1: none do."""
    gives_up: bool = False
    """Whether what can no longer be expected to regress is measured no further."""

    @property
    def always_by_round(self) -> bool:
        """Return whether base and head of a round are taken together, however few builds are planned."""
        if self.interval == "auto":
            return self.correlation >= 1 or self.cases >= FEWEST_CASES
        return self.interval in ("paired", "paired-shared", "fieller-paired")

    def interval_of(self, case: PlannedCase, builds: int) -> Interval:
        """Return the interval that a case will get in a plan of so many builds, as the gate chooses it."""
        if case.degrees > 0 and self.interval in ("auto", "fieller-moderated"):
            return Interval("fieller-moderated", case.shared, case.degrees, paired=True)
        if self.interval in ("fieller-kj", "fieller", "fieller-paired"):
            return Interval(self.interval, case.shared if self.interval == "fieller-paired" else 0.0)
        degrees = expected_degrees(self.cases, builds) if self.interval in ("auto", "paired-shared") else 0.0
        if degrees:
            return Interval("paired-shared", case.shared, degrees)
        chosen = self.interval in ("paired", "paired-shared")
        paired = chosen or is_paired(builds, self.alpha, self.family, self.correlation)
        return Interval("paired", case.shared) if paired else Interval("fieller")

    def family_levels(self, looks: tuple[int, ...], interval: Interval) -> tuple[float, ...]:
        """Return the two-sided level of each look for the first that Holm's procedure tests."""
        return _levels(looks, self.alpha / max(self.family, 1), interval)

    def nominal_levels(self, looks: tuple[int, ...], interval: Interval) -> tuple[float, ...]:
        """Return the two-sided level of each look for one finding by itself."""
        return _levels(looks, self.alpha, interval)


class PlanLimits(msgspec.Struct, frozen=True):
    """What a plan may be."""

    builds: int = 60
    executions: int = 1000
    iterations: int = 100_000
    budget: float | None = None
    """Seconds that it may take at most; None: any."""
    early: bool = True
    """Whether it may stop early."""


class CheapestPlan(msgspec.Struct, frozen=True):
    """Counts for all benchmarks."""

    looks: tuple[int, ...]
    """Rounds after which a verdict may be reached, the last one the number of builds."""
    executions: int
    iterations: int
    most: float
    """Seconds when nothing is settled early."""
    expected: float
    """Seconds expected when nothing has changed."""
    reached: bool
    """Whether every aim is met."""

    @property
    def counts(self) -> Counts:
        """The counts when nothing is settled early."""
        return Counts(self.looks[-1], self.executions, self.iterations)


def seconds(cases: Sequence[PlannedCase], counts: Counts) -> float:
    """Return the time of both sides together when nothing is settled early."""
    per_build = max(case.costs.build for case in cases)
    per_build += counts.executions * sum(c.of_execution(counts.iterations) for c in execution_costs(cases))
    return 2 * counts.builds * per_build


def execution_costs(cases: Iterable[PlannedCase]) -> list[Costs]:
    """Return the costs of each benchmark at each treatment once."""
    return list({(case.benchmark, case.treatment): case.costs for case in cases}.values())


@lru_cache(maxsize=1024)
def _levels(looks: tuple[int, ...], alpha: float, interval: Interval) -> tuple[float, ...]:
    paired, design = interval.spends_less, spending(looks)
    return tuple(design.nominal(k, alpha, paired=paired) for k in range(len(looks)))


def is_paired(rounds: int, alpha: float, family: int, correlation: float) -> bool:
    """Say by the plan alone whether rounds are paired: always from ALWAYS_PAIRED on, else where it will pay.

    Unpaired, Satterthwaite's degrees of two like sides of n builds are 2n(n - 1)/(n + 1) on the average.

    Args:
        rounds: planned. family: findings that share alpha.
        correlation: of the means of both sides over rounds, as assumed beforehand.
    """
    if rounds < 2:
        return False
    if rounds >= ALWAYS_PAIRED:
        return True
    tail = alpha / (2 * max(family, 1))
    apart = t_quantile(2 * rounds * (rounds - 1) / (rounds + 1), tail)
    return correlation > 1 - (apart / t_quantile(rounds - 1, tail)) ** 2
