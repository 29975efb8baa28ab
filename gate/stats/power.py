"""The power of a planned test and the smallest change that it finds, by the noncentral t.

The test is that of the verdict: the Fieller set of the ratio lies above 1 + threshold (docs/method.md). All variances
are relative: divided by the squared mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache, partial

import numpy as np

from gate.stats.planning import Components, Counts, Interval, build_variance
from gate.stats.prior import FALL_BACK, FALL_BACK_BY_ROUND, FEWEST_MODERATED
from gate.stats.ratio import LogPair, MeanPair, Ratio, RoundedRatio, t_quantile
from gate.stats.rounding import Array
from gate.stats.shared_variance import FEWEST_BUILDS
from gate.stats.special import betaincinv, fdtri, gammainc, gammaincinv, nctdtr, ndtr

_MOST = 1e4
"""A noncentrality that no test of a bounded interval has."""
_BISECTED = 10


@lru_cache(maxsize=4096)
def needed(df: float, alpha: float, wanted: float) -> float:
    """Return the noncentrality at which T on df degrees exceeds its two-sided limit at alpha with the wanted power.

    About the sum of two t quantiles, (theta = z + 0.84 where the variance is known, for a power of 0.8); inf where none
    is large enough. Source: docs/method.md, what a run could have shown.
    """
    critical = t_quantile(df, alpha / 2)
    if critical >= _MOST or float(beyond(df, _MOST, critical)) < wanted:
        return math.inf
    return _least(0.0, _MOST, lambda t: float(beyond(df, t, critical)) - wanted)


def _least(low: float, high: float, excess: Callable[[float], float]) -> float:
    """Return the least number whose excess is not negative, between one where it is and one where it is not.

    By bisection, and from where the excess is no longer flat by the line through both ends; an end that stays twice
    counts half (the Illinois method).
    """
    at_low, at_high, moved = -1.0, 1.0, 0
    for step in range(60):
        if high - low <= 1e-14 * high or at_high == 0:
            break
        middle = low + (high - low) * (0.5 if step < _BISECTED else at_low / (at_low - at_high))
        found = excess(middle)
        if found >= 0:
            high, at_high, at_low, moved = middle, found, at_low / (2 if moved > 0 else 1), 1
        else:
            low, at_low, at_high, moved = middle, found, at_high / (2 if moved < 0 else 1), -1
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
    if isinstance(ratio, RoundedRatio):
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


GIVEN_UP = 0.105
"""How often a right memory is given up: the sides are noisier than it says, or unlike (simulated)."""
GIVEN_UP_BY_ROUND = 0.103
"""The same where the contrast is tested too."""
GIVEN_UP_AT_EVERY_LOOK = {1: GIVEN_UP_BY_ROUND, 2: 0.059, 3: 0.042, 4: 0.033}
"""How often it is at each one of so many looks (simulated, looks from 2, 3 to 4, 5)."""

_LARGEST_CHANGE = 100.0
_POINTS = 64
_REACH = 30.0
_SHARES = 12


def noncentrality(variance: Array | float, covariance: float, change: float, threshold: float, builds: int) -> Array:
    """Return the expected T of "the ratio is above 1 + threshold" when it is 1 + change.

    T is (y - theta x)/sqrt(v_yy + theta^2 v_xx - 2 theta v_xy), each side's variance in proportion to its squared mean.

    Args:
        variance: of a build's mean, any shape.
        covariance: what base and head of a round share of it.
    """
    theta, ratio = 1 + threshold, 1 + change
    # rounds that share all of their variance leave none to a change as large as the threshold
    spread = np.maximum((ratio**2 + theta**2) * np.asarray(variance) - 2 * theta * ratio * covariance, 1e-300)
    t: Array = (change - threshold) * np.sqrt(builds / spread)
    return t


def detection(t: Array | float, builds: int, alpha: float, interval: Interval, min_builds: int = 2) -> Array:
    """Return the probability that the limit at two-sided level alpha lies beyond the threshold.

    A memory that is right is given up in GIVEN_UP of the runs (docs/method.md), and then the run's own variance
    decides, or min_builds forbids it. Which runs these are is independent of the moderated t: the ratio of two
    chi-squares tells nothing of their sum.

    Args:
        t: noncentrality, any shape.
        min_builds: below it nothing is called, below FEWEST_MODERATED where the interval is moderated.
    """
    t = np.asarray(t, dtype=np.float64)
    if not _moderated(interval):
        fewest = min(FEWEST_BUILDS, min_builds) if interval.method == "paired-shared" else min_builds
        return _kept(t, builds, alpha, interval) if builds >= fewest else np.zeros_like(t)
    if builds < min(FEWEST_MODERATED, min_builds):
        return np.zeros_like(t)
    given_up = GIVEN_UP_BY_ROUND if interval.by_round else GIVEN_UP
    fallen = _fallen_back(t, builds, alpha, interval) if builds >= min_builds else 0.0
    total: Array = (1 - given_up) * _kept(t, builds, alpha, interval) + given_up * fallen
    return total


def detection_by(
    t: Array | float, looks: tuple[int, ...], alphas: Sequence[float], interval: Interval, min_builds: int = 2
) -> Array:
    """Return the probability that the limit lies beyond the threshold by the last look.

    A little too low: what crosses at an early look crosses at the last one too, but for the few that come back, and
    those whose memory is given up only then.

    Args:
        t: noncentrality at the last look.
        alphas: two-sided level of each look.
    """
    t = np.asarray(t, dtype=np.float64)
    last = detection(t, looks[-1], alphas[-1], interval, min_builds)
    if len(looks) == 1 or not (_moderated(interval) and interval.by_round):
        return last
    early = looks[-2] >= min(FEWEST_MODERATED, min_builds)
    before = _kept(t * math.sqrt(looks[-2] / looks[-1]), looks[-2], alphas[-2], interval) if early else 0.0
    always = GIVEN_UP_AT_EVERY_LOOK[len(looks)]
    fallen = _fallen_back(t, looks[-1], alphas[-1], interval) if looks[-1] >= min_builds else 0.0
    kept = _kept(t, looks[-1], alphas[-1], interval)
    total: Array = (
        (1 - GIVEN_UP_BY_ROUND) * kept + (GIVEN_UP_BY_ROUND - always) * np.maximum(before, fallen) + always * fallen
    )
    return total


def _moderated(interval: Interval) -> bool:
    return interval.method == "fieller-moderated" and interval.degrees > 0


def _kept(t: Array, builds: int, alpha: float, interval: Interval) -> Array:
    """Return the power of the interval as planned, its memory not given up."""
    if interval.method == "fieller":
        # average over the degrees that Satterthwaite's formula may come to, for sides of equal relative variance
        u = betaincinv((builds - 1) / 2, (builds - 1) / 2, 0.5 + (np.arange(_SHARES) + 0.5) / (2 * _SHARES))
        degrees = (builds - 1) / (u**2 + (1 - u) ** 2)
        power = [beyond(2.0 * (builds - 1), t, t_quantile(float(df), alpha / 2)) for df in degrees]
        mean: Array = np.mean(power, axis=0)
        return mean
    own_df = 2.0 * (builds - 1) if interval.method == "fieller-kj" else interval.df(builds)
    return beyond(own_df, t, t_quantile(interval.df(builds), alpha / 2))


def beyond(df: float, t: Array | float, critical: float) -> Array:
    """Return P(T > critical) of the noncentral t."""
    found: Array = np.asarray(1 - nctdtr(df, t, critical))
    distant = np.abs(t) > _REACH
    if distant.any():
        # beyond the reach of its series only the spread is uncertain: the critical value times it is below t
        far = gammainc(df / 2, df * (t / critical) ** 2 / 2)
        found = np.where(distant, np.where(t > 0, far, 0.0), found)
    return np.minimum(np.maximum(found, 0.0), 1.0)


def below(df: float, t: Array | float, critical: float) -> Array:
    """Return P(T < critical) of the noncentral t, for a critical value of any sign."""
    if critical < 0:
        return beyond(df, -np.asarray(t), -critical)
    found: Array = 1 - beyond(df, t, max(critical, 1e-9))
    return found


def _fallen_back(t: Array, builds: int, alpha: float, interval: Interval) -> Array:
    """Return the power of the run's own variance where it is so large that the memory was given up."""
    df, degrees = interval.present_df(builds), interval.degrees
    at = 2 / df * gammaincinv(df / 2, (np.arange(_POINTS) + 0.5) / _POINTS)
    level = FALL_BACK_BY_ROUND if interval.by_round else FALL_BACK
    limit = float(fdtri(df, degrees, 1 - level))
    weight = gammainc(degrees / 2, degrees * at / limit / 2)
    power = ndtr(t[..., None] - t_quantile(df, alpha / 2) * np.sqrt(at))
    found: Array = power @ (weight / weight.sum())
    return found


