"""Intervals of a ratio head/base: Fieller sets of means, t intervals of logarithms, and the tests that agree with them.

Fieller 1954 as in Kalibera and Jones 2012, 6.2 (eq. 12) and Lemma 7.7; x is base and y is head, theta = y/x. Of rounds
D = ln(head/base) of what both sides gave, its mean by t: the estimand is exp(E ln(head/base)), at the layout that both
sides of a round share (docs/method.md, the log ratio of rounds).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal, Protocol

import msgspec
import numpy as np

from gate.model import IntervalKind
from gate.stats.levels import Reduced, Tops, is_by_session, matched, mean_of, variance
from gate.stats.rounding import Array
from gate.stats.special import stdtr, stdtrit

Tail = Literal["above", "below"]
Method = Literal["fieller", "fieller-kj", "fieller-paired", "paired"]
"""Those that need nothing but the case itself."""
PAIRED: tuple[Method, ...] = ("fieller-paired", "paired")
"""Those that take base and head of a round together."""
LARGEST_T = 1e60
"""A first look of many spends so little of alpha that t has no float: no interval is that wide and bounded."""

_HAIR = 1e-12
"""The share of a variance that is rounding of floats rather than a variance."""


class Limits(msgspec.Struct, frozen=True):
    """A set of ratios (or differences): kind says how to read low and high; unbounded ends are None."""

    kind: IntervalKind
    low: float | None
    high: float | None


WITHHELD = Limits("withheld", None, None)


class Ratio(Protocol):
    """What is known of a ratio head/base, each in the metric's unit.

    Every alpha is two-sided; p is min(1, 2 P) of the one tail asked for, and below alpha exactly when the limits at
    that alpha lie beyond. df is None, limits are withheld and p is None when nothing is known of the variance.
    """

    @property
    def x(self) -> float:
        """Base's value."""

    @property
    def y(self) -> float:
        """Head's value."""

    @property
    def df(self) -> float | None:
        """Degrees of freedom; None also where the method has none."""

    def limits(self, alpha: float) -> Limits:
        """Return the set of the ratio at confidence 1 - alpha."""

    def p(self, theta: float, tail: Tail) -> float | None:
        """Return the p of "the ratio is above (below) theta"."""

    def difference_limits(self, alpha: float) -> Limits:
        """Return the interval of the difference head - base."""

    def p_difference(self, floor: float, tail: Tail) -> float | None:
        """Return the p of "head - base is above (below) floor"."""


