"""Pareto picture: contrasts as bars, the largest first, with the limits of noise."""

from __future__ import annotations

from gate.commands.study.plots.contrasts import Contrasts, contrasts
from gate.commands.study.plots.marks import LAYOUTS, said
from gate.model.study import Response
from gate.plots.picture import Picture, Sheet, room
from gate.plots.scales import Axis, minus, ticks
from gate.plots.style import LETTERS, LETTERS_NARROW
from gate.units import plural
from gate.writing.plain import clip

MOST = 30
"""Bars at most."""
_WIDTH, _RIGHT = 720, 706
_HEAD, _ROW, _FOOT = 66, 27, 64
_NAMES = 250.0
_KINDS = ("shell", "box-s0", "pip-s0")
"""How bars within the limits, beyond one of them and beyond both are drawn."""


def pareto(prefix: str, response: Response, confidence: float) -> Picture | None:
    """Draw the sizes of contrasts, at most 30 of them; None where there are none or all are 0."""
    found = contrasts(response, confidence)
    if found is None:
        return None
    drawn = found.sizes[:MOST]
    wanted = (max(room(own.full, LETTERS), room(own.name, LETTERS_NARROW)) for own in drawn)
    left = 20 + min(max(wanted), _NAMES)
    bottom = _HEAD + _ROW * len(drawn)
    sheet = Sheet(_WIDTH, bottom + _FOOT)
    x = Axis(0, found.end, left, _RIGHT)
    marks = ticks(0, found.end, 6)
    sheet.lines("grid", [[(x.at(t.at), _HEAD), (x.at(t.at), bottom)] for t in marks])
    sheet.row(bottom + 24, [(x.at(t.at), minus(t.label)) for t in marks], "soft")
    for kind, beyond in zip(_KINDS, range(3), strict=True):
        bars = [
            [(left, top), (x.at(own.number), top), (x.at(own.number), top + _ROW - 9), (left, top + _ROW - 9)]
            for k, own in enumerate(drawn)
            if own.beyond == beyond and (top := _HEAD + _ROW * k + 4.5)
        ]
        sheet.lines(kind, bars, closed=True)
    for k, own in enumerate(drawn):
        for layout, letters in LAYOUTS:
            text = own.fitted(left - 14, letters)
            sheet.text(left - 8, _HEAD + _ROW * (k + 0.5), text, f"other middle {layout}", "end", full=own.full)
    sheet.lines("axis", [[(left, _HEAD), (left, bottom)]])
    _limits(sheet, found, x, bottom)
    for layout, unit in (("wide", 24), ("narrow", 10)):
        shown = f", {clip(said(found.unit), unit)}" if found.unit else ""
        sheet.text((left + _RIGHT) / 2, sheet.height - 10, f"{found.what}{shown}", f"soft other {layout}", "middle")
    title = f"Pareto picture of the contrasts of {response.benchmark}, {response.metric}"
    return sheet.picture(prefix, title, found.described(), _caption(found, len(found.sizes) - len(drawn)))


def _limits(sheet: Sheet, found: Contrasts, x: Axis, bottom: float) -> None:
    """Draw the limits, the name of the first at its left and that of the second at its right."""
    for row, (name, at) in enumerate(found.drawn_limits()):
        top = 22 + 28 * row
        # at the right edge the name of the second stands above its line
        sheet.lines("limit", [[(x.at(at), top + 6 if row else top - 10), (x.at(at), bottom)]])
        text = f"{name} {clip(found.say(at), 16)}"
        for layout, letters in LAYOUTS:
            wide = room(text, letters)
            if row:
                sheet.text(min(x.at(at) + 5, _WIDTH - wide - 4), top, text, f"other {layout}")
            else:
                sheet.text(max(x.at(at) - 5, wide + 4), top, text, f"other {layout}", "end")


def _caption(found: Contrasts, left_out: int) -> str:
    names = [name for name, _ in found.limits]
    words = [f"Filled: beyond {names[1]}; outlined: beyond {names[0]} only; grey: no more than noise."]
    words += found.words()
    words.append(found.starred())
    if left_out:
        words.append(f"{plural(left_out, 'smaller contrast')} left out; the table has all.")
    return " ".join(filter(None, words))
