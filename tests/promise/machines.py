"""The interval over given machines as arrays, for the figures of docs/method.md: tens of thousands of reports at once.

Drawn are ln(head/base) of rounds. tests/promise/test_fixed_sessions.py compares it with the code of the gate.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from gate.stats.rounding import Array


@dataclass(frozen=True)
class Means:
    """Means with the variance and the degrees of each, shape (trials,)."""

    value: Array
    variance: Array
    df: Array

    def limits(self, alpha: float) -> tuple[Array, Array]:
        """Return both limits at confidence 1 - alpha."""
        half = stats.t.ppf(1 - alpha / 2, self.df) * np.sqrt(self.variance)
        return self.value - half, self.value + half

    def p(self, edge: float) -> Array:
        """Return the two-sided p of "the mean is above the edge"."""
        return np.asarray(2 * stats.t.sf((self.value - edge) / np.sqrt(self.variance), self.df))


def unlike(count: int, factor: float) -> Array:
    """Return standard deviations from 1 up to so many times as much."""
    return np.linspace(1, factor, count)


def draw(rng: np.random.Generator, deviations: Array, rounds: int, trials: int, changes: Array | float = 0.0) -> Array:
    """Draw rounds, shape (trials, machines, rounds)."""
    means = np.broadcast_to(changes, deviations.shape)
    return means[:, None] + deviations[:, None] * rng.normal(0, 1, (trials, len(deviations), rounds))


def fixed(rounds: Array) -> Means:
    """Judge each machine by its rounds, all machines alike."""
    _, count, each = rounds.shape
    parts = rounds.var(axis=2, ddof=1) / each / count**2
    return Means(
        rounds.mean(axis=(1, 2)), parts.sum(axis=1), (each - 1) * parts.sum(axis=1) ** 2 / (parts**2).sum(axis=1)
    )


def weighted(rounds: Array) -> Means:
    """Weigh machines by inverse variance, as is customary and covers too little."""
    _, count, each = rounds.shape
    weights = each / rounds.var(axis=2, ddof=1)
    value = (weights * rounds.mean(axis=2)).sum(axis=1) / weights.sum(axis=1)
    return Means(value, 1 / weights.sum(axis=1), np.full(len(rounds), count * (each - 1.0)))


def sampled(rounds: Array) -> Means:
    """Take machines for a sample of others."""
    _, count, _ = rounds.shape
    own = rounds.mean(axis=2)
    return Means(own.mean(axis=1), own.var(axis=1, ddof=1) / count, np.full(len(rounds), count - 1.0))


def coverage(found: Means, truth: float, alpha: float = 0.05) -> float:
    """Return how often the interval holds the truth."""
    low, high = found.limits(alpha)
    return float(((low < truth) & (truth < high)).mean())


def failing(found: Means, cases: int, edge: float, alpha: float = 0.05) -> float:
    """Return how often one of so many findings regresses by Holm, of reports made of successive trials."""
    p = found.p(edge).reshape(-1, cases)
    return float((p.min(axis=1) * cases < alpha).mean())
