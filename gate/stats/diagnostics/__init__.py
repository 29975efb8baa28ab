"""Diagnostics: problems of a measurement that its own values show.

Each is a test at LEVEL whose unit is the build or the round, so that nothing is assumed of values within one. Changes
below SMALLEST are not worth a word, however sure: both sides have them, and no threshold is so small. Nothing is ever
removed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
import numpy as np

from gate.model import Sample
from gate.model.warnings import AnyWarning
from gate.model.warnings.estimates import Autocorrelation, Trend
from gate.stats.diagnostics.rounds import between_sessions, drift, order, shared_rounds
from gate.stats.diagnostics.testing import LEVEL, SMALLEST, Means, Sides, t_test
from gate.stats.rounding import Array, Flags

__all__ = ["LEVEL", "SMALLEST", "SMALLEST_CORRELATION", "lag_one", "warnings"]


# 0/0 where nothing varies, or too little is there to vary: it is not significant
@np.errstate(divide="ignore", invalid="ignore")
def warnings(base: Sample, head: Sample, unit: str) -> list[AnyWarning]:
    """Return what to say about one case; empty where nothing stands out.

    Tested are a trend inside executions, a linear trend over the rounds that both sides share, whether the difference
    of the sides depends on which of them is executed first (where the samples have orders), whether sessions differ, in
    what both sides have in common and in their difference, and lag-1 correlation inside executions. Changes are shares
    of the mean, so values whose mean is not above 0 get the last one only. Two-sided at 1% each, the correlation
    one-sided: only a positive one makes iterations worth less.

    Args:
        unit: the base unit of the values: only a program that is timed warms up.
    """
    sides = Means.of(base), Means.of(head)
    found: list[AnyWarning | None] = []
    if all(side.builds.min() > 0 for side in sides):
        rounds = shared_rounds(sides)
        found = [trend(sides, unit), drift(rounds, unit), order(sides, unit), *between_sessions(rounds)]
    found.append(correlated(sides))
    return [warning for warning in found if warning]


# --- iterations: a trend over them, and their dependence on the one before --------------------------------------------

SMALLEST_CORRELATION = 0.1
"""Below it iterations are worth more than 80% of as many independent ones."""


def trend(sides: Sides, unit: str) -> Trend | None:
    """Warn of a trend over the iterations of executions.

    Tested is the slope of a straight line, which weighs the ends: it sees a warm-up of the first iterations, and a slow
    trend, in fewer builds than the difference of the halves does. What is said, and must be SMALLEST, is the difference
    of the halves: twice what a warm-up adds to the mean.
    """
    slopes: list[list[float]] = []
    for side in sides:
        # each build once, as a share of its mean; those all of whose executions have one iteration are left out
        iterations = side.sample.counts[0]
        place = np.arange(len(side.away)) - side.starts.repeat(iterations)
        rise = 12 * np.add.reduceat(place * side.away, side.starts) / (iterations * (iterations + 1))
        slopes.append(side.by_build(rise, iterations > 1, side.builds))
    test = t_test(slopes)
    if test is None or not test.sure:
        return None
    halves: list[list[float]] = []
    for side in sides:
        # a middle iteration belongs to neither half
        half, ends = side.sample.counts[0] // 2, side.starts + side.sample.counts[0]
        sums = np.concatenate(((0.0,), side.sample.values.cumsum()))
        first, second = sums[side.starts + half] - sums[side.starts], sums[ends] - sums[ends - half]
        halves.append(side.by_build((second - first) / np.maximum(half, 1), half > 0, side.builds))
    halves = [builds for builds in halves if builds]
    share = sum(sum(builds) / len(builds) for builds in halves) / len(halves)
    if abs(share) < SMALLEST or share * test.mean < 0:
        return None
    return Trend(share, unit, warming=unit == "s" and share < 0)


def correlated(sides: Sides) -> Autocorrelation | None:
    """Warn where iterations follow the one before so much that they are worth clearly fewer."""
    lags = [_Lags.of(side) for side in sides]
    test = t_test([lag.by_build() for lag in lags])
    if test is None or not test.above:
        return None
    r = _lag_one(lags)
    if r is None or r < SMALLEST_CORRELATION:
        return None
    n = sum(len(side.sample.values) for side in sides) / sum(len(side.executions) for side in sides)
    worth = max(1, round(n * (1 - r) / (1 + r)))
    return Autocorrelation(r, round(n), worth)


# 0/0 for executions without neighbours or spread, which are not usable
@np.errstate(divide="ignore", invalid="ignore")
def lag_one(sample: Sample) -> float | None:
    """Return the correlation of neighbouring iterations inside executions; None where no execution can tell.

    Products over squares about the means of all executions that have at least 3 iterations and spread; corrected for
    the bias of short series as if each value depended on the one before it only (AR(1)). For planning: n iterations are
    worth n (1 - r)/(1 + r) independent ones.
    """
    return _lag_one([_Lags.of(Means.of(sample))])


class _Lags(msgspec.Struct, frozen=True, eq=False):
    """Of each execution the sum of products of neighbours, and of squares, about its mean."""

    side: Means
    products: Array
    squares: Array
    usable: Flags
    """At least 3 iterations, and spread."""

    @staticmethod
    def of(side: Means) -> _Lags:
        iterations = side.sample.counts[0]
        away = side.away
        products = np.zeros(len(away))
        np.multiply(away[:-1], away[1:], out=products[:-1])
        products[side.starts + iterations - 1] = 0.0  # the neighbour is in the next execution
        squares = np.add.reduceat(away * away, side.starts)
        # more than the rounding errors of a mean of equal values
        usable = (iterations > 2) & (squares > iterations * (1e-12 * side.executions) ** 2)
        return _Lags(side, np.add.reduceat(products, side.starts), squares, usable)

    def by_build(self) -> list[float]:
        """Average the executions' correlations build by build; 0 is expected where the order says nothing.

        In any order of the same n values the sum of products of neighbours is on average -1/n of the sum of squares.
        """
        return self.side.by_build(self.products / self.squares + 1 / self.side.sample.counts[0], self.usable)


def _lag_one(lags: Sequence[_Lags]) -> float | None:
    """Return the correlation over all executions, corrected for the bias of short series; between -0.99 and 0.99."""
    squares = sum(float(lag.squares[lag.usable].sum()) for lag in lags)
    if not 0 < squares < math.inf:
        return None
    products = sum(float(lag.products[lag.usable].sum()) for lag in lags)
    n = squares / sum(float((lag.squares / lag.side.sample.counts[0])[lag.usable].sum()) for lag in lags)
    low, high = -0.99, 0.99
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if _shown(middle, n) < products / squares else (low, middle)
    return (low + high) / 2


def _shown(r: float, n: float) -> float:
    """Return E(sum of products of neighbours)/E(sum of squares) about the mean of n values of AR(1)."""
    power = math.copysign(abs(r) ** n, -1.0 if r < 0 and round(n) % 2 else 1.0)
    of_mean = (1 + 2 * r * (n * (1 - r) - (1 - power)) / (n * (1 - r) ** 2)) / n  # variance of the mean
    of_first = (1 - power) / (n * (1 - r))  # covariance of the first value with the mean
    return ((n - 1) * r - (n + 1) * of_mean + 2 * of_first) / (n * (1 - of_mean))
