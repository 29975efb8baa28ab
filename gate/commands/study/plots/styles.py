"""What the pictures of a study share: looks of settings, legends, texts in their room, scales, columns of values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Literal

import numpy as np

from gate.commands.study.changes import Unit, unit_of
from gate.model.study import Factor, Response, Setting
from gate.plots import panels
from gate.plots.panels import Array, Panel, PlotStyle, Span
from gate.plots.picture import LETTERS, Anchor, Picture, Sheet, room
from gate.plots.scales import Axis, Measure, measure
from gate.writing.plain import clip, told_apart
from gate.writing.units import DIMENSIONS, agree, plural

WIDTH = 720
"""Of every picture."""
_LEGEND = 20
"""Height of a row of a legend."""


# --- settings ---------------------------------------------------------------------------------------------------------


Entry = tuple[PlotStyle, str]
"""A line of a legend: a look and what it stands for."""


def said(setting: Setting | str) -> str:
    """Write a setting on one line, without what does not print."""
    text = f"{setting:.6g}" if isinstance(setting, float) else str(setting)
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


def combination(settings: Mapping[str, Setting], width: int = 60) -> str:
    """Write settings in words, "load=busy, sched=fifo"; "all" where there are none."""
    names = ", ".join(f"{clip(said(name), 24)}={clip(said(setting), 24)}" for name, setting in settings.items())
    return clip(names, width) if names else "all"


def codes(factor: Factor) -> dict[Setting, int]:
    """Return the number of each setting of a factor."""
    return {setting: number for number, setting in enumerate(factor.settings)}


def look_of(factor: Factor, setting: Setting) -> PlotStyle:
    """Return how a setting is drawn; the sides keep the colours that they have everywhere."""
    if factor.name == "side" and setting in ("base", "head"):
        return PlotStyle(("base", "head").index(str(setting)))
    return PlotStyle(codes(factor).get(setting, len(factor.settings)))


def entries(factor: Factor, settings: Sequence[Setting] | None = None) -> list[Entry]:
    """Return the legend of a factor's settings, or of some of them."""
    return [(look_of(factor, s), said(s)) for s in (factor.settings if settings is None else settings)]


def factors_by_name(response: Response) -> dict[str, Factor]:
    """Return the factors of a response by name."""
    return {factor.name: factor for factor in response.factors}


# --- texts ------------------------------------------------------------------------------------------------------------


def words(*sentences: str | Literal[False] | None) -> str:
    """Join the sentences of a caption that there are."""
    return " ".join(sentence for sentence in sentences if sentence)


def cut(text: str, space: float) -> str:
    """Cut a text to a space in pixels."""
    return text if room(text, LETTERS) <= space else clip(text, letters_in(space))


def letters_in(space: float) -> int:
    """Return how many letters a space in pixels holds, at least 1."""
    return max(1, int(space / room("0", LETTERS)))


def write(
    sheet: Sheet, x: float, y: float, text: str, space: float, classes: str = "soft other", anchor: Anchor = "middle"
) -> None:
    """Write a text that is cut to a space in pixels."""
    sheet.text(x, y, cut(text, space), classes, anchor, full=text)


def shortened(names: Sequence[str], width: int) -> dict[str, str]:
    """Shorten names to a width in columns so that they stay different; {}: no way of cutting them does that."""
    found = told_apart(names, width) if width > 0 else {}
    return found if len({*found.values()}) == len(found) else {}


def in_unit(unit: str, width: int) -> str:
    """Write a unit behind what is in it: ", ms"."""
    return f", {clip(said(unit), width)}" if unit else ""


def legend_height(listed: Sequence[Entry], space: float, title: str = "") -> float:
    """Return the height that a legend takes."""
    return _LEGEND * (1 + max((row for _, row, _, _ in _flow(listed, space, title)), default=-1))


