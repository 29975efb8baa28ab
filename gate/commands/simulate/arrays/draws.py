"""Samples and memories drawn from known variance components."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gate.commands.simulate.arrays.components import NORMAL, Components, Shape
from gate.commands.simulate.arrays.pairs import Memory
from gate.stats.prior import MOST_DF

if TYPE_CHECKING:
    from gate.commands.simulate.arrays.components import Array


@dataclass(frozen=True, slots=True)
class Source:
    """Where the cases of a report come from."""

    components: tuple[Components, ...]
    """One per case."""
    shape: Shape
    noise: float = 1.0
    """Variance now over the variance given by the components, which is what a memory holds: of all cases, or of the
    first one only.
    """
    one_noisy: bool = False
    correlation: float = 0.0
    """Of the effects of a build on base and head, as layouts that both sides share give it."""
    uneven: float = 0.0
    """Standard deviation of the true change from layout to layout."""

    def noise_of_cases(self) -> Array:
        """Return the noise of each case, shape (cases,)."""
        noise = np.full(len(self.components), self.noise)
        if self.one_noisy:
            noise[1:] = 1.0
        return noise


@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """Means of builds, shape (reports, cases, builds)."""

    base: Array
    head: Array


def build_means(rng: np.random.Generator, source: Source, reports: int, builds: int, ratio: Array | float) -> Sides:
    """Draw the means of the builds of both sides; base has the mean 1.

    Exact: with balanced normal lower levels a build's mean is its effect and one normal variate with the variance that
    the levels below leave.

    Args:
        ratio: true head/base, one for all or one per case.
    """
    noise = np.sqrt(source.noise_of_cases())[:, None]
    drift = _column([c.drift for c in source.components])
    size = (reports, len(source.components), builds)
    shared = drift * rng.standard_normal(size) if drift.any() else 0.0
    base, head = _effects(rng, source, size)
    base = 1 + noise * base + shared
    head = 1 + noise * head + shared
    if source.uneven:
        head = head * (1 + source.uneven * rng.standard_normal(size))
    return Sides(base, head * np.broadcast_to(np.asarray(ratio), (len(source.components),))[:, None])


def _column(values: Sequence[float]) -> Array:
    """Shape one number per case so that it applies to (reports, cases, builds)."""
    return np.array(values)[:, None]


def _effects(rng: np.random.Generator, source: Source, size: tuple[int, ...]) -> tuple[Array, Array]:
    """Draw what builds and what is below them add to the means of base and head."""
    if not source.correlation:
        return _own(rng, source, size), _own(rng, source, size)
    build = _column([c.build for c in source.components])
    below = _column([math.sqrt(c.below) for c in source.components])
    common = math.sqrt(source.correlation) * source.shape.draw(rng, size)
    alone = math.sqrt(1 - source.correlation)
    one, other = (
        build * (common + alone * source.shape.draw(rng, size)) + below * rng.standard_normal(size) for _ in range(2)
    )
    return one, other


def _own(rng: np.random.Generator, source: Source, size: tuple[int, ...]) -> Array:
    build = _column([c.build for c in source.components])
    below = _column([math.sqrt(c.below) for c in source.components])
    if source.shape == NORMAL:
        own: Array = np.hypot(build, below) * rng.standard_normal(size)
        return own
    effects: Array = build * source.shape.draw(rng, size) + below * rng.standard_normal(size)
    return effects


def remembered(rng: np.random.Generator, source: Source, reports: int, df: int, *, by_round: bool) -> Memory:
    """Draw what calibration has found, shape (reports, cases): df + 1 rounds of both sides, without the noise of now.

    By round it is worth df degrees, and twice as many, up to the most that count, for what lies within the sides. Else
    it is the variance of df + 1 builds. With normal effects the variances are chi-square; with others they are those of
    drawn builds, whose error is not.
    """
    size = (reports, len(source.components))
    draw = _chi_squares if source.shape == NORMAL else _calibration
    contrast, sides = draw(rng, source, size, df, by_round=by_round)
    if not by_round:
        return Memory(sides, df, None, 0.0)
    return Memory(contrast, df, sides, min(2.0 * df, MOST_DF))


def _chi_squares(
    rng: np.random.Generator, source: Source, size: tuple[int, int], df: int, *, by_round: bool
) -> tuple[Array, Array]:
    own = np.array([c.of_build_mean for c in source.components])
    drift = np.array([c.drift for c in source.components])
    one = rng.chisquare(df, size) / df
    if not by_round:
        return one, own * one
    # difference and sum of the sides are independent; the variance within the sides is a quarter of that of both
    other = rng.chisquare(df, size) / df
    contrast = 2 * own * one
    return contrast, (contrast + (2 * own + 4 * drift**2) * other) / 4


def _calibration(
    rng: np.random.Generator, source: Source, size: tuple[int, int], df: int, *, by_round: bool
) -> tuple[Array, Array]:
    base = _own(rng, source, (*size, df + 1))
    if not by_round:
        return base, base.var(axis=-1, ddof=1)
    head = _own(rng, source, (*size, df + 1))
    contrast = (base - head).var(axis=-1, ddof=1)
    drift = _column([c.drift for c in source.components])
    if drift.any():
        shared = drift * rng.standard_normal(base.shape)
        base, head = base + shared, head + shared
    return contrast, (base.var(axis=-1, ddof=1) + head.var(axis=-1, ddof=1)) / 2


def values(
    rng: np.random.Generator, components: Components, shape: Shape, ratio: float, size: tuple[int, int]
) -> Array:
    """Draw every value of one side, shape (comparisons, builds, executions, iterations), around the mean `ratio`.

    Iterations are lognormal: positive, with a tail of slow ones, as times are.

    Args:
        size: comparisons, builds.
    """
    comparisons, builds = size
    executions, iterations = components.executions, components.iterations
    log_sd = math.sqrt(math.log1p(components.iteration**2))
    drawn = log_sd * rng.standard_normal((comparisons, builds, executions, iterations))
    np.exp(np.subtract(drawn, log_sd**2 / 2, out=drawn), out=drawn)
    of_execution = 1 + components.execution * rng.standard_normal((comparisons, builds, executions, 1))
    of_execution += components.build * shape.draw(rng, (comparisons, builds, 1, 1))
    drawn *= ratio * of_execution
    return drawn
