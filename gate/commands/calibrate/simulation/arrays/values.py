"""Studies on single values: the rules of other tools, and quantiles."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gate.commands.calibrate.simulation.arrays import rivals
from gate.commands.calibrate.simulation.arrays.components import Components, Shape
from gate.commands.calibrate.simulation.arrays.draws import values
from gate.commands.calibrate.simulation.arrays.pairs import moments
from gate.commands.calibrate.simulation.arrays.studies import Counts
from gate.stats.special import stdtrit

if TYPE_CHECKING:
    from gate.commands.calibrate.simulation.arrays.pairs import Array
    from gate.commands.calibrate.simulation.arrays.rivals import Called

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
            rivals.of_builds(*builds, threshold, self.alpha),
            rivals.significant(rivals.pooled_welch(x, y), ratio, threshold, self.alpha),
            rivals.significant(rivals.mann_whitney(x, y), ratio, threshold, self.alpha),
            rivals.open_loop(base.mean(axis=(2, 3)), head.mean(axis=(2, 3)), threshold, self.alpha),
            rivals.two_numbers(x.mean(axis=1), y.mean(axis=1), threshold),
            rivals.two_numbers(x.min(axis=1), y.min(axis=1), threshold),
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
