"""Panels: parts of a sheet with two axes, on which numbers become marks; and how the marks of one kind look."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from gate.plots.picture import LETTERS, SETTINGS, Point, Shape, Sheet, room
from gate.plots.scales import Axis, Density, Flags, Tick, limits, log_ticks, minus, ticks

Array = npt.NDArray[np.float64]
Size = Literal["small", "middle", "large"]

_SHAPES: tuple[Shape, ...] = ("circle", "triangle", "square", "diamond", "cross", "star", "left", "right")
_SIZES: dict[Size, float] = {"small": 2.3, "middle": 3.7, "large": 5.0}
_KINDS: dict[str, dict[Size, str]] = {
    "circle": {"small": "dot", "middle": "spot", "large": "big"},
    "cross": {"small": "fine", "middle": "edge", "large": "cross"},
    "area": {"small": "tri", "middle": "pip", "large": "mark"},
}
_FEWEST_TICKS = 3
_GOLDEN = 0.6180339887498949


@dataclass(frozen=True, slots=True)
class PlotStyle:
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


@dataclass(frozen=True, slots=True)
class Span:
    """The ends of an axis in its numbers, and its ticks."""

    low: float
    high: float
    ticks: list[Tick]

    @property
    def room(self) -> float:
        """What the labels of the ticks take at the left."""
        return tick_room(self.ticks)

    def inside(self, numbers: Array) -> npt.NDArray[np.bool_]:
        """Tell which numbers lie within the ends."""
        return (numbers >= self.low) & (numbers <= self.high)


def span(numbers: Array, log: bool, *, cut_off: bool = False, count: int = 6) -> Span:
    """Choose the ends of an axis for numbers, of which few may lie beyond if it is to be cut off."""
    low, high = limits(numbers) if cut_off else whole(numbers)
    return Span(low, high, marks_between(low, high, count, log=log))


def whole(numbers: Array) -> tuple[float, float]:
    """Return ends that hold all numbers, with a margin."""
    low, high = float(numbers.min()), float(numbers.max())
    # rounding alone is no spread
    pad = 0.07 * (high - low) if high - low > 1e-9 * max(abs(low), abs(high)) else 0.05 * abs(high) or 1.0
    return low - pad, high + pad


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
        y = Axis(of.low, of.high, top + height, top)
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

    def marks(self, look: PlotStyle, xs: Array, ys: Array, size: Size = "small", *, hollow: bool = False) -> None:
        """Mark the numbers that lie within the ends."""
        inside = self.span.inside(ys)
        (look.hollow if hollow else look.marks)(self.sheet, self.points(xs[inside], ys[inside]), size)

    def edges(self, look: PlotStyle, xs: Sequence[float] | Array, ys: Array) -> None:
        """Mark at the edge where numbers lie beyond it."""
        edges(self.sheet, self.y, f"edge-{look.colour}", self.x.all(np.asarray(xs)), ys)

    def beyond(self, look: PlotStyle, x: float, ys: Array) -> None:
        """Mark at the edge of a column where its largest or smallest number lies beyond it."""
        self.edges(look, [x, x], np.array([ys.max(), ys.min()]))

    def box(
        self, look: PlotStyle, x: float, half: float, quartiles: tuple[float, float, float], ends: tuple[float, float]
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

    def band(self, area: str, wing: str, xs: Sequence[float], ends: Sequence[tuple[float, float] | None]) -> None:
        """Draw intervals as a band, which ends where there is none; a single one has no width, and is a line.

        area and wing: the classes of both.
        """
        run: list[tuple[float, tuple[float, float]]] = []
        for x, own in [*zip(xs, ends, strict=True), (0.0, None)]:
            if own is not None:
                run.append((x, own))
                continue
            low, high = ([(self.x.at(at), self.y.at(both[side])) for at, both in run] for side in (0, 1))
            if len(run) == 1:
                self.sheet.lines(wing, [[*low, *high]])
            elif run:
                self.sheet.lines(area, [[*high, *reversed(low)]], closed=True)
            run = []

    def ruler(self, marks: Sequence[Tick], name: str = "", *, below: float = 24, classes: str = "soft") -> None:
        """Write ticks below the panel, and the name of the axis at the foot of the sheet."""
        row = [(self.x.at(t.at), minus(t.label)) for t in marks]
        self.sheet.row(self.y.start + below, row, "soft")
        if name:
            self.sheet.text(self.middle, self.sheet.height - 10, name, classes, "middle")


def tick_room(marks: Sequence[Tick]) -> float:
    """Return the room that the labels of a vertical axis take at its left."""
    return 18 + max((room(t.label, LETTERS) for t in marks), default=0)


def grid(sheet: Sheet, y: Axis, marks: Sequence[Tick], left: float, right: float, *, labels: bool = True) -> None:
    """Draw the lines of a vertical axis and, beside them, their numbers."""
    sheet.lines("grid", [[(left, y.at(t.at)), (right, y.at(t.at))] for t in marks])
    for tick in marks if labels else ():
        sheet.text(left - 8, y.at(tick.at), minus(tick.label), "soft middle", "end")


def half_violin(axis: Axis, found: Density, x: float, width: float) -> list[Point]:
    """Return one half of the outline of a distribution, from its smallest number to its largest, beginning at x."""
    heights = found.heights
    ys = axis.all(np.linspace(found.low, found.high, heights.size))
    # along a thin tail two points are enough
    thick = heights > 0.01
    thick = thick | np.append(thick[1:], True) | np.append(True, thick[:-1])
    outline = [(x + width * float(heights[k]), ys[k]) for k in np.flatnonzero(thick).tolist()]
    return [(x, ys[0]), *outline, (x, ys[-1])]


def edges(sheet: Sheet, y: Axis, classes: str, at: Sequence[float], numbers: Array) -> None:
    """Mark at the edge of an axis where one of some numbers lies beyond its ends; at: pixels."""
    places = np.array(at)
    out: tuple[tuple[Shape, Flags, float], ...] = (
        ("chevron-up", numbers > y.high, y.end + 4),
        ("chevron-down", numbers < y.low, y.start - 4),
    )
    for shape, beyond, pixel in out:
        # marks closer than a pixel tell no more than one
        sheet.marks(classes, shape, [(float(x), pixel) for x in np.unique(np.round(places[beyond]))], 4)
