"""A sample with what all diagnostics ask of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gate.model import Sample

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
    Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Means:
    """One side, reduced: a build's mean is that of its executions' means."""

    sample: Sample
    starts: Counts
    """Where each execution begins among the values."""
    first: Counts
    """Where each build begins among the executions."""
    executions: Array
    builds: Array
    away: Array
    """Of each value, from the mean of its execution."""

    @staticmethod
    def of(sample: Sample) -> Means:
        """Reduce a sample, of any counts above 0."""
        starts = beginnings(sample.counts[0])
        executions = np.add.reduceat(sample.values, starts) / sample.counts[0]
        first = beginnings(sample.counts[1])
        builds = np.add.reduceat(executions, first) / sample.counts[1]
        away = sample.values - executions.repeat(sample.counts[0])
        return Means(sample, starts, first, executions, builds, away)

    def by_build(self, of: Array, usable: npt.NDArray[np.bool_], scale: Array | float = 1.0) -> list[float]:
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


def beginnings(counts: Counts) -> Counts:
    """Return where each unit begins among its children."""
    return counts.cumsum() - counts
