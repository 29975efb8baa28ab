"""Steps of a case made up, and histories of many of them at once."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from gate.stats.series.noise import level_noise, moderated, outlying
from gate.stats.series.search import comparisons, searched
from gate.stats.series.steps import Levels, Steps
from tests.support.histories import Array, Noise, drawn


def steps_of(
    rng: np.random.Generator, true: Array, noise: Noise, *, moved: Array | None = None, machines: tuple[int, ...] = ()
) -> Steps:
    """Draw the steps of a case.

    moved: what the machine does to the level of each run beside the noise. machines: runs with which another begins.
    """
    own = drawn(rng, true, noise)
    shared = moderated(own.variance, (own.builds - 1).astype(np.float64), own.builds.astype(np.float64))
    level = own.level if moved is None else own.level + moved
    ends = [0, *machines, level.size]
    each = []
    for first, last in pairwise(ends):
        far = outlying(level[first:last])
        count = np.zeros(level.size)
        count[first:last] = ~far
        each.append(Levels.of(level, count, level_noise(level[first:last][~far])))
    return Steps(own.ratio, shared.variance, shared.df, each)


def called(steps: Steps, *, cases: int = 10, threshold: float = 0.0, alpha: float = 0.05) -> list[int]:
    """Return the steps at which changes are called, in a report of so many cases of this length, at 95%."""
    each = alpha / (comparisons(steps.count) * cases)
    return [point.at for point in searched(steps, each, float(np.log1p(threshold))).points]
