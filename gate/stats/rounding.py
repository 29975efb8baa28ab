"""What is rounding rather than a difference of values: of floats some units of last place, of tools the last digit."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gate.model.bounds import COARSE

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

ROUNDING = 2.0**-40
"""Values whose difference is at most this share of the larger one are the same: 40 bits of the 53 that a float has.

Rounding each value to 40 bits would tell apart two that differ by one unit of last place where a step of that grid lies
between them, for one value in 4,096.
"""


def smallest_step(ordered: Array, *, log: bool = False) -> float:
    """Return the smallest distance between two distinct ones of ascending values, 0 when all are the same.

    Args:
        log: they are logarithms, whose differences are shares already.
    """
    steps = ordered[1:] - ordered[:-1]
    sizes = 1.0 if log else np.maximum(np.abs(ordered[1:]), np.abs(ordered[:-1]))
    steps = steps[steps > ROUNDING * sizes]
    return float(steps.min()) if len(steps) else 0.0


def unknown_rounding(values: Array, step: float) -> float:
    """Return how far the mean may be from that of the values before they were written in steps; 0: it averages out.

    Steps that are not coarse hide nothing that counts.

    Values that are all the same may lie anywhere within half a step. Of two neighbours either the noise spreads over
    both, or all lie near the edge between them, so that the mean is there. Of more the rounding averages out, as noise
    of half a step does to it (Widrow and Kollár 2008; docs/method.md).
    """
    low, high = float(values.min()), float(values.max())
    if not step or step < COARSE * max(abs(low), abs(high)) or high - low > step * (1 + COARSE):
        return 0.0
    return abs(low + step / 2 - float(values.mean()))


def same(values: Array, *, log: bool = False) -> bool:
    """Return whether values (logarithms), one at least, are the same but for rounding."""
    low, high = float(values.min()), float(values.max())
    return high - low <= ROUNDING * (1.0 if log else max(abs(low), abs(high)))
