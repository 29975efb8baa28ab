"""Each mean against the first: Dunnett's comparison with a control (Dunnett 1955; for unequal counts 1964), two-sided.

The chance that none of the differences stands out is an integral over the control's own error and over the standard
deviation that was estimated, of a product with a factor for each mean. scipy.stats.dunnett takes samples alone, with
their own variance, and finds the chance by quasi-Monte Carlo, another one in each run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from gate.stats.design.tukey import Mean, deviations
from gate.stats.ratio import t_quantile
from gate.stats.special import ndtr, stdtr

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

_STEP = 1 / 16
_FARTHEST = 9.0
"""Beyond this a normal value of the control has no chance, and at this step the sum over it is exact to 1e-12."""


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
    found = []
    for (number, other), difference in zip(others, apart, strict=True):
        error = math.sqrt(variance * (means[0].share + other.share))
        p = beyond(abs(difference) / error, shared, df)
        found.append(Against(number, difference, difference - c * error, difference + c * error, p))
    return found


def beyond(t: float, shared: Sequence[float], df: float) -> float:
    """Return the chance that some |t| of the comparisons is above t >= 0.

    Args:
        shared: of each comparison, the square root of the control's share in its variance; the correlation of two is
            the product of theirs.
    """
    if len(shared) == 1:
        return min(1.0, 2 * float(stdtr(df, -t)))
    s, weights = deviations(float(df))
    z = np.arange(-_FARTHEST, _FARTHEST + _STEP / 2, _STEP)
    density = np.exp(-(z**2) / 2)
    density /= density.sum()
    none = np.zeros((len(s), len(z)))
    # equal counts, the common case, are one factor to a power
    for own in set(shared):
        rest = math.sqrt((1 - own) * (1 + own))
        ends = (t * s[:, None], own * z[None, :])
        outside = ndtr((-ends[0] - ends[1]) / rest) + ndtr((-ends[0] + ends[1]) / rest)
        none += list(shared).count(own) * np.log1p(-np.minimum(outside, 1 - 1e-16))
    return float(np.clip(weights @ (-np.expm1(none)) @ density, 0.0, 1.0))


@lru_cache(maxsize=1024)
def critical(shared: tuple[float, ...], df: float, confidence: float) -> float:
    """Return the |t| that some comparison exceeds with a chance of 1 - confidence, if there is no difference."""
    from scipy.optimize import brentq

    alpha = 1 - confidence
    # between one comparison and Bonferroni's share for each
    low, high = t_quantile(df, alpha / 2), t_quantile(df, alpha / 2 / len(shared))
    if len(shared) == 1 or not low < high:
        return low
    return float(brentq(lambda t: beyond(t, shared, df) - alpha, low * (1 - 1e-9), high * (1 + 1e-9), xtol=1e-11))
