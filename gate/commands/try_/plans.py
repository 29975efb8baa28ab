"""What a round costs, and which plan fits which budget."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product

import msgspec

from gate.commands.try_.result import Built, Case, Fit, Plans, RoundCost, Tried
from gate.config.rules import (
    FIRST_STARTS,
    ROOM,
    budget_of,
    executions_of,
    goes_by_starts,
    is_counted,
    is_single,
    metric_rules,
    most_builds,
    threshold_of,
)
from gate.config.types import Builds, Config, Plan
from gate.decide.futility import POWER
from gate.decide.starts import StartNeeds, afforded, fewest_of
from gate.model.case import MEAN
from gate.planning.plan import terms_of
from gate.stats.planning import Components, Costs, Counts, PlannedCase
from gate.stats.power import minimum_detectable_change
from gate.stats.sequential import look_rounds

_SPARE = 3
"""Builds beyond those that a regression needs: rounds differ."""


def round_cost(built: Built, tried: Sequence[Tried], rules: Config) -> RoundCost | None:
    """Add up what rounds cost, of both sides; None where no benchmark can be executed."""
    known = [each for each in tried if each.execution is not None]
    if not known:
        return None
    first = built.compiled
    if first is None:
        # what was compiled is linked once more, to see that this gives its bytes
        first = (built.setup or 0.0) + built.seconds + (built.later if built.relinks else 0.0)
    # of head, a build that is kept is not made again
    once = first + (built.later if built.kept else first) - 2 * built.later
    least = any(each.longer_than is not None for each in known)
    return _executing(RoundCost(once=once, builds=2 * built.later, executions=0.0, least=least), known, rules)


def _executing(cost: RoundCost, known: Sequence[Tried], rules: Config) -> RoundCost:
    """Add to what builds of rounds cost what executions do, as many as the plan and its budget have."""
    # starts of a side in each round: as the plan has them, or as a check would count them by what was tried
    own = {each.benchmark: each for each in known if goes_by_starts(rules, each.benchmark) and each.iteration}
    counted = {name: each for name, each in own.items() if is_counted(rules, name)}
    needs = {}
    for name, each in counted.items():
        # the standard error of a round's first starts as a share of the threshold, of what varies most
        noises = [
            case.noise * math.sqrt(2 / FIRST_STARTS) / math.log1p(threshold)
            for case in each.cases
            if case.decided and case.noise is not None and not case.exact
            for threshold in [threshold_of(rules, case.benchmark, case.metric, MEAN)]
            if threshold > 0
        ]
        needs[name] = StartNeeds(max(noises, default=None), 2 * each.iteration, fewest_of(rules, name))
    others = 2 * sum(_seconds(each, rules.plan, rules, {}) for each in known if each.benchmark not in own)
    starts = {name: executions_of(rules, name) for name in own}
    starts |= afforded(needs, rules, builds=cost.builds, others=others, once=cost.once)
    seconds = 2 * sum(_seconds(each, rules.plan, rules, starts) for each in known)
    return msgspec.structs.replace(cost, executions=seconds, starts=starts)


def plans(cost: RoundCost, tried: Sequence[Tried], rules: Config) -> Plans | None:
    """Say for how many rounds the budget is enough, and what these find; None without values to go by."""
    cases = [case for each in tried for case in each.cases if case.decided]
    if cost.least or not cases or any(each.refused for each in tried):
        return None
    wanted = {case: metric_rules(rules, case.benchmark, case.metric).compared for case in cases}
    size = sum(map(len, wanted.values()))
    # one execution says nothing of a quantile, and no ratio is of zero
    judged = [case for case, statistics in wanted.items() if MEAN in statistics and (case.mean or case.exact)]
    configured = _fit(judged, size, cost, rules)
    short = configured.builds < _wanted(rules)[-2]
    return Plans(
        basis="exact" if all(case.exact for case in judged) else "one-build",
        fit=configured,
        leaner=_leaner(judged, size, cost, tried, rules) if short else None,
        enough=_enough(configured, judged, size, cost, rules),
    )


def _enough(own: Fit, judged: Sequence[Case], size: int, cost: RoundCost, rules: Config) -> float | None:
    """Return the budget of the fewest builds that find something, where a check finds nothing as it is."""
    if own.finds is not None or own.unknown:
        return None

    def finds(builds: int) -> bool:
        return any(case.unknown for case in judged) or all(
            math.isfinite(_smallest(case, builds, size, cost, rules)) for case in judged
        )

    few, many = max(rules.gate.min_builds, own.builds + 1), most_builds(rules.plan)
    if few > many or not finds(many):
        return None
    while few < many:
        middle = (few + many) // 2
        few, many = (few, middle) if finds(middle) else (middle + 1, many)
    return float(budget_of(cost.of(few)))


def _leaner(judged: Sequence[Case], size: int, cost: RoundCost, tried: Sequence[Tried], rules: Config) -> Fit | None:
    """Find the most executions and iterations with which the plan's builds fit its budget, or at least enough of them.

    Builds come first: how much they differ is not known yet, and the interval hangs on their number most.
    """
    plan, least = rules.plan, rules.gate.min_builds
    fits = []
    known = [each for each in tried if each.execution is not None]
    for executions, iterations in product(_halved(plan.executions), _halved(plan.iterations)):
        lean = msgspec.structs.replace(
            plan, executions=executions, iterations=iterations, starts=executions * iterations
        )
        starts = dict.fromkeys(cost.starts, executions * iterations)
        seconds = 2 * sum(_seconds(each, lean, rules, starts) for each in known)
        spent = msgspec.structs.replace(cost, executions=seconds, starts=starts)
        fits.append(_fit(judged, size, spent, msgspec.structs.replace(rules, plan=lean)))
    for wanted in _wanted(rules):
        enough = [fit for fit in fits if fit.builds >= wanted >= least and (fit.finds is not None or fit.unknown)]
        if enough:
            found = max(enough, key=lambda fit: (fit.executions * fit.iterations, fit.iterations))
            # as configured it is no other plan
            return None if (found.executions, found.iterations) == (plan.executions, plan.iterations) else found
    return None


def _wanted(rules: Config) -> list[int]:
    """Give numbers of builds from the plan's own to the fewest: between them, a few more than a regression needs."""
    most, least = most_builds(rules.plan, early=False), rules.gate.min_builds
    return [most, min(most, least + _SPARE), least]


