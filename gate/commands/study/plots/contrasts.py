"""Sizes of contrasts, or of effects in standard errors, as a Pareto picture and as a half-normal plot.

In the half-normal plot (Daniel 1959) noise lies along a line, and what acts is above it at the right.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gate.commands.study.plots.marks import LAYOUTS, Look, apart, differences, said
from gate.model.study import Response, Term
from gate.plots.axes import grid, tick_room
from gate.plots.picture import Picture, Point, Sheet, room
from gate.plots.scales import Axis, minus, ticks
from gate.plots.style import LETTERS, LETTERS_NARROW
from gate.stats.special import ndtri, stdtrit
from gate.units import agree, format_confidence, format_number, plural
from gate.words.effects import named, named_short
from gate.writing.plain import clip

_WIDTH = 720
_FEWEST = 3
_REACH = 2.5
"""A limit beyond so many times the largest size is said, not drawn."""


@dataclass(frozen=True, slots=True)
class Size:
    """One contrast."""

    term: str
    name: str
    """With how many others it cannot be told from, or with the one."""
    full: str
    """The same with all that it cannot be told from."""
    number: float
    """Its size in the unit of the axis."""
    beyond: int
    """How many of the two limits it is beyond."""

    def fitted(self, space: float, letters: float) -> str:
        """Return its name as long as there is room for it; a star stands for others that do not fit."""
        star = "*" if self.name != self.term else ""
        fitting = (text for text in (self.full, self.name) if room(text, letters) <= space)
        return next(fitting, f"{clip(self.term, max(1, int(space / room('0', letters)) - len(star)))}{star}")


@dataclass(frozen=True, slots=True)
class Contrasts:
    """All that is drawn."""

    sizes: Sequence[Size]
    """The largest first."""
    limits: Sequence[tuple[str, float]]
    """Their names and numbers: that of one contrast, and that of all at once."""
    noise: float
    """The slope of the line in a half-normal plot along which noise lies."""
    what: str
    unit: str
    meaning: Sequence[str]

    @property
    def end(self) -> float:
        """Return the end of an axis that begins at 0 and holds the limits unless they are far away."""
        largest = self.sizes[0].number
        return 1.06 * max([largest, *(at for _, at in self.limits if at <= _REACH * largest)])

    def drawn_limits(self) -> list[tuple[str, float]]:
        """Return the limits within the axis."""
        return [(name, at) for name, at in self.limits if at <= self.end]

    def say(self, number: float) -> str:
        """Write a size with its unit."""
        return f"{format_number(number, 3)}{'' if self.unit == '%' else ' '}{said(self.unit)}".rstrip()

    def words(self) -> list[str]:
        """Say for a caption what is drawn, and what the limits are."""
        limits = " and ".join(f"{name} is {self.say(at)}" for name, at in self.limits)
        far = [name for name, at in self.limits if at > self.end]
        beyond = f" ({' and '.join(far)} beyond the picture)" if far else ""
        return [*self.meaning, f"{limits}{beyond}."]

    def starred(self) -> str:
        """Explain the star of names; "" where none has one."""
        aliased = any(own.name != own.term for own in self.sizes)
        return "Others that a contrast cannot be told from are named, or a star stands for them." if aliased else ""

    def described(self) -> str:
        """Say in words for those who do not see it which ones are the largest."""
        beyond = sum(own.beyond > 1 for own in self.sizes)
        largest = ", ".join(f"{clip(own.name, 30)} {self.say(own.number)}" for own in self.sizes[:6])
        return (
            f"{plural(len(self.sizes), 'contrast')}, the largest {largest}; "
            f"{beyond} {agree(beyond, 'is', 'are')} beyond the limit of all at once."
        )


def contrasts(response: Response, confidence: float, *, logs: bool = False) -> Contrasts | None:
    """Choose Lenth's contrasts where there are any, else the terms of a two-level model with an error; else None.

    Args:
        logs: leave contrasts of logarithms as they are, where they would become percent.
    """
    found = _of_lenth(response, logs=logs) if response.lenth is not None else _of_terms(response, confidence)
    if found is None or not all(math.isfinite(own.number) for own in found.sizes) or not found.sizes[0].number:
        return None
    return found


def _of_lenth(response: Response, *, logs: bool) -> Contrasts | None:
    found = response.lenth
    of = differences(response, np.array([c.estimate for c in found.contrasts])) if found and found.contrasts else None
    if found is None or of is None:
        return None
    factor, unit = (1.0, "natural log") if of.percent and logs else (of.factor, of.unit)

    def number(size: float) -> float:
        return of.of(size) if of.percent and not logs else size / factor

    level = format_confidence(found.confidence)
    within = (
        f"Noise alone is within ME (margin of error) for at least {level} of single contrasts, and within SME "
        f"for all {len(found.contrasts)} at once in at least {level} of experiments (Lenth 1989)."
    )
    return Contrasts(
        sizes=[
            Size(
                said(c.term),
                said(named_short(c.term, c.aliases)),
                said(named(c.term, c.aliases)),
                number(abs(c.estimate)),
                c.possible + c.active,
            )
            for c in found.contrasts
        ],
        limits=[("ME", number(found.me)), ("SME", number(found.sme))],
        noise=number(found.pse),
        what="size of the contrast",
        unit=unit,
        meaning=["Contrasts are half the change.", within],
    )


def _of_terms(response: Response, confidence: float) -> Contrasts | None:
    model = response.linear
    if model is None or any(len(f.settings) > 2 for f in response.factors):
        return None
    told = [t for t in model.terms if t.df == 1 and t.f is not None and math.isfinite(t.f) and t.p is not None]
    strata = [t.stratum for t in told]
    # one line can be the limit of one error only
    own = [t for t in told if t.stratum == max(dict.fromkeys(strata), key=strata.count)]
    if len(own) < _FEWEST:
        return None
    df = min(model.residual_df if t.error_df is None else t.error_df for t in own)
    alpha = 1 - confidence
    one, family = (float(stdtrit(df, 1 - share / 2)) for share in (alpha, alpha * _share(response, own)))
    within = (
        f"Noise alone is within the limit of one for {format_confidence(confidence)} of single effects; the limit of "
        "the family is that of the largest effect of a factor among all tests of the response."
    )
    meaning = ["Effects in their standard errors, |t|.", within]
    if len(own) < len(model.terms):
        meaning.append(f"{len(own)} of {len(model.terms)} terms have this error ({said(own[0].stratum)}).")
    return Contrasts(
        sizes=sorted((_term(t, alpha) for t in own), key=lambda each: -each.number),
        limits=[("one", one), ("family", family)],
        noise=1.0,
        what="size of the effect in standard errors",
        unit="",
        meaning=meaning,
    )


def _term(term: Term, alpha: float) -> Size:
    """Take the size of a term; it is beyond the family's limit where Holm's procedure says so."""
    clear = term.p_adjusted is not None and term.p_adjusted < alpha
    beyond = 2 if clear else int(term.p is not None and term.p < alpha)
    return Size(
        said(term.term),
        said(named_short(term.term, term.aliases)),
        said(named(term.term, term.aliases)),
        math.sqrt(term.f or 0.0),
        beyond,
    )


def _share(response: Response, own: Sequence[Term]) -> float:
    """Return the share of alpha that a factor's effect on the mean has at first."""
    weights = [claim.weight for claim in response.claims if claim.p is not None]
    return 1 / sum(weights) if weights else 1 / len(own)


