"""How the pictures of a study distinguish settings and treatments: by mark and line style, colour and name."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

import numpy as np
import numpy.typing as npt

from gate.model.study import Factor, Response, Setting
from gate.plots.axes import quantity, tick_room
from gate.plots.picture import LETTERS, LETTERS_NARROW, SETTINGS, Anchor, Point, Shape, Sheet, room
from gate.plots.scales import Axis, Measure, Range, Tick, limits, log_ticks, measure, minus, ticks
from gate.units import DIMENSIONS, format_number
from gate.words.effects import Unit, unit_of
from gate.writing.plain import clip, told_apart

Size = Literal["small", "middle", "large"]

_SHAPES: tuple[Shape, ...] = ("circle", "triangle", "square", "diamond", "cross", "star", "left", "right")
_SIZES: dict[Size, float] = {"small": 2.3, "middle": 3.7, "large": 5.0}
_CIRCLES: dict[Size, str] = {"small": "dot", "middle": "spot", "large": "big"}
_AREAS: dict[Size, str] = {"small": "tri", "middle": "pip", "large": "mark"}
_CROSSES: dict[Size, str] = {"small": "fine", "middle": "edge", "large": "cross"}
LAYOUTS = (("wide", LETTERS), ("narrow", LETTERS_NARROW))
"""The two sets of texts of a picture and the sizes of their letters."""
_ROW = {"wide": 20, "narrow": 29}


@dataclass(frozen=True, slots=True)
class Look:
    """How one setting or treatment is drawn."""

    number: int
    """From 0; beyond 8 the colours come again with other marks."""

    @property
    def colour(self) -> str:
        """The colour's name in a class."""
        return f"s{self.number % SETTINGS}"

    @property
    def shape(self) -> Shape:
        """The shape of its marks."""
        return _SHAPES[(self.number + self.number // SETTINGS) % len(_SHAPES)]

    def lines(self, kind: str) -> str:
        """Return the classes of its lines: a kind of line in its colour, and its dashes."""
        dash = self.number % SETTINGS
        return f"{kind}-{self.colour}{f' dash-{dash}' if dash else ''}"

    def marks(
        self, sheet: Sheet, points: Sequence[Point], size: Size = "middle", also: str = "", colour: str | None = None
    ) -> None:
        """Draw its marks at some points; also: further classes. colour: instead of its own."""
        kinds = {"circle": _CIRCLES, "cross": _CROSSES}.get(self.shape, _AREAS)
        sheet.marks(f"{kinds[size]}-{colour or self.colour}{also}", self.shape, points, _SIZES[size])

    def hollow(self, sheet: Sheet, points: Sequence[Point], size: Size = "small") -> None:
        """Draw its marks without their insides."""
        if self.shape == "circle":
            ring, hole = ("ring", "hole") if size == "small" else ("wheel", "hub")
            sheet.marks(f"{ring}-{self.colour}", "circle", points)
            sheet.marks(hole, "circle", points)
        elif self.shape == "cross":
            sheet.marks(f"fine-{self.colour}", "cross", points, _SIZES[size])
        else:
            sheet.marks(f"hollow-{self.colour}", self.shape, points, _SIZES[size])


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a legend: a look and what it stands for."""

    look: Look
    name: str


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


def look_of(factor: Factor, setting: Setting) -> Look:
    """Return how a setting is drawn; the sides keep the colours that they have everywhere."""
    if factor.name == "side" and setting in ("base", "head"):
        return Look(("base", "head").index(str(setting)))
    return Look(codes(factor).get(setting, len(factor.settings)))


def entries(factor: Factor, settings: Sequence[Setting] | None = None) -> list[Entry]:
    """Return the legend of a factor's settings, or of some of them."""
    return [Entry(look_of(factor, s), said(s)) for s in (factor.settings if settings is None else settings)]


def factors_by_name(response: Response) -> dict[str, Factor]:
    """Return the factors of a response by name."""
    return {factor.name: factor for factor in response.factors}


def strongest(response: Response) -> Factor:
    """Return the factor with the largest share of the sum of squares, of those with two settings or more; else one.

    Its settings tell most of what a point of many treatments is.
    """
    single = {
        t.factors[0]: t.sum_of_squares
        for t in (response.linear.terms if response.linear else [])
        if len(t.factors) == 1
    }
    several = [f for f in response.factors if len(f.settings) > 1] or list(response.factors)
    return max(several, key=lambda f: single.get(f.name, -1.0))


def write(
    sheet: Sheet, x: float, y: float, text: str, space: float, classes: str = "soft other", anchor: Anchor = "middle"
) -> None:
    """Write a text that is cut to a space in pixels, on a phone, which has larger letters, to as many as fit there."""
    cut = {layout: _cut(text, space, letters) for layout, letters in LAYOUTS}
    if cut["wide"] == cut["narrow"]:
        sheet.text(x, y, cut["wide"], classes, anchor, full=text)
        return
    for layout, short in cut.items():
        sheet.text(x, y, short, f"{classes} {layout}", anchor, full=text)


def _cut(text: str, space: float, letters: float) -> str:
    return text if room(text, letters) <= space else clip(text, max(1, int(space / room("0", letters))))


def shortened(names: Sequence[str], width: int) -> dict[str, str]:
    """Shorten names to a width in columns so that they stay different; {}: no way of cutting them does that."""
    cut = told_apart(names, width) if width > 0 else {}
    return cut if len({*cut.values()}) == len(cut) else {}


def legend_height(listed: Sequence[Entry], space: float, title: str = "") -> float:
    """Return the height that a legend takes."""
    rows = {layout: [row for _, row, _, _ in _flow(listed, space, letters, title)] for layout, letters in LAYOUTS}
    return max(_ROW[layout] * (max(own, default=-1) + 1) for layout, own in rows.items())


def legend(sheet: Sheet, listed: Sequence[Entry], left: float, top: float, space: float, title: str = "") -> None:
    """Draw marks and names in rows, which break where the space ends; a phone gets its own."""
    for layout, letters in LAYOUTS:
        height = _ROW[layout]
        if title and listed:
            shown = _cut(f"{title}:", space / 3, letters)
            sheet.text(left, top + height * 0.5, shown, f"soft other middle {layout}", full=title)
        for x, row, entry, text in _flow(listed, space, letters, title):
            middle = top + height * (row + 0.5)
            entry.look.marks(sheet, [(left + x, middle)], "large", f" {layout}")
            sheet.text(left + x + 10, middle, text, f"other middle {layout}", full=entry.name)


def _flow(listed: Sequence[Entry], space: float, letters: float, title: str) -> Iterator[tuple[float, int, Entry, str]]:
    """Give place and row of each entry, with as much of its name as there is room for."""
    begin = min(room(f"{title}:", letters), space / 3) + 14 if title else 8.0
    x, row = begin, 0
    for entry in listed:
        text = _cut(entry.name, min(space - begin - 20, space / 2), letters)
        width = 10 + room(text, letters)
        if x + width > space and x > begin:
            x, row = begin, row + 1
        yield x, row, entry, text
        x += width + 26


def apart(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Move places apart to at least a gap, each as near to where it was wanted as that allows, within two ends.

    Raises:
        ValueError: the ends do not hold so many.
    """
    if (len(wanted) - 1) * gap > high - low + 1e-6:
        raise ValueError(f"{len(wanted)} places {gap:g} apart need more than {high - low:g}")
    ranked = sorted(range(len(wanted)), key=wanted.__getitem__)
    blocks: list[tuple[list[int], float]] = []
    for index in ranked:
        blocks.append(([index], wanted[index]))
        while len(blocks) > 1:
            (above, first), (below, last) = blocks[-2:]
            if first + (len(above) - 1) * gap / 2 + gap <= last - (len(below) - 1) * gap / 2:
                break
            # what meets becomes one block around the mean of what its members want
            members = [*above, *below]
            blocks[-2:] = [(members, sum(wanted[m] for m in members) / len(members))]
    places = [0.0] * len(wanted)
    for members, middle in blocks:
        for nth, index in enumerate(members):
            places[index] = middle - (len(members) - 1) * gap / 2 + nth * gap
    least, most = low, high
    for index in ranked:
        places[index] = max(places[index], least)
        least = places[index] + gap
    for index in reversed(ranked):
        places[index] = min(places[index], most)
        most = places[index] - gap
    return places


Array = npt.NDArray[np.float64]

_FEWEST_TICKS = 3
_GOLDEN = 0.6180339887498949


@dataclass(frozen=True, slots=True)
class Scale:
    """How values of a response become numbers of an axis."""

    measure: Measure
    natural: bool
    """The values are natural logarithms."""

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


@dataclass(frozen=True, slots=True)
class Vertical:
    """A vertical axis: its ends in numbers, its pixels, its ticks and the room that they take at its left."""

    range: Range
    axis: Axis
    ticks: list[Tick]
    room: float

    def inside(self, numbers: Array) -> npt.NDArray[np.bool_]:
        """Tell which numbers lie within the ends."""
        return (numbers >= self.range.low) & (numbers <= self.range.high)

    def moved(self, top: float, height: float) -> Vertical:
        """Return the same axis at another place."""
        return replace(self, axis=Axis(self.range.low, self.range.high, top + height, top))

    def edges(self, sheet: Sheet, look: Look, xs: Sequence[float], numbers: Array) -> None:
        """Mark at the edge where numbers lie beyond it."""
        for shape, beyond, y in (
            ("chevron-up", numbers > self.range.high, self.axis.end + 4),
            ("chevron-down", numbers < self.range.low, self.axis.start - 4),
        ):
            sheet.marks(
                f"edge-{look.colour}", cast("Shape", shape), [(xs[k], y) for k in np.flatnonzero(beyond).tolist()], 4
            )

    def beyond(self, sheet: Sheet, look: Look, x: float, numbers: Array) -> None:
        """Mark at the edge of a column where its largest or smallest number lies beyond it."""
        for end in (numbers.max(), numbers.min()):
            self.edges(sheet, look, [x], np.array([end]))


def scale(response: Response, values: Array, *, plain: bool = False) -> Scale | None:
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
        return None if unit is None else Scale(Measure(unit.factor, unit.name, True), True)
    unit = _unit(response, values)
    return None if unit is None else Scale(Measure(unit.factor, unit.name, bool(logs and values.min() > 0)), False)


def _unit(response: Response, values: Array) -> Unit | None:
    """Return the unit of the response; of a count one with a power of ten, where its numbers are long."""
    found = measure(values, response.unit)
    if found is None:
        return None
    return unit_of(response) if response.unit in DIMENSIONS else Unit(found.factor, found.unit)


def vertical(numbers: Array, log: bool, top: float, bottom: float, *, cut: bool = False, count: int = 6) -> Vertical:
    """Choose the ends of an axis for numbers, of which few may lie beyond if it is to be cut."""
    ends = limits(numbers, []) if cut else whole(numbers)
    marks = marks_between(ends.low, ends.high, count, log=log)
    return Vertical(ends, Axis(ends.low, ends.high, bottom, top), marks, tick_room(marks))


def whole(numbers: Array) -> Range:
    """Return ends that hold all numbers, with a margin."""
    low, high = float(numbers.min()), float(numbers.max())
    # rounding alone is no spread
    pad = 0.07 * (high - low) if high - low > 1e-9 * max(abs(low), abs(high)) else 0.05 * abs(high) or 1.0
    return Range(low - pad, high + pad, 0)


def marks_between(low: float, high: float, count: int, *, log: bool) -> list[Tick]:
    """Choose round numbers between two ends; on a short log axis they are evenly spaced numbers."""
    if not log:
        return ticks(low, high, count)
    found = log_ticks(low, high, count)
    if len(found) >= _FEWEST_TICKS:
        return found
    return [Tick(math.log10(t.at), t.label) for t in ticks(10.0**low, 10.0**high, count) if t.at > 0]


def both(
    sheet: Sheet, x: float, y: float, wide: str, narrow: str, classes: str = "soft other", anchor: Anchor = "start"
) -> None:
    """Write a text, and a shorter one for a phone."""
    for layout, text in (("wide", wide), ("narrow", narrow)):
        sheet.text(x, y, text, f"{classes} {layout}", anchor)


def in_unit(unit: str, width: int) -> str:
    """Write a unit behind what is in it: ", ms"."""
    return f", {clip(said(unit), width)}" if unit else ""


def evenly(values: Array, most: int) -> Array:
    """Choose at most so many values, evenly in their order."""
    return values if values.size <= most else values[np.linspace(0, values.size - 1, most).astype(np.int64)]


def spread_out(count: int) -> Array:
    """Return shares of a width, 0 to 1, at which marks stand apart: evenly spread, always the same."""
    return np.asarray((np.arange(count) * _GOLDEN) % 1, dtype=np.float64)


def box(
    sheet: Sheet, look: Look, x: float, half: float, quartiles: tuple[float, float, float], ends: tuple[float, float]
) -> None:
    """Draw a box from quartile to quartile with the median in it, and whiskers to two ends, all in pixels."""
    first, middle, third = quartiles
    corners = [(x - half, first), (x + half, first), (x + half, third), (x - half, third)]
    sheet.lines(f"box-{look.colour}", [corners], closed=True)
    stems = [[(x, first), (x, ends[0])], [(x, third), (x, ends[1])]]
    caps = [[(x - half / 2, end), (x + half / 2, end)] for end in ends]
    sheet.lines(f"fine-{look.colour}", [*stems, *caps])
    sheet.lines(f"bar-{look.colour}", [[(x - half, middle), (x + half, middle)]])


def name(sheet: Sheet, response: Response, of: Scale, before: str = "") -> None:
    """Write above a vertical axis what it holds."""
    quantity(sheet, said(response.metric), said(of.measure.unit), log=of.measure.log, before=before)


@dataclass(frozen=True, slots=True)
class Differences:
    """How differences of values are written: divided by a factor, in a unit; percent where they are of logarithms."""

    factor: float
    unit: str
    percent: bool

    def of(self, difference: float) -> float:
        """Return the number of a difference."""
        return math.expm1(min(difference, 300.0)) * 100 if self.percent else difference / self.factor

    def say(self, difference: float) -> str:
        """Write a difference with its sign and unit."""
        number = self.of(difference)
        sign = "+" if number > 0 else ""
        return minus(f"{sign}{format_number(number, 3)}{'%' if self.percent else f' {said(self.unit)}'.rstrip()}")


def differences(response: Response, sizes: Array) -> Differences | None:
    """Choose the unit of differences; None where there is none that is finite."""
    finite = np.abs(sizes[np.isfinite(sizes)])
    if finite.size == 0:
        return None
    if response.scale == "log":
        return Differences(1.0, "%", True)
    found = _unit(response, np.array([float(finite.max())])) or unit_of(response)
    return Differences(found.factor, found.name, False)
