"""Many nights against one pin: averages of the latest nights, tested so that a year of them has one error.

Source: docs/creep.md, whose figures tests/promise/test_creep.py makes. A night is one observation of a case: the mean
logarithm of head/base. What differs from day to day is in the spread between nights, and not in that within one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gate.stats.rounding import Array, Flags, Ints

NIGHTS = 365
"""Of a year, which the error is shared over."""
WINDOWS = (4, 8, 16, 32)
"""The latest nights that are averaged, without the slowest of them: one bad night raises no alarm."""
LAGS = (1, 2, 4, 7)
"""Distances of nights whose differences show the noise between nights, and next to nothing of a creep."""
ALLOWANCE = 2.0
"""The variance that days add to the builds' counts this often: nights may be correlated (docs/creep.md)."""
CAP = 10.0
"""Medians that a squared difference of nights counts at most: of normal noise 3 in 100 are larger."""
_SHARE = 2 / 3
"""Degrees of freedom of each difference between successive nights (von Neumann 1941: two thirds as efficient)."""


class NightSpread(NamedTuple):
    """What is known of the noise between nights against earlier pins, and of that within them."""

    halves: tuple[Array, ...]
    """Half the squared differences of pairs of nights, by lag."""
    within: float
    """Sum of the variances of nights."""
    nights: int


def spread_of(earlier: Sequence[tuple[Array, Array]]) -> NightSpread:
    """Gather the noise of nights against earlier pins; each pin has its own level, so pairs are of one pin.

    Args:
        earlier: log ratios and their variances, of each pin an array with a night an item.
    """
    halves = tuple(
        np.concatenate([np.zeros(0), *((ratios[lag:] - ratios[:-lag]) ** 2 / 2 for ratios, _ in earlier)])
        for lag in LAGS
    )
    within = sum(float(variances.sum()) for _, variances in earlier)
    return NightSpread(halves, within, sum(len(ratios) for ratios, _ in earlier))


def noise(ratios: Array, variances: Array, before: NightSpread) -> tuple[Array, Array]:
    """Estimate the variance of one night, with what days add, and its degrees of freedom, by the nights up to each.

    That between nights is the largest over lags of the mean of half their squared differences, each of which counts
    at most CAP medians: a merge that changes much is a step in the level, and no noise.

    Args:
        ratios: log ratios, the last axis has the nights.
        variances: of them within each night.
        before: the noise of nights against earlier pins.
    """
    count = ratios.shape[-1]
    nights = np.arange(1, count + 1)
    within = (before.within + np.cumsum(variances, axis=-1)) / (before.nights + nights)
    between = np.full(ratios.shape, -np.inf)
    for lag, known in zip(LAGS, before.halves, strict=True):
        halves = (ratios[..., lag:] - ratios[..., :-lag]) ** 2 / 2
        every = np.concatenate([np.broadcast_to(known, (*ratios.shape[:-1], len(known))), halves], axis=-1)
        for night in range(count):
            pairs = every[..., : len(known) + max(night + 1 - lag, 0)]
            if pairs.shape[-1]:
                capped = np.minimum(pairs, CAP * np.median(pairs, axis=-1, keepdims=True))
                between[..., night] = np.maximum(between[..., night], capped.mean(axis=-1))
    df = _SHARE * (len(before.halves[0]) + nights - 1)
    days = np.where(np.isfinite(between), np.maximum(between - within, 0), np.inf)
    return within + ALLOWANCE * days, np.broadcast_to(df, ratios.shape)


class Creeping(NamedTuple):
    """For each night: the window whose average is furthest beyond the threshold, and what it shows."""

    window: Ints
    """Nights; 0: there are too few for any."""
    mean: Array
    """Log ratio averaged over the window."""
    low: Array
    """What it is at least, at the error that is shared over a year."""
    p: Array
    """Corrected for the nights of a year, the windows and the cases."""
    alarm: Flags


def creeping(
    ratios: Array, variances: Array, threshold: float, alpha: float, cases: int, before: NightSpread
) -> Creeping:
    """Test night after night whether the latest nights are beyond a threshold, as Student's t of their mean.

    The slowest night of a window does not count, and the last two nights must be beyond the threshold on average: that
    ends the alarm soon after a repair. Both only take alarms away.

    Args:
        ratios: log ratios with worse above 0, the last axis has the nights against this pin, the oldest first.
        variances: of them within each night, over builds.
        threshold: a log ratio.
        alpha: of a year, one-sided.
        cases: that share alpha.
        before: the noise of nights against earlier pins.
    """
    from gate.stats.special import stdtr, stdtrit

    count, shares = ratios.shape[-1], NIGHTS * len(WINDOWS) * cases
    of_night, degrees = noise(ratios, variances, before)
    best = Creeping(
        np.zeros(ratios.shape, np.int64), ratios.copy(), np.full(ratios.shape, -np.inf), np.ones(ratios.shape),
        np.zeros(ratios.shape, np.bool_),
    )  # fmt: skip
    # a night without any degree of freedom has no window either
    df = np.maximum(degrees, _SHARE)
    for nights in (each for each in WINDOWS if each <= count):
        windows = np.lib.stride_tricks.sliding_window_view(ratios, nights, axis=-1)
        there = (..., slice(nights - 1, None))
        sums = windows.sum(axis=-1)
        kept = (sums - windows.max(axis=-1)) / (nights - 1)
        error = np.sqrt(of_night[there] / (nights - 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(error > 0, (kept - threshold) / error, np.where(kept > threshold, np.inf, -np.inf))
        p = np.minimum(stdtr(df[there], -t) * shares, 1.0)
        better = (p < best.p[there]) | (best.window[there] == 0)
        best.window[there] = np.where(better, nights, best.window[there])
        best.mean[there] = np.where(better, sums / nights, best.mean[there])
        low = kept - stdtrit(df[there], 1 - alpha / shares) * error
        best.low[there] = np.where(better, low, best.low[there])
        best.p[there] = np.where(better, p, best.p[there])
    lasting = np.zeros(ratios.shape, np.bool_)
    lasting[..., 1:] = (ratios[..., 1:] + ratios[..., :-1]) / 2 > threshold
    return best._replace(alarm=(best.p < alpha) & lasting)


_FARTHEST = 100


def more_nights(
    ratios: Array, variances: Array, threshold: float, alpha: float, cases: int, before: NightSpread
) -> int | None:
    """Say how many more nights would raise an alarm, if their mean and noise stay; None: not within a hundred.

    Args:
        ratios: one axis; all as of creeping.
    """
    from gate.stats.special import stdtr

    recent = ratios[-WINDOWS[0] :]
    mean = float(np.mean(recent))
    if not mean > threshold:
        return None
    variance = float(noise(ratios, variances, before)[0][-1])
    # of a single night nothing is known of days: those within it are all there is
    variance = variance if np.isfinite(variance) else float(np.mean(variances))
    shares = NIGHTS * len(WINDOWS) * cases
    for nights in range(max(len(ratios) + 1, WINDOWS[0]), len(ratios) + _FARTHEST + 1):
        window = max(each for each in WINDOWS if each <= nights)
        df = _SHARE * (len(before.halves[0]) + nights - 1)
        t = (mean - threshold) / np.sqrt(variance / (window - 1)) if variance > 0 else np.inf
        if float(stdtr(df, -t)) * shares < alpha:
            return nights - len(ratios)
    return None
