"""Change points of a series with outliers: where its level changes, by the biweight loss.

Fearnhead and Rigaill, Changepoint detection in the presence of outliers, Journal of the American Statistical
Association 114 (2019), 169-183: each value costs its squared distance from the level of its segment, but never more
than BEYOND squared, and each change costs a penalty. So a few outliers in a row are cheaper as outliers than as a
segment.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

BEYOND = 3.0
"""From so many standard deviations on a value is an outlier (the paper's K)."""
_FEW = 20


@dataclass(frozen=True, slots=True)
class Segment:
    """Neighbouring values of one level: from start on, up to the next segment."""

    start: int
    level: float


@dataclass(frozen=True, slots=True, eq=False)
class Bins:
    """A series as means of neighbours, divided by its largest absolute value."""

    means: Array
    size: int
    """Values of each bin; those that do not fill the last one are left out."""
    step: float
    """Half of the smallest distance between different values, as a standard deviation of a bin; 0 where all are equal.
    """


def in_bins(values: Sequence[float], most: int) -> Bins:
    """Take a series as at most so many bins.

    Args:
        values: at least one, finite.
    """
    series = np.asarray(values, dtype=np.float64)
    series = series / (float(np.abs(series).max()) or 1.0)
    size = -(-len(series) // most)
    means = series[: len(series) // size * size].reshape(-1, size).mean(axis=1)
    steps = np.diff(np.unique(series))
    return Bins(means, size, float(steps.min()) / 2 / math.sqrt(size) if len(steps) else 0.0)


def deviation(means: Array) -> float:
    """Return the standard deviation around the levels of a series, which outliers and a few changes leave alone.

    The largest of the median distances of values 1, 2 and 3 apart (1 and 2 in a short series), since neighbours are
    close where values depend on each other; scaled to what it is for normal values.

    Args:
        means: at least 4.
    """
    apart = range(1, 4 if len(means) >= _FEW else 3)
    return 1.4826 / math.sqrt(2) * max(float(np.median(np.abs(means[k:] - means[:-k]))) for k in apart)


def segments(values: Array, deviation: float, penalty: float) -> list[Segment]:
    """Return the cheapest division of a series into segments, in order.

    A level is one of the values of its series; with that the cost is the paper's.

    Args:
        values: shape (m,), m >= 1; the time grows with m cubed.
        deviation: above 0.
        penalty: of each change, in squared deviations.
    """
    m = len(values)
    scaled = values / deviation
    distances: Array = np.minimum((scaled[:, None] - scaled) ** 2, BEYOND**2)
    # row t, column c: the cost of the first t values around the level that is value c
    costs = np.concatenate((np.zeros((1, m)), distances.cumsum(axis=0)))
    best = np.full(m + 1, -penalty)
    starts, levels = [0] * (m + 1), [0] * (m + 1)
    for end in range(1, m + 1):
        around = costs[end] - costs[:end]
        level = around.argmin(axis=1)
        total = best[:end] + around[np.arange(end), level] + penalty
        starts[end] = int(total.argmin())
        best[end], levels[end] = total[starts[end]], int(level[starts[end]])
    found = []
    while m > 0:
        found.append(Segment(starts[m], float(values[levels[m]])))
        m = starts[m]
    return found[::-1]
