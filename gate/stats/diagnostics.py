"""Warnings that cost nothing: what the values themselves say against the way they were measured.

Each is a t test at LEVEL whose unit is the build or the round, so that nothing is assumed of values within one. Changes
below SMALLEST are not worth a word, however sure: both sides have them, and no threshold is so small. Nothing is ever
removed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit

from gate.model import Sample

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
    Counts = npt.NDArray[np.int64]

LEVEL = 0.01
"""The chance of a warning where there is nothing to warn of."""
SMALLEST = 0.005
"""The smallest change, as a share of the mean, that is warned of."""
SMALLEST_CORRELATION = 0.1
"""Below it iterations are worth more than 80% of as many independent ones."""


@np.errstate(all="ignore")
def warnings(base: Sample, head: Sample, unit: str) -> list[str]:
    """Return what to say about one case, in words; empty where nothing stands out.

    unit: the base unit of the values; of seconds less is faster, of anything else it is lower. Tested are warm-up (the
    second half of the iterations against the first), a linear trend over the rounds that both sides share, whether the
    difference of the sides depends on which of them is executed first (where the samples have orders), and lag-1
    correlation inside executions. Changes are shares of the mean, so values whose mean is not above 0 get the last
    one only. Two-sided at 1% each, the correlation one-sided: only a positive one makes iterations worth less.
    """
    sides = _Means.of(base), _Means.of(head)
    found = []
    if all(side.builds.min() > 0 for side in sides):
        found = [_warm_up(sides, unit), _drift(sides, unit), _order(sides, unit)]
    found.append(_correlated(sides))
    return [warning for warning in found if warning]


@np.errstate(all="ignore")
def lag_one(sample: Sample) -> float | None:
    """Return the correlation of neighbouring iterations inside executions; None where no execution can tell.

    Products over squares about the means of all executions that have at least 3 iterations and spread; corrected for
    the bias of short series as if each value depended on the one before it only (AR(1)). For planning: n iterations are
    worth n (1 - r)/(1 + r) independent ones.
    """
    return _lag_one([_Lags.of(_Means.of(sample))])


@dataclass(frozen=True, slots=True, eq=False)
class _Means:
    """A sample with what all tests ask of it; a build's mean is that of its executions' means."""

    sample: Sample
    starts: Counts
    """Where each execution begins among the values."""
    first: Counts
    """Where each build begins among the executions."""
    executions: Array
    builds: Array

    @staticmethod
    def of(sample: Sample) -> _Means:
        starts = _starts(sample.counts[0])
        executions = np.add.reduceat(sample.values, starts) / sample.counts[0]
        first = _starts(sample.counts[1])
        builds = np.add.reduceat(executions, first) / sample.counts[1]
        return _Means(sample, starts, first, executions, builds)


_Sides = tuple[_Means, _Means]


def _warm_up(sides: _Sides, unit: str) -> str | None:
    test = _t_test([_second_half(side) for side in sides])
    if test is None or not test.speaks(SMALLEST):
        return None
    what = "still warming up" if unit == "s" and test.mean < 0 else "not steady"
    return f"{what}: second half {_change(test.mean, unit)}"


def _second_half(side: _Means) -> list[float]:
    """Return by how much of its mean the second half of a build's iterations differs from the first, each build once.

    A middle iteration belongs to neither half. Builds all of whose executions have one iteration are left out.
    """
    iterations = side.sample.counts[0]
    half = iterations // 2
    sums = np.concatenate(((0.0,), side.sample.values.cumsum()))
    ends = side.starts + iterations
    first, second = sums[side.starts + half] - sums[side.starts], sums[ends] - sums[ends - half]
    change = (second - first) / np.maximum(half, 1)
    return _by_build(side, change, half > 0, side.builds)


def _by_build(side: _Means, of: Array, usable: npt.NDArray[np.bool_], scale: Array | float = 1.0) -> list[float]:
    """Average over the usable executions of each build, those builds left out that have none."""
    if usable.all():
        count = side.sample.counts[1]
    else:
        of = np.where(usable, of, 0.0)
        count = np.add.reduceat(usable.astype(np.int64), side.first)
    mean = np.add.reduceat(of, side.first) / count / scale
    found: list[float] = mean[count > 0].tolist()
    return found


def _drift(sides: _Sides, unit: str) -> str | None:
    """Fit a straight line to what both sides have in common, round by round, within each session."""
    base, head = (dict(zip(side.sample.builds, side.builds.tolist(), strict=True)) for side in sides)
    rounds = [unit for unit in base if unit in head]
    if not rounds:
        return None
    x, y = (sum(side[r] for r in rounds) / len(rounds) for side in (base, head))
    by_session: dict[int, list[tuple[int, float]]] = {}
    for session, build in rounds:
        level = (base[session, build] / x + head[session, build] / y) / 2
        by_session.setdefault(session, []).append((build, level))
    test = _trend(list(by_session.values()))
    if test is None or not test.speaks(SMALLEST):
        return None
    return f"host drift: both sides {_change(test.mean, unit)} from the first round to the last"


def _trend(series: list[list[tuple[int, float]]]) -> _Test | None:
    """Test a common slope of series of (time, value), each with its own level; the mean is the change over the longest.

    Least squares with one level a series and one slope, t on what is left of the degrees.
    """
    tt = tv = vv = span = 0.0
    df = -1
    for points in series:
        n = len(points)
        at, level = sum(t for t, _ in points) / n, sum(v for _, v in points) / n
        tt += sum((t - at) ** 2 for t, _ in points)
        tv += sum((t - at) * (v - level) for t, v in points)
        vv += sum((v - level) ** 2 for _, v in points)
        span = max(span, points[-1][0] - points[0][0])
        df += n - 1
    if df < 2 or tt == 0:
        return None
    slope = tv / tt
    error = math.sqrt(max(vv - slope * tv, 0.0) / df / tt)
    return _Test(slope * span, error * span, df)


def _order(sides: _Sides, unit: str) -> str | None:
    """Compare the differences of the sides in blocks with base first and with head first.

    A block is the k-th execution of both sides in a round. Half of the difference is what it costs to be the second.
    """
    blocks = _blocks(sides)
    if blocks is None:
        return None
    starts = _starts(blocks.counts)
    first = np.add.reduceat(blocks.base_first.astype(np.float64), starts)
    second = blocks.counts - first
    after_base = np.add.reduceat(np.where(blocks.base_first, blocks.differences, 0.0), starts) / first
    after_head = np.add.reduceat(np.where(blocks.base_first, 0.0, blocks.differences), starts) / second
    both = (first > 0) & (second > 0)
    if both.sum() > 2:
        test = _t_test([((after_base - after_head)[both] / 2).tolist()])
    else:  # one execution a round: rounds with base first against rounds with head first
        test = _t_test([after_base[second == 0].tolist(), (-after_head[first == 0]).tolist()], every=True)
    if test is None or not test.speaks(SMALLEST):
        return None
    return f"side-by-order interaction: whichever side is executed second is {_change(test.mean, unit)}"


@dataclass(frozen=True, slots=True, eq=False)
class _Blocks:
    """Executions of both sides beside each other: head - base as a share of the round's mean, which came first."""

    differences: Array
    base_first: npt.NDArray[np.bool_]
    counts: Counts
    """Blocks of each round."""


