"""The forest: the interval of each finding against its threshold, all on one axis, as places in a table."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
import numpy as np

from gate.model import Finding, Verdict
from gate.plots.picture import room
from gate.plots.scales import Axis, change_ticks
from gate.words import numbers
from gate.words.numbers import known

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
_FIRST = 40
"""So many findings, those that matter most, choose the ends of the axis."""
_LETTERS, _GAP = 13, 12
_OPEN = ("complement", "half-line", "line")


class Tick(msgspec.Struct, frozen=True):
    """A labelled place of the axis."""

    at: float
    label: str


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


class _Row(msgspec.Struct, frozen=True):
    """A finding in log ratios, with the interval that its verdict rests on; None where an end is open or not known."""

    estimate: float | None
    low: float | None
    high: float | None
    threshold: float
    kind: str

    @property
    def ends(self) -> list[float]:
        return [end for end in (self.estimate, self.low, self.high) if end is not None]


def forest_of(findings: Sequence[Finding]) -> Forest:
    """Place each finding on an axis that all share: logarithmic, wide enough for the thresholds and most intervals."""
    rows = [_row(finding) for finding in findings]
    axis = Axis(*_limits(rows[:_FIRST]), _START, _END)
    thresholds = {row.threshold for row in rows}
    own = [math.expm1(thresholds.pop())] if len(thresholds) == 1 else []
    share = 100 / _LEAST_WIDTH
    ticks = change_ticks(axis, lambda label: (room(label, _LETTERS) + _GAP) * share, own)
    bars = tuple(_bar(row, axis) for row in rows)
    return Forest(
        zero=round(axis.at(0), 2),
        ticks=tuple(Tick(round(axis.at(tick.at), 2), tick.label) for tick in ticks),
        bars=bars,
        cut=any(bar.open_low or bar.open_high for bar in bars),
    )


def _row(finding: Finding) -> _Row:
    ratio = numbers.shown(finding)
    threshold = math.log1p(finding.threshold) if known(finding.threshold) else 0.0
    return _Row(_log(ratio.estimate), _log(ratio.low), _log(ratio.high), threshold, ratio.kind)


def _log(ratio: float | None) -> float | None:
    return math.log(ratio) if known(ratio) and ratio > 0 else None


def _limits(rows: Sequence[_Row]) -> tuple[float, float]:
    """Choose ends that hold the thresholds and most rows: one far out is left beyond the edge, with an arrow."""
    usual = [max(map(abs, row.ends)) for row in rows if row.ends]
    least = max([1.2 * max((row.threshold for row in rows), default=0.01), 0.002])
    cut = max(5 * float(np.quantile(usual, 0.75)) if usual else 0.0, 2 * least)
    every = [end for row in rows for end in row.ends]
    low, high = (min(max([*sizes, least]), cut) for sizes in ([-end for end in every], every))
    return -1.04 * low, 1.04 * high


def _bar(row: _Row, axis: Axis) -> Bar:
    def place(at: float) -> float:
        return round(axis.at(min(max(at, axis.low), axis.high)), 2)

    drawn = row.low is not None or row.high is not None or row.kind in _OPEN
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
