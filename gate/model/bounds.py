"""Measured numbers: the sizes that they may have, and the step of the last digit as they were written."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice
from typing import Any

import msgspec

SMALLEST, LARGEST = 1e-60, 1e60
"""Of values other than 0, in base units: fourth powers, squared ratios and sums of a million of them are numbers."""

_DEEPEST = 100


def out_of_bounds(values: Sequence[float]) -> float | None:
    """Return the first value that is neither 0 nor of a size that can be computed with; None: there is none."""
    # positive ones, which most are, without a step of Python for each; NaN hides from min and max, and not from sum
    if not values or (min(values) >= SMALLEST and max(values) <= LARGEST and not math.isnan(sum(values))):
        return None
    return next((value for value in values if value != 0 and not SMALLEST <= abs(value) <= LARGEST), None)


def why_out_of_bounds(value: float) -> str:
    """Say what a value that is out of bounds is not."""
    return f"{value:g}, which is neither 0 nor of a size from {SMALLEST:g} to {LARGEST:g}"


def number(found: object) -> float | None:
    """Return a number of JSON, one beyond all floats as infinity; None: it is none."""
    if not isinstance(found, (int, float)) or isinstance(found, bool):
        return None
    try:
        return float(found)
    except OverflowError:
        return math.inf


def beyond(value: Any, where: str = "", depth: int = 0, largest: float = LARGEST**2) -> str:
    """Say where a decoded JSON value or a struct is deeper, or a number larger, than anything of ours; "": nowhere.

    largest: number; by default the ratio of two values, or the square of one.
    """
    if depth > _DEEPEST:
        return f"{where[:60]}... is nested more than {_DEEPEST} deep"
    if isinstance(value, msgspec.Struct):
        value = msgspec.structs.asdict(value)
    if isinstance(value, dict):
        inside = ((each, f"{where}.{key}" if where else str(key)) for key, each in value.items())
    elif isinstance(value, (list, tuple)):
        inside = ((each, f"{where}[{place}]") for place, each in enumerate(value))
    else:
        size = number(value)
        return f"{where} is {size:g}, which no value of ours is" if size and abs(size) > largest else ""
    return next((found for each, at in inside if (found := beyond(each, at, depth + 1, largest))), "")


# --- as they were written ---------------------------------------------------------------------------------------------

_LONGEST = 6
"""Digits of an exponent, beyond which no float has it."""
_GLANCE = 100
"""Values that are looked at before all are."""
COARSE = 1e-3
"""A step of this share of a value or more may hide all of its noise. Values that are the same to more than three digits
are of one run that was copied, or of a clock whose ticks are coarser than what is written."""
FEW = 2
"""Different values of which the rounding may not average out."""


class Digits(float):
    """A number that knows the step of its last digit: of "12" it is 1, of "12.0" 0.1, of "1e3" 1000; 0: not known.

    The product with a scale knows it too; whatever else is computed is a plain float.
    """

    __slots__ = ("step",)
    step: float

    def __new__(cls, text: str | bytes) -> Digits:
        """Read a number. Raises: ValueError: it is none."""
        return cls._of(float(text), _step_of(text.decode("ascii", "replace") if isinstance(text, bytes) else text))

    @classmethod
    def _of(cls, value: float, step: float) -> Digits:
        found = float.__new__(cls, value)
        found.step = step
        return found

    @classmethod
    def shortest(cls, value: float) -> Digits:
        """Give a number whose text is gone the step of the fewest digits that are this number."""
        return cls._of(value, _step_of(repr(float(value)).removesuffix(".0")))

    def __mul__(self, scale: float) -> Digits:
        """Take it to another unit."""
        return self._of(float(self) * scale, self.step * abs(scale))

    __rmul__ = __mul__


def _step_of(text: str) -> float:
    mantissa, _, exponent = text.strip().lower().partition("e")
    if len(exponent) > _LONGEST:
        return 0.0
    # 10.0 ** 400 would be an error
    return float(f"1e{int(exponent or 0) - len(mantissa.partition('.')[2])}")


def step_of(values: Sequence[float]) -> float | None:
    """Return the coarsest step that numbers know of themselves; None: they know none."""
    return max((value.step for value in values if isinstance(value, Digits)), default=None)


def shortest_step(values: Sequence[float]) -> float:
    """Return the step of numbers whose text is gone; 0 where there are more than two, whose rounding averages out."""
    if len(set(islice(values, _GLANCE))) > FEW or len(found := set(values)) > FEW:
        return 0.0
    return min((Digits.shortest(value).step for value in found), default=0.0)
