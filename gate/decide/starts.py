"""How many starts a side a round has, of commands that base and head start by turns: what the first ones ask for.

That is by their noise and their cost; where they take long, by their cost alone. Neither the size nor the sign of a
change enters, nor what is tested later.
Source: docs/method.md, starts a round.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from gate.config.rules import FIRST_STARTS as FIRST
from gate.config.rules import MOST_STARTS as MOST
from gate.config.rules import ROOM, Policy, is_counted, most_builds
from gate.config.rules import TRIED_STARTS as TRIED
from gate.config.types import Builds, Config
from gate.decide.estimates import subjects_of
from gate.decide.policy import policy_at
from gate.evidence.gather import gather
from gate.evidence.lines import of_this_run
from gate.model import SIDES, Build, Execution, Record, Run, Turn, UserError
from gate.model.case import quantile_of
from gate.stats.centers import first_round_noise, needed_values

_LIKE_BEFORE = 50
"""What a round has at least where that takes no longer than its builds."""
_SECONDS = 5.0
"""What builds count at least: a minute in all is no burden."""
_PART = 3.0
"""The part of the threshold that the standard error of a round's starts is to be.

A regression needs five rounds, whose mean leaves less than half of that; an eighth took two to four times as long.
"""
_ROUNDS = 12
"""That are to fit the budget: most of the error is spent by then."""
_BESIDE = 1.25
"""How much longer than its builds a round may take, though fewer than _ROUNDS fit."""
_SLOWER = 1.5
"""How much longer rounds may become without fewer than a regression needs."""


class StartNeeds(msgspec.Struct, frozen=True):
    """What the first starts of a benchmark say."""

    noise: float | None
    """Standard error of a round of FIRST starts, as a share of the threshold; None: not known."""
    seconds: float
    """Of one start of both sides."""
    fewest: int = FIRST
    """For its quantiles."""
    warmup: float = 0.0
    """Seconds of what comes before the starts of a round and does not count, of both sides."""


def wanted(needs: StartNeeds, builds: float) -> int:
    """Return how many starts a round wants of a benchmark; builds: the seconds of those of a round."""
    free = math.floor(max(builds, _SECONDS) / needs.seconds) if needs.seconds > 0 else _LIKE_BEFORE
    least = max(needs.fewest, min(free, _LIKE_BEFORE))
    asked = math.inf if needs.noise is None else FIRST * (_PART * needs.noise) ** 2
    return max(least, math.ceil(min(asked, MOST)))


def afforded(
    needs: Mapping[str, StartNeeds], config: Config, *, builds: float, others: float, once: float
) -> dict[str, int]:
    """Count the starts a side of each benchmark, so that enough rounds fit the budget.

    A plan of few rounds, without all of which there is no verdict, gets more room.

    Each has FIRST, and all of them one share of what they want beyond that. Where there is no room for these, each has
    its part of the time, the short ones first, and at least one start.

    needs: by benchmark. config: its plan and what a regression needs. builds: seconds of the builds of a round. others:
    of what does not go by starts. once: of what comes before.
    """
    plan = config.plan
    rounds = min(_ROUNDS, most_builds(plan)) if isinstance(plan.builds, Builds) else plan.builds
    budget, needed = float(plan.budget), min(config.gate.min_builds, rounds)
    seconds = max((ROOM * budget - once) / rounds, _BESIDE * builds)
    seconds = min(seconds, (budget - once) / (_SLOWER * needed))
    more = {name: wanted(each, builds) - FIRST for name, each in needs.items()}
    left, found = seconds - builds - others - sum(each.warmup for each in needs.values()), dict[str, int]()
    for name in sorted(needs, key=lambda each: needs[each].seconds):
        part = left / (len(needs) - len(found)) / max(needs[name].seconds, 1e-9)
        found[name] = int(max(1, min(FIRST, part)))
        left -= found[name] * needs[name].seconds
    if min(found.values(), default=FIRST) < FIRST:
        return found
    cost = sum(more[name] * each.seconds for name, each in needs.items())
    share = min(1.0, max(0.0, left / cost)) if cost > 0 else 1.0
    return {name: FIRST + round(share * count) for name, count in more.items()}


def counting(run: Run, config: Config) -> Callable[[Sequence[Record]], dict[str, int]] | None:
    """Return what counts the starts a side of each round by the records of a run so far; None: nothing is to count.

    What comes out depends on the builds and the first starts of round 1 only, so that a run that is resumed counts the
    same: on TRIED starts a side, as long as there are not FIRST of each, or where there is no room for these.
    """
    names = [b.name for b in config.benchmark if run.turns and is_counted(config, b.name)]
    if not names:
        return None
    policy = policy_at(run, config)

    def count(records: Sequence[Record]) -> dict[str, int]:
        tried = [each for each in records if _is_first(each, names, TRIED)]
        first = [each for each in records if _is_first(each, names, FIRST)]
        found = _counted(tried, names, run, policy)
        if min(found.values(), default=0) < FIRST:
            return found
        more = _counted(first, names, run, policy) if len(first) > len(tried) else {}
        return {name: max(FIRST, more.get(name, FIRST)) for name in found}

    return count


def _is_first(record: Record, names: Sequence[str], count: int) -> bool:
    if isinstance(record, Execution):
        return record.build == 0 and record.execution < (count if record.benchmark in names else 1)
    return isinstance(record, Turn) or (isinstance(record, Build) and record.build == 0)


def _counted(first: Sequence[Record], names: Sequence[str], run: Run, policy: Policy) -> dict[str, int]:
    config = policy.config
    plan = config.plan
    made = [each for each in first if isinstance(each, Execution)]
    builds = [each for each in first if isinstance(each, Build)]
    following = sum(each.next_build_seconds or 0.0 for each in builds)
    once = sum((each.seconds or 0.0) + (each.setup or 0.0) + (each.checked or 0.0) for each in builds)
    once += sum(each.before or 0.0 for each in made)
    turns = {each.benchmark: each.executions for each in first if isinstance(each, Turn)}
    others = sum(
        turns.get(each.suite or each.benchmark, plan.executions) * (each.seconds or 0.0)
        for each in made
        if each.benchmark not in names
    )
    noise = _noise(first, run, policy)
    needs = {}
    for name in names:
        own = [each for each in made if each.benchmark == name]
        if {each.side for each in own} == {*SIDES}:
            # a start whose value is dropped takes as long
            before = sum(max(len(metric.dropped) for metric in each.metrics.values()) for each in own)
            seconds = sum(each.seconds or 0.0 for each in own) / (len(own) + before)
            needs[name] = StartNeeds(noise.get(name), len(SIDES) * seconds, fewest_of(config, name), before * seconds)
    # the first builds are those of a round too
    return afforded(needs, config, builds=following, others=others, once=once - following)


def fewest_of(config: Config, name: str) -> int:
    """Return the starts that the quantiles of a benchmark need, as far as the plan has them."""
    metrics = (metric for b in config.benchmark if b.name == name for metric in b.metric.values())
    taus = [tau for metric in metrics for each in metric.compared if (tau := quantile_of(each)) is not None]
    wanted_values = max((needed_values(tau) for tau in taus), default=FIRST)
    return max(FIRST, min(wanted_values, config.plan.executions * config.plan.iterations))


def _noise(first: Iterable[Record], run: Run, policy: Policy) -> dict[str, float]:
    """Return the largest noise of each benchmark's questions, each by the view that settles it, over its threshold."""
    try:
        subjects = subjects_of(gather(of_this_run([run, *first]), policy.config, measured=policy.config), policy)
    except UserError:
        return {}
    found: dict[str, float] = {}
    for subject in subjects:
        case = subject.case
        noise = first_round_noise(case.base, case.head, subject.center) if subject.settles and not case.exact else None
        if noise is not None:
            share = noise / math.log1p(subject.threshold) if subject.threshold > 0 else math.inf
            found[case.benchmark] = max(found.get(case.benchmark, 0.0), share)
    return found
