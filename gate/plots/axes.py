"""Parts that pictures of values share: a vertical axis with its grid, the shape of a distribution, marks."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from gate.model import Case, Finding, Side
from gate.plots.picture import LETTERS, Point, Shape, Sheet, room
from gate.plots.scales import (
    Axis,
    Density,
    Flags,
    Kept,
    Measure,
    Range,
    Tick,
    limits,
    log_ticks,
    measure,
    minus,
    ticks,
)
from gate.units import agree, plural
from gate.words import views
from gate.writing.plain import clip

Array = npt.NDArray[np.float64]

_FEW = 80
"""So few values get larger marks."""
_LONG = 4


class Vertical(msgspec.Struct, frozen=True, eq=False):
    """The vertical axis of a case: its unit, its ends, its ticks, and the numbers of both sides on it."""

    measure: Measure
    range: Range
    axis: Axis
    ticks: list[Tick]
    left: float
    numbers: dict[Side, Array]

    @property
    def few(self) -> bool:
        """Whether there are so few values that their marks may be large."""
        return sum(n.size for n in self.numbers.values()) <= _FEW

    def say(self, value: float) -> str:
        """Write a value in the unit of the axis, with digits enough to tell apart what stands apart on it."""
        if self.measure.log:
            return self.measure.say(value)
        places = 2 - math.floor(math.log10(self.range.high - self.range.low))
        # long numbers of both sides would meet each other
        places -= places > _LONG
        text = f"{value / self.measure.factor:.{min(max(places, 0), 12)}f}"
        # what is not 0 does not read as 0
        return self.measure.say(value) if value and not float(text) else text

    def holds(self, number: float) -> bool:
        """Return whether a number lies within the ends."""
        return self.range.low <= number <= self.range.high

    def beyond(self, side: Side) -> npt.NDArray[np.bool_]:
        """Tell which numbers of a side lie beyond the ends."""
        numbers = self.numbers[side]
        return (numbers < self.range.low) | (numbers > self.range.high)


def vertical(case: Case, also: Sequence[float | None], top: float, bottom: float) -> Vertical | None:
    """Choose the vertical axis for both sides of a case; None where there is no spread, or none that floats can hold.

    Args:
        also: further values, in the base unit, that should be on it.
    """
    sides: dict[Side, Array] = {"base": case.base.values, "head": case.head.values}
    if min(v.size for v in sides.values()) == 0 or all(float(v.min()) == float(v.max()) for v in sides.values()):
        return None
    both = np.concatenate(list(sides.values()))
    scale = measure(both, case.unit)
    if scale is None:
        return None
    numbers = {side: scale.of(values) for side, values in sides.items()}
    more = [number for value in also if value is not None and (number := scale.one(value)) is not None]
    ends = limits(np.concatenate(list(numbers.values())), more)
    marks = (log_ticks if scale.log else ticks)(ends.low, ends.high, 6)
    return Vertical(scale, ends, Axis(ends.low, ends.high, bottom, top), marks, tick_room(marks), numbers)


def frame(sheet: Sheet, y: Vertical, case: Case, right: float) -> None:
    """Draw the grid, the ticks and the name of a case's vertical axis."""
    grid(sheet, y.axis, y.ticks, y.left, right)
    metric, unit = views.metric_name(case.metric), y.measure.unit
    shown = f", {clip(unit, 16)}" if unit else ""
    sheet.text(12, 20, f"{clip(metric, 24)}{shown}{' (log axis)' if y.measure.log else ''}", "soft other")


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


def spots(sheet: Sheet, y: Vertical, side: Side, kept: Kept, xs: Sequence[float], used: Flags) -> None:
    """Mark values of a side: circles of base, triangles of head.

    Extremes beyond an even choice are hollow: filled ones would look like more than they are. Few values are all drawn,
    and none for being an extreme.

    Args:
        kept: the values.
        xs: where each stands.
        used: whether the finding rests on each; faint where it does not.
    """
    numbers = y.numbers[side][kept.indices]
    pixels = y.axis.all(numbers)
    inside = ~y.beyond(side)[kept.indices]
    shape: Shape = "circle" if side == "base" else "triangle"
    filled, hollow = ("spot" if y.few else "dot", "ring") if side == "base" else ("tri", "hollow")
    for flags, faint in ((used, ""), (~used, " faint")):
        for own, mark, size in ((~kept.extreme, filled, 4 if y.few else 2.3), (kept.extreme, hollow, 2.3)):
            points = [(xs[k], pixels[k]) for k in np.flatnonzero(inside & flags & own).tolist()]
            sheet.marks(f"{mark}-{side}{faint}", shape, points, size)
            if mark == "ring":
                sheet.marks("hole", shape, points)
    edges(sheet, y.axis, y.range, f"edge-{side}", xs, numbers)


def key(sheet: Sheet, side: Side, x: float, y: float) -> None:
    """Name a side beside its mark, so that the middle of both is at x."""
    own_mark(sheet, side, (x - 25, y - 5.5))
    sheet.text(x - 15, y, side, f"say-{side}")


def own_mark(sheet: Sheet, side: Side, point: Point) -> None:
    """Draw the large mark of a side."""
    if side == "base":
        sheet.marks("big-base", "circle", [point])
    else:
        sheet.marks("mark-head", "triangle", [point], 5.5)


def edges(sheet: Sheet, y: Axis, ends: Range, classes: str, at: Sequence[float], numbers: Array) -> None:
    """Mark at the edge of an axis where one of some numbers lies beyond its ends; at: pixels."""
    places = np.array(at)
    out: tuple[tuple[Shape, Flags, float], ...] = (
        ("chevron-up", numbers > ends.high, y.end + 4),
        ("chevron-down", numbers < ends.low, y.start - 4),
    )
    for shape, beyond, pixel in out:
        # marks closer than a pixel tell no more than one
        sheet.marks(classes, shape, [(float(x), pixel) for x in np.unique(np.round(places[beyond]))], 4)


def thinned_words(drawn: Sequence[Kept], total: int) -> str:
    """Say how many values are drawn of how many; empty where all are."""
    count = sum(kept.indices.size for kept in drawn)
    if count == total:
        return ""
    words = f" {count:,} of {plural(total, 'value')} {agree(count, 'is', 'are')} drawn, evenly chosen"
    return words + (" beside the extremes." if any(kept.extreme.any() for kept in drawn) else ".")


def used_words(case: Case, finding: Finding) -> str:
    """Say which builds a finding rests on; empty where it rests on all."""
    counts = [(s.counts.build, len(own.builds)) for s, own in ((finding.base, case.base), (finding.head, case.head))]
    if all(used >= builds for used, builds in counts):
        return ""
    said = " and ".join(dict.fromkeys(f"{used} of {plural(builds, 'build')}" for used, builds in counts))
    return f" The result uses only the first {said}; the others are faint."


def beyond_words(y: Vertical, case: Case) -> str:
    """Say how many values lie beyond the axis, and how far; empty where none does."""
    if not y.range.beyond:
        return ""
    total = sum(n.size for n in y.numbers.values())
    extremes = np.concatenate([case.base.values[y.beyond("base")], case.head.values[y.beyond("head")]])
    low, high = y.measure.say(float(extremes.min())), y.measure.say(float(extremes.max()))
    far = f"at {low}" if low == high else f"from {low} to {high}"
    verb = "lies" if y.range.beyond == 1 else "lie"
    return (
        f" {y.range.beyond:,} of {total:,} values {verb} beyond the axis ({far} {y.measure.unit}".rstrip()
        + "), marked at its edge."
    )