def legend(sheet: Sheet, listed: Sequence[Entry], left: float, top: float, space: float, title: str = "") -> None:
    """Draw marks and names in rows, which break where the space ends."""
    if title and listed:
        write(sheet, left, top + _LEGEND * 0.5, f"{title}:", space / 3, "soft other middle", "start")
    for x, row, (look, name), text in _flow(listed, space, title):
        middle = top + _LEGEND * (row + 0.5)
        look.marks(sheet, [(left + x, middle)], "large")
        sheet.text(left + x + 10, middle, text, "other middle", full=name)


def _flow(listed: Sequence[Entry], space: float, title: str) -> Iterator[tuple[float, int, Entry, str]]:
    """Give place and row of each entry, with as much of its name as there is room for."""
    begin = min(room(f"{title}:", LETTERS), space / 3) + 14 if title else 8.0
    x, row = begin, 0
    for entry in listed:
        text = cut(entry[1], min(space - begin - 20, space / 2))
        width = 10 + room(text, LETTERS)
        if x + width > space and x > begin:
            x, row = begin, row + 1
        yield x, row, entry, text
        x += width + 26


def apart(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Move places apart to at least a gap, with the least squares of moves that two ends allow.

    Raises: ValueError: the ends do not hold so many.
    """
    from scipy.optimize import isotonic_regression

    if (len(wanted) - 1) * gap > high - low + 1e-6:
        raise ValueError(f"{len(wanted)} places {gap:g} apart need more than {high - low:g}")
    if not wanted:
        return []
    # less a gap for each place before it, places may meet but not cross
    ranked, before = np.argsort(wanted, kind="stable"), gap * np.arange(len(wanted))
    places = np.empty(len(wanted))
    free = isotonic_regression(np.array(wanted)[ranked] - before).x
    places[ranked] = np.clip(free, low, max(low, high - before[-1])) + before
    found: list[float] = places.tolist()
    return found


# --- axes -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AxisScale:
    """How values of a response become numbers of an axis."""

    measure: Measure
    natural: bool
    """The values are natural logarithms."""

    @property
    def log(self) -> bool:
        """Whether the axis is a logarithm."""
        return self.measure.log

    def of(self, values: Array) -> Array:
        """Return the numbers of values."""
        if self.natural:
            return (values - math.log(self.measure.factor)) / math.log(10)
        return self.measure.of(values)

    def one(self, value: float) -> float:
        """Return the number of one value."""
        return float(self.of(np.array([value]))[0])

    def say(self, value: float) -> str:
        """Write a value with its unit."""
        plain = math.exp(value) if self.natural else value
        return f"{self.measure.say(plain)} {said(self.measure.unit)}".rstrip()


def scale(response: Response, values: Array, *, plain: bool = False) -> AxisScale | None:
    """Choose unit and kind of axis for values of a response; None where floats cannot hold what a picture needs.

    The axis is a logarithm where the response is one.

    Args:
        plain: the values are no logarithms, whatever the response is; they get its axis if they are all above 0.
    """
    logs = response.scale == "log"
    if values.size == 0 or not np.isfinite(values).all():
        return None
    if logs and not plain:
        # the intervals of few replicates reach as far as they like
        if not -600 < values.min() <= values.max() < 600:
            return None
        unit = _unit(response, np.exp(values))
        return None if unit is None else AxisScale(Measure(unit.factor, unit.name, True), True)
    unit = _unit(response, values)
    return None if unit is None else AxisScale(Measure(unit.factor, unit.name, bool(logs and values.min() > 0)), False)


def _unit(response: Response, values: Array) -> Unit | None:
    """Return the unit of the response; of a count one with a power of ten, where its numbers are long."""
    found = measure(values, response.unit)
    if found is None:
        return None
    return unit_of(response) if response.unit in DIMENSIONS else Unit(found.factor, found.unit)


def name(sheet: Sheet, response: Response, of: AxisScale, before: str = "") -> None:
    """Write above a vertical axis what it holds."""
    metric = clip(said(response.metric), 24)
    sheet.text(12, 20, f"{before}{metric}{in_unit(of.measure.unit, 16)}{' (log axis)' if of.log else ''}", "soft other")


# --- treatments as columns of their values, in rows of as many as can be read -----------------------------------------

ROW = 27
"""Height of a row of labels."""
_NAMES = 124.0


def ordered(factors: Sequence[Factor], found: Sequence[Mapping[str, Setting]]) -> list[int]:
    """Return the order in which the last factor changes fastest, as indices."""
    numbers = [codes(factor) for factor in factors]

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
) -> None:  # fmt: skip
    """Write the settings of treatments below an axis of their places, and the factors' names before it.

    Names are shortened to the narrowest place so that they stay different, where that can be; hovering shows all.

    Args:
        found: in their order.
        marked: the factor whose settings have marks, drawn before its names where there is room.
    """
    slot = (x.end - x.start) / (x.high - x.low)
    for depth, factor in enumerate(reversed(factors)):
        middle = top + ROW * (depth + 0.5)
        # neighbouring places with the same setting of it, and of all slower ones: the first and the last of each
        slower = [f.name for f in factors[: len(factors) - depth]]
        groups = groupby(range(len(found)), key=lambda k: [found[k].get(name) for name in slower])
        ends = [(own[0], own[-1]) for own in (list(group) for _, group in groups)]
        own = [found[first].get(factor.name) for first, _ in ends]
        write(sheet, x.start - 12, middle, said(factor.name), x.start - 16, "soft other small middle", "end")
        spaces = [slot * (last - first + 1) - 1 for first, last in ends]
        width = int((min(spaces, default=0.0) - 10) / room("0", LETTERS))
        short = shortened([said(setting) for setting in factor.settings], width)
        texts = ["" if setting is None else short.get(said(setting), cut(said(setting), slot)) for setting in own]
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
class TreatmentColumn:
    """A treatment and where it stands: the place of so many in a panel."""

    sample: TreatmentValues
    look: PlotStyle
    panel: Panel
    place: int
    numbers: Array
    """Its values on the axis."""


@dataclass(frozen=True, slots=True, eq=False)
class TreatmentColumns:
    """A sheet with axes and labels, and the treatments to draw on it."""

    sheet: Sheet
    of: AxisScale
    span: Span
    columns: list[TreatmentColumn]
    found: list[TreatmentValues]

    def picture(self, prefix: str, title: str, *sentences: str | Literal[False]) -> Picture:
        """Finish the picture; sentences: of its caption, before what is not in it."""
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
        return self.sheet.picture(prefix, title, described, words(*sentences, beyond, first))


def columns(
    response: Response, samples: Sequence[TreatmentValues], *, order: Sequence[Factor] | None = None, logs: bool = False
) -> TreatmentColumns | None:
    """Lay treatments out, the last factor fastest; None where there is no spread.

    More than 24 treatments stand in several rows, at most 72 at all.

    Args:
        order: the factors from slow to fast; None: those of the response.
        logs: the values are on the scale of the response, which is logarithmic.
    """
    found = [s for s in samples if s.values.size]
    every = np.concatenate([s.values for s in found]) if found else np.zeros(0)
    of = scale(response, every, plain=not logs)
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
    name(sheet, response, of)
    stand: list[TreatmentColumn] = []
    # what changes fastest gives the look, so that neighbours differ
    marked = factors[-1] if factors else None
    slot = min((WIDTH - left - 12) / len(rows[0]), _BROAD)
    for number, row in enumerate(rows):
        x = panels.places(left + 4, slot, len(row))
        drawn = Panel.on(sheet, Axis(0, 1, left, WIDTH - 8), y, _HEAD + pitch * number, _PLOT).across(x)
        for place, s in enumerate(row):
            setting = s.settings.get(marked.name) if marked else None
            look = look_of(marked, setting) if marked and setting is not None else PlotStyle(0)
            stand.append(TreatmentColumn(s, look, drawn, place, of.of(s.values)))
        labels(sheet, factors, [s.settings for s in row], x, drawn.y.start + 8, marked=marked)
    return TreatmentColumns(sheet, of, y, stand, found)
