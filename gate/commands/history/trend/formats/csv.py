"""A trend -> CSV: a row for each run of a case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gate.commands.history.trend.formats import Screen, ratio_of
from gate.report.csv import cell
from gate.store.trend import CaseTrend, Trend

COLUMNS = (
    "benchmark", "metric", "statistic", "factors", "unit", "better", "commit", "parent", "committed", "run",
    "measured", "machine", "base", "head", "builds", "ratio", "ratio_low", "ratio_high", "level", "level_low",
    "level_high", "verdict", "accepted", "outlier",
)  # fmt: skip


def render(trend: Trend, _: Screen) -> str:
    r"""Write RFC 4180 with a header line and "\n" at line ends; what does not exist is empty.

    level is the level of the commit relative to the first one.
    """
    rows = [row for case in trend.cases for row in _runs(case, trend)]
    return "\n".join([",".join(COLUMNS), *(",".join(map(cell, row)) for row in rows)]) + "\n"


def _runs(case: CaseTrend, trend: Trend) -> Iterator[Sequence[object]]:
    of, path = case.series, case.path
    for run in of.runs:
        link, record, change = trend.chain.links[run.step], run.record, run.change
        levels = (float(each[run.step + 1]) for each in (path.level, path.low, path.high))
        yield (
            of.id.benchmark, of.id.metric, of.id.statistic, of.id.factors or None, of.unit, of.better,
            link.commit, link.parent, link.committed, record.run, record.measured, record.machine.id,
            change.base and change.base.value, change.head and change.head.value, run.builds or None,
            *map(ratio_of, (run.ratio.estimate, run.ratio.low, run.ratio.high, *levels)), change.verdict,
            change.accepted and change.accepted.reason, "yes" if run.outlier else None,
        )  # fmt: skip
