"""From measured numbers to places on a sheet: units, limits that outliers do not stretch, and round ticks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from gate.model import Sample
from gate.writing.amounts import format_number, shown_unit

Array = npt.NDArray[np.float64]

_WIDE = 20.0
"""A body of values that spans more than this factor is drawn by its logarithm."""
_CUT = 2.5
"""Outliers are left beyond the edge where they would stretch the axis by more than this factor."""
_FEWEST_TO_CUT = 8
_LONG = 1e7
"""Numbers of a linear axis from here on are written with their power of ten."""
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


_STEPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 4.0, 9.0, 99.0, 999.0)
"""Round changes, as shares."""
_TIMES = 9
"""Changes from this on are written as multiples."""


class Tick(msgspec.Struct, frozen=True):
    """A place on an axis, in the numbers of the axis, and what is written there."""

    at: float
    label: str


class Axis(msgspec.Struct, frozen=True):
    """A linear scale from numbers to pixels."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Return the pixel of a number, which is held within the ends."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def all(self, values: Array) -> list[float]:
        """Return the pixels of many numbers."""
        share = (np.clip(values, self.low, self.high) - self.low) / (self.high - self.low)
        pixels: list[float] = (self.start + share * (self.end - self.start)).tolist()
        return pixels


class Measure(msgspec.Struct, frozen=True):
    """How the values of a case become numbers of an axis."""

    factor: float
    """What they are divided by."""
    unit: str
    """The name of the result."""
    log: bool
    """Whether log10 is taken afterwards."""

    def of(self, values: Array) -> Array:
        """Return the numbers of an axis for values in the base unit."""
        scaled = values / self.factor
        return np.log10(scaled) if self.log else scaled

    def one(self, value: float) -> float | None:
        """Return the number for one value; None where it has none."""
        scaled = value / self.factor
        if not math.isfinite(scaled) or (self.log and scaled <= 0):
            return None
        return math.log10(scaled) if self.log else scaled

    def say(self, value: float) -> str:
        """Write a value in the unit of the axis, without its name."""
        return format_number(value / self.factor)


