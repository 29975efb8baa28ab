"""What all diagnostics share: a side reduced to its means, and the tests of them: t of a mean, F of groups."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
import numpy as np

from gate.model import Sample
from gate.stats.levels import starts
from gate.stats.ratio import t_quantile
from gate.stats.rounding import Array, Flags, Ints
from gate.stats.special import fdtri

LEVEL = 0.01
"""The chance of a warning where there is nothing to warn of."""
SMALLEST = 0.005
"""The smallest change, as a share of the mean, that is warned of."""


class Means(msgspec.Struct, frozen=True, eq=False):
    """One side, reduced: a build's mean is that of its executions' means."""

    sample: Sample
    starts: Ints
    """Where each execution begins among the values."""
    first: Ints
    """Where each build begins among the executions."""
    executions: Array
    builds: Array
    away: Array
    """Of each value, from the mean of its execution."""

    @staticmethod
    def of(sample: Sample) -> Means:
        """Reduce a sample, of any counts above 0."""
        begin, first = starts(sample.counts[0]), starts(sample.counts[1])
        executions = np.add.reduceat(sample.values, begin) / sample.counts[0]
        builds = np.add.reduceat(executions, first) / sample.counts[1]
        away = sample.values - executions.repeat(sample.counts[0])
        return Means(sample, begin, first, executions, builds, away)

    def ordered(self) -> dict[tuple[int, int], list[tuple[int, float]]]:
        """Return of each build the executions' positions in the run and means; nothing where these are not known."""
        sample = self.sample
        if sample.orders is None:
            return {}
        places = list(zip(sample.orders.tolist(), self.executions.tolist(), strict=True))
        begin = self.first.tolist()
        ends = [*begin[1:], len(places)]
        return {build: places[at:end] for build, at, end in zip(sample.builds, begin, ends, strict=True)}

    def by_build(self, of: Array, usable: Flags, scale: Array | float = 1.0) -> list[float]:
        """Average over the usable executions of each build, those builds left out that have none."""
        if usable.all():
            count = self.sample.counts[1]
        else:
            of = np.where(usable, of, 0.0)
            count = np.add.reduceat(usable.astype(np.int64), self.first)
        mean = np.add.reduceat(of, self.first) / count / scale
        found: list[float] = mean[count > 0].tolist()
        return found


Sides = tuple[Means, Means]


class Test(msgspec.Struct, frozen=True):
    """A mean with its standard error on df degrees of freedom."""

    mean: float
    error: float
    df: int

    @property
    def sure(self) -> bool:
        """Whether the mean differs from 0 at LEVEL, two-sided."""
        return abs(self.mean) > self.error * t_quantile(self.df, LEVEL / 2)

    @property
    def above(self) -> bool:
        """Whether the mean is above 0 at LEVEL, one-sided."""
        return self.mean > self.error * t_quantile(self.df, LEVEL)

    @property
    def speaks(self) -> bool:
        """Whether it is sure and at least SMALLEST."""
        return abs(self.mean) >= SMALLEST and self.sure


def t_test(groups: Sequence[Sequence[float]], *, every: bool = False) -> Test | None:
    """Test the mean of the groups' means with the variance within groups; None below 2 degrees of freedom.

    So a warm-up of one side alone is no noise.

    Args:
        every: None too where a group is empty.
    """
    if every and not all(groups):
        return None
    groups = [group for group in groups if group]
    df = sum(len(group) - 1 for group in groups)
    if df < 2:
        return None
    means = [sum(group) / len(group) for group in groups]
    squares = sum((v - mean) ** 2 for group, mean in zip(groups, means, strict=True) for v in group)
    spread = math.sqrt(squares / df * sum(1 / len(group) for group in groups))
    return Test(sum(means) / len(groups), spread / len(groups), df)


def deviation_between(groups: Sequence[Sequence[float]]) -> float | None:
    """Return the standard deviation between groups, beyond what the values within them explain.

    None where an F test does not tell the groups apart at LEVEL, with fewer than 2 groups, and below 2 degrees of
    freedom within them. Analysis of variance with random effects: (MSB - MSW)/n0 (Searle, Casella and McCulloch,
    Variance Components, 1992, chapter 3).
    """
    k, n = len(groups), sum(len(group) for group in groups)
    if k < 2 or n - k < 2:
        return None
    means = [sum(group) / len(group) for group in groups]
    grand = sum(sum(group) for group in groups) / n
    between = sum(len(group) * (mean - grand) ** 2 for group, mean in zip(groups, means, strict=True)) / (k - 1)
    within = sum((v - mean) ** 2 for group, mean in zip(groups, means, strict=True) for v in group) / (n - k)
    if not between > within * float(fdtri(k - 1, n - k, 1 - LEVEL)):
        return None
    size = (n - sum(len(group) ** 2 for group in groups) / n) / (k - 1)
    return math.sqrt((between - within) / size)
