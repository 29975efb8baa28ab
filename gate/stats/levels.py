"""Nested means, S2 and T2 per level, and the dropping of levels that were not repeated.

Kalibera and Jones 2012, sections 6.1 and 7.6, extended to unbalanced data: means are unweighted at each level.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import msgspec
import numpy as np

from gate.model import LEVELS, Level, Sample
from gate.stats.rounding import Array, Ints, smallest_step

Unit = tuple[int, int] | int
"""A unit of the top level: (session, build), or the session alone where session is a level."""


class LevelVariance(msgspec.Struct, frozen=True):
    """Variance at one level: s2 biased by the levels below, t2 of the level alone (may be negative)."""

    level: Level
    s2: float
    t2: float


@dataclass(frozen=True, slots=True, eq=False)
class Tops:
    """One number for each unit of the top level, which is what every interval rests on."""

    values: Array
    """Float64, shape (n,): means of builds (or of sessions), or logarithms."""
    units: tuple[Unit, ...]
    """Which build or session each is of."""
    gap: float
    """The smallest distance that the instrument can tell, on the same scale, less where the executions of a unit round
    it each in its own way; 0 when all values of each session are equal.
    """
    log: bool
    """Whether values are logarithms."""
    mean: float = field(init=False)
    """The unweighted mean of the units."""

    def __post_init__(self) -> None:
        # once: it is asked for a dozen times; there are no units where both sides share no round
        mean = mean_of(self.values) if len(self.values) else math.nan
        object.__setattr__(self, "mean", mean)

    @property
    def n(self) -> int:
        """Units at the top level."""
        return len(self.values)


def mean_of(values: Array) -> float:
    """Return the mean, as numpy's to the last bit, in a fifth of its time on few values."""
    return float(np.add.reduce(values) / len(values))


def variance(values: Array) -> float:
    """Return the sample variance, as numpy's var with ddof=1 to the last bit, in a third of its time on few values."""
    apart = values - mean_of(values)
    return float(np.add.reduce(apart * apart) / (len(values) - 1))


def tops_of(sample: Sample, *, sessions: bool = False) -> Tops:
    """Reduce a sample to its top level's means, unweighted at each level (K&J 6.1)."""
    means = sample.values
    for children in (*sample.counts[:2], *((sample.counts[2],) if sessions else ())):
        means = _by_parent(means, children) / children
    units: tuple[Unit, ...] = tuple(dict.fromkeys(s for s, _ in sample.builds)) if sessions else sample.builds
    return Tops(means, units, _step_of(sample, len(units)), log=False)


def _step_of(sample: Sample, units: int) -> float:
    """Return the smallest step that counts for the mean of a unit.

    Where the values inside executions dither, so that their standard deviation (the median over executions, which an
    outlier does not move) is more than half a step, each execution rounds another way: their number counts instead of
    the units'. A timer's rounding averages out over what dithers it (Widrow and Kollar 2008; docs/method.md).
    """
    gap, sizes = gap_of(sample), sample.counts[0]
    if gap == 0 or len(sizes) == len(sample.values):
        return gap
    repeated = sizes > 1
    apart = sample.values - (_by_parent(sample.values, sizes) / sizes).repeat(sizes)
    spread = np.sort(_by_parent(apart * apart, sizes)[repeated] / (sizes[repeated] - 1))
    median = float(spread[(len(spread) - 1) // 2] + spread[len(spread) // 2]) / 2
    return gap * math.sqrt(units / len(sizes)) if math.sqrt(median) > gap / 2 else gap


def gap_of(sample: Sample) -> float:
    """Return the smallest distance between two distinct values of one session, 0 when all of each are equal.

    What values of two machines differ by tells nothing of the instrument. It is no less than the step that values are
    written to: the digits of some may be fewer.
    """
    gaps = [smallest_step(np.sort(values)) for values in sessions_of(sample)]
    gap = min((gap for gap in gaps if gap > 0), default=0.0)
    return max(gap, sample.step) if gap else 0.0


def sessions_of(sample: Sample) -> list[Array]:
    """Return the values of each session."""
    if len(sample.counts[2]) == 1:
        return [sample.values]
    sizes = sample.counts[0]
    for children in sample.counts[1:3]:
        sizes = np.add.reduceat(sizes, np.cumsum(children) - children)
    return np.split(sample.values, np.cumsum(sizes)[:-1])


def variances(sample: Sample, *, sessions: bool = False) -> tuple[LevelVariance, ...]:
    """Return S2 (K&J 6.1) and T2 (7.6) of each level, the lowest first.

    A level above the iterations at which no unit was repeated has no variance of its own and is dropped: K&J Table III
    becomes Table IV.

    Args:
        sample: N >= 1 values.
        sessions: whether session is a level, because one of the sides has several.
    """
    nested, names = [*sample.counts[:2], np.array([len(sample.counts[1])])], list(LEVELS[:3])
    if sessions:
        nested, names = [*sample.counts, np.array([len(sample.counts[2])])], list(LEVELS)
    # a level below the top at which every unit has one child merges with the level under it
    units = [len(sample.values), *map(len, nested)]
    kept = [k for k in range(len(nested)) if k == len(nested) - 1 or units[k] > units[k + 1]]
    means = sample.values
    found: list[LevelVariance] = []
    # per unit whose mean stands in means: the squared error of that mean, estimated from its own children
    errors: Array | None = None
    for level, children in ((names[k], nested[k]) for k in kept):
        below, begin, repeated = means, starts(children), children > 1
        if len(below) == len(children):
            break  # one unit at the top: no variance there
        means = np.add.reduceat(below, begin) / children
        apart = below - means.repeat(children)
        s2_of = np.add.reduceat(apart * apart, begin) / np.maximum(children - 1, 1)
        s2 = mean_of(s2_of[repeated])
        lower = 0.0 if errors is None else mean_of((np.add.reduceat(errors, begin) / children)[repeated])
        found.append(LevelVariance(level, s2, s2 - lower))
        # a unit with one child takes its level's mean variance
        errors = np.where(repeated, s2_of, s2) / children
    return tuple(found)


def _by_parent(values: Array, children: Ints) -> Array:
    return np.add.reduceat(values, starts(children))


def starts(children: Ints) -> Ints:
    """Return where each unit begins among its children."""
    return children.cumsum() - children
