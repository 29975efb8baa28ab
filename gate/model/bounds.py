"""The sizes that a measured value may have."""

from __future__ import annotations

import math
from collections.abc import Sequence

SMALLEST, LARGEST = 1e-60, 1e60
"""Of values other than 0, in base units: fourth powers, squared ratios and sums of a million of them are numbers."""


def out_of_bounds(values: Sequence[float]) -> float | None:
    """Return the first value that is neither 0 nor of a size that can be computed with; None: there is none."""
    # positive ones, which most are, without a step of Python for each; NaN hides from min and max, and not from sum
    if not values or (min(values) >= SMALLEST and max(values) <= LARGEST and not math.isnan(sum(values))):
        return None
    return next((value for value in values if value != 0 and not SMALLEST <= abs(value) <= LARGEST), None)


def why_out_of_bounds(value: float) -> str:
    """Say what a value that is out of bounds is not."""
    return f"{value:g}, which is neither 0 nor of a size from {SMALLEST:g} to {LARGEST:g}"
