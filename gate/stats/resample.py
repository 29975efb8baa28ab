"""Means of bootstrap replicates of nested values: resampled with replacement, level by level.

Kalibera and Jones 2012, Fig. 2, draws value by value. Here small groups of values are drawn as tuples, see
gate.stats.resampled_sums. What is too large for one table is cut into blocks, and a multinomial draw tells how often a
replicate draws from each. Nothing is approximated: replicates have the distribution of the literal loop.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Literal, Protocol

import msgspec
import numpy as np

from gate.model import Sample
from gate.stats.resampled_sums import (
    LARGEST,
    TABLE,
    Groups,
    Picks,
    Stream,
    at,
    common,
    drawn,
    passes,
    totals,
    tuple_length,
)
from gate.stats.rounding import Array, Ints

Scheme = Literal["RRR", "RRN", "RNN", "FLAT"]

CHUNK = 2000
"""Replicates that share a random stream: results do not depend on the number of cores."""

_PARTS = 64
"""Most blocks that one multinomial draw is for."""
_WORTH_THREADS = 1_000_000
"""Values to draw below which threads cost more than they give."""
_FREED = 31 << 20
"""Bytes of about the largest block whose release glibc learns from."""


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
    # glibc hands freed memory back after each pass, and getting it again costs more than the picks, until it has seen a
    # large block freed; this one is never touched
    np.empty(_FREED, dtype=np.uint8)
    plans = [_plan(side, len(side.first), 0, len(side.means())) for side in sides]
    # the tables of a small side serve all chunks; those of a large one are made anew, since they take more than it does
    plans = [plan.ready() if isinstance(plan, _Units) else plan for plan in plans]
    tasks = [task for chunk in chunks for k, plan in enumerate(plans) for task in _tasks(plan, seed, k, chunk)]
    if len(chunks) * CHUNK * sum(len(side.values) for side in sides) < _WORTH_THREADS:
        found = [task.run() for task in tasks]
    else:
        with ThreadPoolExecutor(usable_cores()) as pool:
            found = list(pool.map(_Task.run, tasks))
    sums = np.zeros((len(sides), len(chunks), CHUNK))
    for task, part in zip(tasks, found, strict=True):
        sums[task.side, task.chunk - chunks.start] += part
    return [total.ravel() / plan.units for total, plan in zip(sums, plans, strict=True)]


def usable_cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Task(msgspec.Struct, frozen=True, eq=False):
    """What a thread does at a time: one part of one side in one chunk."""

    side: int
    chunk: int
    part: _Part
    draws: Ints
    seed: np.random.SeedSequence

    def run(self) -> Array:
        return self.part.sums(self.draws, Stream(self.seed))


def _tasks(plan: _Part, seed: int, side: int, chunk: int) -> list[_Task]:
    parts: Sequence[_Part] = [plan]
    draws = np.full((1, CHUNK), plan.units)
    if isinstance(plan, _Split):
        own = np.random.SeedSequence(seed, spawn_key=(side, chunk))
        parts, draws = plan.parts, plan.shares(draws[0], Stream(own))
    seeds = [np.random.SeedSequence(seed, spawn_key=(side, chunk, k)) for k in range(len(parts))]
    return [_Task(side, chunk, part, draws[k], seeds[k]) for k, part in enumerate(parts)]


# --- the plan: how the units of one side are cut, the same for every chunk -------------------------------------------


class _Part(Protocol):
    """Neighbouring units of one level."""

    @property
    def units(self) -> int:
        """How many."""
        ...

    def sums(self, draws: Ints, stream: Stream) -> Array:
        """Return for each replicate r the sum of the resampled means of draws[r] units, drawn with replacement."""
        ...


def _plan(of: Hierarchy, level: int, lo: int, hi: int) -> _Part:
    """Cut the units lo..hi of a level into blocks, each with tables that fit the cache."""
    bounds = [*range(lo, hi, LARGEST), hi] if level == 0 else _cut(_entries(of, level, lo, hi), lo)
    parts = [_block(of, level, a, b) for a, b in pairwise(bounds)]
    while len(parts) > _PARTS:
        parts = [_Split(parts[i : i + _PARTS]) for i in range(0, len(parts), _PARTS)]
    return _Split(parts) if len(parts) > 1 else parts[0]


def _block(of: Hierarchy, level: int, lo: int, hi: int) -> _Part:
    if level == 0:
        return _Values(of.values[lo:hi])
    if hi - lo > 1:
        return _Units(of, level, lo, hi)
    first = of.first[level - 1]
    return _Unit(_plan(of, level - 1, int(first[lo]), int(first[hi])))


def _entries(of: Hierarchy, level: int, lo: int, hi: int) -> Ints:
    """Return the running number of entries of the tables below the units lo..hi of a level >= 1, from 0."""
    groups = np.arange(lo, hi + 1)
    for first in reversed(of.first[1:level]):
        groups = first[groups]
    sizes, which = np.unique(np.diff(of.first[0][groups[0] : groups[-1] + 1]), return_inverse=True)
    # a group too large for one table is more than a block can take
    entries = np.array([n ** tuple_length(int(n)) if n <= LARGEST else TABLE + 1 for n in sizes])
    running: Ints = np.concatenate(([0], np.cumsum(entries[which])))[groups - groups[0]]
    return running


def _cut(running: Ints, lo: int) -> list[int]:
    """Cut units into runs of at most TABLE entries, or of a single unit: where each run begins, and the end."""
    bounds = [0]
    while bounds[-1] < len(running) - 1:
        end = int(np.searchsorted(running, running[bounds[-1]] + TABLE, side="right")) - 1
        bounds.append(max(end, bounds[-1] + 1))
    return [lo + bound for bound in bounds]


class _Split(msgspec.Struct, frozen=True, eq=False):
    """Units in several parts."""

    parts: Sequence[_Part]

    @property
    def units(self) -> int:
        return sum(part.units for part in self.parts)

    def shares(self, draws: Ints, stream: Stream) -> Ints:
        """Draw how many of a replicate's draws fall to each part; shape (parts, replicates)."""
        return stream.shares(draws, np.array([part.units for part in self.parts]))

    def sums(self, draws: Ints, stream: Stream) -> Array:
        total = np.zeros(len(draws))
        for part, share in zip(self.parts, self.shares(draws, stream), strict=True):
            total += part.sums(share, stream)
        return total