def _halved(count: int) -> list[int]:
    return [count, *_halved(count // 2)] if count > 1 else [1]


def _seconds(each: Tried, plan: Plan, rules: Config, starts: Mapping[str, int]) -> float:
    """Return what the executions of a benchmark take in a build of a side by a plan.

    starts: of what goes by them.
    """
    if each.execution is None:
        return 0.0
    if each.benchmark in starts:
        return starts[each.benchmark] * each.iteration
    fewer = rules.plan.iterations - plan.iterations
    return (1 if is_single(rules, each.benchmark) else plan.executions) * (each.execution - fewer * each.iteration)


def _fit(judged: Sequence[Case], size: int, cost: RoundCost, rules: Config) -> Fit:
    """Count the builds that fit with the configured executions, and what they find."""
    budget = float(rules.plan.budget)
    room = ROOM * budget - cost.once
    builds = max(min(int(room / max(cost.round, 1e-9)), most_builds(rules.plan)), 0)
    finds = math.inf
    hardest = max(judged, key=lambda case: case.unknown, default=None)
    unknown = hardest is not None and hardest.unknown
    if builds and hardest is not None and not unknown:
        finds, place = max((_smallest(case, builds, size, cost, rules), n) for n, case in enumerate(judged))
        hardest = judged[place]
    looks = rules.plan.builds
    first = min(looks.min, builds) if isinstance(looks, Builds) else builds
    often = [_repeats(case.benchmark, cost.starts, rules) for case in judged]
    executions, iterations = max(often, default=(rules.plan.executions, rules.plan.iterations), key=math.prod)
    # its metric too where there are several
    several = len({case.metric for case in judged}) > 1
    name = None
    if hardest is not None and builds:
        name = f"{hardest.benchmark} {hardest.metric}" if several else hardest.benchmark
    return Fit(
        budget=budget,
        builds=builds,
        executions=executions,
        iterations=iterations,
        seconds=cost.of(max(builds, 1)),
        first=first,
        sooner=cost.of(max(first, 1)),
        finds=finds if math.isfinite(finds) else None,
        hardest=name,
        unknown=unknown and builds >= rules.gate.min_builds,
        better=hardest.better if hardest is not None else "lower",
    )


def _repeats(benchmark: str, starts: Mapping[str, int], rules: Config) -> tuple[int, int]:
    """Return the executions of a build and the iterations of each: of what goes by starts each is an execution."""
    return (starts[benchmark], 1) if benchmark in starts else (rules.plan.executions, rules.plan.iterations)


def _smallest(case: Case, builds: int, size: int, cost: RoundCost, rules: Config) -> float:
    """Return the smallest change of a case that so many builds find; inf: none."""
    threshold = threshold_of(rules, case.benchmark, case.metric, MEAN)
    if case.exact:
        return threshold
    variance = (case.noise or 0.0) ** 2
    # of executions that give one value each, however many are asked for
    single = case.executions > 1 or case.benchmark in cost.starts
    planned = PlannedCase(
        benchmark=case.benchmark,
        components=Components(0.0, variance, 0.0) if single else Components(variance, 0.0, 0.0),
        costs=Costs(0.0, 0.0, 0.0, 0.0),
        threshold=threshold,
        aims=(),
        shared=0.0,
        degrees=0.0,
    )
    terms = terms_of(rules, size)
    interval = terms.interval_of(planned, builds)
    range_ = rules.plan.builds
    looks = look_rounds(min(range_.min, builds), builds) if isinstance(range_, Builds) else (builds,)
    return minimum_detectable_change(
        planned.components,
        Counts(builds, *_repeats(case.benchmark, cost.starts, rules)),
        threshold=threshold,
        alpha=terms.family_levels(looks, interval)[-1],
        interval=interval,
        min_builds=terms.min_builds,
        wanted=POWER,
    )
