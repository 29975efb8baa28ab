"""What the data say of a change at one step, if nothing else changes within a window of steps."""

from __future__ import annotations

import msgspec
import numpy as np

from gate.stats.series.steps import Array, Indices, Steps
from gate.stats.special import stdtr

_LEAST = 1e-9


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


class Sums(msgspec.Struct, frozen=True, eq=False):
    """Sums of the levels of one machine over steps from the first on, one longer than the steps."""

    count: Array
    level: Array

    @classmethod
    def of(cls, steps: Steps) -> list[Sums]:
        """Sum up the levels of each machine, taken about their mean so that large values do not cancel."""
        found = []
        for own in steps.machines:
            total = float(own.count.sum())
            middle = float((own.count * own.level).sum()) / total if total else 0.0
            sums = (own.count, own.count * (own.level - middle))
            found.append(cls(*(np.concatenate(([0.0], np.cumsum(each))) for each in sums)))
        return found


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
        total = sum_.count[last + 1] - sum_.count[first]
        of_here = sum_.level[at + 1] - sum_.level[at]
        of_after = sum_.level[last + 1] - sum_.level[at + 1]
        happened = (0.5 * here + after) / np.maximum(total, 1)
        information = 0.25 * here + after - happened**2 * total
        usable = information > _LEAST
        of_all = sum_.level[last + 1] - sum_.level[first]
        # of one level, or of levels all on one side, rounding is what would be left
        part = np.where(usable, information, 0.0) / own.noise.variance
        precision += part
        product += np.where(usable, 0.5 * of_here + of_after - happened * of_all, 0.0) / own.noise.variance
        error += part**2 / own.noise.df
    with np.errstate(divide="ignore", invalid="ignore"):
        return _ByLevels(precision, product, np.where(error > 0, precision**2 / error, 1.0))
