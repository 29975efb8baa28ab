"""Changes with their intervals: of a comparison, and of a case over its quantiles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import cast

import msgspec

from gate.model import Finding, QuantileCurve
from gate.plots.panels import Panel, Span
from gate.plots.picture import LETTERS, SETTINGS, Picture, Shape, Sheet, room
from gate.plots.scales import Axis, Range, Tick, change_ticks, minus, ticks
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
    text = minus(amounts.changed(change.estimate))
    sheet.text(_CHANGE, y, text, f"{f'say-{colour}' if change.shows else 'soft'} middle", "end")
    interval = "no interval"
    if ends[0] is not None and ends[1] is not None:
        interval = f"{minus(amounts.changed(ends[0]))} to {minus(amounts.changed(ends[1]))}"
    sheet.text(_WIDTH - 6, y, interval, "soft small middle", "end")


def _mark(sheet: Sheet, place: int, x: float, y: float) -> None:
    shape = _SHAPES[place % len(_SHAPES)]
    sheet.marks(f"{'cross' if shape == 'cross' else 'mark'}-s{place % SETTINGS}", shape, [(x, y)], 5.5)


_SHEET, _HEIGHT = 640, 298
_BEFORE, _AFTER, _TOP, _TALL = 96, 104, 40, 204
_USUAL = 0.1, 0.99
"""From where to where the curve goes where there are values enough."""
_MEET, _MEET_NARROW = 16, 28
"""Labels of thresholds that stand closer than this would meet; on a phone they are larger."""


def effects(curve: QuantileCurve, finding: Finding, prefix: str) -> Picture | None:
    """Draw the change of each quantile with its band, and the thresholds; None where there is no point to draw."""
    points = [e for e in curve.effects if math.isfinite(e.ratio) and 0 <= e.tau <= 1]
    if not points:
        return None
    taus, values = [e.tau for e in points], [e.ratio - 1 for e in points]
    bands = [
        (e.low - 1, e.high - 1) if e.low is not None and e.high is not None and math.isfinite(e.low + e.high) else None
        for e in points
    ]
    # as ratios one is the inverse of the other
    edges = finding.threshold, 1 / (1 + finding.threshold) - 1
    low, high = min([*values, -1.3 * edges[0]]), max([*values, 1.3 * edges[0]])
    reach = high - low
    # a band may be of any width: it may make the picture three times as high as the curve, no more
    for band in filter(None, bands):
        low, high = min(low, max(band[0], min(values) - reach)), max(high, min(band[1], max(values) + reach))
    pad = 0.06 * (high - low) or 0.01
    low, high = low - pad, high + pad
    signed = [Tick(t.at / 100, t.label if t.at <= 0 else f"+{t.label}") for t in ticks(low * 100, high * 100, 6)]
    sheet = Sheet(_SHEET, _HEIGHT)
    panel = Panel.on(sheet, Axis(0, 1, _BEFORE, _SHEET - _AFTER), Span(Range(low, high, 0), signed), _TOP, _TALL)
    panel.ruler([Tick(share / 100, f"{share}") for share in range(0, 101, 10)], below=22)
    sheet.text(panel.middle, _HEIGHT - 8, "quantile of the values, %", "soft", "middle")
    sheet.text(12, 20, "change of head, %", "soft")
    up, down = ("worse", "better") if finding.better == "lower" else ("better", "worse")
    sheet.text(_SHEET - 14, 20, f"↑ {up}   ↓ {down}", "soft", "end")
    panel.level("zero", 0)
    panel.level("limit", *edges)
    upper, lower = (minus(f"{edge * 100:+.3g}%") for edge in edges)
    beside, places = panel.x.end + 6, [panel.y.at(edge) for edge in edges]
    apart = places[1] - places[0]
    if edges[0] > 0 or apart > _MEET:
        sheet.text(beside, places[0], upper, "soft middle")
    if apart > _MEET:
        sheet.text(beside, places[1], lower, f"soft middle{'' if apart > _MEET_NARROW else ' wide'}")
    if apart > 2 * _MEET:
        sheet.text(beside, panel.y.at(0), "no change", "soft middle wide")
    panel.band("spread", "wing-head", taus, bands)
    panel.line("curve", taus, values)
    sheet.marks("point", "triangle", panel.points(taus, values), 3.6)
    several, missing = finding.base.counts.session > 1, bands.count(None)
    # the curve may be shorter than usual
    ends = [
        *([f"below {taus[0] * 100:.4g}%"] if taus[0] > _USUAL[0] else []),
        *([f"above {taus[-1] * 100:.4g}%"] if taus[-1] < _USUAL[1] else []),
    ]
    caption = [
        "All sessions are in one curve: a slow machine has the values on the right." if several else "",
        f"Quantiles {' or '.join(ends)} need more values." if ends else "",
        f"{missing} of {len(points)} points have no band: too few values or builds there." if missing else "",
        "Where the band reaches the edge, it continues beyond it."
        if any(band[0] < low or band[1] > high for band in bands if band is not None)
        else "",
    ]
    fast, slow = ("fastest", "slowest") if finding.unit == "s" else ("smallest", "largest")
    level = "session" if several else "build"
    reading = [
        f"The change of each quantile of all values, from the {fast} on the left to the {slow} on the right.",
        "A level curve: everything changed alike. One that rises to the right: the tail became slower.",
        f"The band is pointwise, 95%, clustered by {level}, without correction; the curve decides nothing.",
    ]
    if edges[0] > 0:
        other = f"and the same ratio in the other direction, 1/{1 + edges[0]:.6g}, which is {lower}"
        reading.append(f"Dashed lines are the thresholds: {upper}, {other}.")
    title = f"Quantile effects of {finding.benchmark}, {finding.metric}"
    said = [points[0], points[len(points) // 2], points[-1]] if len(points) > 2 else points
    described = ", ".join(f"{e.tau:.3g}: {numbers.effect(e.ratio)}" for e in said)
    shown = " ".join(filter(None, caption))
    return sheet.picture(prefix, title, f"Change by quantile: {described}.", shown, reading)
