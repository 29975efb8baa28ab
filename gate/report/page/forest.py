"""The forest: the interval of each finding against its threshold, all on one axis, as places in a table."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from gate.model import Finding, Verdict
from gate.plots.picture import room
from gate.plots.scales import Axis, Tick, change_ticks
from gate.words import bars

MARKS: dict[Verdict, str] = {
    "regression": "M-5-5L5 5M-5 5L5-5",
    "inconclusive": "M0-7L7 0L0 7L-7 0z",
    "accepted": "M-5-5h10v10h-10z",
    "improvement": "M0-8.5L2.1-2.9L8.1-2.6L3.4 1.1L5 6.9L0 3.5L-5 6.9L-3.4 1.1L-8.1-2.6L-2.1-2.9z",
    "unchanged": "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z",
    "no-sign": "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z",
}
"""The glyphs of the verdicts as paths around the middle."""
_START, _END = 6.0, 94.0
"""Where the axis begins and ends, in percent of the column: arrows stand beyond."""
_LEAST_WIDTH = 200
"""Pixels that the column has at least."""
_LETTERS, _GAP = 13, 12
_OPEN = ("complement", "half-line", "line")


class Bar(msgspec.Struct, frozen=True):
    """A finding on the axis, in percent of the column."""

    band_low: float
    band_high: float
    estimate: float | None
    """None: there is none, or it lies beyond the axis."""
    low: float | None
    """Where the line of the interval begins; None: there is no interval."""
    high: float | None
    open_low: bool
    """Whether it goes on beyond the line's begin."""
    open_high: bool


class Forest(msgspec.Struct, frozen=True):
    """All bars and their axis."""

    zero: float
    ticks: tuple[Tick, ...]
    bars: tuple[Bar, ...]
    cut: bool
    """Whether an interval goes on beyond its line."""


def forest_of(findings: Sequence[Finding]) -> Forest:
    """Place each finding on the axis that all share, which is that of the bars in a comment and a terminal."""
    on = bars.scale(findings)
    axis = Axis(on.low, on.high, _START, _END)
    thresholds = {bars.extent(finding).threshold for finding in findings}
    own = [math.expm1(thresholds.pop())] if len(thresholds) == 1 else []
    share = 100 / _LEAST_WIDTH
    ticks = change_ticks(axis, lambda label: (room(label, _LETTERS) + _GAP) * share, own)
    drawn = tuple(_bar(finding, axis) for finding in findings)
    return Forest(
        zero=round(axis.at(0), 2),
        ticks=tuple(Tick(round(axis.at(tick.at), 2), tick.label) for tick in ticks),
        bars=drawn,
        cut=any(bar.open_low or bar.open_high for bar in drawn),
    )


def _bar(finding: Finding, axis: Axis) -> Bar:
    row = bars.extent(finding)

    def place(at: float) -> float:
        return round(axis.at(min(max(at, axis.low), axis.high)), 2)

    drawn = row.low is not None or row.high is not None or finding.ratio.kind in _OPEN
    inside = row.estimate is not None and axis.low <= row.estimate <= axis.high
    return Bar(
        band_low=place(-row.threshold),
        band_high=place(row.threshold),
        estimate=place(row.estimate) if inside and row.estimate is not None else None,
        low=place(axis.low if row.low is None else row.low) if drawn else None,
        high=place(axis.high if row.high is None else row.high) if drawn else None,
        open_low=drawn and (row.low is None or row.low < axis.low),
        open_high=drawn and (row.high is None or row.high > axis.high),
    )
