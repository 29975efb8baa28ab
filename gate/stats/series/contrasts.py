"""What the data say of a change at one step, if nothing else changes within a window of steps."""

from __future__ import annotations

from functools import cache

import msgspec
import numpy as np
import numpy.typing as npt

from gate.stats.series.steps import Array, Indices, Levels, Steps
from gate.stats.special import fdtri, ndtri, stdtr

_LEAST = 1e-9
_NOISIER = 0.001
_FEWEST = 3
_NEAR = 5
"""Steps on each side of a change that show how much levels scatter there."""
_DIFFERENCED = 1.5
"""Differences that are worth one degree: neighbours share a level."""


class Contrasts(msgspec.Struct, frozen=True, eq=False):
    """Estimates of the change in log, one for each window and step asked for."""

    change: Array
    variance: Array
    """Infinite where the data say nothing."""
    df: Array
    by_levels: Array
    """Change by levels alone; 0 where they say nothing."""
    levels_variance: Array

    def score(self, threshold: float = 0.0) -> Array:
        """Return how many standard errors the change lies beyond a threshold in log; negative: within it."""
        with np.errstate(invalid="ignore"):
            return np.where(
                np.isfinite(self.variance), (np.abs(self.change) - threshold) / np.sqrt(self.variance), -np.inf
            )

    def p(self, threshold: float = 0.0) -> Array:
        """Return the p value of each against a change of at most the threshold, in either direction."""
        with np.errstate(invalid="ignore"):
            far = np.where(
                np.isfinite(self.variance), (np.abs(self.change) + threshold) / np.sqrt(self.variance), np.inf
            )
        p = stdtr(self.df, -self.score(threshold)) + stdtr(self.df, -far)
        return np.where(np.isfinite(self.variance), np.minimum(p, 1.0), 1.0)

    def shown(self, alpha: float, threshold: float = 0.0) -> npt.NDArray[np.bool_]:
        """Tell whose p lies below alpha; p is worked out only where a normal distribution would let it."""
        found: npt.NDArray[np.bool_] = self.score(threshold) > -ndtri(alpha)
        at = np.flatnonzero(found)
        parts = (self.change, self.variance, self.df, self.by_levels, self.levels_variance)
        found[at] = Contrasts(*(each[at] for each in parts)).p(threshold) < alpha
        return found


class Sums(msgspec.Struct, frozen=True, eq=False):
    """Sums of the levels of one machine over steps from the first on, one longer than the steps."""

    count: Array
    level: Array
    pairs: Array
    """Differences of a level and the one before it."""
    squares: Array
    """Of these differences."""
    following: Indices
    """Of each step, the next one after it that has a level."""

    @classmethod
    def of(cls, steps: Steps) -> list[Sums]:
        """Sum up the levels of each machine, taken about their mean so that large values do not cancel."""
        found = []
        for own in steps.machines:
            total = float(own.count.sum())
            middle = float((own.count * own.level).sum()) / total if total else 0.0
            present = np.flatnonzero(own.count)
            pairs, squares = np.zeros(steps.count), np.zeros(steps.count)
            pairs[present[1:]] = 1.0
            squares[present[1:]] = np.diff(own.level[present]) ** 2
            following = np.append(present, steps.count)[np.searchsorted(present, np.arange(1, steps.count + 1))]
            weighted = own.count * (own.level - middle)
            found.append(cls(_sums(own.count), _sums(weighted), _sums(pairs), _sums(squares), following))
        return found


def _sums(each: Array) -> Array:
    return np.concatenate(([0.0], np.cumsum(each)))


class _ByLevels(msgspec.Struct, frozen=True, eq=False):
    """What the levels of all machines say: their precision, that times the change, and degrees."""

    precision: Array
    product: Array
    df: Array


