"""Which metrics and statistics of a benchmark are decided, measured or proved; which answer one question, how sharply.

Where base and head took turns, how long a benchmark takes is seen by two views: by its typical value, which is sharp
and blind to a tail that one side alone has, and by its mean, which is dull and sees all. They share one error and give
one finding. Source: docs/method.md, views.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from gate.config.instruments import COMMAND_METRICS, command_metrics
from gate.config.rules import (
    Policy,
    benchmark_rules,
    better_of,
    floor_of,
    is_decided,
    metric_rules,
    named_metrics,
    threshold_of,
)
from gate.config.types import Config
from gate.directions import direction
from gate.model import Case, Evidence, Identical, reasons
from gate.model.case import MEAN, TYPICAL, CaseId, case_id, center_of
from gate.stats.centers import first_round_noise
from gate.units import to_base

_SHARPER = 2.0
"""How many times as sharp a view must be for the larger share of the error."""
_FEWEST_PAIRS = 5
"""Of a round; the trimmed mean of fewer leaves none out, and so is no other view than the mean."""
_WEIGHTS = (0.8, 0.2)
"""Of the sharp view, and of the other."""
_UNITS = COMMAND_METRICS | {"task-clock": "s"}


class Asked(NamedTuple):
    """A case, and what of it is compared."""

    case: Case
    statistic: str


class Role(msgspec.Struct, frozen=True, eq=False):
    """The part of a view among those of its question."""

    question: int
    """Number of the question in the report."""
    first: bool
    """Whether it is the one that is the same in every run."""
    weight: float
    """Its share of the question's error."""
    sharp: bool
    """Whether it settles the question."""
    noise: float | None
    """The standard error of its first round; None: not known."""


def questions_of(cases: Iterable[Case], config: Config) -> list[list[Asked]]:
    """List what is decided: the views of each question, of which there is one where no turns were taken."""
    decided = [case for case in cases if case.decided]
    known = {case_id(case) for case in decided}
    sharper: dict[CaseId, Case] = {}
    for case in decided:
        if case.sharp and case.view_of is not None and _has_views(case, config):
            sharper.setdefault(case_id(case)._replace(metric=case.view_of), case)
    found: list[list[Asked]] = []
    for case in decided:
        viewed = case.view_of is not None and case_id(case)._replace(metric=case.view_of) in known
        if not _has_views(case, config):
            found += [[Asked(case, name)] for name in statistics_of(config, case.benchmark, case.metric)]
        elif case_id(case) in sharper:
            found.append([Asked(sharper[case_id(case)], TYPICAL), Asked(case, MEAN)])
        elif not viewed and min(int(side.counts[1].min()) for side in (case.base, case.head)) < _FEWEST_PAIRS:
            found.append([Asked(case, MEAN)])
        elif not viewed:
            found.append([Asked(case, TYPICAL), Asked(case, MEAN)])
    return found


def asked_of(cases: Iterable[Case], config: Config) -> list[Asked]:
    """List everything that is compared: the views of all questions."""
    return [asked for views in questions_of(cases, config) for asked in views]


def _has_views(case: Case, config: Config) -> bool:
    """Return whether a case is seen by its typical value and its mean; who names statistics wants a verdict on each."""
    declared = metric_rules(config, case.benchmark, case.metric).statistics is not None
    return case.turns and case.unit == "s" and not case.exact and not declared


def statistics_of(config: Config, benchmark: str, metric: str) -> list[str]:
    """List the statistics of a case that are compared where no turns were taken."""
    once = {center_of(s): s for s in reversed(metric_rules(config, benchmark, metric).compared)}
    return list(reversed(once.values()))


def roles_of(questions: Sequence[Sequence[Asked]]) -> list[list[Role | None]]:
    """Give each view its share of the error, by the noise of the first round; None: it is the only one.

    An effect never decides here, nor do the rounds that are tested: that would be a second look at them.
    """
    roles: list[list[Role | None]] = []
    for number, views in enumerate(questions):
        if len(views) == 1:
            roles.append([None])
            continue
        noises = [first_round_noise(case.base, case.head, center_of(statistic)) for case, statistic in views]
        one, other = (math.inf if noise is None else noise for noise in noises)
        weights = (0.5, 0.5)
        if math.isfinite(max(one, other)) and max(one, other) > _SHARPER * min(one, other):
            weights = _WEIGHTS if one < other else _WEIGHTS[::-1]
        first = Role(question=number, first=True, weight=weights[0], sharp=one <= other, noise=noises[0])
        roles.append([first, Role(number, first=False, weight=weights[1], sharp=one > other, noise=noises[1])])
    return roles


def identical_of(evidence: Evidence, policy: Policy) -> list[Identical]:
    """Make the findings of everything that is proved, in the order of the benchmarks."""
    place = {benchmark.name: number for number, benchmark in enumerate(policy.config.benchmark)}
    # the probe takes them in any order
    proofs = sorted(evidence.identical, key=lambda same: place.get(same.benchmark, len(place)))
    found = []
    for same in proofs:
        for metric in _metrics(policy.config, same.benchmark):
            rules = metric_rules(policy.config, same.benchmark, metric)
            unit, _ = to_base(rules.unit if rules.unit is not None else _UNITS.get(metric, ""))
            better = better_of(policy.config, same.benchmark, metric) or direction(metric, unit)
            for statistic in statistics_of(policy.config, same.benchmark, metric):
                names = (policy.config, same.benchmark, metric, statistic)
                reason = reasons.SameProgram(differ=same.differ_count, read=same.read_count)
                found.append(
                    Identical(
                        benchmark=same.benchmark, metric=metric, unit=unit, better=better, statistic=statistic,
                        threshold=threshold_of(*names), floor=floor_of(*names, unit), reason=reason,
                        identical=same.proof,
                    )
                )  # fmt: skip
    return found


def _metrics(config: Config, benchmark: str) -> list[str]:
    """Name the metrics that would have been decided, as far as the rules tell: a suite's own only its tool knows."""
    rules = benchmark_rules(config, benchmark)
    if rules is None:
        return ["time"]
    chief = rules.measured.chief
    default = chief[0] if chief else "time"
    # a value of a benchmark that declares no metric is a time
    own = command_metrics(rules.instrument) or ([] if rules.metric else [default])
    found = [metric for metric in dict.fromkeys([*own, *rules.metric]) if is_decided(config, benchmark, metric)]
    named = named_metrics(config, benchmark)
    if (named is None or "active" not in named) and "active" not in rules.metric and "time" in found:
        # another view of the same question, which has one answer
        found = [metric for metric in found if metric != "active"]
    return found or [default]