class MeanPair(msgspec.Struct, frozen=True):
    """The means of base (x) and head (y) and what is known of their variance: the ratio of means, by Fieller."""

    x: float
    y: float
    v_xx: float
    v_yy: float
    v_xy: float
    """v_xx, v_yy and v_xy: variances and covariance of the means (not of the values)."""
    df: float | None
    """Degrees of freedom of those; None when nothing is known of the variance (one unit at the top level, or no spread
    on either side).
    """

    def limits(self, alpha: float) -> Limits:
        """Return the Fieller set of the ratio at confidence 1 - alpha.

        Source: K&J Lemma 7.7. It is bounded when base's mean differs from 0 at this level; otherwise it is the
        complement of an interval, a half-line or the whole line, and its ends are None.
        """
        if self.df is None:
            return WITHHELD
        t2 = t_quantile(self.df, alpha / 2) ** 2
        # theta belongs to the set when a theta^2 - 2 b theta + c <= 0
        a = self.x**2 - t2 * self.v_xx
        b = self.x * self.y - t2 * self.v_xy
        c = self.y**2 - t2 * self.v_yy
        discriminant = b * b - a * c
        if a > 0:
            # theta = y/x itself belongs to the set, so roots exist; rounding may leave a hair below 0
            root = math.sqrt(max(discriminant, 0.0))
            far = b + math.copysign(root, b)  # the root without cancellation; the other one follows from c/a
            if far == 0:
                return Limits("bounded", 0.0, 0.0)
            low, high = sorted((far / a, c / far))
            return Limits("bounded", low, high)
        if a < 0:
            return Limits("complement" if discriminant > 0 else "line", None, None)
        if b > 0:
            return Limits("half-line", c / (2 * b), None)
        if b < 0:
            return Limits("half-line", None, c / (2 * b))
        return Limits("line", None, None)

    def p(self, theta: float, tail: Tail) -> float | None:
        """Return min(1, 2 P(t > T)) for "the ratio is above (below) theta"; None when no variance is known.

        It agrees with the Fieller set: p < alpha exactly when the set at confidence 1 - alpha is bounded and lies
        wholly above (below) theta. So base's mean must differ from 0 at that level too, an intersection of two tests.
        """
        if self.df is None:
            return None
        variance = self.v_yy + theta**2 * self.v_xx - 2 * theta * self.v_xy
        beyond = _p(self.y - theta * self.x, variance, self.df, tail)
        return max(beyond, _p(self.x, self.v_xx, self.df, "above"))

    def difference_limits(self, alpha: float) -> Limits:
        """Return the interval of the difference head - base, in the metric's unit, with the same t as the ratio."""
        if self.df is None:
            return WITHHELD
        half = t_quantile(self.df, alpha / 2) * math.sqrt(max(self.v_xx + self.v_yy - 2 * self.v_xy, 0.0))
        difference = self.y - self.x
        return Limits("bounded", difference - half, difference + half)

    def p_difference(self, floor: float, tail: Tail) -> float | None:
        """Return the p, as of the ratio, of "head - base is above (below) floor"."""
        if self.df is None:
            return None
        return _p(self.y - self.x - floor, self.v_xx + self.v_yy - 2 * self.v_xy, self.df, tail)

    @property
    def logs(self) -> MeanPair:
        """The logarithms of the means, by the delta method; both means are above 0."""
        x, y = self.x, self.y
        variances = (self.v_xx / (x * x), self.v_yy / (y * y), self.v_xy / (x * y))
        return MeanPair(math.log(x), math.log(y), *variances, self.df)


class LogPair(msgspec.Struct, frozen=True):
    """The same on a logarithmic scale: exp(mean of head's logarithms - mean of base's), by t."""

    logs: MeanPair
    """Means, variances and covariance of the logarithms."""

    @property
    def x(self) -> float:
        """Base's value."""
        return math.exp(self.logs.x)

    @property
    def y(self) -> float:
        """Head's value."""
        return math.exp(self.logs.y)

    @property
    def df(self) -> float | None:
        """Degrees of freedom."""
        return self.logs.df

    def limits(self, alpha: float) -> Limits:
        """Return the t interval of the ratio at confidence 1 - alpha; always bounded or withheld."""
        found = self.logs.difference_limits(alpha)
        if found.low is None or found.high is None:
            return found
        # beyond a float there is no ratio to show: only a handful of units with absurd spread gets there
        low, high = math.exp(max(found.low, -700.0)), math.exp(min(found.high, 700.0))
        return Limits("bounded", low, high)

    def p(self, theta: float, tail: Tail) -> float | None:
        """Return the p of "the ratio is above (below) theta"; theta > 0."""
        return self.logs.p_difference(math.log(theta), tail)

    def difference_limits(self, alpha: float) -> Limits:
        """Return the interval of head - base in the metric's unit, by the delta method."""
        return self.natural().difference_limits(alpha)

    def p_difference(self, floor: float, tail: Tail) -> float | None:
        """Return the p of "head - base is above (below) floor", by the delta method."""
        return self.natural().p_difference(floor, tail)

    def natural(self) -> MeanPair:
        """Give the means themselves, by the delta method."""
        x, y, logs = self.x, self.y, self.logs
        return MeanPair(x, y, x * x * logs.v_xx, y * y * logs.v_yy, x * y * logs.v_xy, logs.df)


