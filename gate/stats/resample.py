"""Means of bootstrap replicates of nested values: resampled with replacement, level by level.

Kalibera and Jones 2012, Fig. 2, draws value by value, one replicate after the other; here many replicates descend a
level at once.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import msgspec
import numpy as np

from gate.model import Sample
from gate.stats.rounding import Array, Ints

Scheme = Literal["RRR", "RRN", "RNN", "FLAT"]

CHUNK = 2000
"""Replicates that share a random stream: results do not depend on the number of cores."""
_PASS = 1 << 16
"""Values drawn at once: what bounds the memory, and fits the cache."""
_TABLE = 1 << 16
"""Most sums of a table: 512 KiB, which the cache of a core holds."""


class Hierarchy(msgspec.Struct, frozen=True, eq=False):
    """One side as a scheme resamples it."""

    values: Array
    """Float64, shape (N,), the units of level 0: values, or means of units whose inside is left as it is."""
    first: tuple[Ints, ...]
    """For each level above, int64, shape (units + 1,): where the children of each unit begin in the level below; they
    end where those of the next begin.
    """

    def means(self) -> Array:
        """Return the mean of each unit of the highest level, unweighted at every level."""
        means = self.values
        for first in self.first:
            means = _by_unit(means, first)
        return means


def hierarchy(sample: Sample, scheme: Scheme, *, sessions: bool) -> Hierarchy:
    """Reduce a sample to what a scheme resamples (K&J 8.3.3).

    RRR: every level. RRN: all but iterations, so means of executions. RNN: neither iterations nor executions, so means
    of builds. FLAT: all values of a side as one level. A level at which every unit has one child needs no draws and is
    dropped.

    Args:
        sessions: session is a level, above the build; all schemes but FLAT resample both.
    """
    values = np.asarray(sample.values, dtype=np.float64)
    if scheme == "FLAT":
        return Hierarchy(values, ())
    first = [np.concatenate(([0], np.cumsum(counts))) for counts in sample.counts[: 3 if sessions else 2]]
    for _ in range(("RRR", "RRN", "RNN").index(scheme)):
        values = _by_unit(values, first.pop(0))
    return Hierarchy(values, tuple(f for f in first if len(f) - 1 < f[-1]))


def _by_unit(values: Array, first: Ints) -> Array:
    means: Array = np.add.reduceat(values, first[:-1]) / np.diff(first)
    return means


def replicate_means(sides: Sequence[Hierarchy], seed: int, chunks: range) -> list[Array]:
    """Return for each side the means of CHUNK replicates for each chunk, in the order of chunks.

    A replicate draws as many units of the highest level as there are, with replacement, of each as many children as it
    has, and so on (K&J Fig. 2). Its mean is unweighted at every level, as the estimate is; on balanced data that is the
    mean of all values drawn.

    Args:
        seed: not negative; chunk c of side k is the same whatever else is asked for.
    """
    seeds = [np.random.SeedSequence(seed, spawn_key=(k, c)) for k in range(len(sides)) for c in chunks]
    asked = zip([side for side in sides for _ in chunks], seeds, strict=True)
    with ThreadPoolExecutor(usable_cores()) as pool:
        found = pool.map(lambda each: replicates(each[0], CHUNK, np.random.default_rng(each[1])), asked)
        return [*np.reshape([*found], (len(sides), -1))]


def replicates(side: Hierarchy, count: int, rng: np.random.Generator) -> Array:
    """Return the means of so many replicates of one side."""
    level, units = len(side.first), len(side.first[-1]) - 1 if side.first else len(side.values)
    means, tables = np.empty(count), _tables(side)
    step = max(1, _PASS // len(side.values))
    for begin in range(0, count, step):
        some = means[begin : begin + step]
        ids = rng.integers(units, size=len(some) * units)
        some[:] = _resampled(side, level, ids, tables, rng).reshape(-1, units).mean(axis=1)
    return means


def _tables(side: Hierarchy) -> list[tuple[int, Array]]:
    """Return what a mean of values is made of, where all units have as many: so many draws from which sums.

    One draw takes a tuple of k values, from the sums of all n^k tuples of a unit, which has the distribution of k draws
    with replacement; and one takes what k leaves of n.
    """
    sizes = np.diff(side.first[0]) if side.first else np.array([0])
    n = int(sizes[0])
    if n == 0 or (sizes != n).any():
        return []
    values = side.values.reshape(-1, n)
    sums = [np.zeros((len(values), 1)), values]
    while len(sums) <= n and sums[-1].size * n <= _TABLE:
        sums.append((sums[-1][:, :, None] + values[:, None, :]).reshape(len(values), -1))
    many, over = divmod(n, len(sums) - 1)
    return [(many, sums[-1]), (1, sums[over])]


def _resampled(
    side: Hierarchy, level: int, ids: Ints, tables: Sequence[tuple[int, Array]], rng: np.random.Generator
) -> Array:
    """Return for each unit of ids, which are of one level, the mean of its children, drawn anew each time."""
    if level == 0:
        values: Array = side.values.take(ids)
        return values
    first = side.first[level - 1]
    if level == 1 and tables:
        total = np.zeros(len(ids))
        rows = max(1, _PASS // len(ids))
        for many, sums in tables:
            # the narrower the type, the fewer random bits
            kind = np.uint16 if sums.shape[1] <= 1 << 16 else np.uint32
            for begin in range(0, many, rows):
                asked = min(rows, many - begin), len(ids)
                picks = rng.integers(sums.shape[1], size=asked, dtype=kind) + ids * sums.shape[1]
                total += sums.ravel().take(picks).sum(axis=0)
        total /= first[1]
        return total
    size = np.diff(first).take(ids)
    # below the size, since the largest double below 1 times n rounds to the one below n
    children = (rng.random(int(size.sum())) * np.repeat(size, size)).astype(np.int64)
    children += np.repeat(first.take(ids), size)
    of_children = _resampled(side, level - 1, children, tables, rng)
    means: Array = np.add.reduceat(of_children, np.cumsum(size) - size) / size
    return means


def usable_cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
