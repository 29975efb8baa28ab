"""Warm-up detection: the beginning of the steady state in the values of an execution.

The values are divided at their change points, where their level changes, by the biweight loss (Fearnhead and Rigaill,
Changepoint detection in the presence of outliers, Journal of the American Statistical Association 114 (2019), 169-183):
each value costs its squared distance from the level of its segment, but never more than BEYOND squared, and each change
costs a penalty. So a few outliers in a row are cheaper as outliers than as a segment. As in Barrett et al., Virtual
machine warmup blows hot and cold, OOPSLA 2017, the steady state is the last segment, with those before it that are
equivalent to it. As in the rule for MSER-5 (Hoad, Robinson and Davies 2010) it counts only when it holds at least half
of the values: a trend is cut into steps, and the last of them is no steady state. docs/method.md has the simulation
behind this.
"""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gate.model import FEWEST_FOR_STEADY

Array = npt.NDArray[np.float64]

BEYOND = 3.0
"""From so many standard deviations on a value is an outlier (the paper's K)."""
_FEW = 20
SAME = 0.005
"""Levels that differ by less, as a share, are one level: the smallest change that a report warns of."""
MOST_BINS = 100
"""More values are looked at as means of neighbours. It bounds the time, and hides outliers and short cycles."""
PENALTY = 5.0
"""Of a change, times log n. 2 is for independent values; 5 keeps false changes rare at a correlation of 0.3."""
_FADING = 1.28
"""What follows a warm-up belongs to it while it differs at the one-sided 10% level."""


def steady_from(values: Sequence[float]) -> int | None:
    """Return the index from which values are steady; None when no steady state is found.

    Fewer than FEWEST_FOR_STEADY give None, equal ones 0. More than MOST_BINS are taken in bins of n/100 to n/50, and
    warm-up ends with a bin. Outliers within the steady state stay, however far out; those at the very beginning are
    warm-up, since a single cold iteration is the commonest one.

    Args:
        values: finite, of one execution, in order.
    """
    if len(values) < FEWEST_FOR_STEADY:
        return None
    series = np.asarray(values, dtype=np.float64)
    series = series / (float(np.abs(series).max()) or 1.0)
    # those that do not fill the last bin are left out
    size = -(-len(series) // MOST_BINS)
    bins: Array = series[: len(series) // size * size].reshape(-1, size).mean(axis=1)
    means: list[float] = bins.tolist()
    # half of the smallest distance between different values, as a standard deviation of a bin
    steps = np.diff(np.unique(series))
    step = float(steps.min()) / 2 / math.sqrt(size) if len(steps) else 0.0
    around = max(deviation(bins), step, SAME * _median([abs(mean) for mean in means]) / BEYOND)
    if around == 0:
        return 0
    parts = segments(bins, around, PENALTY * math.log(len(means)))
    start, height = parts[-1]
    level = height
    # the first of the last segments that are all of one level
    for begin, own in reversed(parts[:-1]):
        if abs(own - level) > SAME * abs(level):
            break
        start, height = begin, own
    # at the very beginning, and too few to be a segment
    while start < len(means) and abs(means[start] - height) > BEYOND * around:
        start += 1
    if start == 0 or 2 * start > len(means):
        return None if start else 0
    level = _median(means[len(means) // 2 :])
    return _faded([min(max((mean - level) / around, -BEYOND), BEYOND) for mean in means], start) * size


def _faded(away: Sequence[float], start: int) -> int:
    """Return where a warm-up has sunk into the noise, in the first half.

    A warm-up that decays leaves a tail too low for a change point. Blocks of the length of what was found are added
    while they are on its side of all that follows.

    Args:
        away: from the steady level, in standard deviations.
        start: at least 1, at most half of them.
    """
    length = start
    sign = math.copysign(1.0, sum(away[:start]))
    while 2 * (start + length) <= len(away):
        rest = len(away) - start - length
        gap = sum(away[start : start + length]) / length - sum(away[start + length :]) / rest
        if sign * gap < _FADING * math.sqrt(1 / length + 1 / rest):
            break
        start += length
    return start


def _median(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2]


def deviation(means: Array) -> float:
    """Return the standard deviation around the levels of a series, which outliers and a few changes leave alone.

    The largest of the median distances of values 1, 2 and 3 apart (1 and 2 in a short series), since neighbours are
    close where values depend on each other; scaled to what it is for normal values.

    Args:
        means: at least 4.
    """
    apart = range(1, 4 if len(means) >= _FEW else 3)
    return 1.4826 / math.sqrt(2) * max(float(np.median(np.abs(means[k:] - means[:-k]))) for k in apart)


def segments(values: Array, deviation: float, penalty: float) -> list[tuple[int, float]]:
    """Return the cheapest division of a series into segments, in order: where each begins, and its level.

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
        found.append((starts[m], float(values[levels[m]])))
        m = starts[m]
    return found[::-1]
