"""Half-normal plot of contrasts (Daniel 1959): noise lies along a line, and what acts is above it at the right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gate.commands.study.plots.contrasts import Contrasts, Size, contrasts
from gate.commands.study.plots.marks import LAYOUTS, Look, apart, said
from gate.model.study import Response
from gate.plots.axes import grid, tick_room
from gate.plots.picture import Picture, Point, Sheet, room
from gate.plots.scales import Axis, minus, ticks
from gate.stats.special import ndtri
from gate.units import plural
from gate.writing.plain import clip

_WIDTH, _HEIGHT = 720, 400
_TOP, _BOTTOM = 40, 332
_MARGIN = 92
"""For the names of the limits, at the right."""
_MOST = {"wide": 12, "narrow": 8}
"""Points that are named, the largest first."""
_MANY = 60
_TIP = 16
"""From a point to its name."""
_GAPS = {"wide": 16.0, "narrow": 27.0}
_QUIET, _LOUD = Look(0), Look(1)


def half_normal(prefix: str, response: Response, confidence: float) -> Picture | None:
    """Draw the sizes of contrasts against half-normal quantiles; None where there are none or all are 0."""
    found = contrasts(response, confidence, logs=True)
    if found is None:
        return None
    count = len(found.sizes)
    quantiles: list[float] = ndtri(0.5 + (count - np.arange(count) - 0.5) / (2 * count)).tolist()
    marks = ticks(0, found.end, 6)
    left, right = tick_room(marks), _WIDTH - _MARGIN
    y = Axis(0, found.end, _BOTTOM, _TOP)
    x = Axis(0, 1.06 * quantiles[0], left, right)
    sheet = Sheet(_WIDTH, _HEIGHT)
    for layout, unit in (("wide", 24), ("narrow", 10)):
        shown = f", {clip(said(found.unit), unit)}" if found.unit else ""
        sheet.text(12, 20, f"{found.what}{shown}", f"soft other {layout}")
    grid(sheet, y, marks, left, right)
    across = ticks(0, x.high, 6)
    sheet.row(_BOTTOM + 24, [(x.at(t.at), minus(t.label)) for t in across], "soft")
    sheet.text((left + right) / 2, _HEIGHT - 10, "half-normal quantile", "soft", "middle")
    if found.noise > 0:
        end = min(x.high, found.end / found.noise)
        sheet.lines("zero", [[(x.at(0), y.at(0)), (x.at(end), y.at(found.noise * end))]])
    _limits(sheet, found, y, left, right)
    points = [(x.at(q), y.at(own.number)) for q, own in zip(quantiles, found.sizes, strict=True)]
    named = [(at, own) for at, own in zip(points, found.sizes, strict=True) if own.beyond]
    quiet = [at for at, own in zip(points, found.sizes, strict=True) if not own.beyond]
    _QUIET.marks(sheet, quiet, "middle" if count <= _MANY else "small")
    _names(sheet, named, left, right)
    _LOUD.marks(sheet, [at for at, _ in named], "large")
    title = f"Half-normal plot of the contrasts of {response.benchmark}, {response.metric}"
    return sheet.picture(prefix, title, found.described(), _caption(found, len(named)))


def _limits(sheet: Sheet, found: Contrasts, y: Axis, left: float, right: float) -> None:
    drawn = found.drawn_limits()
    sheet.lines("limit", [[(left, y.at(at)), (right, y.at(at))] for _, at in drawn])
    for layout, _ in LAYOUTS:
        places = apart([y.at(at) for _, at in drawn], _GAPS[layout], _TOP, _BOTTOM)
        for (name, at), place in zip(drawn, places, strict=True):
            sheet.lines(f"grid {layout}", [[(right, y.at(at)), (right + 5, place)]])
            sheet.text(right + 7, place, name, f"other middle {layout}")


def _names(sheet: Sheet, named: Sequence[tuple[Point, Size]], left: float, right: float) -> None:
    """Name points at their left, where no larger ones are; those with too little room there at their right."""
    for layout, letters in LAYOUTS:
        shown = named[: _MOST[layout]]
        # the first points are the furthest right
        beside = sum(room(own.name, letters) <= px - _TIP - 8 - left for (px, _), own in shown)
        places = _places([at[1] for at, _ in shown], beside, _GAPS[layout])
        for k, (((px, py), own), place) in enumerate(zip(shown, places, strict=True)):
            side = -1 if k < beside else 1
            tip = px + side * _TIP
            space = tip - 4 - left if k < beside else right - tip - 4
            sheet.lines(f"grid {layout}", [[(px, py), (tip, place)]])
            text = own.fitted(space, letters)
            sheet.text(tip + 3 * side, place, text, f"other middle {layout}", "end" if k < beside else "start",
                       full=own.full)  # fmt: skip


def _places(wanted: Sequence[float], beside: int, gap: float) -> list[float]:
    """Place names so that they do not meet: upwards at the left, downwards at the right, away from other points.

    Args:
        wanted: heights of the points, the largest first.
        beside: so many of them, the first, have their names at the left.
    """
    places = list(wanted)
    for k in reversed(range(beside)):
        places[k] = min(wanted[k], places[k + 1] - gap) if k + 1 < beside else wanted[k]
    for k in range(beside, len(wanted)):
        places[k] = max(wanted[k], places[k - 1] + gap) if k else wanted[k]
    if places and (places[0] < _TOP or places[-1] > _BOTTOM - 10):
        return apart(wanted, gap, _TOP, _BOTTOM - 10)
    return places


def _caption(found: Contrasts, named: int) -> str:
    words = ["Noise alone would lie along the line; contrasts far above it act."]
    words.append(f"Triangles, with names, are beyond {found.limits[0][0]}.")
    words += found.words()
    words.append(found.starred())
    if named > _MOST["wide"]:
        words.append(f"{plural(named - _MOST['wide'], 'smaller one')} of these without a name; the table has all.")
    return " ".join(filter(None, words))
