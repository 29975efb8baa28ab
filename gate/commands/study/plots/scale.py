"""The values of a response on an axis: its unit, its logarithm, its ends and its ticks."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gate.commands.study.plots.marks import said
from gate.model.study import Response
from gate.plots.axes import quantity, tick_room
from gate.plots.picture import Sheet
from gate.plots.scales import Axis, Measure, Range, Tick, limits, log_ticks, measure, minus, ticks
from gate.units import DIMENSIONS, format_number
from gate.words.effects import Unit, unit_of

Array = npt.NDArray[np.float64]

_FEWEST_TICKS = 3


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
