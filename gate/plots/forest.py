"""The ratios of all findings with their intervals and thresholds: a forest plot."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from gate.model import Finding, Verdict
from gate.plots.picture import Picture, Point, Shape, Sheet, room
from gate.plots.scales import Axis, Tick, change_ticks, minus
from gate.plots.style import LETTERS, LETTERS_NARROW
from gate.units import Share, plural
from gate.words import numbers, reports
from gate.words.plain import distinct

_WIDTH = 720
_LEFT = 240
_ROW = 26
_LEGEND = 28
_LABELLED = 40
_RIGHT, _CHANGE = 504, 578
"""Where the axis ends, and the column of changes."""
_CURVE = 196
_DRAWN = 600
"""Findings that the curve of all of them draws at most."""

_SHAPES: dict[Verdict, Shape] = {
    "regression": "cross",
    "inconclusive": "diamond",
    "accepted": "square",
    "improvement": "star",
    "no-sign": "circle",
    "unchanged": "circle",
}
_OPEN = ("complement", "half-line", "line")


class _Row(msgspec.Struct, frozen=True):
    """A finding in log ratios, with the interval that its verdict rests on; None where an end is open or not known."""

    estimate: float | None
    low: float | None
    high: float | None
    threshold: float
    kind: str
    verdict: Verdict


def forest(findings: Sequence[Finding], names: Sequence[str], prefix: str) -> Picture:
    """Draw the change of each finding in percent with its interval and threshold.

    Args:
        findings: those that matter most first; the first 40 are labelled, and beyond that all are drawn as one sorted
            curve below.
        names: what each finding is called, made visible.
    """
    if not findings:
        sheet = Sheet(_WIDTH, 48)
        sheet.text(8, 30, "There are no findings.", "soft")
        return sheet.picture(prefix, "Change of every finding", "There are no findings.", "There are no findings.")
    rows = [_row(finding) for finding in findings]
    labelled = rows[:_LABELLED]
    more = len(rows) > len(labelled)
    legend = _Legend(rows)
    top = _LEGEND * legend.lines + 36
    end = top + _ROW * len(labelled)
    sheet = Sheet(_WIDTH, end + 34 + (_CURVE + 36 if more else 0))
    x = Axis(*_limits(labelled), _LEFT, _RIGHT)
    legend.draw(sheet)
    _grid(sheet, x, labelled, top)
    _heads(sheet, top - 10)
    _names(sheet, names[: len(labelled)], top)
    for index, (row, finding) in enumerate(zip(labelled, findings, strict=False)):
        middle = top + _ROW * (index + 0.5)
        _interval(sheet, x, row, middle)
        _texts(sheet, finding, middle)
    _marks(sheet, x, labelled, top)
    below = _curve(sheet, rows, end + 66) if more else _Curve(len(rows), False)
    counts = [_counted(n, v) for v in _SHAPES if (n := sum(r.verdict == v for r in rows))]
    described = f"{plural(len(rows), 'finding')}: {', '.join(counts)}."
    caption = _caption(findings, rows, x, below)
    return sheet.picture(prefix, "Change of every finding", described, caption)


def _row(finding: Finding) -> _Row:
    ratio = numbers.shown(finding)
    ends = (_log(ratio.low), _log(ratio.high))
    return _Row(_log(ratio.estimate), *ends, math.log1p(finding.threshold), ratio.kind, finding.verdict)


def _log(ratio: float | None) -> float | None:
    return math.log(ratio) if ratio is not None and math.isfinite(ratio) and ratio > 0 else None


def _limits(rows: Sequence[_Row]) -> tuple[float, float]:
    """Choose ends that hold the thresholds and most rows: one far out is left beyond the edge, with an arrow."""
    usual = [max(map(abs, ends)) for row in rows if (ends := _ends(row))]
    least = max([1.2 * max((row.threshold for row in rows), default=0.01), 0.002])
    cut = max(5 * float(np.quantile(usual, 0.75)) if usual else 0.0, 2 * least)
    every = [end for row in rows for end in _ends(row)]
    low, high = (min(max([*sizes, least]), cut) for sizes in ([-end for end in every], every))
    return -1.04 * low, 1.04 * high


def _ends(row: _Row) -> list[float]:
    return [end for end in (row.estimate, row.low, row.high) if end is not None]


def _ticks(axis: Axis, rows: Sequence[_Row], room_for: Callable[[str], float]) -> list[Tick]:
    """Choose no change, the threshold where all rows have one, and round changes."""
    thresholds = {row.threshold for row in rows}
    return change_ticks(axis, room_for, [math.expm1(thresholds.pop())] if len(thresholds) == 1 else [])


class _Legend:
    """The marks of the verdicts that occur, in as many lines as they take; a phone has no room for counts."""

    def __init__(self, rows: Sequence[_Row]) -> None:
        counts = {verdict: n for verdict in _SHAPES if (n := sum(row.verdict == verdict for row in rows))}
        self.lines = 1
        self._entries: list[tuple[str, Verdict, str, float, int]] = []
        for layout, letters in (("wide", LETTERS), ("narrow", LETTERS_NARROW)):
            x, line = 14.0, 0
            for verdict, count in counts.items():
                text = _counted(count, verdict) if layout == "wide" else numbers.verdict(verdict)
                # bold letters are wider
                width = 1.1 * room(text, letters)
                if x + 13 + width > _WIDTH and x > 14:
                    x, line = 14.0, line + 1
                self._entries.append((layout, verdict, text, x, line))
                x += width + 40
            self.lines = max(self.lines, line + 1)

    def draw(self, sheet: Sheet) -> None:
        """Draw the legend at the top of a sheet."""
        for layout, verdict, text, x, line in self._entries:
            y = 15 + _LEGEND * line
            _mark(sheet, verdict, [(x, y)], extra=f" {layout}")
            sheet.text(x + 13, y, text, f"say-{verdict} middle {layout}")


def _counted(count: int, verdict: Verdict) -> str:
    noun = verdict in ("regression", "improvement")
    return f"{plural(count, verdict) if noun else f'{count:,} {numbers.verdict(verdict)}'}"


def _grid(sheet: Sheet, x: Axis, rows: Sequence[_Row], top: float) -> None:
    end = top + _ROW * len(rows)
    stripes = [(top + _ROW * i, top + _ROW * (i + 1)) for i in range(1, len(rows), 2)]
    sheet.lines("stripe", [[(0, a), (_WIDTH, a), (_WIDTH, b), (0, b)] for a, b in stripes], closed=True)
    zones = [(x.at(-r.threshold), x.at(r.threshold), top + _ROW * i) for i, r in enumerate(rows)]
    sheet.lines("zone", [[(a, y), (b, y), (b, y + _ROW), (a, y + _ROW)] for a, b, y in zones], closed=True)
    wide = _ticks(x, rows, lambda label: room(label, LETTERS) + 22)
    narrow = _ticks(x, rows, lambda label: room(label, LETTERS_NARROW) + 14)
    sheet.lines("grid", [[(x.at(t.at), top - 4), (x.at(t.at), end + 4)] for t in wide if t.at != 0])
    sheet.lines("zero", [[(x.at(0), top - 4), (x.at(0), end + 4)]])
    for tick in dict.fromkeys([*wide, *narrow]):
        layout = "" if tick in wide and tick in narrow else " wide" if tick in wide else " narrow"
        for y in (top - 10, end + 23):
            sheet.text(x.at(tick.at), y, tick.label, f"soft{layout}", "middle")


def _heads(sheet: Sheet, y: float) -> None:
    sheet.text(8, y, "finding", "soft wide")
    sheet.text(_CHANGE, y, "change", "soft wide", "end")
    sheet.text(_WIDTH - 6, y, "interval", "soft wide", "end")
    sheet.text(_WIDTH - 8, y, "change", "soft narrow", "end")


def _names(sheet: Sheet, names: Sequence[str], top: float) -> None:
    for layout, x, width in (("wide", 8, 29), ("narrow", 4, 17)):
        for index, (name, text) in enumerate(zip(names, distinct(names, width), strict=True)):
            sheet.text(x, top + _ROW * (index + 0.5), text, f"name middle {layout}", full=name)


def _texts(sheet: Sheet, finding: Finding, y: float) -> None:
    ratio = numbers.shown(finding)
    if ratio.estimate is None or _log(ratio.estimate) is None:
        sheet.text(_WIDTH - 8, y, "no ratio", "soft middle", "end")
        return
    for layout, x in (("wide", _CHANGE), ("narrow", _WIDTH - 8)):
        sheet.text(x, y, _percent(ratio.estimate), f"say-{finding.verdict} middle {layout}", "end")
    ends = [end for end in numbers.ends(ratio.low, ratio.high) if end is not None and math.isfinite(end)]
    if len(ends) == 2:
        said = f"{_percent(ends[0])} … {_percent(ends[1])}"
    elif len(ends) == 1:
        said = f"{_percent(ends[0])} or {'less' if ratio.low is None else 'more'}"
    else:
        said = "unbounded" if ratio.kind in _OPEN else "no interval"
    sheet.text(_WIDTH - 6, y, said, "soft small middle wide", "end")


def _percent(ratio: float) -> str:
    return minus(numbers.drawn(ratio))


def _interval(sheet: Sheet, x: Axis, row: _Row, y: float) -> None:
    """Draw the interval, with arrows at ends that are open or cut off."""
    if row.low is None and row.high is None and row.kind not in _OPEN:
        return
    start, end = (x.at(edge if at is None else at) for at, edge in ((row.low, x.low), (row.high, x.high)))
    sheet.lines(f"bar-{row.verdict}", [[(start, y), (end, y)]])
    if row.low is None or row.low < x.low:
        sheet.marks(f"mark-{row.verdict}", "left", [(x.start - 3, y)], 5)
    if row.high is None or row.high > x.high:
        sheet.marks(f"mark-{row.verdict}", "right", [(x.end + 3, y)], 5)


def _marks(sheet: Sheet, x: Axis, rows: Sequence[_Row], top: float) -> None:
    for verdict in _SHAPES:
        inside = [
            (x.at(row.estimate), top + _ROW * (index + 0.5))
            for index, row in enumerate(rows)
            if row.verdict == verdict and row.estimate is not None and x.low <= row.estimate <= x.high
        ]
        _mark(sheet, verdict, inside)


def _mark(sheet: Sheet, verdict: Verdict, points: Sequence[Point], *, small: bool = False, extra: str = "") -> None:
    shape = _SHAPES[verdict]
    kinds = {"circle": "dot", "cross": "fine"} if small else {"circle": "big", "cross": "cross"}
    if shape == "cross" and not small:
        sheet.marks(f"halo{extra}", shape, points, 6)
    kind = kinds.get(shape, "pip" if small else "mark")
    sheet.marks(f"{kind}-{verdict}{extra}", shape, points, 3 if small else 6)


class _Curve(msgspec.Struct, frozen=True):
    """How many findings the curve of all of them draws, and whether some go on beyond its edge."""

    drawn: int
    beyond: bool


def _curve(sheet: Sheet, rows: Sequence[_Row], top: float) -> _Curve:
    """Draw all findings from the largest decrease to the largest increase."""
    known = sorted((row for row in rows if row.estimate is not None), key=lambda row: row.estimate or 0.0)
    places = np.unique(np.linspace(0, len(known) - 1, min(len(known), _DRAWN)).round().astype(int)).tolist()
    shown = [known[place] for place in places]
    low, high = _limits(shown)
    y = Axis(low, high, top + _CURVE - 40, top + 12)
    x = Axis(-1, max(len(shown), 1), 100, _WIDTH - 12)
    said = f"all {len(rows):,} findings"
    sheet.text(12, top - 6, f"{said}, from the largest decrease to the largest increase", "soft wide")
    sheet.text(12, top - 6, f"{said}, sorted by change", "soft narrow")
    thresholds = {row.threshold for row in rows}
    if len(thresholds) == 1:
        edge = thresholds.pop()
        inside = [(x.start, y.at(edge)), (x.end, y.at(edge)), (x.end, y.at(-edge)), (x.start, y.at(-edge))]
        sheet.lines("zone", [inside], closed=True)
    marks = _ticks(y, rows, lambda _label: 30.0)
    sheet.lines("grid", [[(x.start, y.at(t.at)), (x.end, y.at(t.at))] for t in marks if t.at])
    sheet.lines("zero", [[(x.start, y.at(0)), (x.end, y.at(0))]])
    for tick in marks:
        sheet.text(x.start - 8, y.at(tick.at), tick.label, "soft middle", "end")
    for verdict in reversed(_SHAPES):
        own = [(x.at(i), row) for i, row in enumerate(shown) if row.verdict == verdict]
        lines = [[(at, y.at(r.low)), (at, y.at(r.high))] for at, r in own if r.low is not None and r.high is not None]
        sheet.lines(f"wing-{verdict}", lines)
        points = [(at, y.at(r.estimate)) for at, r in own if r.estimate is not None]
        _mark(sheet, verdict, points, small=True)
    return _Curve(len(shown), any(not low <= end <= high for row in shown for end in _ends(row)))


def _caption(findings: Sequence[Finding], rows: Sequence[_Row], x: Axis, below: _Curve) -> str:
    labelled = rows[:_LABELLED]
    thresholds = {finding.threshold for finding in findings}
    own = f"the threshold ({Share(thresholds.pop())})" if len(thresholds) == 1 else "the threshold of each finding"
    confidence = reports.confidences(findings, titled=False)
    parts = [
        "Each mark is the change from base to head; its line is the interval that the verdict is based on.",
        *([f"{reports.capitalized(confidence)}."] if confidence else []),
        f"The shaded band is {own}.",
    ]
    if any(row.kind in _OPEN or any(not x.low <= end <= x.high for end in _ends(row)) for row in labelled):
        parts.append("An arrow marks an interval that continues beyond the axis or has no end.")
    if len(rows) > len(labelled):
        parts.append(f"The {len(labelled)} findings that matter most are named; below, all {len(rows):,} are sorted.")
        if below.drawn < len(rows):
            parts.append(f"{below.drawn:,} of {len(rows):,} are drawn there.")
        if below.beyond:
            parts.append("Intervals that reach the edge there continue beyond it.")
    return " ".join(parts)
