"""The pictures of the page: the forest of all findings on one axis, and which finding gets which of its values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TypeVar

import msgspec
from msgspec import structs

from gate.decide.importance import MOST
from gate.document.document import Figure
from gate.model import Case, Finding, QuantileCurve, Verdict
from gate.model.case import CaseId, case_id, shown
from gate.plots.picture import room
from gate.plots.scales import Axis, Tick, change_ticks
from gate.words import bars
from gate.writing.plain import visible

_Named = TypeVar("_Named", Finding, Case, QuantileCurve)

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


# --- of one finding ---------------------------------------------------------------------------------------------------


class Shown(msgspec.Struct, frozen=True):
    """What a finding shows.

    figures: its pictures. elsewhere: number of the finding, from 0, that shows those of the same case. note: why there
    is none, in words; nothing where that needs no word.
    """

    figures: tuple[Figure, ...] = ()
    elsewhere: int | None = None
    note: str = ""


def pictures_of(found: Sequence[Finding], cases: Sequence[Case], curves: Sequence[QuantileCurve]) -> list[Shown]:
    """Draw the cases of the findings that matter most, one set of pictures a case.

    found: in the order of importance. cases: with values, of as many findings as are at hand.
    """
    values = {case_id(case): case for case in cases}
    effects = {case_id(curve): curve for curve in curves}
    first: dict[CaseId, int] = {}
    shown: list[Shown] = []
    for number, finding in enumerate(found):
        key = case_id(finding)
        if number >= MOST and key not in first:
            shown.append(Shown())
        elif key in first:
            shown.append(Shown(elsewhere=first[key]))
        else:
            one = _drawn(finding, values.get(key), effects.get(key), f"case-{number + 1}")
            if one.figures:
                first[key] = number
            shown.append(one)
    return shown


def readings(figures: Iterable[Figure]) -> list[tuple[str, str]]:
    """Say how to read the pictures of each kind, each sentence once."""
    found: dict[str, dict[str, None]] = {}
    for figure in figures:
        found.setdefault(figure.name, {}).update(dict.fromkeys(figure.reading))
    return [(name, " ".join(sentences)) for name, sentences in found.items() if sentences]


def _drawn(finding: Finding, case: Case | None, curve: QuantileCurve | None, prefix: str) -> Shown:
    if finding.ratio.method == "exact" or (case is not None and case.exact):
        return Shown(note="Exact numbers have no spread, so there is nothing to draw.")
    from gate.plots.violins import effects, series, values

    named, drawn = _legible(finding), []
    if case is not None:
        own = _legible(case)
        drawn = [
            ("values", "Values by build and start", values(own, named, f"{prefix}-values")),
            ("series", "Values in the order of the run", series(own, named, f"{prefix}-series")),
        ]
    if curve is not None:
        drawn.append(("effects", "Change by quantile", effects(_legible(curve), named, f"{prefix}-effects")))
    figures = tuple(picture.figure(kind, name) for kind, name, picture in drawn if picture is not None)
    missing = "Its values have no spread that a picture could show." if case is not None and not figures else ""
    return Shown(figures, note=missing)


def _legible(found: _Named) -> _Named:
    """Make every name visible that a picture writes."""
    factors = {visible(name): visible(shown(value)) for name, value in found.factors.items()}
    names = {"benchmark": visible(found.benchmark), "metric": visible(found.metric), "factors": factors}
    if not isinstance(found, QuantileCurve):
        names["unit"] = visible(found.unit)
    return structs.replace(found, **names)
