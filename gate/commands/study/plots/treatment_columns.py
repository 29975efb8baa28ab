"""Treatments as columns of their values, in rows of as many as can be read: what violins and boxes stand on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

import numpy as np
import numpy.typing as npt

from gate.commands.study.plots.marks import (
    LAYOUTS,
    Look,
    Scale,
    Vertical,
    combination,
    look_of,
    name,
    said,
    scale,
    shortened,
    vertical,
    write,
)
from gate.model.study import Factor, Response, Setting
from gate.plots.axes import grid
from gate.plots.picture import LETTERS_NARROW, Picture, Sheet, room
from gate.units import agree, plural
from gate.writing.plain import clip

ROW = 27
"""Height of a row of labels, enough for the letters of a phone."""
_NAMES = 124.0


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring places with the same setting of a factor, and of all slower ones."""

    setting: Setting | None
    first: int
    last: int
    """Included."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where treatments stand."""

    xs: Sequence[float]
    slot: float
    """The width of one."""


def ordered(factors: Sequence[Factor], found: Sequence[Mapping[str, Setting]]) -> list[int]:
    """Return the order in which the last factor changes fastest, as indices."""
    numbers = [{setting: n for n, setting in enumerate(factor.settings)} for factor in factors]

    def key(index: int) -> list[int]:
        own = found[index]
        return [numbers[k].get(own[f.name], len(f.settings)) if f.name in own else -1 for k, f in enumerate(factors)]

    return sorted(range(len(found)), key=key)


def runs(factors: Sequence[Factor], found: Sequence[Mapping[str, Setting]]) -> list[list[Run]]:
    """Return the runs of each factor along treatments in their order."""
    result = []
    for depth, factor in enumerate(factors):
        names = [f.name for f in factors[: depth + 1]]
        keys = [tuple(settings.get(n) for n in names) for settings in found]
        own, at = [], 0
        for _, group in groupby(keys):
            size = len(list(group))
            own.append(Run(found[at].get(factor.name), at, at + size - 1))
            at += size
        result.append(own)
    return result


def names_room(factors: Sequence[Factor]) -> float:
    """Return the room that the names of factors want at the left, within reason."""
    return min(max((room(said(f.name), LETTERS_NARROW) for f in factors), default=0.0) + 18, _NAMES)


def labels(
    sheet: Sheet, factors: Sequence[Factor], found: Sequence[Mapping[str, Setting]], places: Places, top: float,
    left: float, *, marked: Factor | None = None,
) -> None:  # fmt: skip
    """Write the settings of treatments below an axis, and the factors' names before them.

    Args:
        found: in their order.
        left: the room for names of factors.
        marked: the factor whose settings have marks, drawn before its names where there is room.
    """
    for depth, (factor, own) in enumerate(reversed(list(zip(factors, runs(factors, found), strict=True)))):
        middle = top + ROW * (depth + 0.5)
        write(sheet, left - 8, middle, said(factor.name), left - 12, "soft other small middle", "end")
        cut = []
        for layout, letters in LAYOUTS:
            short = _short(factor, own, places, letters)
            texts = ["" if run.setting is None else short.get(said(run.setting), "") for run in own]
            widths = [room(text, letters) for text in texts]
            # marks stand before all names of a layout, or before none
            fits = all(width + 20 <= _space(run, places) for run, width in zip(own, widths, strict=True))
            cut.append((layout, texts, widths, fits and factor == marked))
        for k, run in enumerate(own):
            if run.setting is None:
                continue
            x = (places.xs[run.first] + places.xs[run.last]) / 2
            for layout, texts, widths, mark in cut:
                if mark:
                    at = x - widths[k] / 2 - 2
                    look_of(factor, run.setting).marks(sheet, [(at, middle)], "middle", f" {layout}")
                if texts[k]:
                    full = said(run.setting)
                    sheet.text(x + 10 * mark, middle, texts[k], f"other middle {layout}", "middle", full=full)
        if depth:
            edge, y = places.slot * 0.4, middle - ROW / 2 - 1
            sheet.lines("axis", [[(places.xs[r.first] - edge, y), (places.xs[r.last] + edge, y)] for r in own])


def _space(run: Run, places: Places) -> float:
    return places.slot * (run.last - run.first + 1) - 1


def _short(factor: Factor, own: Sequence[Run], places: Places, letters: float) -> dict[str, str]:
    """Shorten the names of settings to the narrowest run, to what still tells them apart; {}: nothing fits."""
    # some air between neighbours
    space = min((_space(run, places) for run in own), default=0.0) - (5 if letters == LETTERS_NARROW else 10)
    width = int(space / room("0", letters))
    names = [said(setting) for setting in factor.settings]
    cut = shortened(names, width)
    if cut:
        return cut
    numbers = {name: str(number) for number, name in enumerate(names, start=1)}
    return numbers if all(len(number) <= width for number in numbers.values()) else {}


def keyed(factors: Sequence[Factor], found: Sequence[Mapping[str, Setting]], places: Places) -> str:
    """Say which settings have a number in place of a name, in words; empty where none has."""
    words = []
    for factor, own in zip(factors, runs(factors, found), strict=True):
        cut = [_short(factor, own, places, letters) for _, letters in LAYOUTS]
        names = [said(setting) for setting in factor.settings]
        if any(c and any(c[n] != n and c[n] == str(k) for k, n in enumerate(names, start=1)) for c in cut):
            listed = ", ".join(f"{k} {clip(n, 24)}" for k, n in enumerate(names, start=1))
            words.append(f"{clip(said(factor.name), 24)}: {listed}")
    return f" Where names do not fit, settings are numbered: {'; '.join(words)}." if words else ""


