"""Means compared with each other: all pairs by Tukey-Kramer, two-sided (Tukey 1953, Kramer 1956, Piepho 2004)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from gate.model.study import PairwiseDifference, Setting
from gate.stats.ratio import t_quantile
from gate.stats.rounding import Array, Flags
from gate.stats.special import gammaln, log_ndtr, stdtr

if TYPE_CHECKING:
    from scipy.interpolate import CubicSpline


FARTHEST = 25.0
"""A range of normal values, in standard deviations, that has no chance: below 1e-60 of 10,000 values."""
_STEP = 1 / 128
"""Of the table of the chance of a range."""
_AT_ONCE = 2000
"""Values of q that are worked out together."""

MOST_PAIRS = 200
"""Most pairs that are listed."""
MOST_LETTERS = 50_000
"""Most letters of all words together; means that share more are not to be read from letters."""


def tukey_kramer(
    settings: Sequence[Setting], means: Array, shares: Array, variance: float, df: float, confidence: float
) -> tuple[list[PairwiseDifference], list[str]]:
    """Compare all pairs; the confidence holds for all intervals together.

    settings: that have the means. shares: the variance of each mean in units of the common one: 1/n for the mean of n.
    variance: common to all, on df degrees of freedom. p < 1 - confidence exactly where the interval leaves out 0, and
    there the two means share no letter. Of more than MOST_PAIRS pairs those are listed that are farthest apart, in
    units of their errors; the letters are of all pairs. Without degrees of freedom, or at a variance of 0, there are no
    intervals.

    Returns:
        The pairs in their order, and a word of letters for each mean ("": nothing is known).
    """
    k = len(means)
    if k < 2:
        return [], [""] * k
    known = df >= 1 and variance > 0
    # of two means q is sqrt(2) t
    error = np.sqrt(variance * (shares[:, None] + shares) / 2) if known else np.ones((k, k))
    apart = np.abs(means[:, None] - means) / error
    q = studentized_range_quantile(confidence, k, df) if known else math.inf
    first, second = np.triu_indices(k, 1)
    if len(first) > MOST_PAIRS:
        largest = np.sort(np.argsort(-apart[first, second], kind="stable")[:MOST_PAIRS])
        first, second = first[largest], second[largest]
    chances: list[float | None] = [None] * len(first)
    if known:
        chances = studentized_range(apart[first, second], k, df).tolist()
    pairs = []
    for i, j, p in zip(first.tolist(), second.tolist(), chances, strict=True):
        difference, half = float(means[j] - means[i]), q * float(error[i, j])
        low, high = (difference - half, difference + half) if known else (None, None)
        pairs.append(PairwiseDifference(a=settings[i], b=settings[j], difference=difference, low=low, high=high, p=p))
    return pairs, letters(means, apart > q) if known else [""] * k


def letters(means: Array, apart: Flags) -> list[str]:
    """Return a word of letters for each mean: two means share a letter exactly where they do not differ.

    "a" stands with the lowest mean. A letter stands for a largest set of means of which no two differ (Piepho 2004);
    where those that do not differ from one are not next to each other in rank, not all such sets have a letter, but
    those that have one cover all pairs. No letters at all where there would be more than MOST_LETTERS.

    Args:
        apart: of each two means whether they differ, shape (k, k).
    """
    k = len(means)
    if not k:
        return []
    ranked = np.argsort(means, kind="stable")
    alike = ~apart[np.ix_(ranked, ranked)]
    np.fill_diagonal(alike, True)
    # largest sets that hold every pair of which the two do not differ, and every mean
    open_pairs = np.triu(alike)
    columns = []
    for i in range(k):
        while open_pairs[i].any():
            column = [i, int(open_pairs[i].argmax())]
            fits = alike[column[0]] & alike[column[1]]
            fits[column] = False
            # those that close most open pairs of this mean first
            order = np.argsort(~open_pairs[i], kind="stable")
            for rank in order[fits[order]].tolist():
                if fits[rank]:
                    column.append(rank)
                    fits &= alike[rank]
                    fits[rank] = False
            column = sorted(set(column))
            open_pairs[np.ix_(column, column)] = False
            columns.append(column)
    words: list[list[str]] = [[] for _ in range(k)]
    if sum(map(len, columns)) > MOST_LETTERS:
        return [""] * k
    for number, column in enumerate(sorted(columns)):
        for rank in column:
            # a, b, ... z, a2, b2,
            turn, place = divmod(number, 26)
            words[ranked[rank]].append(chr(ord("a") + place) + (str(turn + 1) if turn else ""))
    return ["".join(word) for word in words]


def studentized_range(q: Array, k: int, df: float) -> Array:
    """Return the chance of a studentized range above q, shape (n,), q >= 0; of k >= 2 means, with df >= 1.

    Within 1e-10 of the exact value. scipy.stats.studentized_range is the same integral, at 20 ms a value.
    """
    if k == 2:
        found: Array = np.asarray(2 * stdtr(df, -q / math.sqrt(2)), dtype=np.float64)
        return np.minimum(found, 1.0)
    at, weights = deviations(float(df))
    table = _ranges(k)
    found = np.empty(len(q))
    for start in range(0, len(q), _AT_ONCE):
        own = np.multiply.outer(q[start : start + _AT_ONCE], at)
        chances = np.where(own < FARTHEST, np.exp(table(np.minimum(own, FARTHEST))), 0.0)
        found[start : start + _AT_ONCE] = chances @ weights
    return np.clip(found, 0.0, 1.0)


@lru_cache(maxsize=1024)
def studentized_range_quantile(confidence: float, k: int, df: float) -> float:
    """Return the q that a studentized range exceeds with a chance of 1 - confidence, 0 < confidence < 1."""
    if k == 2:
        return math.sqrt(2) * t_quantile(df, (1 - confidence) / 2)
    from scipy.optimize import brentq

    def over(log_q: float) -> float:
        return float(studentized_range(np.array([math.exp(log_q)]), k, df)[0]) - (1 - confidence)

    high = 1.0
    while over(high) > 0 and high < 600:
        high += 2.0
    return math.exp(brentq(over, -40.0, high, xtol=1e-13, rtol=1e-13))


@lru_cache(maxsize=64)
def deviations(df: float) -> tuple[Array, Array]:
    """Return values of the standard deviation of normal values with df degrees of freedom, and their weights.

    The trapezoidal rule over its logarithm x, of density proportional to exp(df (x - exp(2 x) / 2)): the error falls as
    that of an analytic function does, exponentially with the number of points.
    """
    step = min(0.02, 0.5 / math.sqrt(2 * df))
    # to where the density is exp(-45) of the highest
    low, high = -(46 / df + math.sqrt(92 / (2 * df)) + step), math.sqrt(92 / (2 * df)) + step
    x = np.arange(math.floor(low / step), math.ceil(high / step) + 1) * step
    log_density = df * (x - np.exp(2 * x) / 2) + df / 2 * math.log(df / 2) - float(gammaln(df / 2)) + math.log(2)
    weights = np.exp(log_density)
    kept = weights > weights.max() * 1e-20
    return np.exp(x[kept]), weights[kept] / weights[kept].sum()


@lru_cache(maxsize=64)
def _ranges(k: int) -> CubicSpline:
    """Return the logarithm of the chance that the range of k normal values is above w, as a table over w.

    Over the largest value z with density k phi(z) Phi(z)^(k-1), the chance that not all others are within w below it,
    1 - (1 - Phi(z - w)/Phi(z))^(k-1): a sum of what is positive, so that small chances are exact too.
    """
    from scipy.interpolate import CubicSpline

    z = np.arange(-9.0, FARTHEST, 1 / 24)
    below = log_ndtr(z)
    log_density = math.log(k) - z**2 / 2 - math.log(2 * math.pi) / 2 + (k - 1) * below
    density = np.exp(log_density) / 24
    kept = density > 0
    z, below, density = z[kept], below[kept], density[kept]
    w = np.arange(0.0, FARTHEST + 2 * _STEP, _STEP)
    chances = np.empty(len(w))
    for i, own in enumerate(w.tolist()):
        inside = np.log1p(-np.minimum(np.exp(log_ndtr(z - own) - below), 1 - 1e-16))
        chances[i] = -density @ np.expm1((k - 1) * inside)
    chances[0] = density.sum()
    # the density sums to 1 to rounding
    return CubicSpline(w, np.log(np.minimum(chances / density.sum(), 1.0)))