class RoundedRatio(msgspec.Struct, frozen=True):
    """A ratio of values that were written in coarse steps: each limit is that of the values that move it the most.

    What rounding may hide is the same in every build, so it does not shrink with their number.
    """

    middle: MeanPair | LogPair
    """Of the values as written."""
    least: MeanPair | LogPair
    """Of the largest base and the smallest head that they may be of."""
    most: MeanPair | LogPair

    @property
    def x(self) -> float:
        """Base's value."""
        return self.middle.x

    @property
    def y(self) -> float:
        """Head's value."""
        return self.middle.y

    @property
    def df(self) -> float | None:
        """Degrees of freedom."""
        return self.middle.df

    def limits(self, alpha: float) -> Limits:
        """Return the set of the ratio at confidence 1 - alpha, whichever the values were."""
        return _around(self.least.limits(alpha), self.most.limits(alpha))

    def p(self, theta: float, tail: Tail) -> float | None:
        """Return the p of "the ratio is above (below) theta"."""
        return (self.least if tail == "above" else self.most).p(theta, tail)

    def difference_limits(self, alpha: float) -> Limits:
        """Return the interval of the difference head - base, in the metric's unit."""
        return _around(self.least.difference_limits(alpha), self.most.difference_limits(alpha))

    def p_difference(self, floor: float, tail: Tail) -> float | None:
        """Return the p of "head - base is above (below) floor"."""
        return (self.least if tail == "above" else self.most).p_difference(floor, tail)

    @property
    def bounds(self) -> tuple[float, float]:
        """The smallest and the largest ratio of any values that are written like these, were there no noise."""
        return self.least.y / self.least.x, self.most.y / self.most.x

    def leaves_open(self, theta: float) -> bool:
        """Return whether rounding alone hides on which side of theta the ratio is."""
        low, high = self.bounds
        return low <= theta <= high

    @property
    def logs(self) -> MeanPair:
        """The logarithms; what rounding hides counts as the variance of an even spread between its bounds."""
        logs = self.middle.logs
        low, high = self.least.logs, self.most.logs
        v_xx, v_yy = (low.x - high.x) ** 2 / 12, (low.y - high.y) ** 2 / 12
        return msgspec.structs.replace(logs, v_xx=logs.v_xx + v_xx, v_yy=logs.v_yy + v_yy)


def rounded(pair: MeanPair | LogPair, base: float, head: float) -> MeanPair | LogPair | RoundedRatio:
    """Return a ratio whose sides may be so far from their values before these were written; itself where none is."""
    if not base and not head:
        return pair

    def moved(base: float, head: float) -> MeanPair | LogPair:
        # of digits that differ much from value to value half a step may be more than the mean, which stays above 0
        x, y = (max(value + by, _HAIR * value) for value, by in ((pair.x, base), (pair.y, head)))
        if isinstance(pair, MeanPair):
            return msgspec.structs.replace(pair, x=x, y=y)
        return LogPair(msgspec.structs.replace(pair.logs, x=math.log(x), y=math.log(y)))

    return RoundedRatio(pair, moved(base, -head), moved(-base, head))


def _around(least: Limits, most: Limits) -> Limits:
    bounded = least.kind == most.kind == "bounded"
    return Limits("bounded", least.low, most.high) if bounded else next(x for x in (least, most) if x.kind != "bounded")


def unpaired(base: Tops, head: Tops, *, kalibera_jones: bool = False) -> MeanPair:
    """Estimate both means and their variances, each side by itself (v_xy = 0).

    Satterthwaite's (1946) degrees at the estimated ratio, for unequal variances and counts. The gap g of a side floors
    the variance of its mean at g^2/(12 n), since a timer cannot tell less (docs/method.md, degenerate data).

    Args:
        kalibera_jones: n - 1 of the smaller side (K&J eq. 12 has equal counts).
    """
    x, y = base.mean, head.mean
    known = min(base.n, head.n) > 1
    v_xx, v_yy = (variance_of_mean(base), variance_of_mean(head)) if known else (0.0, 0.0)
    if v_xx == v_yy == 0:
        return MeanPair(x, y, 0.0, 0.0, 0.0, None)
    if kalibera_jones:
        return MeanPair(x, y, v_xx, v_yy, 0.0, float(min(base.n, head.n) - 1))
    v1 = v_xx * (1.0 if base.log or x == 0 else (y / x) ** 2)
    # scaled by the larger, so that squares of tiny variances do not vanish
    top = max(v1, v_yy)
    if top == 0:
        # head is all 0 without spread: at a ratio of 0 nothing of base's variance is left, its degrees are
        return MeanPair(x, y, v_xx, v_yy, 0.0, base.n - 1)
    v1, v2 = v1 / top, v_yy / top
    df = (v1 + v2) ** 2 / (v1**2 / (base.n - 1) + v2**2 / (head.n - 1))
    return MeanPair(x, y, v_xx, v_yy, 0.0, df)


