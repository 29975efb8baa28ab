"""Which metrics and statistics answer one question, and how sharp each is.

Where base and head took turns, how long a benchmark takes is seen by two views: by its typical value, which is sharp
and blind to a tail that one side alone has, and by its mean, which is dull and sees all. They share one error and give
one finding. Source: docs/method.md, views.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from gate.config.rules import metric_rules
from gate.config.types import Config
from gate.model import Case
from gate.model.case import MEAN, TYPICAL, CaseId, case_id, center_of
from gate.stats.centers import first_round_noise

_SHARPER = 2.0
"""How many times as sharp a view must be for the larger share of the error."""
_FEWEST_PAIRS = 5
"""Of a round; the trimmed mean of fewer leaves none out, and so is no other view than the mean."""
_WEIGHTS = (0.8, 0.2)
"""Of the sharp view, and of the other."""


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
