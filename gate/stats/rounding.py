"""What is rounding of floats rather than a difference of values: sums and clocks leave some units of last place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

ROUNDING = 2.0**-40
"""Values whose difference is at most this share of the larger one are the same: 40 bits of the 53 that a float has.

Rounding each value to 40 bits would tell apart two that differ by one unit of last place where a step of that grid lies
between them, for one value in 4,096.
"""


def smallest_step(ordered: npt.NDArray[np.float64], *, log: bool = False) -> float:
    """Return the smallest distance between two distinct ones of ascending values, 0 when all are the same.

    Args:
        log: they are logarithms, whose differences are shares already.
    """
    steps = ordered[1:] - ordered[:-1]
    sizes = 1.0 if log else np.maximum(np.abs(ordered[1:]), np.abs(ordered[:-1]))
    steps = steps[steps > ROUNDING * sizes]
    return float(steps.min()) if len(steps) else 0.0


def same(values: npt.NDArray[np.float64], *, log: bool = False) -> bool:
    """Return whether values (logarithms), one at least, are the same but for rounding."""
    low, high = float(values.min()), float(values.max())
    return high - low <= ROUNDING * (1.0 if log else max(abs(low), abs(high)))
