"""Which metrics and statistics answer one question, and how sharp each is.

Where base and head took turns, how long a benchmark takes is seen by two views: by its typical value, which is sharp
and blind to a tail that one side alone has, and by its mean, which is dull and sees all. They share one error and give
one finding. Source: docs/method.md, views.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from gate.config.rules import benchmark_rules, metric_rules
from gate.config.types import Config
from gate.model import Case
from gate.model.case import MEAN, TYPICAL, CaseId, case_id, center_of
from gate.model.names import ACTIVE
from gate.stats.typical import first_round_noise

_SHARPER = 2.0
"""How many times as sharp a view must be for the larger share of the error."""
_WEIGHTS = (0.8, 0.2)
"""Of the sharp view, and of the other."""
_TIME = "time"
_WALL = ("real_time", "manual_time")
"""The last part of names of Google Benchmark whose author wants wall time."""


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
    timed = {_place(case) for case in decided if case.metric == _TIME}
    viewed: dict[CaseId, dict[str, Case]] = defaultdict(dict)
    for case in decided:
        # who names statistics wants a verdict on each
        if case.turns and case.unit == "s" and not case.exact and not _declared(case, config):
            viewed[_place(case)][case.metric] = case
    found: list[list[Asked]] = []
    for case in decided:
        own = viewed.get(_place(case), {})
        sharper = _sharper(case.benchmark, own, config)
        time = own.get(_TIME)
        if case.metric in _views(case.benchmark, config) and not _is_valid(case) and _place(case) in timed:
            continue
        if case.metric not in own:
            found += [[Asked(case, name)] for name in statistics_of(config, case.benchmark, case.metric)]
        elif time is None or sharper is None or case not in (time, sharper):
            found.append([Asked(case, TYPICAL), Asked(case, MEAN)])
        elif case is time:
            found.append([Asked(sharper, TYPICAL), Asked(time, MEAN)])
    return found


def _place(case: Case) -> CaseId:
    return case_id(case)._replace(metric="")


def _declared(case: Case, config: Config) -> bool:
    return metric_rules(config, case.benchmark, case.metric).statistics is not None


def statistics_of(config: Config, benchmark: str, metric: str) -> list[str]:
    """List the statistics of a case that are compared where no turns were taken."""
    once = {center_of(s): s for s in reversed(metric_rules(config, benchmark, metric).compared)}
    return list(reversed(once.values()))


def _views(benchmark: str, config: Config) -> tuple[str, ...]:
    rules = benchmark_rules(config, benchmark)
    return rules.measured.views if rules else ()


def _sharper(benchmark: str, own: dict[str, Case], config: Config) -> Case | None:
    """Return the case of the metric that tells of the same time with less noise; None: there is none that may."""
    found = [own[name] for name in _views(benchmark, config) if name in own]
    return next((case for case in found if _is_valid(case)), None)


def _is_valid(case: Case) -> bool:
    """Return whether a sharper metric may stand for wall time.

    Active time is known of one task only; processor time, unless the author of the benchmark asked for wall time.
    """
    if case.metric == ACTIVE:
        return case.one_task is True
    return not set(_WALL) & set(case.benchmark.split("/"))


def roles_of(questions: Sequence[Sequence[Asked]]) -> list[list[Role | None]]:
    """Give each view its share of the error, by the noise of the first round; None: it is the only one.

    An effect never decides here, nor do the rounds that are tested: that would be a second look at them.
    """
    return [[None] if len(views) == 1 else [*_roles(number, *views)] for number, views in enumerate(questions)]


def _roles(number: int, first: Asked, second: Asked) -> tuple[Role, Role]:
    noises = [first_round_noise(case.base, case.head, center_of(statistic)) for case, statistic in (first, second)]
    one, other = (math.inf if noise is None else noise for noise in noises)
    weights = (0.5, 0.5)
    if math.isfinite(max(one, other)) and max(one, other) > _SHARPER * min(one, other):
        weights = _WEIGHTS if one < other else _WEIGHTS[::-1]
    return (
        Role(question=number, first=True, weight=weights[0], sharp=one <= other, noise=noises[0]),
        Role(question=number, first=False, weight=weights[1], sharp=one > other, noise=noises[1]),
    )
