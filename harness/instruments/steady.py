"""Warm-up detection: the beginning of the steady state in the values of an execution.

The values are divided at their change points (changepoints.py). As in Barrett et al., Virtual machine warmup
blows hot and cold, OOPSLA 2017, the steady state is the last segment, with those before it that are equivalent to it.
As in the rule for MSER-5 (Hoad, Robinson and Davies 2010) it counts only when it holds at least half of the values: a
trend is cut into steps, and the last of them is no steady state. docs/method.md has the simulation behind this.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gate.model import FEWEST_FOR_STEADY

if TYPE_CHECKING:
    from harness.instruments.changepoints import Segment

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
    # late: it needs numpy, which nothing else here does
    from harness.instruments import changepoints

    bins = changepoints.in_bins(values, MOST_BINS)
    means: list[float] = bins.means.tolist()
    smallest = SAME * _median([abs(mean) for mean in means]) / changepoints.BEYOND
    deviation = max(changepoints.deviation(bins.means), bins.step, smallest)
    if deviation == 0:
        return 0
    last = _last_level(changepoints.segments(bins.means, deviation, PENALTY * math.log(len(means))))
    start = last.start
    # at the very beginning, and too few to be a segment
    while start < len(means) and abs(means[start] - last.level) > changepoints.BEYOND * deviation:
        start += 1
    if start == 0 or 2 * start > len(means):
        return None if start else 0
    level = _median(means[len(means) // 2 :])
    most = changepoints.BEYOND
    return _faded([min(max((mean - level) / deviation, -most), most) for mean in means], start) * bins.size


def _last_level(parts: Sequence[Segment]) -> Segment:
    """Return the first of the last segments that are all of one level."""
    first = parts[-1]
    for part in reversed(parts[:-1]):
        if abs(part.level - parts[-1].level) > SAME * abs(parts[-1].level):
            break
        first = part
    return first


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
