"""Sizes of contrasts that were measured once, as a Pareto picture and as a half-normal plot.

In the half-normal plot (Daniel 1959) noise lies along a line, and what acts is above it at the right.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from gate.commands.study.plots import marks as m
from gate.commands.study.plots.marks import LAYOUTS, Look, in_unit, said
from gate.model.study import Contrast, Response
from gate.plots.axes import grid, tick_room
from gate.plots.picture import LETTERS, LETTERS_NARROW, Anchor, Picture, Point, Sheet, room
from gate.plots.scales import Axis, minus, ticks
from gate.stats.special import ndtri
from gate.units import agree, format_confidence, format_number, plural
from gate.words.effects import named, named_short
from gate.writing.plain import clip

_WIDTH = 720
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

    @staticmethod
    def of(own: Contrast, number: float) -> _Size:
        """Name a contrast."""
        short, full = (said(how(own.term, own.aliases)) for how in (named_short, named))
        return _Size(said(own.term), short, full, number, own.possible + own.active)

    def fitted(self, space: float, letters: float) -> str:
        """Return its name as long as there is room for it; a star stands for others that do not fit."""
        star = "*" if self.name != self.term else ""
        cut = f"{clip(self.term, max(1, int(space / room('0', letters)) - len(star)))}{star}"
        return next((text for text in (self.full, self.name) if room(text, letters) <= space), cut)


class _Contrasts(msgspec.Struct, frozen=True):
    """All that is drawn."""

    sizes: Sequence[_Size]
    """The largest first."""
    limits: Sequence[tuple[str, float]]
    """Their names and numbers: that of one contrast, and that of all at once."""
    noise: float
    """The slope of the line in a half-normal plot along which noise lies."""
    unit: str
    meaning: Sequence[str]

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

    def axis(self, sheet: Sheet, x: float, y: float, anchor: Anchor) -> None:
        """Name the axis."""
        wide, narrow = (f"size of the contrast{in_unit(self.unit, width)}" for width in (24, 10))
        m.both(sheet, x, y, wide, narrow, anchor=anchor)

    def picture(
        self, sheet: Sheet, prefix: str, kind: str, response: Response, words: Sequence[str], more: Sequence[str]
    ) -> Picture:
        """Finish a picture; words and more: of its caption, before and after what the limits are."""
        beyond = sum(own.beyond > 1 for own in self.sizes)
        largest = ", ".join(f"{clip(own.name, 30)} {self.say(own.number)}" for own in self.sizes[:6])
        described = (
            f"{plural(len(self.sizes), 'contrast')}, the largest {largest}; "
            f"{beyond} {agree(beyond, 'is', 'are')} beyond the limit of all at once."
        )
        limits = " and ".join(f"{name} is {self.say(at)}" for name, at in self.limits)
        far = [name for name, at in self.limits if at > self.end]
        away = f" ({' and '.join(far)} beyond the picture)" if far else ""
        aliased = any(own.name != own.term for own in self.sizes)
        star = ["Others that a contrast cannot be told from are named, or a star stands for them."] if aliased else []
        title = f"{kind} of the contrasts of {response.benchmark}, {response.metric}"
        caption = " ".join([*words, *self.meaning, f"{limits}{away}.", *star, *more])
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

    def number(size: float) -> float:
        return size if plain else of.of(size)

    within = (
        f"Noise alone is within ME (margin of error) for at least {format_confidence(found.confidence)} of single "
        f"contrasts, and within SME for all {len(found.contrasts)} at once in at least "
        f"{format_confidence(found.confidence)} of experiments (Lenth 1989)."
    )
    return _Contrasts(
        sizes=[_Size.of(c, number(abs(c.estimate))) for c in found.contrasts],
        limits=[("ME", number(found.me)), ("SME", number(found.sme))],
        noise=number(found.pse),
        unit="natural log" if plain else of.unit,
        meaning=["Contrasts are half the change.", within],
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
    wanted = (max(room(own.full, LETTERS), room(own.name, LETTERS_NARROW)) for own in drawn)
    left = 20 + min(max(wanted), _NAMES_ROOM)
    bottom = _HEAD + _ROW * len(drawn)
    sheet = Sheet(_WIDTH, bottom + _FOOT)
    x = Axis(0, found.end, left, _RIGHT)
    marks = ticks(0, found.end, 6)
    sheet.lines("grid", [[(x.at(t.at), _HEAD), (x.at(t.at), bottom)] for t in marks])
    sheet.row(bottom + 24, [(x.at(t.at), minus(t.label)) for t in marks], "soft")
    for beyond, kind in enumerate(_KINDS):
        bars = []
        for k, own in enumerate(drawn):
            top, end = _HEAD + _ROW * k + 4.5, x.at(own.number)
            if own.beyond == beyond:
                bars.append([(left, top), (end, top), (end, top + _ROW - 9), (left, top + _ROW - 9)])
        sheet.lines(kind, bars, closed=True)
    for k, own in enumerate(drawn):
        for layout, letters in LAYOUTS:
            text = own.fitted(left - 14, letters)
            sheet.text(left - 8, _HEAD + _ROW * (k + 0.5), text, f"other middle {layout}", "end", full=own.full)
    sheet.lines("axis", [[(left, _HEAD), (left, bottom)]])
    for row, (name, number) in enumerate(found.drawn_limits):
        # the name of the first at its left, that of the second at its right, at the edge above its line
        top, at = 22 + 28 * row, x.at(number)
        sheet.lines("limit", [[(at, top + 6 if row else top - 10), (at, bottom)]])
        text = f"{name} {clip(found.say(number), 16)}"
        for layout, letters in LAYOUTS:
            wide = room(text, letters)
            place = min(at + 5, _WIDTH - wide - 4) if row else max(at - 5, wide + 4)
            sheet.text(place, top, text, f"other {layout}", "start" if row else "end")
    found.axis(sheet, (left + _RIGHT) / 2, sheet.height - 10, "middle")
    one, all_ = (name for name, _ in found.limits)
    words = [f"Filled: beyond {all_}; outlined: beyond {one} only; grey: no more than noise."]
    left_out = len(found.sizes) - len(drawn)
    more = [f"{plural(left_out, 'smaller contrast')} left out; the table has all."] if left_out else []
    return found.picture(sheet, prefix, "Pareto picture", response, words, more)


_HEIGHT = 400
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


def half_normal(prefix: str, response: Response) -> Picture | None:
    """Draw the sizes of contrasts against half-normal quantiles; None where there are none or all are 0."""
    found = _contrasts(response, logs=True)
    if found is None:
        return None
    count = len(found.sizes)
    quantiles: list[float] = ndtri(0.5 + (count - np.arange(count) - 0.5) / (2 * count)).tolist()
    marks = ticks(0, found.end, 6)
    left, right = tick_room(marks), _WIDTH - _MARGIN
    y = Axis(0, found.end, _BOTTOM, _TOP)
    x = Axis(0, 1.06 * quantiles[0], left, right)
    sheet = Sheet(_WIDTH, _HEIGHT)
    found.axis(sheet, 12, 20, "start")
    grid(sheet, y, marks, left, right)
    sheet.row(_BOTTOM + 24, [(x.at(t.at), minus(t.label)) for t in ticks(0, x.high, 6)], "soft")
    sheet.text((left + right) / 2, _HEIGHT - 10, "half-normal quantile", "soft", "middle")
    if found.noise > 0:
        end = min(x.high, found.end / found.noise)
        sheet.lines("zero", [[(x.at(0), y.at(0)), (x.at(end), y.at(found.noise * end))]])
    limits = [(name, y.at(at)) for name, at in found.drawn_limits]
    sheet.lines("limit", [[(left, at), (right, at)] for _, at in limits])
    for layout, _ in LAYOUTS:
        places = m.apart([at for _, at in limits], _GAPS[layout], _TOP, _BOTTOM)
        for (name, at), place in zip(limits, places, strict=True):
            sheet.lines(f"grid {layout}", [[(right, at), (right + 5, place)]])
            sheet.text(right + 7, place, name, f"other middle {layout}")
    points = [((x.at(q), y.at(own.number)), own) for q, own in zip(quantiles, found.sizes, strict=True)]
    loud = [each for each in points if each[1].beyond]
    _QUIET.marks(sheet, [at for at, own in points if not own.beyond], "middle" if count <= _MANY else "small")
    _names(sheet, loud, left, right)
    _LOUD.marks(sheet, [at for at, _ in loud], "large")
    words = ["Noise alone would lie along the line; contrasts far above it act."]
    words.append(f"Triangles, with names, are beyond {found.limits[0][0]}.")
    without = len(loud) - _MOST["wide"]
    more = [f"{plural(without, 'smaller one')} of these without a name; the table has all."] if without > 0 else []
    return found.picture(sheet, prefix, "Half-normal plot", response, words, more)


def _names(sheet: Sheet, loud: Sequence[tuple[Point, _Size]], left: float, right: float) -> None:
    """Name points at their left, where no larger ones are; those with too little room there at their right."""
    for layout, letters in LAYOUTS:
        shown = loud[: _MOST[layout]]
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
        return m.apart(wanted, gap, _TOP, _BOTTOM - 10)
    return places