def measure(values: Array, unit: str) -> Measure | None:
    """Choose the unit and the kind of axis for values; None where all are 0."""
    sizes = np.abs(values)
    largest = float(sizes.max())
    # a few outliers do not choose the unit
    usual = float(np.partition(sizes, 3 * sizes.size // 4)[3 * sizes.size // 4]) or largest
    if not usual:
        return None
    factor, name = shown_unit(usual, unit)
    if not 1e-3 <= usual / factor < 1e5:
        power = 3 * math.floor(math.log10(usual / factor) / 3)
        factor *= 10.0**power
        name = f"{name} ×10{str(power).translate(_SUPERSCRIPT)}".strip()
    # of twenty values one outlier is no body yet
    low, high = np.percentile(values, 5, method="higher"), np.percentile(values, 95, method="lower")
    log = bool(values.min() > 0 and high / low > _WIDE)
    return Measure(factor, name, log)


def limits(numbers: Array, also: Sequence[float] = ()) -> tuple[float, float]:
    """Choose the ends of an axis.

    They hold all numbers, unless few of them lie so far out that they would flatten the rest (beyond 3 interquartile
    ranges, and at most 3% at an end); `also` is held as well unless it is that far out.
    """
    low, high = float(numbers.min()), float(numbers.max())
    near, far = low, high
    if numbers.size >= _FEWEST_TO_CUT:
        rank, quarter = max(1, int(0.03 * numbers.size)), numbers.size // 4
        ranked = np.partition(numbers, [rank, quarter, 3 * numbers.size // 4, numbers.size - 1 - rank])
        first, third = float(ranked[quarter]), float(ranked[3 * numbers.size // 4])
        reach = 3 * (third - first)
        near, far = min(first - reach, float(ranked[rank])), max(third + reach, float(ranked[-1 - rank]))
    if high - low > _CUT * (far - near) > 0:
        low, high = max(low, near), min(high, far)
    span = high - low
    for number in also:
        if span == 0 or low - span <= number <= high + span:
            low, high = min(low, number), max(high, number)
    pad = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
    return low - pad, high + pad


def ticks(low: float, high: float, count: int) -> list[Tick]:
    """Choose round numbers within the ends, about `count` of them at most; none between ends that are one number."""
    if not high > low:
        return []
    least = (high - low) / count
    power = 10.0 ** math.floor(math.log10(least))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= least)
    digits = max(0, min(12, -math.floor(math.log10(step) + 1e-9)))
    # a step of 2.5 needs a digit more
    digits += round(step * 10**digits, 6) % 1 != 0
    places = [k * step for k in range(math.ceil(low / step), math.floor(high / step) + 1)]
    # a number too long for any label is written with its power
    form = f".{digits}f" if max(abs(low), abs(high)) < _LONG else ".3g"
    return [Tick(place, f"{place + 0.0:{form}}") for place in places]


def minus(label: str) -> str:
    """Write a negative number with a proper minus sign."""
    return label.replace("-", "−")


def log_ticks(low: float, high: float, count: int) -> list[Tick]:
    """Choose round numbers between the ends of an axis in log10, and write them as numbers."""
    first, last = math.floor(low), math.ceil(high)
    places: list[float] = []
    for steps in ((1, 2, 5), (1, 3), (1,)):
        places = [decade + math.log10(s) for decade in range(first, last + 1) for s in steps]
        places = [p for p in places if low <= p <= high]
        if len(places) <= count:
            break
    every = math.ceil(len(places) / count) if places else 1

    def label(place: float) -> str:
        whole = math.floor(place)
        if -4 <= whole < 6:
            return f"{10.0**place:.3g}" if whole < 3 else f"{10.0**place:.0f}"
        return f"{10.0 ** (place - whole):.2g}e{whole}"

    return [Tick(p, label(p)) for p in places[::every]]


# --- changes, as logarithms of ratios ---------------------------------------------------------------------------------


def change_ticks(axis: Axis, room_for: Callable[[str], float], own: Sequence[float] = ()) -> list[Tick]:
    """Choose no change and round changes for an axis of log ratios, as many as there is room for.

    Args:
        room_for: pixels along the axis that a label takes.
        own: changes that are wanted before the round ones, such as a threshold.
    """
    choices = [_spread(axis, [*_STEPS[: count + 1], *own], room_for) for count in range(len(_STEPS))]
    # first both directions; of equally many the largest steps, which are the roundest
    return max(reversed(choices), key=lambda ticks: (len({(t.at > 0) - (t.at < 0) for t in ticks}), len(ticks)))


def _spread(axis: Axis, steps: Sequence[float], room_for: Callable[[str], float]) -> list[Tick]:
    """Choose changes, the last first and the first last, wherever there is room."""
    chosen = [Tick(0.0, "0")]
    for change in (change for step in reversed(steps) for change in (step, -step)):
        if change <= -1 or not axis.low <= math.log1p(change) <= axis.high:
            continue
        percent = round(change * 100, 6)
        label = minus(f"{percent:+g}%") if percent else "0"
        tick = Tick(math.log1p(change), f"{1 + change:,.0f}×" if change >= _TIMES else label)
        if all(
            2 * abs(axis.at(tick.at) - axis.at(other.at)) >= room_for(tick.label) + room_for(other.label)
            for other in chosen
        ):
            chosen.append(tick)
    return sorted(chosen, key=lambda tick: tick.at)


Indices = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_FINE = 160
_FEWEST_FOR_DENSITY = 8


class Density(msgspec.Struct, frozen=True, eq=False):
    """How numbers are spread from the smallest to the largest: heights at evenly spaced points, the highest being 1."""

    low: float
    high: float
    heights: Array


def build_sizes(sample: Sample) -> Indices:
    """Return the number of values of each build."""
    ends = np.concatenate(([0], np.cumsum(sample.counts[0])))
    sizes: Indices = np.diff(ends[np.concatenate(([0], np.cumsum(sample.counts[1])))])
    return sizes


def thinned(sample: Sample, limit: int) -> Indices:
    """Choose about `limit` values at most, of every build as many, evenly in their order; and the two extremes of all.

    Where there are more builds than that, one value of so many builds, evenly chosen. Indices in the sample, ascending.
    """
    sizes = build_sizes(sample)
    if sample.values.size <= limit:
        return np.arange(sample.values.size)
    quota = max(1, limit // sizes.size)
    builds = np.unique(np.linspace(0, sizes.size - 1, min(sizes.size, limit)).astype(np.int64))
    starts, counts = np.cumsum(sizes) - sizes, np.minimum(sizes, quota)
    even = [starts[b] + ((np.arange(counts[b]) + 0.5) / counts[b] * sizes[b]).astype(np.int64) for b in builds]
    return np.unique(np.concatenate([*even, [sample.values.argmin(), sample.values.argmax()]]))


def places(sample: Sample, values: Indices) -> tuple[Indices, Array]:
    """Return the build of each value, and where it stands in it, from 0 to 1.

    An execution is a thin column within its build, and its iterations go from left to right within it.
    """
    iterations, executions = sample.counts[0], sample.counts[1]
    value_ends, execution_ends = np.cumsum(iterations), np.cumsum(executions)
    execution = np.searchsorted(value_ends, values, side="right")
    build = np.searchsorted(execution_ends, execution, side="right")
    within = (values - (value_ends - iterations)[execution] + 0.5) / iterations[execution]
    nth = execution - (execution_ends - executions)[build]
    return build, (nth + 0.5 + 0.5 * (within - 0.5)) / executions[build]


def density(numbers: Array, low: float, high: float, points: int) -> Density | None:
    """Estimate the density of the numbers within two ends; it begins at the smallest and ends at the largest of them.

    A histogram smoothed by a normal kernel of Silverman's width: linear in the number of values. None: fewer than 8
    numbers within the ends.
    """
    inside = numbers[(numbers >= low) & (numbers <= high)]
    if inside.size < _FEWEST_FOR_DENSITY:
        return None
    least, most = float(inside.min()), float(inside.max())
    cell = (most - least) / _FINE
    if cell <= 0:
        return Density(least, most, np.ones(2))
    counts = np.bincount(np.minimum(((inside - least) / cell).astype(np.int64), _FINE - 1), minlength=_FINE)
    sd = float(inside.std())
    first, third = np.percentile(inside, [25, 75])
    spread = min(sd, float(third - first) / 1.34) or sd
    width = max(0.9 * spread * inside.size**-0.2 / cell, 1.2)
    reach = int(min(4 * width + 1, _FINE))
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / width) ** 2)
    smooth = np.convolve(counts.astype(np.float64), kernel)[reach : reach + _FINE]
    found = np.interp(np.linspace(0, 1, points), (np.arange(_FINE) + 0.5) / _FINE, smooth)
    return Density(least, most, found / found.max())