def _blocks(sides: _Sides) -> _Blocks | None:
    """Pair the executions of the rounds in which both sides have as many; None where there are none, or no orders.

    Both samples are in the order of session, build and execution.
    """
    base, head = sides
    if base.sample.orders is None or head.sample.orders is None:
        return None
    counts = dict(zip(head.sample.builds, head.sample.counts[1].tolist(), strict=True))
    pairs = zip(base.sample.builds, base.sample.counts[1].tolist(), strict=True)
    rounds = {unit: count for unit, count in pairs if counts.get(unit) == count}
    if not rounds:
        return None
    of_base, of_head = (np.array([unit in rounds for unit in side.sample.builds]) for side in sides)
    in_base, in_head = np.repeat(of_base, base.sample.counts[1]), np.repeat(of_head, head.sample.counts[1])
    per_round = np.array(list(rounds.values()))
    level = np.repeat((base.builds[of_base] + head.builds[of_head]) / 2, per_round)
    differences = (head.executions[in_head] - base.executions[in_base]) / level
    return _Blocks(differences, base.sample.orders[in_base] < head.sample.orders[in_head], per_round)


def _correlated(sides: _Sides) -> str | None:
    lags = [_Lags.of(side) for side in sides]
    test = _t_test([lag.by_build() for lag in lags])
    if test is None or not test.mean > test.error * _critical(test.df, LEVEL):
        return None
    r = _lag_one(lags)
    if r is None or r < SMALLEST_CORRELATION:
        return None
    n = sum(len(side.sample.values) for side in sides) / sum(len(side.executions) for side in sides)
    worth = max(1, round(n * (1 - r) / (1 + r)))
    return f"autocorrelation {r:.2f}: {round(n)} iterations of an execution tell as much as {worth} independent ones"


@dataclass(frozen=True, slots=True, eq=False)
class _Lags:
    """Of each execution the sum of products of neighbours, and of squares, about its mean."""

    side: _Means
    products: Array
    squares: Array
    usable: npt.NDArray[np.bool_]
    """At least 3 iterations, and spread."""

    @staticmethod
    def of(side: _Means) -> _Lags:
        iterations = side.sample.counts[0]
        away = side.sample.values - side.executions.repeat(iterations)
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
        return _by_build(self.side, self.products / self.squares + 1 / self.side.sample.counts[0], self.usable)


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


@dataclass(frozen=True, slots=True)
class _Test:
    """A mean with its standard error on df degrees of freedom."""

    mean: float
    error: float
    df: int

    def speaks(self, smallest: float) -> bool:
        """Tell whether the mean differs from 0 at LEVEL, two-sided, and is worth a word."""
        return abs(self.mean) >= smallest and abs(self.mean) > self.error * _critical(self.df, LEVEL / 2)


def _t_test(groups: Sequence[Sequence[float]], *, every: bool = False) -> _Test | None:
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
    return _Test(sum(means) / len(groups), spread / len(groups), df)


@lru_cache(maxsize=256)
def _critical(df: int, upper_tail: float) -> float:
    return -float(stdtrit(df, upper_tail))


def _change(share: float, unit: str) -> str:
    less, more = ("faster", "slower") if unit == "s" else ("lower", "higher")
    return f"{abs(share) * 100:.1f}% {less if share < 0 else more}"


def _starts(counts: Counts) -> Counts:
    return counts.cumsum() - counts