WIDTH = 720
_HEAD, _PLOT = 32, 236
_GAP = 14
_PER_ROW = 24
_ROWS = 3
MOST = _PER_ROW * _ROWS
"""Treatments that are drawn at most."""
_BROAD = 120.0
_BESIDE = 140.0
"""The room for names of rows below the labels, in the letters of a phone."""


@dataclass(frozen=True, slots=True, eq=False)
class TreatmentValues:
    """The values of one treatment as measured, in the base unit of the response and in their order."""

    settings: Mapping[str, Setting]
    values: npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """A treatment where it stands."""

    sample: TreatmentValues
    x: float
    slot: float
    look: Look
    y: Vertical


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """A sheet with axes and labels, and the treatments to draw on it."""

    sheet: Sheet
    of: Scale
    y: Vertical
    """Its ends are those of all rows."""
    columns: list[Column]
    found: list[TreatmentValues]
    left: float
    """Where the axes begin."""
    labels: float
    """Height of the labels below an axis."""
    keyed: str
    """What the numbers in place of names stand for, in words."""

    @property
    def drawn(self) -> list[TreatmentValues]:
        """The treatments drawn, of `found`."""
        return [column.sample for column in self.columns]

    def picture(self, prefix: str, title: str, words: Sequence[str]) -> Picture:
        """Finish the picture; words: of its caption, before what is not in it and what numbers stand for."""
        more = []
        if self.y.range.beyond:
            every = np.concatenate([s.values for s in self.found])
            out = every[~self.y.inside(self.of.of(every))]
            low, high = (self.of.say(float(end)) for end in (out.min(), out.max()))
            more.append(
                f"{out.size:,} of {plural(every.size, 'value')} {agree(out.size, 'lies', 'lie')} beyond the axis "
                f"({f'at {low}' if out.size == 1 else f'{low} to {high}'}), marked at its edge."
            )
        if len(self.columns) < len(self.found):
            more.append(f"The first {len(self.columns)} of {len(self.found)} treatments are drawn.")
        means = [(float(np.mean(s.values)), s.settings) for s in self.drawn]
        low, high = (
            f"{self.of.say(mean)} ({combination(at)})"
            for mean, at in (pick(means, key=itemgetter(0)) for pick in (min, max))
        )
        described = f"{plural(len(means), 'treatment')}; the lowest mean is {low}, the highest {high}."
        return self.sheet.picture(prefix, title, described, " ".join([*words, *more]) + self.keyed)


def columns(
    response: Response, samples: Sequence[TreatmentValues], *, order: Sequence[Factor] | None = None, below: float = 0,
    logs: bool = False,
) -> Columns | None:  # fmt: skip
    """Lay treatments out, the last factor fastest; None where there is no spread.

    More than 24 treatments stand in several rows, at most 72 at all.

    Args:
        order: the factors from slow to fast; None: those of the response.
        below: room to leave below the labels.
        logs: the values are on the scale of the response, which is logarithmic.
    """
    found = [s for s in samples if s.values.size]
    every = np.concatenate([s.values for s in found]) if found else np.zeros(0)
    of = scale(response, every, plain=not logs)
    if of is None or float(every.min()) == float(every.max()):
        return None
    factors = [f for f in order or response.factors if any(f.name in s.settings for s in found)]
    found = [found[k] for k in ordered(factors, [s.settings for s in found])]
    rows = _rows(found[:MOST], factors)
    y = vertical(of.of(every), of.measure.log, 0, _PLOT, cut=True, count=7)
    left = max(y.room, names_room(factors), _BESIDE if below else 0)
    pitch = _PLOT + 8 + ROW * len(factors) + below + _GAP
    sheet = Sheet(WIDTH, _HEAD + pitch * len(rows))
    name(sheet, response, of)
    stand: list[Column] = []
    words = ""
    # what changes fastest gives the look, so that neighbours differ
    marked = factors[-1] if factors else None
    slot = min((WIDTH - left - 12) / len(rows[0]), _BROAD)
    for number, row in enumerate(rows):
        top = _HEAD + pitch * number
        placed = y.moved(top, _PLOT)
        grid(sheet, placed.axis, placed.ticks, left, WIDTH - 8)
        at = Places([left + 4 + slot * (k + 0.5) for k in range(len(row))], slot)
        for s, x in zip(row, at.xs, strict=True):
            setting = s.settings.get(marked.name) if marked else None
            look = look_of(marked, setting) if marked and setting is not None else Look(0)
            stand.append(Column(s, x, slot, look, placed))
        labels(sheet, factors, [s.settings for s in row], at, top + _PLOT + 8, left, marked=marked)
        words = words or keyed(factors, [s.settings for s in row], at)
    return Columns(sheet, of, y, stand, found, left, 8 + ROW * len(factors), words)


def _rows(drawn: Sequence[TreatmentValues], factors: Sequence[Factor]) -> list[list[TreatmentValues]]:
    """Break treatments into rows, where it can be between the settings of a slow factor."""
    if len(drawn) <= _PER_ROW:
        return [list(drawn)]
    length = math.ceil(len(drawn) / math.ceil(len(drawn) / _PER_ROW))
    inner = 1
    for factor in reversed(factors):
        if inner * len(factor.settings) > _PER_ROW:
            break
        inner *= len(factor.settings)
    whole = inner * math.ceil(length / inner)
    length = whole if whole <= _PER_ROW and math.ceil(len(drawn) / whole) <= _ROWS else length
    return [list(drawn[k : k + length]) for k in range(0, len(drawn), length)]
