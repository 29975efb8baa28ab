"""The ratio of a round: D = ln(head/base) of what both sides of a round gave, and its mean by t.

The estimand is exp(E ln(head/base)), at the layout that both sides of a round share. Source: docs/method.md, the log
ratio of rounds, and the rule that says beforehand whether rounds are paired.
"""

from __future__ import annotations

import math

import msgspec
import numpy as np

from gate.stats.levels import Tops, mean_of, variance
from gate.stats.ratio import LogPair, MeanPair, matched, t_quantile
from gate.stats.rounding import Array

ALWAYS_PAIRED = 6
"""Rounds from which on pairing costs less than layouts and drift that both sides share can save."""
KEYED, INDEPENDENT, UNKNOWN = 0.6, 0.4, 0.3
"""The correlation of base and head over rounds that a short plan goes by: where both sides share orders keyed by names,
where layouts are drawn independently, and where nothing is known."""
LEAST_COMPLETE = 2 / 3
"""The share of rounds that both sides must have for the others to be left out."""


class Rounds(msgspec.Struct, frozen=True, eq=False):
    """What complete rounds tell of a ratio."""

    center: float
    """Mean of the logarithms of both sides."""
    ratio: float
    """Mean of D."""
    contrast: float
    """Variance of D over rounds, not below what the timers' gaps leave."""
    total: float
    """Variance over rounds of the sum of both logarithms."""
    base: float
    head: float
    """base and head: variance over rounds of each side's logarithm."""
    count: int

    @property
    def df(self) -> int:
        """Degrees of the contrast."""
        return self.count - 1

    @property
    def correlation(self) -> float | None:
        """Return the correlation of the logarithms of base and head; None where one side does not vary."""
        if not (self.base > 0 and self.head > 0):
            return None
        shared = (self.total - self.base - self.head) / 2
        return min(max(shared / math.sqrt(self.base * self.head), -1.0), 1.0)

    def pair(self, contrast: float, df: float) -> LogPair:
        """Return the ratio with a variance of D on so many degrees; without any where that is 0.

        What both sides have in common is that of a round in the middle, so that a difference is one there.
        """
        share = contrast / self.count / 4
        known = df if contrast > 0 else None
        return LogPair(
            MeanPair(self.center - self.ratio / 2, self.center + self.ratio / 2, share, share, -share, known)
        )


def rounds_of(base: Tops, head: Tops) -> Rounds | None:
    """Take the logarithms of complete rounds; None where a side has a value that is not above 0, or none is complete.

    A single round has no variance (0).
    """
    x, y = map(logs_of, matched(base, head))
    if x is None or y is None:
        return None
    n, center, ratio = x.n, (x.mean + y.mean) / 2, y.mean - x.mean
    if n < 2:
        return Rounds(center, ratio, 0.0, 0.0, 0.0, 0.0, n)
    least = (x.gap**2 + y.gap**2) / 12
    contrast = max(variance(y.values - x.values), least)
    total = max(variance(y.values + x.values), least)
    return Rounds(center, ratio, contrast, total, variance(x.values), variance(y.values), n)


def logs_of(side: Tops) -> Tops | None:
    """Return the logarithms of top units, with the gap that they have in the middle; None where one is not above 0."""
    if not side.n or (not side.log and side.values.min() <= 0):
        return None
    logs: Array = side.values if side.log else np.log(side.values)
    # an instrument's step is the same in its unit, whatever the machine's speed: sessions add the squares of its shares
    step = side.gap * math.exp(side.mean) if side.log else side.gap
    gap = math.sqrt(mean_of((step / np.exp(logs)) ** 2))
    return Tops(logs, side.units, gap, log=True)


def is_paired(rounds: int, alpha: float, family: int, correlation: float) -> bool:
    """Say by the plan alone whether rounds are paired: always from ALWAYS_PAIRED on, else where it will pay.

    Unpaired, Satterthwaite's degrees of two like sides of n builds are 2n(n - 1)/(n + 1) on the average.

    Args:
        rounds: planned. family: findings that share alpha.
        correlation: of the means of both sides over rounds, as assumed beforehand.
    """
    if rounds < 2:
        return False
    if rounds >= ALWAYS_PAIRED:
        return True
    tail = alpha / (2 * max(family, 1))
    apart = t_quantile(2 * rounds * (rounds - 1) / (rounds + 1), tail)
    return correlation > 1 - (apart / t_quantile(rounds - 1, tail)) ** 2


def least_correlation(correlation: float, pairs: int) -> float:
    """Return the lower 10% limit of a correlation over so many rounds, by Fisher's z (Fisher 1921); 0 at the least."""
    if pairs < 4:
        return 0.0
    z = math.atanh(min(max(correlation, -0.999999), 0.999999)) - 1.2815515655446004 / math.sqrt(pairs - 3)
    return max(math.tanh(z), 0.0)
