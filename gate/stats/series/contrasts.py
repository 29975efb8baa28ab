"""What the data say of a change at one step, if nothing else changes within a window of steps."""

from __future__ import annotations

import msgspec
import numpy as np

from gate.stats.series.steps import Array, Indices, Steps
from gate.stats.special import stdtr


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
    """Sums over steps from the first on, one longer than the steps."""

    count: Array
    level: Array

    @classmethod
    def of(cls, steps: Steps) -> Sums:
        """Sum up levels, taken about their mean so that large values do not cancel."""
        total = float(steps.levels.sum())
        middle = float((steps.levels * steps.level).sum()) / total if total else 0.0
        own = steps.levels * (steps.level - middle)
        return cls(np.concatenate(([0.0], np.cumsum(steps.levels))), np.concatenate(([0.0], np.cumsum(own))))


def contrasts(steps: Steps, first: Indices, last: Indices, at: Indices, sums: Sums | None = None) -> Contrasts:
    """Estimate a change at a step within a window of steps, by generalised least squares.

    Levels are regressed on how far the change had happened: 0 before the step, 1/2 at it (base has it not yet, head has
    it), 1 after it. The ratio of the step itself adds to it with its own precision; other ratios say nothing of it.
    Degrees by Satterthwaite.

    Args:
        steps: of the whole chain.
        first: first step of each window.
        last: last step of each window.
        at: the step of the change, first <= at <= last.
        sums: of the steps, if they are known already.
    """
    sums = Sums.of(steps) if sums is None else sums
    n0, n = sums.count[first], sums.count[last + 1]
    here, after = steps.levels[at], n - sums.count[at + 1]
    total = n - n0
    of_here = sums.level[at + 1] - sums.level[at]
    of_after = sums.level[last + 1] - sums.level[at + 1]
    of_all = sums.level[last + 1] - sums.level[first]
    share = 0.5 * here + after
    with np.errstate(divide="ignore", invalid="ignore"):
        information = np.where(total > 0, 0.25 * here + after - share**2 / np.where(total > 0, total, 1), 0.0)
        information = np.maximum(information, 0.0)
        product = 0.5 * of_here + of_after - share * np.where(total > 0, of_all / np.where(total > 0, total, 1), 0.0)
        usable = information > 1e-9
        by_levels = np.where(usable, product / np.where(usable, information, 1), 0.0)
        noise = steps.noise.variance
        own = np.where(usable, information / noise, 0.0)
        ratio = steps.precision[at]
        precision = own + ratio
        variance = np.where(precision > 0, 1 / precision, np.inf)
        change = np.where(precision > 0, (own * by_levels + ratio * steps.ratio[at]) / precision, 0.0)
        share_of_levels = np.where(precision > 0, own / precision, 0.0)
        df = 1 / (share_of_levels**2 / steps.noise.df + (1 - share_of_levels) ** 2 / steps.df[at])
        levels_variance = np.where(own > 0, 1 / own, np.inf)
    return Contrasts(change, variance, df, by_levels, levels_variance)
