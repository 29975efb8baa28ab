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

from gate.model import SIDES, Sample, Side
from gate.model.warnings import AnyWarning
from gate.model.warnings.estimates import Autocorrelation, CarryOver, Drift, OrderEffect, Trend
from gate.stats.centers import squared_error
from gate.stats.levels import Tops, by_build, starts, trimmed_mean
from gate.stats.ratio import t_quantile, variance_of_mean
from gate.stats.rounding import ROUNDING, Array, Flags, Ints
from gate.stats.special import fdtr, fdtrc


# 0/0 where nothing varies, or too little is there to vary: it is not significant
@np.errstate(divide="ignore", invalid="ignore")
def warnings(base: Sample, head: Sample, unit: str) -> list[AnyWarning]:
    """Return what to say about one case; empty where nothing stands out.

    Tested are a trend inside executions, a linear trend over the rounds that both sides share, whether the difference
    of the sides depends on which of them is executed first (where the samples have orders), and lag-1 correlation
    inside executions. Changes are shares of the mean, so values whose mean is not above 0 get the last one only.
    Two-sided at 1% each, the correlation one-sided: only a positive one makes iterations worth less.

    Args:
        unit: the base unit of the values: only a program that is timed warms up.
    """
    sides = Means.of(base), Means.of(head)
    found: list[AnyWarning | None] = []
    if all(side.builds.min() > 0 for side in sides):
        found = [trend(sides, unit), drift(sides, unit), order(sides, unit)]
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


# --- the test and what it is of ---------------------------------------------------------------------------------------

LEVEL = 0.01
"""The chance of a warning where there is nothing to warn of."""
SMALLEST = 0.005
"""The smallest change, as a share of the mean, that is warned of."""


class Means(msgspec.Struct, frozen=True, eq=False):
    """One side, reduced: a build's mean is that of its executions' means."""

    sample: Sample
    starts: Ints
    """Where each execution begins among the values."""
    first: Ints
    """Where each build begins among the executions."""
    executions: Array
    builds: Array
    away: Array
    """Of each value, from the mean of its execution."""

    @staticmethod
    def of(sample: Sample) -> Means:
        """Reduce a sample, of any counts above 0."""
        begin, first = starts(sample.counts[0]), starts(sample.counts[1])
        executions = np.add.reduceat(sample.values, begin) / sample.counts[0]
        builds = np.add.reduceat(executions, first) / sample.counts[1]
        away = sample.values - executions.repeat(sample.counts[0])
        return Means(sample, begin, first, executions, builds, away)

    def ordered(self) -> dict[tuple[int, int], list[tuple[int, float]]]:
        """Return of each build the executions' positions in the run and means; nothing where these are not known."""
        sample = self.sample
        if sample.orders is None:
            return {}
        places = list(zip(sample.orders.tolist(), self.executions.tolist(), strict=True))
        begin = self.first.tolist()
        ends = [*begin[1:], len(places)]
        return {build: places[at:end] for build, at, end in zip(sample.builds, begin, ends, strict=True)}

    def by_build(self, of: Array, usable: Flags, scale: Array | float = 1.0) -> list[float]:
        """Average over the usable executions of each build, those builds left out that have none."""
        if usable.all():
            count = self.sample.counts[1]
        else:
            of = np.where(usable, of, 0.0)
            count = np.add.reduceat(usable.astype(np.int64), self.first)
        mean = np.add.reduceat(of, self.first) / count / scale
        found: list[float] = mean[count > 0].tolist()
        return found


Sides = tuple[Means, Means]


class Test(msgspec.Struct, frozen=True):
    """A mean with its standard error on df degrees of freedom."""

    mean: float
    error: float
    df: int

    @property
    def sure(self) -> bool:
        """Whether the mean differs from 0 at LEVEL, two-sided."""
        return abs(self.mean) > self.error * t_quantile(self.df, LEVEL / 2)

    @property
    def above(self) -> bool:
        """Whether the mean is above 0 at LEVEL, one-sided."""
        return self.mean > self.error * t_quantile(self.df, LEVEL)

    @property
    def speaks(self) -> bool:
        """Whether it is sure and at least SMALLEST."""
        return abs(self.mean) >= SMALLEST and self.sure