def paired(base: Tops, head: Tops) -> MeanPair:
    """Estimate both means with the covariance of their rounds, n - 1 degrees: what drifts on both sides cancels.

    Only rounds that both sides have count. Where the rounds leave no variance of their contrast at all, the rounding
    of a coarse timer is what remains of it.
    """
    x, y = matched(base, head)
    if x.n > 1:
        base, head = x, y
    n = x.n
    v_xx, v_yy = (variance_of_mean(base), variance_of_mean(head)) if n > 1 else (0.0, 0.0)
    if v_xx == v_yy == 0:
        return MeanPair(base.mean, head.mean, 0.0, 0.0, 0.0, None)
    covariance = float((base.values - base.mean) @ (head.values - head.mean)) / (n - 1) / n
    ratio = 1.0 if base.log or base.mean == 0 else head.mean / base.mean
    if v_yy + ratio**2 * v_xx - 2 * ratio * covariance > _HAIR * (v_yy + ratio**2 * v_xx):
        return MeanPair(base.mean, head.mean, v_xx, v_yy, covariance, float(n - 1))
    most = math.sqrt(max(v_xx - _floor(base), 0.0) * max(v_yy - _floor(head), 0.0))
    return MeanPair(base.mean, head.mean, v_xx, v_yy, min(max(covariance, -most), most), float(n - 1))


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


def ratio_of(reduced: Reduced, method: Method, rounds: Rounds | None = None) -> Ratio:
    """Make the interval of a reduced case by one of the methods that need no memory (docs/method.md).

    "paired" is the mean of the rounds' logarithms of head/base; where a value has no logarithm it is Fieller's set.

    Args:
        rounds: what its complete rounds tell, where that is known already.
    """
    base, head = reduced.base, reduced.head
    if reduced.exact or reduced.trouble in ("negative", "zero-quantile"):
        return MeanPair(reduced.x, reduced.y, 0.0, 0.0, 0.0, None)
    if method == "paired" or (method == "fieller-paired" and is_by_session(base)):
        # of machines that differ by any factor Fieller's set would count that as variance of base's mean
        rounds = rounds or rounds_of(base, head)
        if rounds is not None:
            return rounded(rounds.pair(rounds.contrast, rounds.df), *reduced.rounding)
    pair = paired(base, head) if method in PAIRED else unpaired(base, head, kalibera_jones=method == "fieller-kj")
    return rounded(LogPair(pair) if base.log else pair, *reduced.rounding)


def variance_of_mean(side: Tops) -> float:
    """Return the variance of the mean of n >= 2 top units, not below what the timer's gap leaves."""
    return max(variance(side.values) / side.n, _floor(side))


def _floor(side: Tops) -> float:
    return side.gap * side.gap / (12 * side.n)


@lru_cache(maxsize=1024)
def t_quantile(df: float, upper_tail: float) -> float:
    """Return t with P(T > t) = upper_tail on df degrees of freedom; at most LARGEST_T, whose powers are floats."""
    return min(-float(stdtrit(df, upper_tail)), LARGEST_T)


def _p(difference: float, variance: float, df: float, tail: Tail) -> float:
    if tail == "below":
        difference = -difference
    if variance <= 0:
        return 0.0 if difference > 0 else 1.0
    return min(1.0, 2 * float(stdtr(df, -difference / math.sqrt(variance))))


def side_limits(side: Tops, alpha: float) -> Limits:
    """Return the interval of one side's value at confidence 1 - alpha (K&J 6.2): t on the top level's means."""
    if side.n < 2:
        return WITHHELD
    return t_limits(side.mean, variance_of_mean(side), side.n - 1, alpha, log=side.log)


def t_limits(mean: float, variance: float, df: float, alpha: float, *, log: bool) -> Limits:
    """Return the t interval of a mean at confidence 1 - alpha, of its exponential where it is a logarithm."""
    half = t_quantile(df, alpha / 2) * math.sqrt(variance)
    low, high = mean - half, mean + half
    if log:
        return Limits("bounded", math.exp(max(low, -700.0)), math.exp(min(high, 700.0)))
    return Limits("bounded", low, high)
