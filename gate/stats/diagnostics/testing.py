"""The tests behind the warnings: t of a mean, F of groups, and when their answer is worth a word."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from gate.stats.special import fdtri, stdtrit

LEVEL = 0.01
"""The chance of a warning where there is nothing to warn of."""
SMALLEST = 0.005
"""The smallest change, as a share of the mean, that is warned of."""


@dataclass(frozen=True, slots=True)
class Test:
    """A mean with its standard error on df degrees of freedom."""

    mean: float
    error: float
    df: int

    @property
    def sure(self) -> bool:
        """Whether the mean differs from 0 at LEVEL, two-sided."""
        return abs(self.mean) > self.error * critical_t(self.df, LEVEL / 2)

    @property
    def above(self) -> bool:
        """Whether the mean is above 0 at LEVEL, one-sided."""
        return self.mean > self.error * critical_t(self.df, LEVEL)

    @property
    def speaks(self) -> bool:
        """Whether it is sure and at least SMALLEST."""
        return abs(self.mean) >= SMALLEST and self.sure


def t_test(groups: Sequence[Sequence[float]], *, every: bool = False) -> Test | None:
    """Test the mean of the groups' means with the variance within groups; None below 2 degrees of freedom.

    So a warm-up of one side alone is no noise. every: None too where a group is empty.
    """
    if every and not all(groups):
        return None
    groups = [group for group in groups if group]
    df = sum(len(group) - 1 for group in groups)
    if df < 2:
        return None
    means = [sum(group) / len(group) for group in groups]
    squares = sum((v - mean) ** 2 for group, mean in zip(groups, means, strict=True) for v in group)
    spread = math.sqrt(squares / df * sum(1 / len(group) for group in groups))
    return Test(sum(means) / len(groups), spread / len(groups), df)


def deviation_between(groups: Sequence[Sequence[float]]) -> float | None:
    """Return the standard deviation between groups, beyond what the values within them explain.

    None where an F test does not tell the groups apart at LEVEL, with fewer than 2 groups, and below 2 degrees of
    freedom within them. Analysis of variance with random effects: (MSB - MSW)/n0 (Searle, Casella and McCulloch,
    Variance Components, 1992, chapter 3).
    """
    k, n = len(groups), sum(len(group) for group in groups)
    if k < 2 or n - k < 2:
        return None
    means = [sum(group) / len(group) for group in groups]
    grand = sum(sum(group) for group in groups) / n
    between = sum(len(group) * (mean - grand) ** 2 for group, mean in zip(groups, means, strict=True)) / (k - 1)
    within = sum((v - mean) ** 2 for group, mean in zip(groups, means, strict=True) for v in group) / (n - k)
    if not between > within * _critical_f(k - 1, n - k):
        return None
    size = (n - sum(len(group) ** 2 for group in groups) / n) / (k - 1)
    return math.sqrt((between - within) / size)


@lru_cache(maxsize=256)
def critical_t(df: int, upper_tail: float) -> float:
    """Return t with the upper tail on df degrees of freedom."""
    return -float(stdtrit(df, upper_tail))


@lru_cache(maxsize=256)
def _critical_f(df_between: int, df_within: int) -> float:
    return float(fdtri(df_between, df_within, 1 - LEVEL))
