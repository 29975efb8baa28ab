"""Treatments as columns of their values, in rows of as many as can be read: what violins and boxes stand on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import numpy.typing as npt

from gate.commands.study.plots.marks import (
    LAYOUTS,
    Array,
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
from gate.plots.picture import Sheet, room
from gate.plots.scales import Axis
from gate.plots.style import LETTERS_NARROW
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


def height(factors: Sequence[Factor]) -> float:
    """Return the height of the labels of treatments."""
    return ROW * len(factors)


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
        short = {layout: _short(factor, own, places, letters) for layout, letters in LAYOUTS}
        # marks stand before all names of a layout, or before none
        with_marks = frozenset(
            layout
            for layout, letters in LAYOUTS
            if factor == marked and all(_room(run, short[layout], letters) + 20 <= _space(run, places) for run in own)
        )
        for run in own:
            _label(sheet, factor, run, places, middle, short, with_marks)
        if depth:
            _brackets(sheet, own, places, middle - ROW / 2 - 1)


def _brackets(sheet: Sheet, own: Sequence[Run], places: Places, y: float) -> None:
    edge = places.slot * 0.4
    sheet.lines("axis", [[(places.xs[r.first] - edge, y), (places.xs[r.last] + edge, y)] for r in own])


def _label(
    sheet: Sheet, factor: Factor, run: Run, places: Places, middle: float, short: Mapping[str, Mapping[str, str]],
    with_marks: frozenset[str],
) -> None:  # fmt: skip
    if run.setting is None:
        return
    x = (places.xs[run.first] + places.xs[run.last]) / 2
    full = said(run.setting)
    for layout, letters in LAYOUTS:
        text = short[layout].get(full, "")
        mark = 20 if layout in with_marks else 0
        if mark:
            at = x - room(text, letters) / 2 - 2
            look_of(factor, run.setting).marks(sheet, [(at, middle)], "middle", f" {layout}")
        if text:
            sheet.text(x + mark / 2, middle, text, f"other middle {layout}", "middle", full=full)


def _room(run: Run, short: Mapping[str, str], letters: float) -> float:
    return 0.0 if run.setting is None else room(short.get(said(run.setting), ""), letters)


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

    def left_out(self) -> list[str]:
        """Say which values and treatments are not in the picture."""
        words = []
        if self.y.range.beyond:
            every = np.concatenate([s.values for s in self.found])
            out = every[~self.y.inside(self.of.of(every))]
            low, high = (self.of.say(float(end)) for end in (out.min(), out.max()))
            far = f"at {low}" if out.size == 1 else f"{low} to {high}"
            words.append(
                f"{out.size:,} of {plural(every.size, 'value')} {agree(out.size, 'lies', 'lie')} beyond the axis "
                f"({far}), marked at its edge."
            )
        if len(self.columns) < len(self.found):
            words.append(f"The first {len(self.columns)} of {len(self.found)} treatments are drawn.")
        return words

    def described(self) -> str:
        """Name the lowest and the highest mean."""
        means = [(float(np.mean(s.values)), s) for s in self.drawn]
        low, high = min(means, key=lambda m: m[0]), max(means, key=lambda m: m[0])
        return (
            f"{plural(len(means), 'treatment')}; the lowest mean is {self.of.say(low[0])} "
            f"({combination(low[1].settings)}), the highest {self.of.say(high[0])} ({combination(high[1].settings)})."
        )


def columns(
    response: Response,
    samples: Sequence[TreatmentValues],
    *,
    order: Sequence[Factor] | None = None,
    below: float = 0,
    logs: bool = False,
) -> Columns | None:
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
    pitch = _PLOT + 8 + height(factors) + below + _GAP
    sheet = Sheet(WIDTH, _HEAD + pitch * len(rows))
    name(sheet, response, of)
    stand: list[Column] = []
    words = ""
    for number, row in enumerate(rows):
        top = _HEAD + pitch * number
        placed = Vertical(y.range, Axis(y.range.low, y.range.high, top + _PLOT, top), y.ticks, y.room)
        grid(sheet, placed.axis, placed.ticks, left, WIDTH - 8)
        at = _places(left, len(rows[0]), len(row))
        stand += [Column(s, x, at.slot, _look(factors, s), placed) for s, x in zip(row, at.xs, strict=True)]
        marked = factors[-1] if factors else None
        labels(sheet, factors, [s.settings for s in row], at, top + _PLOT + 8, left, marked=marked)
        words = words or keyed(factors, [s.settings for s in row], at)
    return Columns(sheet, of, y, stand, found, left, 8 + height(factors), words)


def edges(sheet: Sheet, numbers: Array, column: Column) -> None:
    """Mark where a treatment has values beyond the axis."""
    x, y, look = column.x, column.y, column.look
    if (numbers > y.range.high).any():
        sheet.marks(f"edge-{look.colour}", "chevron-up", [(x, y.axis.end + 4)], 4)
    if (numbers < y.range.low).any():
        sheet.marks(f"edge-{look.colour}", "chevron-down", [(x, y.axis.start - 4)], 4)


def _look(factors: Sequence[Factor], sample: TreatmentValues) -> Look:
    """Draw by the factor that changes fastest, so that neighbours differ."""
    setting = sample.settings.get(factors[-1].name) if factors else None
    return Look(0) if setting is None else look_of(factors[-1], setting)


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


def _places(left: float, most: int, count: int) -> Places:
    slot = min((WIDTH - left - 12) / most, _BROAD)
    return Places([left + 4 + slot * (k + 0.5) for k in range(count)], slot)
