"""The rules of other tools, on the same values: pooled tests, two numbers, testing until it is significant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gate.commands.calibrate.simulation.arrays.pairs import Interval, Moments, moments, unmoderated
from gate.stats.special import ndtr, stdtr

if TYPE_CHECKING:
    from gate.commands.calibrate.simulation.arrays.pairs import Array, Mask


@dataclass(frozen=True, slots=True, eq=False)
class Called:
    """What a rule says of each comparison: head is slower, head is faster."""

    slower: Mask
    faster: Mask


def significant(p: Array, ratio: Array, threshold: float, alpha: float) -> Called:
    """Call what is significant and whose estimate lies beyond the threshold.

    Args:
        p: two-sided, of no change.
    """
    return Called((p < alpha) & (ratio > 1 + threshold), (p < alpha) & (ratio < 1 / (1 + threshold)))


def pooled_welch(base: Array, head: Array) -> Array:
    """Return the two-sided p of Welch's t test over all values of each side, as if they were independent.

    Args:
        base, head: shape (comparisons, values).
    """
    n, m = base.shape[1], head.shape[1]
    v, w = base.var(axis=1, ddof=1) / n, head.var(axis=1, ddof=1) / m
    t = np.abs(head.mean(axis=1) - base.mean(axis=1)) / np.sqrt(v + w)
    df = (v + w) ** 2 / (v**2 / (n - 1) + w**2 / (m - 1))
    p: Array = 2 * stdtr(df, -t)
    return p


def mann_whitney(base: Array, head: Array) -> Array:
    """Return the two-sided p of the Mann-Whitney U test over all values (normal approximation, no ties).

    Args:
        base, head: shape (comparisons, values).
    """
    n, m = base.shape[1], head.shape[1]
    order = np.argsort(np.concatenate([base, head], axis=1), axis=1)
    ranks_of_head = np.where(order >= n, np.arange(1, n + m + 1), 0).sum(axis=1)
    u = ranks_of_head - m * (m + 1) / 2
    distance = np.maximum(np.abs(u - n * m / 2) - 0.5, 0.0)
    p: Array = 2 * ndtr(-distance / np.sqrt(n * m * (n + m + 1) / 12))
    return p


def two_numbers(base: Array, head: Array, threshold: float) -> Called:
    """Compare one number of each side with the threshold; nothing else."""
    return Called(head > base * (1 + threshold), head * (1 + threshold) < base)


def of_builds(base: Array, head: Array, threshold: float, alpha: float, interval: Interval = "fieller") -> Called:
    """Judge one comparison by an interval over the means of builds, without a family; shape (comparisons, builds)."""
    return _tested(moments(base, head), threshold, alpha, interval)


def open_loop(base: Array, head: Array, threshold: float, alpha: float, first: int = 2) -> Called:
    """Test at the whole alpha after every round from the first, until it is significant or the rounds end.

    Each test is the one over builds, which is sound alone.

    Args:
        base, head: means of builds, shape (comparisons, rounds).
    """
    slower, faster = (np.zeros(len(base), dtype=np.bool_) for _ in range(2))
    for rounds in range(first, base.shape[1] + 1):
        now = of_builds(base[:, :rounds], head[:, :rounds], threshold, alpha)
        going = ~(slower | faster)
        slower |= going & now.slower
        faster |= going & now.faster
    return Called(slower, faster)


def _tested(m: Moments, threshold: float, alpha: float, interval: Interval) -> Called:
    pairs = unmoderated(m, interval)
    return Called(pairs.p_above(1 + threshold) < alpha, pairs.p_below(1 / (1 + threshold)) < alpha)