MOST = 30
"""Bars at most."""
_RIGHT = 706
_HEAD, _ROW, _FOOT = 66, 27, 64
_NAMES_ROOM = 250.0
_KINDS = ("shell", "box-s0", "pip-s0")
"""How bars within the limits, beyond one of them and beyond both are drawn."""


def pareto(prefix: str, response: Response, confidence: float) -> Picture | None:
    """Draw the sizes of contrasts, at most 30 of them; None where there are none or all are 0."""
    found = contrasts(response, confidence)
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
    _bar_limits(sheet, found, x, bottom)
    for layout, unit in (("wide", 24), ("narrow", 10)):
        shown = f", {clip(said(found.unit), unit)}" if found.unit else ""
        sheet.text((left + _RIGHT) / 2, sheet.height - 10, f"{found.what}{shown}", f"soft other {layout}", "middle")
    title = f"Pareto picture of the contrasts of {response.benchmark}, {response.metric}"
    return sheet.picture(prefix, title, found.described(), _bar_caption(found, len(found.sizes) - len(drawn)))


def _bar_limits(sheet: Sheet, found: Contrasts, x: Axis, bottom: float) -> None:
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


def _bar_caption(found: Contrasts, left_out: int) -> str:
    names = [name for name, _ in found.limits]
    words = [f"Filled: beyond {names[1]}; outlined: beyond {names[0]} only; grey: no more than noise."]
    words += found.words()
    words.append(found.starred())
    if left_out:
        words.append(f"{plural(left_out, 'smaller contrast')} left out; the table has all.")
    return " ".join(filter(None, words))


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
