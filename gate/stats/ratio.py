"""Intervals of the ratio of means head/base: Fieller sets and the tests that agree with them.

Fieller 1954 as in Kalibera and Jones 2012, 6.2 (eq. 12) and Lemma 7.7; x is base and y is head, theta = y/x.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import stdtr, stdtrit

from gate.model import IntervalKind
from gate.stats.levels import Summary

Method = Literal["fieller", "fieller-kj"]
Tail = Literal["above", "below"]


@dataclass(frozen=True, slots=True)
class MeanPair:
    """The means of base (x) and head (y) and what is known of their variance.

    v_xx, v_yy, v_xy: variances and covariance of the means (not of the values). df: degrees of freedom of those;
    None when nothing is known of the variance (one unit at the top level, or no spread on either side).
    """

    x: float
    y: float
    v_xx: float
    v_yy: float
    v_xy: float
    df: float | None


@dataclass(frozen=True, slots=True)
class Limits:
    """A set of ratios (or differences): kind says how to read low and high; unbounded ends are None."""

    kind: IntervalKind
    low: float | None
    high: float | None


def mean_pair(base: Summary, head: Summary, method: Method) -> MeanPair:
    """Estimate both means and their variances from the top level's means.

    "fieller-kj": df = n - 1 of the smaller side (K&J eq. 12 has equal counts). "fieller": Satterthwaite's degrees at
    the estimated ratio, unequal variances and counts. The smallest gap g between distinct values floors the variance
    of a side's mean at g^2/(12 n), since a timer cannot tell less (docs/method.md, degenerate data).
    """
    x, y = base.mean, head.mean
    if base.n < 2 or head.n < 2:
        return MeanPair(x, y, 0.0, 0.0, 0.0, None)
    v_xx, v_yy = _variance_of_mean(base), _variance_of_mean(head)
    if v_xx == 0 and v_yy == 0:
        return MeanPair(x, y, 0.0, 0.0, 0.0, None)
    if method == "fieller-kj":
        df = float(min(base.n, head.n) - 1)
    else:
        df = _satterthwaite(v_xx * (y / x) ** 2 if x != 0 else v_xx, base.n - 1, v_yy, head.n - 1)
    return MeanPair(x, y, v_xx, v_yy, 0.0, df)


@np.errstate(over="ignore", invalid="ignore")
def _variance_of_mean(side: Summary) -> float:
    return max(float(side.tops.var(ddof=1)) / side.n, side.gap * side.gap / (12 * side.n))


def _satterthwaite(v1: float, d1: float, v2: float, d2: float) -> float:
    # scaled by the larger, so that squares of tiny variances do not vanish
    top = max(v1, v2)
    if top == 0:
        # head is all 0 without spread: at a ratio of 0 nothing of base's variance is left, its degrees are
        return d1
    if not math.isfinite(top):
        return min(d1, d2)
    v1, v2 = v1 / top, v2 / top
    return (v1 + v2) ** 2 / (v1**2 / d1 + v2**2 / d2)


def t_quantile(df: float, upper_tail: float) -> float:
    """Return t with P(T > t) = upper_tail on df degrees of freedom."""
    return -float(stdtrit(df, upper_tail))


def ratio_limits(pair: MeanPair, alpha: float) -> Limits:
    """Return the Fieller set of the ratio at confidence 1 - alpha.

    Source: K&J Lemma 7.7. It is bounded when base's mean differs from 0 at this level; otherwise it is the complement
    of an interval, a half-line or the whole line, and its ends are None.
    """
    if pair.df is None:
        return Limits("withheld", None, None)
    t2 = t_quantile(pair.df, alpha / 2) ** 2
    # theta belongs to the set when a theta^2 - 2 b theta + c <= 0
    a = pair.x**2 - t2 * pair.v_xx
    b = pair.x * pair.y - t2 * pair.v_xy
    c = pair.y**2 - t2 * pair.v_yy
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


def p_ratio(pair: MeanPair, theta: float, tail: Tail) -> float | None:
    """Return min(1, 2 P(t > T)) for "the ratio is above (below) theta"; None when no variance is known.

    It agrees with the Fieller set: p < alpha exactly when the set at confidence 1 - alpha is bounded and lies wholly
    above (below) theta. So base's mean must differ from 0 at that level too, an intersection of two tests.
    """
    if pair.df is None:
        return None
    variance = pair.v_yy + theta**2 * pair.v_xx - 2 * theta * pair.v_xy
    beyond = _p(pair.y - theta * pair.x, variance, pair.df, tail)
    return max(beyond, _p(pair.x, pair.v_xx, pair.df, "above"))


def difference_limits(pair: MeanPair, alpha: float) -> Limits:
    """Return the interval of the difference head - base, in the metric's unit, with the same t as the ratio."""
    if pair.df is None:
        return Limits("withheld", None, None)
    half = t_quantile(pair.df, alpha / 2) * math.sqrt(pair.v_xx + pair.v_yy - 2 * pair.v_xy)
    difference = pair.y - pair.x
    return Limits("bounded", difference - half, difference + half)


def p_difference(pair: MeanPair, floor: float, tail: Tail) -> float | None:
    """Return the p, as p_ratio, of "head - base is above (below) floor"."""
    if pair.df is None:
        return None
    return _p(pair.y - pair.x - floor, pair.v_xx + pair.v_yy - 2 * pair.v_xy, pair.df, tail)


def _p(difference: float, variance: float, df: float, tail: Tail) -> float:
    if tail == "below":
        difference = -difference
    if variance <= 0:
        return 0.0 if difference > 0 else 1.0
    return min(1.0, 2 * float(stdtr(df, -difference / math.sqrt(variance))))


def mean_limits(side: Summary, alpha: float) -> Limits:
    """Return the interval of one side's mean at confidence 1 - alpha (K&J 6.2): t on the top level's means."""
    if side.n < 2:
        return Limits("withheld", None, None)
    half = t_quantile(side.n - 1, alpha / 2) * math.sqrt(_variance_of_mean(side))
    return Limits("bounded", side.mean - half, side.mean + half)
