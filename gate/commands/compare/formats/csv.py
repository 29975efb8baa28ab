"""A comparison of two measurement files -> CSV, one line a row of the table."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gate.commands.compare.table import Comparison, Screen
from gate.model import Finding, Identical, Overall, RatioInterval, SideSummary, Verdict
from gate.model.case import MEAN
from gate.report.csv import cell
from gate.words.numbers import known
from gate.words.sentences import say

COLUMNS = (
    "row", "benchmark", "metric", "unit", "better", "statistic", "factors",
    "base", "base_low", "base_high", "base_builds", "head", "head_low", "head_high", "head_builds",
    "ratio", "ratio_low", "ratio_high", "confidence", "change", "notes",
)  # fmt: skip
_CHANGES: dict[Verdict, str] = {
    "regression": "worse", "accepted": "worse", "improvement": "better", "unchanged": "same",
    "inconclusive": "not shown",
}  # fmt: skip


def render(comparison: Comparison, _: Screen) -> str:
    r"""Write the findings and the geometric means as RFC 4180 has it, with a header line and "\n" at line ends.

    row is "benchmark" or "geomean"; of the latter benchmark is the group ("all" or a suite). factors is a JSON object.
    Values are in base units, what does not exist is empty. change: worse, better, same, not shown, or identical
    (not measured).
    """
    report = comparison.report
    rows = [*map(_finding, report.findings), *map(_identical, report.identical), *map(_overall, report.overall)]
    lines = [",".join(COLUMNS), *(",".join(map(cell, row)) for row in rows)]
    return "\n".join(lines) + "\n"


def _finding(f: Finding) -> Sequence[object]:
    factors = msgspec.json.encode(f.factors, order="sorted").decode() if f.factors else None
    unbounded = [say(f.reason)] if f.ratio.kind != "bounded" else []
    notes = "; ".join([*unbounded, *map(say, f.warnings)]) or None
    names = ("benchmark", f.benchmark, f.metric, f.unit or None, f.better, f.statistic, factors)
    return *names, *_side(f.base), *_side(f.head), *_ratio(f.ratio), _CHANGES[f.verdict], notes


def _identical(f: Identical) -> Sequence[object]:
    names = ("benchmark", f.benchmark, f.metric, f.unit or None, f.better, f.statistic, None)
    return *names, *[None] * 12, f.verdict, say(f.reason)


def _overall(overall: Overall) -> Sequence[object]:
    notes = f"without {', '.join(overall.dropped)}" if overall.dropped else None
    names = ("geomean", overall.group, overall.metric, None, None, MEAN, None)
    return *names, *[None] * 8, *_ratio(overall.ratio), None, notes


def _side(side: SideSummary) -> Sequence[object]:
    return *(_number(value) for value in (side.value, side.low, side.high)), side.counts.build


def _ratio(ratio: RatioInterval) -> Sequence[object]:
    return *(_number(value) for value in (ratio.estimate, ratio.low, ratio.high)), float(f"{ratio.confidence:.12g}")


def _number(value: float | None) -> float | None:
    return float(value) if known(value) else None
