"""Each mean against the first: Dunnett's comparison with a control (Dunnett 1955; for unequal counts 1964), two-sided.

The chance that none of the differences stands out is an integral over the control's own error and over the standard
deviation that was estimated, of a product with a factor for each mean. scipy.stats.dunnett takes samples alone, with
their own variance, and finds the chance by quasi-Monte Carlo, another one in each run.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from gate.stats.design.tukey import FARTHEST, Mean, deviations
from gate.stats.ratio import t_quantile
from gate.stats.special import ndtr, stdtr

if TYPE_CHECKING:
    import numpy.typing as npt
    from scipy.interpolate import CubicSpline

    Array = npt.NDArray[np.float64]

_STEP = 1 / 12
"""Of the sum over the control's own error, which is exact to rounding, as that of an analytic function is."""
_TABLE = 1 / 32
"""Of the table over |t|."""


class Against(msgspec.Struct, frozen=True):
    """A mean less the first: number of the mean, its difference; low, high, p: None where nothing is known."""

    number: int
    difference: float
    low: float | None
    high: float | None
    p: float | None


def against_first(means: Sequence[Mean], variance: float, df: float, confidence: float) -> list[Against]:
    """Compare each mean with the first; the confidence holds for all intervals together.

    Means are independent. p < 1 - confidence exactly where the interval leaves out 0. Without degrees of freedom, or at
    a variance of 0, there are no intervals.

    Args:
        variance: common to all, on df degrees of freedom.
    """
    others = list(enumerate(means))[1:]
    apart = [other.value - means[0].value for _, other in others]
    if df < 1 or variance <= 0 or not others:
        return [Against(number, d, None, None, None) for (number, _), d in zip(others, apart, strict=True)]
    shared = tuple(math.sqrt(means[0].share / (means[0].share + other.share)) for _, other in others)
    c = critical(shared, df, confidence)
    errors = [math.sqrt(variance * (means[0].share + other.share)) for _, other in others]
    chances = beyond(np.abs(apart) / np.array(errors), shared, df).tolist()
    return [
        Against(number, difference, difference - c * error, difference + c * error, p)
        for (number, _), difference, error, p in zip(others, apart, errors, chances, strict=True)
    ]


def beyond(t: Array, shared: tuple[float, ...], df: float) -> Array:
    """Return the chance that some |t| of the comparisons is above each of t >= 0, shape (n,).

    Args:
        shared: of each comparison, the square root of the control's share in its variance; the correlation of two is
            the product of theirs.
    """
    if len(shared) == 1:
        return np.minimum(np.asarray(2 * stdtr(df, -t), dtype=np.float64), 1.0)
    s, weights = deviations(float(df))
    at = np.multiply.outer(t, s)
    chances = np.where(at < FARTHEST, np.exp(_known(tuple(sorted(shared)))(np.minimum(at, FARTHEST))), 0.0)
    found: Array = np.clip(chances @ weights, 0.0, 1.0)
    return found


@lru_cache(maxsize=256)
def _known(shared: tuple[float, ...]) -> CubicSpline:
    """Return the logarithm of that chance for a standard deviation that is known, as a table over |t|."""
    from scipy.interpolate import CubicSpline

    c = np.arange(0.0, FARTHEST + 2 * _TABLE, _TABLE)
    z = np.arange(-FARTHEST, FARTHEST + _STEP / 2, _STEP)
    density = np.exp(-(z**2) / 2)
    density /= density.sum()
    none = np.zeros((len(c), len(z)))
    # equal counts, the common case, are one factor to a power
    for own, count in Counter(shared).items():
        rest = math.sqrt((1 - own) * (1 + own))
        outside = ndtr((own * z - c[:, None]) / rest) + ndtr((-own * z - c[:, None]) / rest)
        none += count * np.log1p(-np.minimum(outside, 1 - 1e-16))
    return CubicSpline(c, np.log(np.maximum(-np.expm1(none) @ density, 1e-300)))


@lru_cache(maxsize=1024)
def critical(shared: tuple[float, ...], df: float, confidence: float) -> float:
    """Return the |t| that some comparison exceeds with a chance of 1 - confidence, if there is no difference."""
    from scipy.optimize import brentq

    alpha = 1 - confidence
    # between one comparison and Bonferroni's share for each
    low, high = t_quantile(df, alpha / 2), t_quantile(df, alpha / 2 / len(shared))
    if len(shared) == 1 or not low < high:
        return low
    return float(
        brentq(
            lambda t: float(beyond(np.array([t]), shared, df)[0]) - alpha,
            low * (1 - 1e-9),
            high * (1 + 1e-9),
            xtol=1e-11,
        )
    )