def t_test(groups: Sequence[Sequence[float]], *, every: bool = False) -> Test | None:
    """Test the mean of the groups' means with the variance within groups; None below 2 degrees of freedom.

    So a warm-up of one side alone is no noise.

    Args:
        every: None too where a group is empty.
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


# --- rounds, sessions and the order of sides --------------------------------------------------------------------------

ERRORS = 3.0
"""Standard errors from which on there is a word about it."""
FEWEST = 10
"""Executions after either side below which nothing is said."""


def carry_over(base: Sample, head: Sample) -> CarryOver | None:
    """Return the larger carry-over of the two sides; None where neither is certain and above 0.5%, or not known.

    Compared are trimmed means of the logarithms after the other side and after itself, each less its build's median.
    Only executions that directly follow another of the benchmark count.
    """
    if base.orders is None or head.orders is None:
        return None
    side_at = dict.fromkeys(_places(base), "base") | dict.fromkeys(_places(head), "head")
    found: list[CarryOver] = []
    for side, sample in zip(SIDES, (base, head), strict=True):
        parts = [*by_build(sample).values()]
        if min(means.min() for means in parts) <= 0:
            continue
        away = np.concatenate([np.log(means) - np.median(np.log(means)) for means in parts])
        before = np.array([side_at.get((session, order - 1), "") for session, order in _places(sample)])
        other, same = away[(before != side) & (before != "")], away[before == side]
        if min(len(other), len(same)) < FEWEST:
            continue
        difference = trimmed_mean(other) - trimmed_mean(same)
        error = math.sqrt(squared_error(other) + squared_error(same))
        if abs(difference) > ERRORS * error and abs(math.expm1(difference)) > SMALLEST:
            found.append(CarryOver(side, math.expm1(difference)))
    return max(found, key=lambda each: abs(each.change), default=None)


def _places(sample: Sample) -> list[tuple[int, int]]:
    sessions = np.repeat([session for session, _ in sample.builds], sample.counts[1])
    orders = [] if sample.orders is None else sample.orders.tolist()
    return list(zip(sessions.tolist(), orders, strict=True))


def drift(sides: Sides, unit: str) -> Drift | None:
    """Fit one straight line to what both sides have in common, round by round, with a level for each session.

    Of the rounds that both sides have, in shares of their means. Least squares, t on what is left of the degrees; what
    is said is the change over the longest session.
    """
    base, head = (dict(zip(side.sample.builds, side.builds.tolist(), strict=True)) for side in sides)
    both = [build for build in base if build in head]
    x, y = (sum(side[build] for build in both) / max(len(both), 1) for side in (base, head))
    sessions: dict[int, list[tuple[float, float]]] = {}
    for session, build in both:
        level = (base[session, build] / x + head[session, build] / y) / 2
        sessions.setdefault(session, []).append((build, level))
    tt = tv = vv = span = 0.0
    for rounds in sessions.values():
        at, away = (np.array(rounds) - np.mean(rounds, axis=0)).T
        tt, tv, vv = tt + float(at @ at), tv + float(at @ away), vv + float(away @ away)
        span = max(span, float(at[-1] - at[0]))
    df = len(both) - len(sessions) - 1
    if df < 2 or tt == 0:
        return None
    slope = tv / tt
    test = Test(slope * span, math.sqrt(max(vv - slope * tv, 0.0) / df / tt) * span, df)
    return Drift(test.mean, unit) if test.speaks else None


def order(sides: Sides, unit: str) -> OrderEffect | None:
    """Compare the differences of the sides in blocks with base first and with head first.

    A block is the k-th execution of both sides in a round. Half of the difference is what it costs to be the second.
    """
    base, head = (side.ordered() for side in sides)
    within: list[float] = []
    base_first: list[float] = []
    head_first: list[float] = []
    for build, x in base.items():
        y = head.get(build, [])
        if len(x) != len(y):
            continue
        level = (sum(mean for _, mean in x) + sum(mean for _, mean in y)) / len(x) / 2
        first, second = (
            [(v - u) / level for (at, u), (other, v) in zip(x, y, strict=True) if (at < other) == leads]
            for leads in (True, False)
        )
        if first and second:
            within.append((sum(first) / len(first) - sum(second) / len(second)) / 2)
        elif first:
            base_first.append(sum(first) / len(first))
        else:
            head_first.append(-sum(second) / len(second))
    # with one execution a round: rounds with base first against rounds with head first
    test = t_test([within]) if len(within) > 2 else t_test([base_first, head_first], every=True)
    return OrderEffect(test.mean, unit) if test is not None and test.speaks else None


# --- sides whose builds spread unlike ---------------------------------------------------------------------------------

FEWEST_SPREAD = 5
"""Units a side below which the tests warn too often or never."""
F_LEVEL, DISTANCE_LEVEL = 0.01, 0.02
"""Both tests must agree: F alone takes a rare layout for a spread, distances from the median alone see too little."""


def wider(base: Tops, head: Tops) -> tuple[Side, float | None] | None:
    """Return the side that spreads more, as a share of its mean, and how many times as much; None: not shown.

    F of the variances and Brown and Forsythe's (1974) test of the distances from the median, both two-sided
    (docs/method.md has their false and true warnings). No times: the other side's units do not spread.
    """
    if min(base.n, head.n) < FEWEST_SPREAD or not (base.log or min(base.mean, head.mean) > 0):
        return None
    x, y = (1.0, 1.0) if base.log else (base.mean, head.mean)
    own, other = (variance_of_mean(side) * side.n / scale**2 for side, scale in ((base, x), (head, y)))
    if max(own, other) <= ROUNDING**2:
        return None
    if min(own, other) > 0:
        degrees = base.n - 1, head.n - 1, own / other
        if 2 * min(fdtr(*degrees), fdtrc(*degrees)) >= F_LEVEL:
            return None
    # analysis of variance of two groups of distances
    away = deviations(np.sort(base.values / x)), deviations(np.sort(head.values / y))
    means, (n, m) = [each.mean() for each in away], map(len, away)
    within = sum(float(((each - mean) ** 2).sum()) for each, mean in zip(away, means, strict=True))
    between = float((means[0] - means[1]) ** 2 * n * m / (n + m))
    alike = between <= 0 if within <= 0 else fdtrc(1, n + m - 2, between / (within / (n + m - 2))) >= DISTANCE_LEVEL
    if alike:
        return None
    small, large = sorted((own, other))
    return "head" if other > own else "base", math.sqrt(large / small) if small > ROUNDING**2 else None


def deviations(group: Array) -> Array:
    """Return the distances from the median, without structural zeros.

    In a group of an odd count the median itself is no deviation, and in one of an even count the two next to it are
    one: without these structural zeros the test keeps its level at few units (Hines and O'Hara Hines 2000, Biometrics
    56).

    Args:
        group: sorted, 3 values or more.
    """
    apart = np.sort(np.abs(group - np.median(group)))
    if len(apart) % 2 == 0:
        apart[1] *= math.sqrt(2)
    return apart[1:]
