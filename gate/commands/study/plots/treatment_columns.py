"""Treatments as columns of their values, in rows of as many as can be read: what violins and boxes stand on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Literal

import numpy as np

from gate.commands.study.plots import styles as m
from gate.commands.study.plots.styles import WIDTH, Scale, combination, look_of, said
from gate.model.study import Factor, Response, Setting
from gate.plots import panels
from gate.plots.panels import Array, Look, Panel, Span
from gate.plots.picture import LETTERS, Picture, Sheet, room
from gate.plots.scales import Axis
from gate.units import agree, plural
from gate.writing.plain import clip

ROW = 27
"""Height of a row of labels."""
_NAMES = 124.0


def ordered(factors: Sequence[Factor], found: Sequence[Mapping[str, Setting]]) -> list[int]:
    """Return the order in which the last factor changes fastest, as indices."""
    numbers = [m.codes(factor) for factor in factors]

    def key(index: int) -> list[int]:
        own = found[index]
        return [numbers[k].get(own[f.name], len(f.settings)) if f.name in own else -1 for k, f in enumerate(factors)]

    return sorted(range(len(found)), key=key)


def names_room(factors: Sequence[Factor]) -> float:
    """Return the room that the names of factors want at the left, within reason."""
    return min(max((room(said(f.name), LETTERS) for f in factors), default=0.0) + 18, _NAMES)


def labels(
    sheet: Sheet, factors: Sequence[Factor], found: Sequence[Mapping[str, Setting]], x: Axis, top: float, *,
    marked: Factor | None = None,
) -> str:  # fmt: skip
    """Write the settings of treatments below an axis of their places, and the factors' names before it.

    Names are shortened to the narrowest place so that they stay different; where that cannot be, they are numbered.

    Args:
        found: in their order.
        marked: the factor whose settings have marks, drawn before its names where there is room.

    Returns:
        A sentence that says which numbers stand for which names; "" for none.
    """
    slot = (x.end - x.start) / (x.high - x.low)
    numbered = []
    for depth, factor in enumerate(reversed(factors)):
        middle = top + ROW * (depth + 0.5)
        # neighbouring places with the same setting of it, and of all slower ones: the first and the last of each
        slower = [f.name for f in factors[: len(factors) - depth]]
        groups = groupby(range(len(found)), key=lambda k: [found[k].get(name) for name in slower])
        ends = [(own[0], own[-1]) for own in (list(group) for _, group in groups)]
        own = [found[first].get(factor.name) for first, _ in ends]
        m.write(sheet, x.start - 12, middle, said(factor.name), x.start - 16, "soft other small middle", "end")
        spaces = [slot * (last - first + 1) - 1 for first, last in ends]
        names = [said(setting) for setting in factor.settings]
        width = int((min(spaces, default=0.0) - 10) / room("0", LETTERS))
        short = m.shortened(names, width)
        if not short and len(str(len(names))) <= width:
            short = {n: str(number) for number, n in enumerate(names, start=1)}
            listed = ", ".join(f"{number} {clip(n, 24)}" for number, n in enumerate(names, start=1))
            numbered.append(f"{clip(said(factor.name), 24)}: {listed}")
        texts = ["" if setting is None else short.get(said(setting), "") for setting in own]
        # marks stand before all names, or before none
        mark = factor == marked and all(room(t, LETTERS) + 20 <= space for t, space in zip(texts, spaces, strict=True))
        for (first, last), setting, text in zip(ends, own, texts, strict=True):
            if setting is not None:
                at = (x.at(first) + x.at(last)) / 2
                if mark:
                    look_of(factor, setting).marks(sheet, [(at - room(text, LETTERS) / 2 - 2, middle)], "middle")
                if text:
                    sheet.text(at + 10 * mark, middle, text, "other middle", "middle", full=said(setting))
        if depth:
            edge, y = slot * 0.4, middle - ROW / 2 - 1
            sheet.lines("axis", [[(x.at(first) - edge, y), (x.at(last) + edge, y)] for first, last in ends])
    return f"Where names do not fit, settings are numbered: {'; '.join(reversed(numbered))}." if numbered else ""


_HEAD, _PLOT = 32, 236
_GAP = 14
_PER_ROW = 24
_ROWS = 3
MOST = _PER_ROW * _ROWS
"""Treatments that are drawn at most."""
_BROAD = 120.0


@dataclass(frozen=True, slots=True, eq=False)
class TreatmentValues:
    """The values of one treatment as measured, in the base unit of the response and in their order."""

    settings: Mapping[str, Setting]
    values: Array


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """A treatment and where it stands: the place of so many in a panel."""

    sample: TreatmentValues
    look: Look
    panel: Panel
    place: int
    numbers: Array
    """Its values on the axis."""


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """A sheet with axes and labels, and the treatments to draw on it."""

    sheet: Sheet
    of: Scale
    span: Span
    columns: list[Column]
    found: list[TreatmentValues]
    keyed: str
    """What the numbers in place of names stand for, in words."""

    def picture(self, prefix: str, title: str, *sentences: str | Literal[False]) -> Picture:
        """Finish the picture; sentences: of its caption, before what is not in it and what numbers stand for."""
        every = np.concatenate([s.values for s in self.found])
        out = every[~self.span.inside(self.of.of(every))]
        beyond = ""
        if out.size:
            low, high = (self.of.say(float(end)) for end in (out.min(), out.max()))
            beyond = (
                f"{out.size:,} of {plural(every.size, 'value')} {agree(out.size, 'lies', 'lie')} beyond the axis "
                f"({f'at {low}' if out.size == 1 else f'{low} to {high}'}), marked at its edge."
            )
        left_out = len(self.columns) < len(self.found)
        first = left_out and f"The first {len(self.columns)} of {len(self.found)} treatments are drawn."
        means = [(float(np.mean(c.sample.values)), c.sample.settings) for c in self.columns]
        low, high = (
            f"{self.of.say(mean)} ({combination(at)})"
            for mean, at in (pick(means, key=itemgetter(0)) for pick in (min, max))
        )
        described = f"{plural(len(means), 'treatment')}; the lowest mean is {low}, the highest {high}."
        return self.sheet.picture(prefix, title, described, m.words(*sentences, beyond, first, self.keyed))


def columns(
    response: Response, samples: Sequence[TreatmentValues], *, order: Sequence[Factor] | None = None, logs: bool = False
) -> Columns | None:
    """Lay treatments out, the last factor fastest; None where there is no spread.

    More than 24 treatments stand in several rows, at most 72 at all.

    Args:
        order: the factors from slow to fast; None: those of the response.
        logs: the values are on the scale of the response, which is logarithmic.
    """
    found = [s for s in samples if s.values.size]
    every = np.concatenate([s.values for s in found]) if found else np.zeros(0)
    of = m.scale(response, every, plain=not logs)
    if of is None or float(every.min()) == float(every.max()):
        return None
    factors = [f for f in order or response.factors if any(f.name in s.settings for s in found)]
    found = [found[k] for k in ordered(factors, [s.settings for s in found])]
    # break them into rows, where it can be between the settings of a slow factor
    count = min(len(found), MOST)
    length, inner = math.ceil(count / math.ceil(count / _PER_ROW)), 1
    for factor in reversed(factors if count > _PER_ROW else ()):
        if inner * len(factor.settings) > _PER_ROW:
            break
        inner *= len(factor.settings)
    whole = inner * math.ceil(length / inner)
    length = whole if whole <= _PER_ROW and math.ceil(count / whole) <= _ROWS else length
    rows = [found[k : min(k + length, count)] for k in range(0, count, length)]
    y = panels.span(of.of(every), of.log, cut_off=True, count=7)
    left = max(y.room, names_room(factors))
    pitch = _PLOT + 8 + ROW * len(factors) + _GAP
    sheet = Sheet(WIDTH, _HEAD + pitch * len(rows))
    m.name(sheet, response, of)
    stand: list[Column] = []
    keyed = ""
    # what changes fastest gives the look, so that neighbours differ
    marked = factors[-1] if factors else None
    slot = min((WIDTH - left - 12) / len(rows[0]), _BROAD)
    for number, row in enumerate(rows):
        x = panels.places(left + 4, slot, len(row))
        drawn = Panel.on(sheet, Axis(0, 1, left, WIDTH - 8), y, _HEAD + pitch * number, _PLOT).across(x)
        for place, s in enumerate(row):
            setting = s.settings.get(marked.name) if marked else None
            look = look_of(marked, setting) if marked and setting is not None else Look(0)
            stand.append(Column(s, look, drawn, place, of.of(s.values)))
        told = labels(sheet, factors, [s.settings for s in row], x, drawn.y.start + 8, marked=marked)
        keyed = keyed or told
    return Columns(sheet, of, y, stand, found, keyed)
