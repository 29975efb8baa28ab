"""What a round costs, and which plan fits which budget."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gate.commands.try_.result import Built, Case, Fit, Plans, RoundCost, Tried
from gate.config.rules import is_single, metric_rules, most_builds, threshold_of
from gate.config.types import Config
from gate.memory.entries import Costs as Spent
from gate.model import Memory, UserError
from gate.model.case import MEAN
from gate.planning.basis import Gathered, from_memory
from gate.planning.plan import Wanted, planned, terms_of
from gate.planning.text import POWER
from gate.stats.plan_types import PlannedCase
from gate.stats.planning import Components, Costs, Counts
from gate.stats.power import minimum_detectable_change
from gate.units import Duration

_BUDGETS = (300.0, 3600.0)
_ROOM = 0.9
"""Of a budget, as `perfgate plan` has it: rounds differ, and one that does not fit is not begun."""
_MOST_BUILDS = 60


def round_cost(built: Built, tried: Sequence[Tried], rules: Config) -> RoundCost | None:
    """Add up what rounds cost, of both sides; None where no benchmark can be executed."""
    known = [each for each in tried if each.execution is not None]
    if not known:
        return None
    seconds = sum(
        (1 if is_single(rules, each.benchmark) else rules.plan.executions) * (each.execution or 0.0) for each in known
    )
    first = (built.setup or 0.0) + built.seconds - built.later + (built.later if built.relinks else 0.0)
    return RoundCost(
        once=2 * first,
        builds=2 * built.later,
        executions=2 * seconds,
        least=any(each.longer_than is not None for each in known),
    )


@dataclass(frozen=True, slots=True)
class _Noise:
    """A finding to be, and what one execution shows of its noise: the relative variance of one value."""

    case: Case
    threshold: float
    variance: float


def plans(
    cost: RoundCost, tried: Sequence[Tried], rules: Config, memory: Memory | None, spent: Mapping[str, Spent]
) -> Plans | None:
    """Say which plan fits which budget, and what it finds; None where a benchmark has no values to go by.

    Args:
        cost: of rounds.
        tried: every benchmark.
        rules: of the gate.
        memory: of this host, None: there is none.
        spent: what was measured now, by the name of a case's benchmark.
    """
    cases = [case for each in tried for case in each.cases if case.decided]
    if cost.least or not cases or any(each.refused for each in tried):
        return None
    budgets = sorted({*_BUDGETS, float(rules.plan.budget)})
    why = ""
    if memory is not None:
        try:
            names = [each.benchmark for each in tried]
            gathered = from_memory(memory, spent, rules, names, "the memory of this host")
            fits = tuple(_remembered(gathered, cost, rules, budget) for budget in budgets)
            return Plans(basis="memory", why="; ".join(gathered.notes), fits=fits)
        except UserError as error:
            why = str(error)
    statistics = sum(len(metric_rules(rules, case.benchmark, case.metric).statistics) for case in cases)
    noise = [
        _Noise(case, threshold_of(rules, case.benchmark, case.metric, MEAN), (case.spread or 0.0) ** 2)
        for case in cases
        if MEAN in metric_rules(rules, case.benchmark, case.metric).statistics
    ]
    every = [_by_one_build(noise, statistics, cost, rules, budget) for budget in budgets]
    # a larger budget that measures no more is no other plan
    kept = [fit for n, fit in enumerate(every) if fit.configured or fit.builds not in {f.builds for f in every[:n]}]
    return Plans(basis="one-build", why=why, fits=tuple(kept))


def _remembered(gathered: Gathered, cost: RoundCost, rules: Config, budget: float) -> Fit:
    own = budget == float(rules.plan.budget)
    try:
        found = planned(gathered, Wanted(Duration(max(budget - cost.once, 1e-3)), None, None))
    except UserError:
        return _none(cost, rules, budget)
    hardest = max(found.rows, key=lambda row: row.smallest)
    return Fit(
        budget=budget,
        configured=own,
        builds=found.plan.counts.builds,
        executions=found.plan.executions,
        iterations=found.plan.iterations,
        seconds=cost.once + found.plan.most,
        finds=hardest.smallest if math.isfinite(hardest.smallest) else None,
        hardest=hardest.known.benchmark,
        few=False,
    )


def _none(cost: RoundCost, rules: Config, budget: float) -> Fit:
    return Fit(
        budget=budget,
        configured=budget == float(rules.plan.budget),
        builds=0,
        executions=rules.plan.executions,
        iterations=rules.plan.iterations,
        seconds=cost.of(1),
        finds=None,
        hardest=None,
        few=False,
    )


def _by_one_build(noise: Sequence[_Noise], size: int, cost: RoundCost, rules: Config, budget: float) -> Fit:
    """Count the builds that fit with the configured executions, and what they find if builds were all alike."""
    own = budget == float(rules.plan.budget)
    room = _ROOM * budget - cost.once
    most = most_builds(rules.plan) if own else _MOST_BUILDS
    builds = min(int(room / cost.round), most) if room > 0 and cost.round > 0 else 0
    if builds < 1:
        return _none(cost, rules, budget)
    terms = terms_of(rules, size)
    exact = all(each.case.exact for each in noise)
    few = builds < terms.min_builds and not exact
    smallest = [] if few else [(_smallest(each, builds, size, rules), each.case.benchmark) for each in noise]
    finds, hardest = max(smallest, default=(math.inf, None))
    return Fit(
        budget=budget,
        configured=own,
        builds=builds,
        executions=rules.plan.executions,
        iterations=rules.plan.iterations,
        seconds=cost.of(builds),
        finds=finds if math.isfinite(finds) else None,
        hardest=hardest,
        few=few,
    )


def _smallest(noise: _Noise, builds: int, size: int, rules: Config) -> float:
    if noise.case.exact:
        return noise.threshold
    terms, components = terms_of(rules, size), Components(noise.variance, 0.0, 0.0)
    case = PlannedCase(noise.case.benchmark, components, Costs(0.0, 0.0, 0.0, 0.0), noise.threshold, ())
    interval = terms.interval_of(case, builds)
    return minimum_detectable_change(
        components,
        Counts(builds, rules.plan.executions, rules.plan.iterations),
        threshold=noise.threshold,
        alpha=terms.family_levels((builds,), interval)[-1],
        interval=interval,
        min_builds=terms.min_builds,
        wanted=POWER,
    )
