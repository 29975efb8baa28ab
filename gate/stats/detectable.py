"""The smallest change that a test as it was made would have found, from the variances that were measured."""

from __future__ import annotations

import math
from functools import lru_cache

from gate.stats.power import beyond
from gate.stats.ratio import LogPair, MeanPair, Ratio, Rounded, t_quantile

_MOST = 1e4
"""A noncentrality that no test of a bounded interval has."""


@lru_cache(maxsize=4096)
def needed(df: float, alpha: float, wanted: float) -> float:
    """Return the noncentrality at which T on df degrees exceeds its two-sided limit at alpha with the wanted power.

    About the sum of two t quantiles, (theta = z + 0.84 where the variance is known, for a power of 0.8); inf where none
    is large enough. Source: docs/method.md, what a run could have shown.
    """
    critical = t_quantile(df, alpha / 2)
    low, high = 0.0, _MOST
    if critical >= _MOST or float(beyond(df, high, critical)) < wanted:
        return math.inf
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if float(beyond(df, middle, critical)) >= wanted else (middle, high)
    return high


def worse_ratio(
    ratio: Ratio, noncentrality: float, *, threshold: float, floor: float | None, share: float, lower: bool
) -> float | None:
    """Return the true ratio nearest to 1 whose test has a noncentrality; None: there is none.

    Args:
        ratio: the estimate, for its variances.
        threshold: as a share; the test asks for a ratio beyond it on the worse side.
        floor: the change in the unit that the test asks for too; None: none.
        share: what the variances are multiplied by, as where more builds are meant.
        lower: lower values are better.
    """
    if isinstance(ratio, Rounded):
        # the bound that is tested is as far from the ratio as it was here
        tested = ratio.least if lower else ratio.most
        there = worse_ratio(tested, noncentrality, threshold=threshold, floor=floor, share=share, lower=lower)
        return None if there is None else there * (ratio.y / ratio.x) / (tested.y / tested.x)
    edge = 1 + threshold if lower else 1 / (1 + threshold)
    pair = ratio.natural() if isinstance(ratio, LogPair) else ratio
    if not isinstance(pair, MeanPair) or pair.x <= 0 or pair.y <= 0:
        return None
    if isinstance(ratio, LogPair):
        spread = noncentrality * math.sqrt(max(ratio.logs.v_xx + ratio.logs.v_yy - 2 * ratio.logs.v_xy, 0.0) * share)
        far = math.log(edge) + (spread if lower else -spread)
        found = [math.exp(far) if abs(far) < _LARGEST else None]
    else:
        found = [_root(pair, edge, edge, noncentrality, share, lower=lower)]
    if floor is not None:
        at = 1 + floor / pair.x if lower else 1 - floor / pair.x
        found.append(_root(pair, at, 1.0, noncentrality, share, lower=lower))
    known = [each for each in found if each is not None]
    if len(known) < len(found):
        return None
    return max(known) if lower else min(known)


_LARGEST = 300.0


def _root(pair: MeanPair, at: float, edge: float, t: float, share: float, *, lower: bool) -> float | None:
    """Solve |r - at| = t sqrt(r^2 u_yy + edge^2 u_xx - 2 r edge u_xy) on the worse side, u relative variances.

    Head's variance goes with the square of its mean. As r grows (or falls to 0) it may outgrow the change: no root.
    """
    u_xx, u_yy = share * pair.v_xx / pair.x**2, share * pair.v_yy / pair.y**2
    u_xy = share * pair.v_xy / (pair.x * pair.y)
    a, b, c = 1 - t * t * u_yy, at - edge * t * t * u_xy, at * at - edge * edge * t * t * u_xx
    discriminant = b * b - a * c
    if (a if lower else c) <= 0 or a == 0 or at <= 0 or discriminant < 0:
        return None
    return (b + math.sqrt(discriminant)) / a if lower else (b - math.sqrt(discriminant)) / a
