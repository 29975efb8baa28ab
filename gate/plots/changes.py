"""Changes with their intervals: those of a comparison by row and column, and those of a case over its quantiles."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby, product
from typing import cast

import msgspec

from gate.model import Finding, QuantileCurve, QuantileEffect
from gate.plots.picture import LETTERS, SETTINGS, Picture, Shape, Sheet, room
from gate.plots.scales import Axis, change_ticks, minus, ticks
from gate.units import plural
from gate.words import numbers
from gate.writing import amounts
from gate.writing.plain import distinct

_WIDTH = 720
_LEFT, _RIGHT, _CHANGE = 240, 504, 578
_LINE, _BETWEEN, _LEGEND = 22, 8, 26
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

    @property
    def logs(self) -> list[float]:
        """The logarithms of the estimate and the ends, of those that have one."""
        return [own for each in (self.estimate, self.low, self.high) if (own := _log(each)) is not None]


class DrawnRow(msgspec.Struct, frozen=True):
    """A row: its name, and the changes of all columns but the base; None: a column has none."""

    name: str
    changes: Sequence[Drawn | None]


def changes(rows: Sequence[DrawnRow], columns: Sequence[str], base: str, prefix: str) -> Picture | None:
    """Draw the change of each row and column in percent against 1; None where there is none.

    Args:
        columns: what they are called, but for the base, made visible.
    """
    of = {
        k: [(p, c) for p, c in enumerate(row.changes) if c is not None and _log(c.estimate) is not None]
        for k, row in enumerate(rows)
    }
    known = [k for k, own in of.items() if own]
    shown = known[:ROWS]
    every = [change for k in shown for _, change in of[k]]
    if all(change.estimate == 1 and change.low is None for change in every):
        return None
    heights = [_LINE * len(of[k]) + _BETWEEN for k in shown]
    names, places, at, line = distinct(columns, 24), list[tuple[float, int]](), 14.0, 0
    for name in names:
        width = 1.1 * room(name, LETTERS)
        if at + 13 + width > _WIDTH and at > 14:
            at, line = 14.0, line + 1
        places.append((at, line))
        at += width + 40
    top = 36 + (_LEGEND * (line + 1) if len(columns) > 1 else 0)
    end = top + sum(heights)
    sheet = Sheet(_WIDTH, end + 34, phone=False)
    # most rows are held: one far out is left beyond the edge, with an arrow
    ends = [end for change in every for end in change.logs]
    usual = sorted(max(map(abs, change.logs)) for change in every)
    cut = max(5 * usual[(3 * (len(usual) - 1)) // 4], 2 * _LEAST)
    low, high = (min(max([*sizes, _LEAST]), cut) for sizes in ([-end for end in ends], ends))
    x = Axis(-1.08 * low, 1.08 * high, _LEFT, _RIGHT)
    for place, (name, (at, line)) in enumerate(zip(names, places, strict=True)) if len(columns) > 1 else ():
        level = 15 + _LEGEND * line
        _mark(sheet, place, at, level)
        sheet.text(at + 13, level, name, f"say-s{place % SETTINGS} other middle", full=columns[place])
    tops = [top + sum(heights[:number]) for number in range(len(heights))]
    bounds = list(zip(tops, heights, strict=True))[1::2]
    wide = float(_WIDTH)
    sheet.lines("stripe", [[(0.0, y), (wide, y), (wide, y + h), (0.0, y + h)] for y, h in bounds], closed=True)
    marks = change_ticks(x, lambda label: room(label, LETTERS) + 22)
    sheet.lines("grid", [[(x.at(t.at), top - 4), (x.at(t.at), end + 4)] for t in marks if t.at != 0])
    sheet.lines("zero", [[(x.at(0), top - 4), (x.at(0), end + 4)]])
    for tick, y in product(marks, (top - 10, end + 23)):
        sheet.text(x.at(tick.at), y, tick.label, "soft", "middle")
    sheet.text(_CHANGE, top - 10, "change", "soft", "end")
    sheet.text(_WIDTH - 6, top - 10, "interval", "soft", "end")
    for k, name, y, height in zip(shown, distinct([rows[k].name for k in shown], 29), tops, heights, strict=True):
        sheet.text(8, y + height / 2, name, "name middle", full=rows[k].name)
        for number, (place, change) in enumerate(of[k]):
            _line(sheet, x, change, place, y + _BETWEEN / 2 + _LINE * (number + 0.5))
    caption = [
        f"Each mark is the change against {base}; its line is the confidence interval.",
        "An outline is an estimate without an interval." if any(c.low is None for c in every) else "",
        "" if all(x.low <= end <= x.high for end in ends) else "An arrow marks what continues beyond the axis.",
        f"The first {len(shown)} of {len(known):,} rows are drawn." if len(known) > len(shown) else "",
    ]
    return sheet.picture(
        prefix, f"Changes against {base}", f"{plural(len(shown), 'row')}.", " ".join(filter(None, caption))
    )


def _log(ratio: float | None) -> float | None:
    return math.log(ratio) if ratio is not None and math.isfinite(ratio) and ratio > 0 else None


def _line(sheet: Sheet, x: Axis, change: Drawn, place: int, y: float) -> None:
    colour = f"s{place % SETTINGS}"
    ends = numbers.ends(change.low, change.high)
    # nothing is below 0: what goes on there ends at -100%, which is beyond any edge
    low, high = (-math.inf if end == 0 else _log(end) for end in ends)
    estimate = _log(change.estimate)
    if low is not None and high is not None:
        sheet.lines(f"bar-{colour}", [[(x.at(max(low, x.low)), y), (x.at(min(high, x.high)), y)]])
    if estimate is None or change.estimate is None:
        return
    reached = [estimate] if low is None or high is None else [estimate, low, high]
    for side, at, beyond in (("left", x.start - 3, min(reached) < x.low), ("right", x.end + 3, max(reached) > x.high)):
        sheet.marks(f"mark-{colour}", cast("Shape", side), [(at, y)] if beyond else [], 5)
    if x.low <= estimate <= x.high and low is None:
        # without an interval only an outline
        sheet.marks(f"hollow-{colour}", "diamond", [(x.at(estimate), y)], 5)
    elif x.low <= estimate <= x.high:
        _mark(sheet, place, x.at(estimate), y)
    text = minus(amounts.drawn(change.estimate))
    sheet.text(_CHANGE, y, text, f"{f'say-{colour}' if change.shows else 'soft'} middle", "end")
    interval = "no interval"
    if ends[0] is not None and ends[1] is not None:
        interval = f"{minus(amounts.drawn(ends[0]))} to {minus(amounts.drawn(ends[1]))}"
    sheet.text(_WIDTH - 6, y, interval, "soft small middle", "end")


def _mark(sheet: Sheet, place: int, x: float, y: float) -> None:
    shape = _SHAPES[place % len(_SHAPES)]
    sheet.marks(f"{'cross' if shape == 'cross' else 'mark'}-s{place % SETTINGS}", shape, [(x, y)], 5.5)


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