def contrasts(steps: Steps, first: Indices, last: Indices, at: Indices, sums: list[Sums] | None = None) -> Contrasts:
    """Estimate a change at a step within a window of steps, by generalised least squares.

    Levels of each machine are regressed on how far the change had happened: 0 before the step, 1/2 at it (base has it
    not yet, head has it), 1 after it. The ratio of the step itself adds to it with its own precision; other ratios say
    nothing of it. Degrees by Satterthwaite.

    Args:
        steps: of the whole chain.
        first: first step of each window.
        last: last step of each window.
        at: the step of the change, first <= at <= last.
        sums: of the steps, if they are known already.
    """
    levels = _by_levels(steps, first, last, at, Sums.of(steps) if sums is None else sums)
    ratio = steps.precision[at]
    precision = levels.precision + ratio
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(precision > 0, levels.precision / precision, 0.0)
        return Contrasts(
            change=np.where(precision > 0, (levels.product + ratio * steps.ratio[at]) / precision, 0.0),
            variance=1 / precision,
            df=1 / (share**2 / levels.df + (1 - share) ** 2 / steps.df[at]),
            by_levels=np.where(levels.precision > 0, levels.product / levels.precision, 0.0),
            levels_variance=1 / levels.precision,
        )


def _by_levels(steps: Steps, first: Indices, last: Indices, at: Indices, sums: list[Sums]) -> _ByLevels:
    precision, product, error = np.zeros(at.size), np.zeros(at.size), np.zeros(at.size)
    for own, sum_ in zip(steps.machines, sums, strict=True):
        here, after = own.count[at], sum_.count[last + 1] - sum_.count[at + 1]
        total, half = sum_.count[last + 1] - sum_.count[first], own.happened[at]
        of_here = sum_.level[at + 1] - sum_.level[at]
        of_after = sum_.level[last + 1] - sum_.level[at + 1]
        happened = (half * here + after) / np.maximum(total, 1)
        information = half**2 * here + after - happened**2 * total
        # of one level, or of levels all on one side, rounding is what would be left
        usable = information > _LEAST
        of_all = sum_.level[last + 1] - sum_.level[first]
        noise = _noise(own, sum_, first, last, at)
        part = np.where(usable, information, 0.0) / noise.variance
        precision += part
        product += np.where(usable, half * of_here + of_after - happened * of_all, 0.0) / noise.variance
        error += part**2 / noise.df
    with np.errstate(divide="ignore", invalid="ignore"):
        return _ByLevels(precision, product, np.where(error > 0, precision**2 / error, 1.0))


class _Noise(msgspec.Struct, frozen=True, eq=False):
    variance: Array
    df: Array


def _noise(own: Levels, sums: Sums, first: Indices, last: Indices, at: Indices) -> _Noise:
    """Give the noise of each window: that of all levels, or its own where levels scatter clearly more there.

    Its own is that of differences within the window, or near the step if the window is short, but for the two at the
    step.
    """
    first = np.maximum(np.minimum(first, at - _NEAR), 0)
    last = np.minimum(np.maximum(last, at + _NEAR), own.count.size - 1)
    after = np.minimum(sums.following[at] + 1, last + 1)
    squares = sums.squares[last + 1] - sums.squares[after] + sums.squares[at] - sums.squares[np.minimum(first + 1, at)]
    count = sums.pairs[last + 1] - sums.pairs[after] + sums.pairs[at] - sums.pairs[np.minimum(first + 1, at)]
    common = own.noise
    if not np.isfinite(common.variance):
        return _Noise(np.full(at.size, np.inf), np.ones(at.size))
    df = np.maximum(count / _DIFFERENCED, 1.0)
    local = squares / np.maximum(2 * count, 1)
    limits = _limits(common.df, int(count.max(initial=0)))
    noisier = (count >= _FEWEST) & (local > common.short * limits[count.astype(np.int64)])
    slow = common.variance / common.short
    return _Noise(np.where(noisier, local * slow, common.variance), np.where(noisier, df, common.df))


@cache
def _limits(df: float, most: int) -> Array:
    """Return how much more differences scatter in a window by chance, at 0.1%, for so many of them each."""
    counts = np.arange(most + 1)
    limits: Array = fdtri(np.maximum(counts / _DIFFERENCED, 1.0), df, 1 - _NOISIER)
    return limits
