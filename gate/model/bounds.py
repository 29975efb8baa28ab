"""The sizes that a measured value may have."""

from __future__ import annotations

import math
from collections.abc import Sequence
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
