"""The chain of ratios: their sum over steps with its interval, and what each commit adds to it."""

from __future__ import annotations

import math

import msgspec
import numpy as np

from gate.stats.series.steps import Array, Steps
from gate.stats.special import stdtr, stdtrit

_EXACT = 1e9
"""Precision of a ratio that says nothing of how ratios vary by noise: of programs that are the same."""


class Interval(msgspec.Struct, frozen=True):
    """A change in log with its confidence interval."""

    estimate: float
    low: float
    high: float
    """low and high: infinite where nothing is known."""
    df: float


class Sum(msgspec.Struct, frozen=True):
    """The sum of log ratios over steps."""

    estimate: float
    variance: float
    """Infinite where a step was not measured."""
    df: float
    missing: int
    """Steps without a ratio."""


def interval(estimate: float, variance: float, df: float, alpha: float) -> Interval:
    """Return the interval of Student's t at level 1 - alpha."""
    if not math.isfinite(variance):
        return Interval(estimate, -math.inf, math.inf, df)
    half = float(-stdtrit(df, alpha / 2)) * math.sqrt(variance)
    return Interval(estimate, estimate - half, estimate + half, df)


def summed(steps: Steps, first: int, last: int) -> Sum:
    """Add up the ratios of steps, first to last; variances add, degrees by Satterthwaite."""
    variance = steps.variance[first : last + 1]
    known = np.isfinite(variance)
    missing = int((~known).sum())
    total = float(variance[known].sum())
    error = float((variance[known] ** 2 / steps.df[first : last + 1][known]).sum())
    estimate = float(steps.ratio[first : last + 1][known].sum())
    df = total**2 / error if error > 0 else 1.0
    return Sum(estimate, math.inf if missing else total, df, missing)


class Contribution(msgspec.Struct, frozen=True, eq=False):
    """What steps add to a change, an entry each."""

    expected: Array
    """Each ratio as far as it stands out of the noise, in log: what ranks them."""
    p: Array
    """Of each ratio alone, against no change, in both directions; 1 where there is none."""


def contributions(steps: Steps) -> Contribution:
    """Shrink ratios towards 0 by what their spread beyond their own noise says (DerSimonian and Laird 1986).

    A noisy ratio, which is large by chance more often, so ranks below a precise one of the same size. Where ratios vary
    no more than their noise, their order is that of the ratios in standard errors.
    """
    weights = steps.precision
    known = weights > 0
    expected, p = np.zeros(steps.count), np.ones(steps.count)
    if not known.any():
        return Contribution(expected, p)
    w, ratio = weights[known], steps.ratio[known]
    noisy = w < _EXACT
    # about 0, which is where most commits are
    excess = float((w * ratio**2)[noisy].sum()) - int(noisy.sum())
    between = max(excess, 0.0) / float(w[noisy].sum()) if noisy.any() else 1.0
    least = 1e-3 * float(np.median(1 / w))
    expected[known] = ratio * max(between, least) / (max(between, least) + 1 / w)
    p[known] = 2 * stdtr(steps.df[known], -np.abs(ratio) * np.sqrt(w))
    return Contribution(expected, p)
