"""Changes with their intervals: those of a comparison by row and column, and those of a case over its quantiles."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby

import msgspec

from gate.model import Finding, QuantileCurve, QuantileEffect
from gate.plots.picture import LETTERS, LETTERS_NARROW, SETTINGS, Picture, Shape, Sheet, room
from gate.plots.scales import Axis, change_ticks, minus, ticks
from gate.units import plural
from gate.words import numbers
from gate.writing import amounts
from gate.writing.plain import distinct

_WIDTH = 720
_LEFT = 240
_RIGHT, _CHANGE = 504, 578
_LINE = 22
_BETWEEN = 8
_LEGEND = 26
ROWS = 60
"""Rows that a picture has at most."""
_SHAPES: tuple[Shape, ...] = ("square", "diamond", "triangle", "star", "cross")
_LEAST = 0.002


class Drawn(msgspec.Struct, frozen=True):
    """A change as ratio to the base: its estimate, and the ends of its interval where it has one."""

    estimate: float | None
    low: float | None
    high: float | None
    shows: bool
    """Whether the interval excludes no change."""


class DrawnRow(msgspec.Struct, frozen=True):
    """A row: its name, and the changes of all columns but the base; None: a column has none."""

    name: str
    changes: Sequence[Drawn | None]


def changes(rows: Sequence[DrawnRow], columns: Sequence[str], base: str, prefix: str) -> Picture | None:
    """Draw the change of each row and column in percent against 1; None where there is none.

    Args:
        columns: what they are called, but for the base, made visible.
    """
    with_any = [
        row for row in rows if any(change is not None and _log(change.estimate) is not None for change in row.changes)
    ]
    shown = with_any[:ROWS]
    if all(change.estimate == 1 and change.low is None for row in shown for _, change in _of(row)):
        return None
    legend = _LEGEND if len(columns) > 1 else 0
    names, lines = distinct(columns, 24), 0
    if legend:
        lines = 1 + max(_places(names, letters)[-1][1] for letters in (LETTERS, LETTERS_NARROW))
    top = legend * lines + 36
    heights = [_LINE * len(_of(row)) + _BETWEEN for row in shown]
    end = top + sum(heights)
    sheet = Sheet(_WIDTH, end + 34)
    x = Axis(*_limits(shown), _LEFT, _RIGHT)
    for layout, letters in (("wide", LETTERS), ("narrow", LETTERS_NARROW)) if legend else ():
        for place, (name, (at, line)) in enumerate(zip(names, _places(names, letters), strict=True)):
            level = 15 + _LEGEND * line
            _mark(sheet, place, at, level, f" {layout}")
            classes = f"say-s{place % SETTINGS} other middle {layout}"
            sheet.text(at + 13, level, name, classes, full=columns[place])
    _grid(sheet, x, heights, top)
    for layout, at, width in (("wide", 8, 29), ("narrow", 4, 17)):
        y = top
        for row, name, height in zip(shown, distinct([row.name for row in shown], width), heights, strict=True):
            sheet.text(at, y + height / 2, name, f"name middle {layout}", full=row.name)
            y += height
    y = top
    for row, height in zip(shown, heights, strict=True):
        for number, (place, change) in enumerate(_of(row)):
            _line(sheet, x, change, place, y + _BETWEEN / 2 + _LINE * (number + 0.5))
        y += height
    title = f"Changes against {base}"
    return sheet.picture(prefix, title, f"{plural(len(shown), 'row')}.", _caption(shown, len(with_any), base, x))


def _of(row: DrawnRow) -> list[tuple[int, Drawn]]:
    return [
        (p, change) for p, change in enumerate(row.changes) if change is not None and _log(change.estimate) is not None
    ]


def _log(ratio: float | None) -> float | None:
    return math.log(ratio) if ratio is not None and math.isfinite(ratio) and ratio > 0 else None


def _limits(rows: Sequence[DrawnRow]) -> tuple[float, float]:
    """Choose ends that hold most rows: one far out is left beyond the edge, with an arrow."""
    drawn = [change for row in rows for _, change in _of(row)]
    ends = [end for c in drawn for each in (c.estimate, c.low, c.high) if (end := _log(each)) is not None]
    usual = sorted(
        max(abs(end) for each in (c.estimate, c.low, c.high) if (end := _log(each)) is not None) for c in drawn
    )
    cut = max(5 * usual[(3 * (len(usual) - 1)) // 4], 2 * _LEAST)
    low, high = (min(max([*sizes, _LEAST]), cut) for sizes in ([-end for end in ends], ends))
    return -1.08 * low, 1.08 * high


def _grid(sheet: Sheet, x: Axis, heights: Sequence[float], top: float) -> None:
    end = top + sum(heights)
    y, stripes = top, []
    for number, height in enumerate(heights):
        if number % 2:
            stripes.append([(0.0, y), (float(_WIDTH), y), (float(_WIDTH), y + height), (0.0, y + height)])
        y += height
    sheet.lines("stripe", stripes, closed=True)
    wide = change_ticks(x, lambda label: room(label, LETTERS) + 22)
    narrow = change_ticks(x, lambda label: room(label, LETTERS_NARROW) + 14)
    sheet.lines("grid", [[(x.at(t.at), top - 4), (x.at(t.at), end + 4)] for t in wide if t.at != 0])
    sheet.lines("zero", [[(x.at(0), top - 4), (x.at(0), end + 4)]])
    for tick in dict.fromkeys([*wide, *narrow]):
        layout = "" if tick in wide and tick in narrow else " wide" if tick in wide else " narrow"
        for at in (top - 10, end + 23):
            sheet.text(x.at(tick.at), at, tick.label, f"soft{layout}", "middle")
    sheet.text(_CHANGE, top - 10, "change", "soft wide", "end")
    sheet.text(_WIDTH - 6, top - 10, "interval", "soft wide", "end")
    sheet.text(_WIDTH - 8, top - 10, "change", "soft narrow", "end")


def _line(sheet: Sheet, x: Axis, change: Drawn, place: int, y: float) -> None:
    colour = f"s{place % SETTINGS}"
    ends = numbers.ends(change.low, change.high)
    # nothing is below 0: what goes on there ends at -100%, which is beyond any edge
    low, high = (-math.inf if end == 0 else _log(end) for end in ends)
    estimate = _log(change.estimate)
    if low is not None and high is not None:
        sheet.lines(f"bar-{colour}", [[(x.at(max(low, x.low)), y), (x.at(min(high, x.high)), y)]])
        if low < x.low:
            sheet.marks(f"mark-{colour}", "left", [(x.start - 3, y)], 5)
        if high > x.high:
            sheet.marks(f"mark-{colour}", "right", [(x.end + 3, y)], 5)
    if estimate is None or change.estimate is None:
        return
    if estimate < x.low or estimate > x.high:
        side: Shape = "left" if estimate < x.low else "right"
        sheet.marks(f"mark-{colour}", side, [((x.start - 3) if side == "left" else (x.end + 3), y)], 5)
    elif low is None:
        # without an interval only an outline
        sheet.marks(f"hollow-{colour}", "diamond", [(x.at(estimate), y)], 5)
    else:
        _mark(sheet, place, x.at(estimate), y)
    said = f"say-{colour}" if change.shows else "soft"
    text = minus(amounts.drawn(change.estimate))
    for layout, at in (("wide", _CHANGE), ("narrow", _WIDTH - 8)):
        sheet.text(at, y, text, f"{said} middle {layout}", "end")
    interval = "no interval"
    if ends[0] is not None and ends[1] is not None:
        interval = f"{minus(amounts.drawn(ends[0]))} to {minus(amounts.drawn(ends[1]))}"
    sheet.text(_WIDTH - 6, y, interval, "soft small middle wide", "end")


def _mark(sheet: Sheet, place: int, x: float, y: float, extra: str = "") -> None:
    shape = _SHAPES[place % len(_SHAPES)]
    kind = "cross" if shape == "cross" else "mark"
    sheet.marks(f"{kind}-s{place % SETTINGS}{extra}", shape, [(x, y)], 5.5)


def _places(columns: Sequence[str], letters: int) -> list[tuple[float, int]]:
    x, line, found = 14.0, 0, []
    for name in columns:
        width = 1.1 * room(name, letters)
        if x + 13 + width > _WIDTH and x > 14:
            x, line = 14.0, line + 1
        found.append((x, line))
        x += width + 40
    return found


def _caption(rows: Sequence[DrawnRow], every: int, base: str, x: Axis) -> str:
    drawn = [change for row in rows for _, change in _of(row)]
    parts = [f"Each mark is the change against {base}; its line is the confidence interval."]
    if any(change.low is None for change in drawn):
        parts.append("An outline is an estimate without an interval.")
    ends = [end for c in drawn for each in (c.estimate, c.low, c.high) if (end := _log(each)) is not None]
    if any(not x.low <= end <= x.high for end in ends):
        parts.append("An arrow marks what continues beyond the axis.")
    if every > len(rows):
        parts.append(f"The first {len(rows)} of {every:,} rows are drawn.")
    return " ".join(parts)


_SHEET, _HEIGHT = 640, 298
_BEFORE, _AFTER, _TOP, _BOTTOM = 96, 104, 40, 244
_USUAL = 0.1, 0.99
"""From where to where the curve goes where there are values enough."""
_MEET, _MEET_NARROW = 16, 28
"""Labels of thresholds that stand closer than this would meet; on a phone they are larger."""


def effects(curve: QuantileCurve, finding: Finding, prefix: str) -> Picture | None:
    """Draw the change of each quantile with its band, and the thresholds; None where there is no point to draw."""
    points = [e for e in curve.effects if math.isfinite(e.ratio) and 0 <= e.tau <= 1]
    if not points:
        return None
    sheet = Sheet(_SHEET, _HEIGHT)
    x = Axis(0, 1, _BEFORE, _SHEET - _AFTER)
    y = _vertical(points, finding.threshold)
    marks = ticks(y.low * 100, y.high * 100, 6)
    sheet.lines("grid", [[(x.start, y.at(t.at / 100)), (x.end, y.at(t.at / 100))] for t in marks])
    for tick in marks:
        signed = minus(tick.label) if tick.at <= 0 else f"+{tick.label}"
        sheet.text(x.start - 8, y.at(tick.at / 100), signed, "soft middle", "end")
    sheet.row(_BOTTOM + 22, [(x.at(share / 100), f"{share}") for share in range(0, 101, 10)], "soft")
    sheet.text((x.start + x.end) / 2, _HEIGHT - 8, "quantile of the values, %", "soft", "middle")
    sheet.text(12, 20, "change of head, %", "soft")
    up, down = ("worse", "better") if finding.better == "lower" else ("better", "worse")
    sheet.text(_SHEET - 14, 20, f"↑ {up}   ↓ {down}", "soft", "end")
    sheet.lines("zero", [[(x.start, y.at(0)), (x.end, y.at(0))]])
    edges = _thresholds(finding)
    sheet.lines("limit", [[(x.start, y.at(edge)), (x.end, y.at(edge))] for edge in edges])
    apart = y.at(edges[1]) - y.at(edges[0])
    for edge, layout in zip(edges, ("", "" if apart > _MEET_NARROW else " wide"), strict=True):
        if edge > 0 or apart > _MEET:
            sheet.text(x.end + 6, y.at(edge), _percent(edge), f"soft middle{layout}")
    if apart > 2 * _MEET:
        sheet.text(x.end + 6, y.at(0), "no change", "soft middle wide")
    _curve(sheet, x, y, points)
    missing = sum(_band(e) is None for e in points)
    several = finding.base.counts.session > 1
    caption = "All sessions are in one curve: a slow machine has the values on the right." if several else ""
    # the curve may be shorter than usual
    ends = [
        *([f"below {points[0].tau * 100:.4g}%"] if points[0].tau > _USUAL[0] else []),
        *([f"above {points[-1].tau * 100:.4g}%"] if points[-1].tau < _USUAL[1] else []),
    ]
    caption += f" Quantiles {' or '.join(ends)} need more values." if ends else ""
    if missing:
        caption += f" {missing} of {len(points)} points have no band: too few values or builds there."
    if any(band[0] < y.low or band[1] > y.high for band in filter(None, map(_band, points))):
        caption += " Where the band reaches the edge, it continues beyond it."
    title = f"Quantile effects of {finding.benchmark}, {finding.metric}"
    said = [points[0], points[len(points) // 2], points[-1]] if len(points) > 2 else points
    described = ", ".join(f"{e.tau:.3g}: {numbers.effect(e.ratio)}" for e in said)
    return sheet.picture(prefix, title, f"Change by quantile: {described}.", caption, list(_reading(finding)))


def _reading(finding: Finding) -> Iterator[str]:
    ends = ("fastest", "slowest") if finding.unit == "s" else ("smallest", "largest")
    yield f"The change of each quantile of all values, from the {ends[0]} on the left to the {ends[1]} on the right."
    yield "A level curve: everything changed alike. One that rises to the right: the tail became slower."
    level = "session" if finding.base.counts.session > 1 else "build"
    yield f"The band is pointwise, 95%, clustered by {level}, without correction; the curve decides nothing."
    upper, lower = _thresholds(finding)
    if upper > 0:
        yield (
            f"Dashed lines are the thresholds: {_percent(upper)}, and the same ratio in the other direction, "
            f"1/{1 + upper:.6g}, which is {_percent(lower)}."
        )


def _vertical(points: list[QuantileEffect], threshold: float) -> Axis:
    changes = [e.ratio - 1 for e in points]
    low, high = min([*changes, -1.3 * threshold]), max([*changes, 1.3 * threshold])
    span = high - low
    # a band may be of any width: it may make the picture three times as high as the curve, no more
    for band in filter(None, map(_band, points)):
        low, high = min(low, max(band[0], min(changes) - span)), max(high, min(band[1], max(changes) + span))
    pad = 0.06 * (high - low) or 0.01
    return Axis(low - pad, high + pad, _BOTTOM, _TOP)


def _percent(change: float) -> str:
    return minus(f"{change * 100:+.3g}%")


def _thresholds(finding: Finding) -> tuple[float, float]:
    """Return the changes beyond which a finding is decided: as ratios one is the inverse of the other."""
    return finding.threshold, 1 / (1 + finding.threshold) - 1


def _curve(sheet: Sheet, x: Axis, y: Axis, points: list[QuantileEffect]) -> None:
    bands = [(x.at(e.tau), _band(e)) for e in points]
    for known, run in groupby(bands, key=lambda each: each[1] is not None):
        edges = [(at, y.at(band[0]), y.at(band[1])) for at, band in run if band is not None]
        if known and len(edges) == 1:
            # one point has no width: its interval is a line
            [(at, low, high)] = edges
            sheet.lines("wing-head", [[(at, low), (at, high)]])
        elif known:
            upper, lower = [(at, high) for at, _, high in edges], [(at, low) for at, low, _ in reversed(edges)]
            sheet.lines("spread", [[*upper, *lower]], closed=True)
    line = [(x.at(e.tau), y.at(e.ratio - 1)) for e in points]
    sheet.lines("curve", [line])
    sheet.marks("point", "triangle", line, 3.6)


def _band(effect: QuantileEffect) -> tuple[float, float] | None:
    if effect.low is None or effect.high is None:
        return None
    ends = effect.low - 1, effect.high - 1
    return ends if all(map(math.isfinite, ends)) else None
