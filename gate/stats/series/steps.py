"""The data of one case: steps from commit to commit, in the order of the chain.

The model: run r measures base and head at one time, log base = x(parent) + d(r) + noise and log head = x(commit) +
d(r) + noise. The effect d of the day is common to both, so that the log ratio D = x(commit) - x(parent) + noise is free
of it, and the level m, the mean of both logs, holds all of it. D and m are independent if both sides are as noisy.
"""

from __future__ import annotations

import msgspec
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


class Noise(msgspec.Struct, frozen=True):
    """How levels of one commit scatter over days and builds."""

    variance: float
    """Of one run's level, long-run: what days next to each other have in common counts; infinite: not known."""
    df: float
    short: float
    """The same from run to run, without what days next to each other have in common."""


UNKNOWN = Noise(np.inf, 1.0, np.inf)


class Levels(msgspec.Struct, frozen=True, eq=False):
    """Levels of one class of machine, an entry a step: only those of one class can be compared."""

    level: Array
    """Mean of the levels of the runs that measured the step; 0 where there is none."""
    count: Array
    """How many levels that is the mean of."""
    noise: Noise


class Steps(msgspec.Struct, frozen=True, eq=False):
    """One entry a step; a step leads from a commit of the chain to the next that was measured."""

    ratio: Array
    """log ratio of the step, as measured within runs on whatever machine; 0 where there is none."""
    variance: Array
    """Of ratio; infinite where the step lies in a gap, or was measured once only."""
    df: Array
    machines: list[Levels]
    """One each class of machine."""

    @property
    def precision(self) -> Array:
        """Of ratio: 0 where nothing is known."""
        return 1 / self.variance

    @property
    def count(self) -> int:
        """Steps."""
        return int(self.ratio.size)
