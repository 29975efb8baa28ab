"""How noisy ratios and levels of a history are, estimated so that the changes in it do not count as noise."""

from __future__ import annotations

import math

import msgspec
import numpy as np
import numpy.typing as npt

from gate.stats.prior import trigamma_inverse
from gate.stats.series.steps import UNKNOWN, Array, Noise
from gate.stats.special import polygamma, psi

Flags = npt.NDArray[np.bool_]

EXACT = 1e-12
"""Variance that stands for none: a ratio that is known exactly still has a rounding."""
FEWEST = 6
"""Levels that it takes to say how far days differ."""
_CUT = 3.0
_WITHIN = 0.97334
"""Variance of a standard normal within 3 standard deviations."""
_MAD = 1.4826
_OUTLYING = 5.0
_BLOCKS = 6
"""So many blocks, for how slowly days change to be known at all."""


class Moderated(msgspec.Struct, frozen=True, eq=False):
    """Variances with what they share: one each."""

    variance: Array
    df: Array


def moderated(variance: Array, df: Array, builds: Array) -> Moderated:
    """Move the variances of ratios towards what those of other runs of the case say (Smyth 2004).

    The variance of a build (variance times builds) is squeezed, and taken back to the run's own builds. One that is not
    known (nan) gets what the others say, or stays infinite.

    Args:
        variance: of each run's log ratio; 0 where it is exact, nan where it is not known.
        df: of each.
        builds: of each, at least 1.
    """
    known = np.isfinite(variance) & (variance > EXACT) & (df > 0)
    out = np.where(np.isfinite(variance), np.maximum(variance, EXACT), np.inf)
    degrees = np.where(np.isfinite(variance) & ~known, 1e6, np.where(known, df, 1.0))
    if int(known.sum()) < 3:
        return Moderated(out, degrees)
    each, own = (variance * builds)[known], df[known]
    logs = np.log(each) - psi(own / 2) + np.log(own / 2)
    excess = float(logs.var(ddof=1) - polygamma(1, own / 2).mean())
    prior = math.inf if excess <= 0 else 2 * trigamma_inverse(excess)
    if math.isinf(prior):
        # one variance for all: their mean by degrees, which is what maximum likelihood says
        common = float((own * each).sum() / own.sum())
        out[known], degrees[known] = common / builds[known], float(own.sum())
        prior = float(own.sum())
    else:
        common = math.exp(float(logs.mean()) + float(psi(prior / 2)) - math.log(prior / 2))
        out[known] = (prior * common + own * each) / (prior + own) / builds[known]
        degrees[known] = prior + own
    unknown = ~np.isfinite(variance)
    out[unknown], degrees[unknown] = common / builds[unknown], prior
    return Moderated(out, degrees)


def level_noise(levels: Array) -> Noise:
    """Estimate the noise of levels from differences, of which the few that hold a change are cut off.

    Days next to each other may have something in common: differences of the means of neighbouring blocks say how much
    of the noise averages out (Wu and Zhao 2007, section 4); the largest of the estimates counts.

    Args:
        levels: in the order in which they were measured, without outliers.
    """
    n = levels.size
    if n < FEWEST:
        return UNKNOWN
    short = _spread(np.diff(levels) / math.sqrt(2))
    found, df = short, (n - 1) / 1.5
    sums = np.concatenate(([0.0], np.cumsum(levels - levels.mean())))
    for size in _sizes(n):
        means = (sums[size:] - sums[:-size]) / size
        differences = means[size:] - means[:-size]
        slow = _spread(differences) * size / 2
        if slow > found:
            found, df = slow, min(df, n / size)
    return Noise(max(found, EXACT), max(df, 2.0), max(short, EXACT))


def _sizes(n: int) -> list[int]:
    """Sizes of blocks: 2 and 4 up to what leaves blocks enough."""
    return [size for size in (2, 4, 8, 16) if n // size >= _BLOCKS]


def _spread(differences: Array) -> float:
    """Return the variance of most of the numbers, which scatter around 0."""
    scale = _MAD * float(np.median(np.abs(differences)))
    if scale == 0:
        return float((differences**2).mean())
    within = differences[np.abs(differences) <= _CUT * scale]
    return float((within**2).mean()) / _WITHIN


def outlying(levels: Array) -> Flags:
    """Tell which levels stand far off those of the two days before and the two after: an outlier of the machine."""
    n = levels.size
    if n < FEWEST:
        return np.zeros(n, dtype=np.bool_)
    index = np.arange(n)[:, None] + np.array([-2, -1, 1, 2])
    # at the ends the window moves in
    index = np.where(index < 0, index + 5, np.where(index >= n, index - 5, index))
    around: Array = np.median(levels[index], axis=1)
    scale = math.sqrt(_spread(np.diff(levels) / math.sqrt(2)))
    far: Flags = np.abs(levels - around) > _OUTLYING * max(scale, math.sqrt(EXACT))
    return far
