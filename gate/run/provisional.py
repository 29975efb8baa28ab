"""What the values so far say of a benchmark: for the eye of whoever watches, never for a decision.

Only whole rounds count, as in the report, and nothing here knows looks, corrections or thresholds: this is a plain 95%
interval of the ratio of means, over rounds. Who loads it loads numpy, so that is done before anything is measured.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, stdev

import numpy as np

from gate.model import Execution, Metric, Side
from gate.model.case import canonical
from gate.stats.levels import Tops
from gate.stats.ratio import paired
from gate.units import format_share, format_value

_ALPHA = 0.05
Means = dict[Side, dict[tuple[int, int], list[float]]]
"""Means of executions by side, and by session and build."""
_Case = tuple[str, str]
"""A benchmark and its settings."""


class Provisional:
    """Collects the means of executions, and says what they come to."""

    def __init__(self) -> None:
        self._means: dict[_Case, Means] = defaultdict(lambda: {"base": defaultdict(list), "head": defaultdict(list)})
        self._units: dict[_Case, str] = {}
        self._suites: dict[_Case, dict[_Case, None]] = defaultdict(dict)
        """The cases of a suite's command, in the order in which they came."""

    def take(self, executions: Iterable[Execution]) -> None:
        """Take the values of executions: of each the time, or what it has first."""
        for each in executions:
            metric = _chosen(each.metrics)
            if metric is None:
                continue
            case = (each.benchmark, canonical(each.factors))
            self._means[case][each.side][each.session, each.build].append(fmean(metric.values))
            self._units[case] = metric.unit
            if each.suite is not None:
                self._suites[each.suite, case[1]][case] = None

    def text(self, benchmark: str, factors: Mapping[str, object]) -> str:
        """Say what is known of a benchmark, or of those of a suite; empty: nothing yet."""
        case = (benchmark, canonical(factors))
        return self._of_suite([*self._suites[case]]) if case in self._suites else self._of(case)

    def _of(self, case: _Case) -> str:
        if case not in self._means:
            return ""
        return _compared(self._means[case]) or _alone(self._means[case], self._units[case])

    def _of_suite(self, cases: Sequence[_Case]) -> str:
        if len(cases) == 1:
            return self._of(cases[0])
        changes = [change for case in cases if (change := _change(self._means[case])) is not None]
        if not changes:
            return ""
        least, most = format_share(min(changes), sign=True), format_share(max(changes), sign=True)
        return f"{len(changes)} benchmarks, from {least} to {most}"


def _chosen(metrics: Mapping[str, Metric]) -> Metric | None:
    metric = metrics.get("time") or next(iter(metrics.values()), None)
    return metric if metric is not None and metric.values else None


def _whole(means: Means) -> list[tuple[int, int]]:
    """Name the rounds in which both sides have equally many executions; the first one counts before it is even."""
    base, head = means["base"], means["head"]
    both = [each for each in base if each in head]
    return [each for each in both if len(base[each]) == len(head[each])] or both


def _change(means: Means) -> float | None:
    rounds = _whole(means)
    base = fmean(fmean(means["base"][each]) for each in rounds) if rounds else 0.0
    return fmean(fmean(means["head"][each]) for each in rounds) / base - 1 if base > 0 else None


def _compared(means: Means) -> str:
    change = _change(means)
    if change is None:
        return ""
    rounds = _whole(means)
    sides: dict[str, Tops] = {
        side: Tops(np.array([fmean(own[each]) for each in rounds]), tuple(rounds), 0.0, log=False)
        for side, own in means.items()
    }
    limits = paired(sides["base"], sides["head"]).limits(_ALPHA)
    said = f"head {format_share(change, sign=True)}"
    if limits.low is None or limits.high is None:
        return said
    return f"{said} ({format_share(limits.low - 1, sign=True)} to {format_share(limits.high - 1, sign=True)})"


def _alone(means: Means, unit: str) -> str:
    values = [value for side in means.values() for build in side.values() for value in build]
    mean = fmean(values)
    spread = f" ± {format_value(stdev(values), unit, like=mean, digits=2)}" if len(values) > 1 else ""
    return f"{format_value(mean, unit)}{spread}"
