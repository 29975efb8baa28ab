"""Studies on single values: the rules of other tools, and quantiles."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gate.commands.simulate.arrays.components import Components, Shape
from gate.commands.simulate.arrays.draws import values
from gate.commands.simulate.arrays.pairs import Interval, Moments, moments, unmoderated
from gate.commands.simulate.arrays.studies import Counts
from gate.stats.special import ndtr, stdtr, stdtrit

if TYPE_CHECKING:
    from gate.commands.simulate.arrays.pairs import Array, Mask


_VALUES_AT_ONCE = 2_000_000
_USUAL_VALUES = 1200
"""Of one side of a comparison: 12 builds of 10 x 10."""

RULES = ("fieller", "pooled Welch", "Mann-Whitney", "open-loop t", "two means", "two minima")
"""The rules compared: an interval over builds as perfgate has it, and those of other tools."""


@dataclass(frozen=True, slots=True)
class Rivals:
    """Every rule on the same values of single comparisons, each at its own 95%, without a family."""

    components: Components
    shape: Shape
    ratio: float
    """The truth."""
    thresholds: tuple[float, ...]
    rounds: int = 5
    """Builds of each side; open-loop testing may use `most` rounds."""
    most: int = 12
    alpha: float = 0.05

    @property
    def effort(self) -> float:
        """A quarter of what is asked for, and fewer of long ones: every value is drawn."""
        values = self.most * self.components.executions * self.components.iterations
        return 0.25 * min(1.0, math.sqrt(_USUAL_VALUES / values))

    @property
    def chunk(self) -> int:
        """How many comparisons to draw at once."""
        return max(1, _VALUES_AT_ONCE // (self.most * self.components.executions * self.components.iterations))

    def run(self, rng: np.random.Generator, n: int) -> RivalCounts:
        """Draw n comparisons and ask every rule."""
        base = values(rng, self.components, self.shape, 1.0, (n, self.most))
        head = values(rng, self.components, self.shape, self.ratio, (n, self.most))
        called = [self._called(base, head, threshold) for threshold in self.thresholds]
        slower = np.array([[float(c.slower.sum()) for c in rules] for rules in called])
        faster = np.array([[float(c.faster.sum()) for c in rules] for rules in called])
        return RivalCounts(n, slower, faster)

    def _called(self, base: Array, head: Array, threshold: float) -> list[Called]:
        first_base, first_head = base[:, : self.rounds], head[:, : self.rounds]
        x, y = (side.reshape(len(side), -1) for side in (first_base, first_head))
        builds = (first_base.mean(axis=(2, 3)), first_head.mean(axis=(2, 3)))
        ratio = y.mean(axis=1) / x.mean(axis=1)
        return [
            of_builds(*builds, threshold, self.alpha),
            significant(pooled_welch(x, y), ratio, threshold, self.alpha),
            significant(mann_whitney(x, y), ratio, threshold, self.alpha),
            open_loop(base.mean(axis=(2, 3)), head.mean(axis=(2, 3)), threshold, self.alpha),
            two_numbers(x.mean(axis=1), y.mean(axis=1), threshold),
            two_numbers(x.min(axis=1), y.min(axis=1), threshold),
        ]


@dataclass(frozen=True, slots=True, eq=False)
class RivalCounts(Counts):
    """Of comparisons: those called slower and faster, shape (thresholds, rules)."""

    comparisons: int
    slower: Array
    faster: Array

    @property
    def different(self) -> Array:
        """The share called either."""
        return (self.slower + self.faster) / self.comparisons

    @property
    def failing(self) -> Array:
        """The share called slower, which fails a gate."""
        return self.slower / self.comparisons


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Intervals of ratios of quantiles: one quantile a build (Hyndman-Fan type 8), then Welch's t on logarithms.

    Iterations are lognormal, with the relative standard deviation that the components give; nothing changes.
    """

    components: Components
    shape: Shape
    builds: int
    taus: tuple[float, ...]
    alpha: float = 0.05

    @property
    def effort(self) -> float:
        """As many as are asked for."""
        return 1.0

    @property
    def chunk(self) -> int:
        """How many comparisons to draw at once."""
        return max(1, _VALUES_AT_ONCE // (self.builds * self.components.executions * self.components.iterations))

    def run(self, rng: np.random.Generator, n: int) -> QuantileCounts:
        """Draw n comparisons of identical sides and count the intervals that hold 1."""
        base, head = (np.log(self._quantiles(rng, n)) for _ in range(2))
        m = moments(base, head)
        # on a scale of logarithms the degrees are those at equal weights
        v = m.s_xx / self.builds, m.s_yy / self.builds
        df = (v[0] + v[1]) ** 2 / (v[0] ** 2 + v[1] ** 2) * (self.builds - 1)
        half = -stdtrit(df, self.alpha / 2) * np.sqrt(v[0] + v[1])
        covered = np.abs(m.y - m.x) <= half
        return QuantileCounts(n, covered.sum(axis=1).astype(np.float64))

    def _quantiles(self, rng: np.random.Generator, n: int) -> Array:
        """Return one quantile of each build, shape (taus, comparisons, builds)."""
        flat = values(rng, self.components, self.shape, 1.0, (n, self.builds)).reshape(n, self.builds, -1)
        quantiles: Array = np.quantile(flat, self.taus, axis=2, method="median_unbiased")
        return quantiles


@dataclass(frozen=True, slots=True, eq=False)
class QuantileCounts(Counts):
    """Of comparisons: those whose interval holds the truth, shape (taus,)."""

    comparisons: int
    covered: Array

    @property
    def coverage(self) -> Array:
        """The share that holds the truth."""
        return self.covered / self.comparisons


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
