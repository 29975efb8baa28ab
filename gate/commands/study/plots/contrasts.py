"""Sizes of contrasts that were measured once, as a Pareto picture and as a half-normal plot.

In the half-normal plot (Daniel 1959) noise lies along a line, and what acts is above it at the right.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from gate.commands.study.plots import styles as m
from gate.commands.study.plots.styles import WIDTH, in_unit, letters_in, said
from gate.model.study import Response
from gate.plots import panels
from gate.plots.axes import tick_room
from gate.plots.panels import Look, Panel
from gate.plots.picture import LETTERS, Picture, Sheet, room
from gate.plots.scales import Axis, Range, minus, ticks
from gate.stats.special import ndtri
from gate.units import agree, format_number, plural
from gate.words.effects import named, named_short
from gate.writing.plain import clip

_REACH = 2.5
"""A limit beyond so many times the largest size is said, not drawn."""


class _Size(msgspec.Struct, frozen=True):
    """One contrast: its size in the unit of the axis, and how many of the two limits it is beyond."""

    term: str
    name: str
    """With how many others it cannot be told from, or with the one."""
    full: str
    """The same with all that it cannot be told from."""
    number: float
    beyond: int

    def fitted(self, space: float) -> str:
        """Return its name as long as there is room for it; a star stands for others that do not fit."""
        star = "*" if self.name != self.term else ""
        cut = f"{clip(self.term, max(1, letters_in(space) - len(star)))}{star}"
        return next((text for text in (self.full, self.name) if room(text, LETTERS) <= space), cut)


class _Contrasts(msgspec.Struct, frozen=True):
    """All that is drawn."""

    sizes: Sequence[_Size]
    """The largest first."""
    limits: Sequence[tuple[str, float]]
    """Their names and numbers: that of one contrast, and that of all at once."""
    noise: float
    """The slope of the line in a half-normal plot along which noise lies."""
    unit: str

    @property
    def end(self) -> float:
        """Return the end of an axis that begins at 0 and holds the limits unless they are far away."""
        largest = self.sizes[0].number
        return 1.06 * max([largest, *(at for _, at in self.limits if at <= _REACH * largest)])

    @property
    def drawn_limits(self) -> list[tuple[str, float]]:
        """The limits within the axis."""
        return [(name, at) for name, at in self.limits if at <= self.end]

    def say(self, number: float) -> str:
        """Write a size with its unit."""
        return f"{format_number(number, 3)}{'' if self.unit == '%' else ' '}{said(self.unit)}".rstrip()

    def picture(self, sheet: Sheet, prefix: str, kind: str, response: Response, before: str, after: str) -> Picture:
        """Finish a picture; before and after: of its caption, around what the limits are."""
        beyond = sum(own.beyond > 1 for own in self.sizes)
        largest = ", ".join(f"{clip(own.name, 30)} {self.say(own.number)}" for own in self.sizes[:6])
        described = (
            f"{plural(len(self.sizes), 'contrast')}, the largest {largest}; "
            f"{beyond} {agree(beyond, 'is', 'are')} beyond the limit of all at once."
        )
        limits = " and ".join(f"{name} is {self.say(at)}" for name, at in self.limits)
        far = [name for name, at in self.limits if at > self.end]
        away = f" ({' and '.join(far)} beyond the picture)" if far else ""
        caption = m.words(
            before,
            f"{limits}{away}.",
            any(own.name != own.term for own in self.sizes)
            and "Others that a contrast cannot be told from are named, or a star stands for them.",
            after,
        )
        title = f"{kind} of the contrasts of {response.benchmark}, {response.metric}"
        return sheet.picture(prefix, title, described, caption)


def _contrasts(response: Response, *, logs: bool = False) -> _Contrasts | None:
    """Bring Lenth's contrasts into numbers; None where there are none, or all are 0.

    Args:
        logs: leave contrasts of logarithms as they are, where they would become percent.
    """
    found = response.lenth
    of = m.differences(response, np.array([c.estimate for c in found.contrasts])) if found else None
    if found is None or of is None or not any(c.estimate for c in found.contrasts):
        return None
    plain = of.percent and logs
    number = float if plain else of.one
    return _Contrasts(
        sizes=[
            _Size(
                term=said(c.term),
                name=said(named_short(c.term, c.aliases)),
                full=said(named(c.term, c.aliases)),
                number=number(abs(c.estimate)),
                beyond=c.possible + c.active,
            )
            for c in found.contrasts
        ],
        limits=[("ME", number(found.me)), ("SME", number(found.sme))],
        noise=number(found.pse),
        unit="natural log" if plain else of.unit,
    )


MOST = 30
"""Bars at most."""
_RIGHT = 706
_HEAD, _ROW, _FOOT = 66, 27, 64
_NAMES_ROOM = 250.0
_KINDS = ("shell", "box-s0", "pip-s0")
"""How bars within the limits, beyond one of them and beyond both are drawn."""


def pareto(prefix: str, response: Response) -> Picture | None:
    """Draw the sizes of contrasts, at most 30 of them; None where there are none or all are 0."""
    found = _contrasts(response)
    if found is None:
        return None
    drawn = found.sizes[:MOST]
    left = 20 + min(max(room(own.full, LETTERS) for own in drawn), _NAMES_ROOM)
    bottom = _HEAD + _ROW * len(drawn)
    sheet = Sheet(WIDTH, bottom + _FOOT, phone=False)
    x = Axis(0, found.end, left, _RIGHT)
    marks = ticks(0, found.end, 6)
    sheet.lines("grid", [[(x.at(t.at), _HEAD), (x.at(t.at), bottom)] for t in marks])
    sheet.row(bottom + 24, [(x.at(t.at), minus(t.label)) for t in marks], "soft")
    for k, own in enumerate(drawn):
        top, end = _HEAD + _ROW * k + 4.5, x.at(own.number)
        corners = [(left, top), (end, top), (end, top + _ROW - 9), (left, top + _ROW - 9)]
        sheet.lines(_KINDS[own.beyond], [corners], closed=True)
        sheet.text(left - 8, top + _ROW / 2 - 4.5, own.fitted(left - 14), "other middle", "end", full=own.full)
    sheet.lines("axis", [[(left, _HEAD), (left, bottom)]])
    for row, (name, number) in enumerate(found.drawn_limits):
        # the name of the first at its left, that of the second at its right, at the edge above its line
        top, at = 22 + 28 * row, x.at(number)
        sheet.lines("limit", [[(at, top + 6 if row else top - 10), (at, bottom)]])
        text = f"{name} {clip(found.say(number), 16)}"
        wide = room(text, LETTERS)
        place = min(at + 5, WIDTH - wide - 4) if row else max(at - 5, wide + 4)
        sheet.text(place, top, text, "other", "start" if row else "end")
    axis = f"size of the contrast{in_unit(found.unit, 24)}"
    sheet.text((left + _RIGHT) / 2, sheet.height - 10, axis, "soft other", "middle")
    left_out = len(found.sizes) - len(drawn)
    more = f"{plural(left_out, 'smaller contrast')} left out; the table has all." if left_out else ""
    filled = "Filled: beyond SME; outlined: beyond ME only; grey: no more than noise."
    return found.picture(sheet, prefix, "Pareto picture", response, filled, more)


_TOP, _TALL = 40, 292
_MARGIN = 92
"""For the names of the limits, at the right."""
_MOST = 12
"""Points that are named, the largest first."""
_MANY = 60
_TIP = 16
"""From a point to its name."""
_GAP = 16.0
_QUIET, _LOUD = Look(0), Look(1)


def half_normal(prefix: str, response: Response) -> Picture | None:
    """Draw the sizes of contrasts against half-normal quantiles; None where there are none or all are 0."""
    found = _contrasts(response, logs=True)
    if found is None:
        return None
    count = len(found.sizes)
    quantiles = ndtri(0.5 + (count - np.arange(count) - 0.5) / (2 * count))
    y = panels.Span(Range(0, found.end, 0), ticks(0, found.end, 6))
    x = Axis(0, 1.06 * float(quantiles[0]), tick_room(y.ticks), WIDTH - _MARGIN)
    sheet = Sheet(WIDTH, _TOP + _TALL + 68, phone=False)
    sheet.text(12, 20, f"size of the contrast{in_unit(found.unit, 24)}", "soft other")
    panel = Panel.on(sheet, x, y, _TOP, _TALL)
    panel.ruler(ticks(0, x.high, 6), "half-normal quantile")
    if found.noise > 0:
        end = min(x.high, found.end / found.noise)
        panel.line("zero", [0, end], [0, found.noise * end])
    limits = found.drawn_limits
    panel.level("limit", *(number for _, number in limits))
    heights = [panel.y.at(number) for _, number in limits]
    for (name, _), at, place in zip(limits, heights, m.apart(heights, _GAP, _TOP, panel.y.start), strict=True):
        sheet.lines("grid", [[(x.end, at), (x.end + 5, place)]])
        sheet.text(x.end + 7, place, name, "other middle")
    points = list(zip(panel.points(quantiles, [own.number for own in found.sizes]), found.sizes, strict=True))
    loud = [each for each in points if each[1].beyond]
    _QUIET.marks(sheet, [at for at, own in points if not own.beyond], "middle" if count <= _MANY else "small")
    # names stand at the left of points, where no larger ones are; those with too little room there at their right
    shown = loud[:_MOST]
    beside = sum(room(own.name, LETTERS) <= px - _TIP - 8 - x.start for (px, _), own in shown)
    places = m.apart([at[1] for at, _ in shown], _GAP, _TOP, panel.y.start - 10)
    for k, (((px, py), own), place) in enumerate(zip(shown, places, strict=True)):
        side = -1 if k < beside else 1
        tip = px + side * _TIP
        sheet.lines("grid", [[(px, py), (tip, place)]])
        text = own.fitted(tip - 4 - x.start if k < beside else x.end - tip - 4)
        sheet.text(tip + 3 * side, place, text, "other middle", "end" if k < beside else "start", full=own.full)
    _LOUD.marks(sheet, [at for at, _ in loud], "large")
    without = len(loud) - _MOST
    more = f"{plural(without, 'smaller one')} of these without a name; the table has all." if without > 0 else ""
    noise = "Noise alone would lie along the line; contrasts far above it act. Triangles, with names, are beyond ME."
    return found.picture(sheet, prefix, "Half-normal plot", response, noise, more)
