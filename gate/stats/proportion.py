"""The interval of a proportion that was counted."""

from __future__ import annotations

import msgspec

from gate.stats.special import betaincinv


class Proportion(msgspec.Struct, frozen=True):
    """So many of so many, and the confidence interval of the share behind it."""

    count: int
    of: int
    low: float
    high: float


def clopper_pearson(count: int, of: int, confidence: float = 0.95) -> Proportion:
    """Return the exact interval of a binomial proportion: it covers at least the confidence, whatever the share.

    Source: Clopper and Pearson 1934, by quantiles of the beta distribution.

    Args:
        count: 0 .. of; of = 0: nothing is known, 0 to 1.
    """
    tail = (1 - confidence) / 2
    low = 0.0 if count == 0 else float(betaincinv(count, of - count + 1, tail))
    high = 1.0 if count == of else float(betaincinv(count + 1, of - count, 1 - tail))
    return Proportion(count, of, low, high)
