"""What the pictures of a study are made of: looks of settings, legends, axes, and panels where data become marks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

import numpy as np
import numpy.typing as npt

from gate.model.study import Factor, Response, Setting
from gate.plots.axes import grid, tick_room
from gate.plots.picture import LETTERS, SETTINGS, Anchor, Point, Shape, Sheet, room
from gate.plots.scales import Axis, Measure, Range, Tick, limits, log_ticks, measure, minus, ticks
from gate.units import DIMENSIONS, format_number
from gate.words.effects import Unit, unit_of
from gate.writing.plain import clip, told_apart

Array = npt.NDArray[np.float64]
Size = Literal["small", "middle", "large"]

WIDTH = 720
"""Of every picture."""
_SHAPES: tuple[Shape, ...] = ("circle", "triangle", "square", "diamond", "cross", "star", "left", "right")
_SIZES: dict[Size, float] = {"small": 2.3, "middle": 3.7, "large": 5.0}
_KINDS: dict[str, dict[Size, str]] = {
    "circle": {"small": "dot", "middle": "spot", "large": "big"},
    "cross": {"small": "fine", "middle": "edge", "large": "cross"},
    "area": {"small": "tri", "middle": "pip", "large": "mark"},
}
_LEGEND = 20
"""Height of a row of a legend."""
_FEWEST_TICKS = 3
_GOLDEN = 0.6180339887498949


# --- settings ---------------------------------------------------------------------------------------------------------


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

    def marks(self, sheet: Sheet, points: Sequence[Point], size: Size = "middle", colour: str | None = None) -> None:
        """Draw its marks at some points; colour: instead of its own."""
        kind = _KINDS.get(self.shape, _KINDS["area"])[size]
        sheet.marks(f"{kind}-{colour or self.colour}", self.shape, points, _SIZES[size])

    def hollow(self, sheet: Sheet, points: Sequence[Point], size: Size = "small") -> None:
        """Draw its marks without their insides."""
        if self.shape == "circle":
            ring, hole = ("ring", "hole") if size == "small" else ("wheel", "hub")
            sheet.marks(f"{ring}-{self.colour}", "circle", points)
            sheet.marks(hole, "circle", points)
        else:
            kind = "fine" if self.shape == "cross" else "hollow"
            sheet.marks(f"{kind}-{self.colour}", self.shape, points, _SIZES[size])


Entry = tuple[Look, str]
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


def look_of(factor: Factor, setting: Setting) -> Look:
    """Return how a setting is drawn; the sides keep the colours that they have everywhere."""
    if factor.name == "side" and setting in ("base", "head"):
        return Look(("base", "head").index(str(setting)))
    return Look(codes(factor).get(setting, len(factor.settings)))


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

    Raises:
        ValueError: the ends do not hold so many.
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
class Scale:
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


@dataclass(frozen=True, slots=True)
class Differences:
    """How differences of values are written: divided by a factor, in a unit; percent where they are of logarithms."""

    factor: float
    unit: str
    percent: bool

    def one(self, difference: float) -> float:
        """Return the number of a difference."""
        return math.expm1(min(difference, 300.0)) * 100 if self.percent else difference / self.factor

    def say(self, difference: float) -> str:
        """Write a difference with its sign and unit."""
        number = self.one(difference)
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


@dataclass(frozen=True, slots=True)
class Span:
    """The ends of an axis in its numbers, and its ticks."""

    range: Range
    ticks: list[Tick]

    @property
    def room(self) -> float:
        """What the labels of the ticks take at the left."""
        return tick_room(self.ticks)

    def inside(self, numbers: Array) -> npt.NDArray[np.bool_]:
        """Tell which numbers lie within the ends."""
        return (numbers >= self.range.low) & (numbers <= self.range.high)


def span(numbers: Array, log: bool, *, cut_off: bool = False, count: int = 6) -> Span:
    """Choose the ends of an axis for numbers, of which few may lie beyond if it is to be cut off."""
    ends = limits(numbers, []) if cut_off else whole(numbers)
    return Span(ends, marks_between(ends.low, ends.high, count, log=log))


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


def places(left: float, slot: float, count: int) -> Axis:
    """Return an axis of places 0, 1, ... that have so many pixels each."""
    return Axis(-0.5, count - 0.5, left, left + slot * count)


def evenly(values: Array, most: int) -> Array:
    """Choose at most so many values, evenly in their order."""
    return values if values.size <= most else values[np.linspace(0, values.size - 1, most).astype(np.int64)]


def spread_out(count: int) -> Array:
    """Return numbers from -1 to 1 at which marks stand apart: evenly spread, always the same."""
    return np.asarray((np.arange(count) * _GOLDEN) % 1 * 2 - 1, dtype=np.float64)


# --- panels -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Panel:
    """A part of a sheet with two axes, on which numbers become marks."""

    sheet: Sheet
    x: Axis
    y: Axis
    span: Span
    """Of y."""

    @staticmethod
    def on(sheet: Sheet, x: Axis, of: Span, top: float, height: float, *, labels: bool = True) -> Panel:
        """Draw the grid of a panel; labels: with the numbers of its vertical axis at the left."""
        y = Axis(of.range.low, of.range.high, top + height, top)
        grid(sheet, y, of.ticks, x.start, x.end, labels=labels)
        return Panel(sheet, x, y, of)

    def across(self, x: Axis) -> Panel:
        """Return the same with another horizontal axis."""
        return replace(self, x=x)

    @property
    def middle(self) -> float:
        """Pixel of the middle of the horizontal axis."""
        return (self.x.start + self.x.end) / 2

    @property
    def slot(self) -> float:
        """Pixels of 1 on the horizontal axis."""
        return (self.x.end - self.x.start) / (self.x.high - self.x.low)

    def points(self, xs: Sequence[float] | Array, ys: Sequence[float] | Array) -> list[Point]:
        """Return where numbers stand on the sheet."""
        return list(zip(self.x.all(np.asarray(xs)), self.y.all(np.asarray(ys)), strict=True))

    def line(self, classes: str, xs: Sequence[float] | Array, ys: Sequence[float] | Array) -> None:
        """Draw a line through numbers."""
        self.sheet.lines(classes, [self.points(xs, ys)])

    def level(self, classes: str, *heights: float) -> None:
        """Draw lines over the whole width at heights."""
        self.sheet.lines(classes, [[(self.x.start, self.y.at(h)), (self.x.end, self.y.at(h))] for h in heights])

    def bar(self, x: float, y: float, half: float) -> None:
        """Mark a mean by a line that stands out; half: of its width in pixels."""
        at, height = self.x.at(x), self.y.at(y)
        for kind in ("halo", "mean"):
            self.sheet.lines(kind, [[(at - half, height), (at + half, height)]])

    def interval(self, classes: str, x: float, ends: tuple[float, float], cap: float) -> None:
        """Draw an interval with caps; cap: half of their width in pixels."""
        at, heights = self.x.at(x), [self.y.at(end) for end in ends]
        self.sheet.lines(classes, [[(at, h) for h in heights], *([(at - cap, h), (at + cap, h)] for h in heights)])

    def marks(self, look: Look, xs: Array, ys: Array, size: Size = "small", *, hollow: bool = False) -> None:
        """Mark the numbers that lie within the ends."""
        inside = self.span.inside(ys)
        (look.hollow if hollow else look.marks)(self.sheet, self.points(xs[inside], ys[inside]), size)

    def edges(self, look: Look, xs: Sequence[float] | Array, ys: Array) -> None:
        """Mark at the edge where numbers lie beyond it."""
        at = self.x.all(np.asarray(xs))
        for shape, beyond, y in (
            ("chevron-up", ys > self.span.range.high, self.y.end + 4),
            ("chevron-down", ys < self.span.range.low, self.y.start - 4),
        ):
            points = [(at[k], y) for k in np.flatnonzero(beyond).tolist()]
            self.sheet.marks(f"edge-{look.colour}", cast("Shape", shape), points, 4)

    def beyond(self, look: Look, x: float, ys: Array) -> None:
        """Mark at the edge of a column where its largest or smallest number lies beyond it."""
        self.edges(look, [x, x], np.array([ys.max(), ys.min()]))

    def box(
        self, look: Look, x: float, half: float, quartiles: tuple[float, float, float], ends: tuple[float, float]
    ) -> None:
        """Draw a box from quartile to quartile with the median in it, and whiskers to two ends; half: in pixels."""
        x = self.x.at(x)
        first, middle, third, low, high = (self.y.at(value) for value in (*quartiles, *ends))
        corners = [(x - half, first), (x + half, first), (x + half, third), (x - half, third)]
        self.sheet.lines(f"box-{look.colour}", [corners], closed=True)
        stems = [[(x, first), (x, low)], [(x, third), (x, high)]]
        caps = [[(x - half / 2, end), (x + half / 2, end)] for end in (low, high)]
        self.sheet.lines(f"fine-{look.colour}", [*stems, *caps])
        self.sheet.lines(f"bar-{look.colour}", [[(x - half, middle), (x + half, middle)]])

    def band(self, colour: str, xs: Sequence[float], ends: Sequence[tuple[float, float] | None]) -> None:
        """Draw intervals as a band, which ends where there is none; a single one is a line."""
        run: list[tuple[float, tuple[float, float]]] = []
        for x, own in [*zip(xs, ends, strict=True), (0.0, None)]:
            if own is not None:
                run.append((x, own))
                continue
            low, high = ([(self.x.at(at), self.y.at(both[side])) for at, both in run] for side in (0, 1))
            if len(run) == 1:
                self.sheet.lines(f"wing-{colour}", [[*low, *high]])
            elif run:
                self.sheet.lines(f"area-{colour}", [[*high, *reversed(low)]], closed=True)
            run = []

    def ruler(self, marks: Sequence[Tick], name: str = "", *, below: float = 24, classes: str = "soft") -> None:
        """Write ticks below the panel, and the name of the axis at the foot of the sheet."""
        row = [(self.x.at(t.at), minus(t.label)) for t in marks]
        self.sheet.row(self.y.start + below, row, "soft")
        if name:
            self.sheet.text(self.middle, self.sheet.height - 10, name, classes, "middle")


def name(sheet: Sheet, response: Response, of: Scale, before: str = "") -> None:
    """Write above a vertical axis what it holds."""
    metric = clip(said(response.metric), 24)
    sheet.text(12, 20, f"{before}{metric}{in_unit(of.measure.unit, 16)}{' (log axis)' if of.log else ''}", "soft other")