class _Unit(msgspec.Struct, frozen=True, eq=False):
    """A single unit above level 0, by its children."""

    children: _Part
    units: int = 1

    def sums(self, draws: Ints, stream: Stream) -> Array:
        return self.children.sums(draws * self.children.units, stream) / self.children.units


class _Values(msgspec.Struct, frozen=True, eq=False):
    """At most LARGEST units of level 0."""

    values: Array
    """Shape (units,)."""

    @property
    def units(self) -> int:
        return len(self.values)

    def sums(self, draws: Ints, stream: Stream) -> Array:
        return drawn(self.values, draws, stream)


class _Units(msgspec.Struct, frozen=True, eq=False):
    """Several units lo..hi of a level above 0, whose tables together fit the cache."""

    of: Hierarchy
    level: int
    lo: int
    hi: int

    @property
    def units(self) -> int:
        return self.hi - self.lo

    def ready(self) -> _Ready:
        """Make the tables."""
        lo, hi, down = self.lo, self.hi, []
        for first in reversed(self.of.first[1 : self.level]):
            children = np.diff(first[lo : hi + 1])
            down.append(Picks.of(first[lo:hi] - first[lo], children, children))
            lo, hi = int(first[lo]), int(first[hi])
        groups = Groups.of(self.of.values, self.of.first[0][lo : hi + 1])
        return _Ready(self.units, hi - lo, down, groups)

    def sums(self, draws: Ints, stream: Stream) -> Array:
        return self.ready().sums(draws, stream)


class _Ready(msgspec.Struct, frozen=True, eq=False):
    """The same with their tables."""

    units: int
    lowest: int
    """Units of level 1."""
    down: list[Picks]
    """How children are picked, from the highest level."""
    groups: Groups

    def sums(self, draws: Ints, stream: Stream) -> Array:
        out = np.empty(len(draws))
        for rows in passes(len(draws), draws.mean() * self.lowest / self.units):
            many = draws[rows]
            ids = stream.below(self.units, int(many.sum()))
            out[rows] = totals(self._means(ids, self.down, stream), common(many))
        return out

    def _means(self, ids: Ints, down: list[Picks], stream: Stream) -> Array:
        """Return the resampled mean of each unit of ids."""
        if not down:
            return self.groups.means(ids, stream)
        many = at(down[0].many, ids)
        children = down[0].draw(ids, stream)
        return totals(self._means(children, down[1:], stream), many) / many