def power(
    components: Components, counts: Counts, change: float, *, threshold: float, alpha: float, interval: Interval,
    min_builds: int = 2,
) -> float:  # fmt: skip
    """Return the probability that a change is called a regression.

    Args:
        change: 0.05 for head 5% above base.
        alpha: the two-sided level of the one test, of the family's and the look's share.
    """
    variance = build_variance(components, counts.executions, counts.iterations)
    t = noncentrality(variance, interval.covariance(components), change, threshold, counts.builds)
    return float(detection(t, counts.builds, alpha, interval, min_builds))


def minimum_detectable_change(
    components: Components, counts: Counts, *, threshold: float, alpha: float, interval: Interval, min_builds: int = 2,
    wanted: float = 0.8,
) -> float:  # fmt: skip
    """Return the smallest change that is called a regression with the wanted power; inf where none is.

    Of a relative amount, as 0.05.
    """
    rule = partial(power, threshold=threshold, alpha=alpha, interval=interval, min_builds=min_builds)
    low, high = threshold, max(2 * threshold, 0.01)
    while rule(components, counts, high) < wanted:
        low, high = high, 2 * high
        if low > _LARGEST_CHANGE:
            return math.inf
    return _least(low, high, lambda change: rule(components, counts, change) - wanted)


@lru_cache(maxsize=4096)
def needed_noncentrality(
    looks: tuple[int, ...], alphas: tuple[float, ...], interval: Interval, min_builds: int, wanted: float
) -> float:
    """Return the noncentrality that reaches the wanted power by the last look: inf where none does."""

    def excess(t: float) -> float:
        return float(detection_by(t, looks, alphas, interval, min_builds)) - wanted

    return _least(0.0, 64.0, excess) if excess(64.0) >= 0 else math.inf


def largest_variance_for(change: float, threshold: float, t: float, builds: int, covariance: float) -> float:
    """Return the largest variance of a build's mean at which the noncentrality is t: noncentrality inverted."""
    theta, ratio = 1 + threshold, 1 + change
    if not change > threshold or math.isinf(t):
        return 0.0
    spread = builds * ((change - threshold) / t) ** 2
    return (spread + 2 * theta * ratio * covariance) / (ratio**2 + theta**2)
