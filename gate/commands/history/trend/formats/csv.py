"""A trend -> CSV: a row for each run of a case, then a row for each change."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from gate.commands.history.trend import words
from gate.commands.history.trend.formats import Screen
from gate.history.trend_types import CaseTrend, Trend
from gate.report.csv import cell
from gate.stats.series.sums import Interval

COLUMNS = (
    "row", "benchmark", "metric", "statistic", "factors", "unit", "better", "commit", "parent", "committed", "run",
    "measured", "machine", "base", "head", "builds", "ratio", "ratio_low", "ratio_high", "level", "level_low",
    "level_high", "verdict", "accepted", "outlier", "direction", "cause", "good", "bad", "commits", "p_adjusted",
    "command",
)  # fmt: skip


def render(trend: Trend, _: Screen) -> str:
    r"""Write RFC 4180 with a header line and "\n" at line ends; row is "run" or "change", what does not exist is empty.

    level is the level of the commit relative to the first stretch without a change.
    """
    rows = [row for case in trend.cases for row in (*_runs(case, trend), *_changes(case, trend))]
    return "\n".join([",".join(COLUMNS), *(",".join(map(cell, row)) for row in rows)]) + "\n"


def _case(kind: str, case: CaseTrend) -> Sequence[object]:
    return kind, case.id.benchmark, case.id.metric, case.id.statistic, case.id.factors or None, case.unit, case.better


def _runs(case: CaseTrend, trend: Trend) -> Iterator[Sequence[object]]:
    for run in case.runs:
        link, point = trend.chain.links[run.step], case.path[run.step + 1]
        levels = [_exp(each) for each in (point.level, point.low, point.high)]
        accepted = case.accepted.get(run.step)
        yield (
            *_case("run", case), link.commit, link.parent, link.committed, run.run, run.measured, run.machine,
            run.base, run.head, run.builds or None, *_interval(run.ratio), *levels, run.verdict,
            accepted.reason if accepted else None, "yes" if run.outlier else None, *(None,) * 7,
        )  # fmt: skip


def _changes(case: CaseTrend, trend: Trend) -> Iterator[Sequence[object]]:
    for change in case.changes:
        link = trend.chain.links[change.at]
        yield (
            *_case("change", case), link.commit, link.parent, link.committed, *(None,) * 6, *_interval(change.change),
            *(None,) * 6, change.direction, change.cause, change.good, change.bad, change.last - change.first + 1,
            change.p_adjusted, words.next_step(change, case, trend.chain.links).command,
        )  # fmt: skip


def _interval(found: Interval) -> Sequence[float | None]:
    return [_exp(each) for each in (found.estimate, found.low, found.high)]


def _exp(log: float | None) -> float | None:
    return None if log is None or not math.isfinite(log) or abs(log) > 700 else math.exp(log)
