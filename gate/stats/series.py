"""One case over the commits of a history: ratios of commits to their parents, and levels of days.

The model: run r measures base and head at one time, log base = x(parent) + d(r) + noise and log head = x(commit) +
d(r) + noise. The effect d of the day is common to both, so that the log ratio D = x(commit) - x(parent) + noise is free
of it, and the level m, the mean of both logs, holds all of it. D and m are independent if both sides are as noisy.
"""

from __future__ import annotations

import math
import warnings

import msgspec
import numpy as np

from gate.stats.rounding import Array, Flags, Ints
from gate.stats.shared_variance import fitted_prior
from gate.stats.special import ndtri, stdtrit

EXACT = 1e-12
"""Variance that stands for none: a ratio that is known exactly still has a rounding."""
_ALPHA = 0.05
_FEWEST = 6
"""Levels that it takes to say how far days differ."""
_CUT = 3.0
_WITHIN = 0.97334
"""Variance of a standard normal within 3 standard deviations."""
_MAD = 1.4826
_OUTLYING = 5.0
_SIDE = 3
"""Days on each side that an outlier stands off."""
_BLOCKS = 6
"""So many blocks, for how slowly days change to be known at all."""
_SURE = 1e9
"""Precision of a ratio that says nothing of how ratios vary by noise: of programs that are the same."""
_RIDGE = 1e-6
"""Precision that each commit has beside its data, relative to the least of these: keeps what is unknown finite."""


class Levels(msgspec.Struct, frozen=True, eq=False):
    """Levels of one class of machine, an entry a step: only those of one class can be compared."""

    level: Array
    """Mean of the levels of the runs that measured the step; 0 where there is none."""
    count: Array
    """How many levels that is the mean of."""
    variance: float
    """Of one run's level over days and builds, long-run: what days next to each other have in common counts; infinite:
    not known."""
    happened: Array
    """How much of its own step a level holds: 1/2 as the mean of both sides, 1 as that of head alone."""


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


class ChangeInterval(msgspec.Struct, frozen=True):
    """A change in log with its 95% interval."""

    estimate: float
    low: float
    high: float
    """low and high: infinite where nothing is known."""


def interval(estimate: float, variance: float, df: float) -> ChangeInterval:
    """Return the 95% interval of Student's t."""
    half = float(-stdtrit(df, _ALPHA / 2)) * math.sqrt(variance) if math.isfinite(variance) else math.inf
    return ChangeInterval(estimate, estimate - half, estimate + half)


# --- ratios -----------------------------------------------------------------------------------------------------------


def summed(steps: Steps, first: int, last: int) -> ChangeInterval:
    """Add up the ratios of steps, first to last, as far as they are known; without bounds where one is missing.

    Variances add, degrees by Satterthwaite.
    """
    variance, df = steps.variance[first : last + 1], steps.df[first : last + 1]
    known = np.isfinite(variance)
    estimate, total = float(steps.ratio[first : last + 1][known].sum()), float(variance.sum())
    error = float((variance[known] ** 2 / df[known]).sum())
    return interval(estimate, total, total**2 / error if math.isfinite(total) and error > 0 else 1.0)


def moderated(variance: Array, df: Array, builds: Array) -> tuple[Array, Array]:
    """Move the variances of ratios towards what those of other runs of the case say (Smyth 2004).

    The variance of a build (variance times builds) is squeezed, and taken back to the run's own builds. One that is not
    known (nan) gets what the others say, or stays infinite.

    Args:
        variance: of each run's log ratio; 0 where it is exact, nan where it is not known.
        df: of each.
        builds: of each, at least 1.

    Returns:
        The variances and their degrees.
    """
    known = np.isfinite(variance) & (variance > EXACT) & (df > 0)
    out = np.where(np.isfinite(variance), np.maximum(variance, EXACT), np.inf)
    degrees = np.where(np.isfinite(variance) & ~known, 1e6, np.where(known, df, 1.0))
    if int(known.sum()) < 3:
        return out, degrees
    each, own = (variance * builds)[known], df[known]
    prior, common = fitted_prior(each, own)
    if math.isinf(prior):
        # one variance for all: their mean by degrees, which is what maximum likelihood says
        common = float((own * each).sum() / own.sum())
        out[known], degrees[known] = common / builds[known], float(own.sum())
        prior = float(own.sum())
    else:
        out[known] = (prior * common + own * each) / (prior + own) / builds[known]
        degrees[known] = prior + own
    unknown = ~np.isfinite(variance)
    out[unknown], degrees[unknown] = common / builds[unknown], prior
    return out, degrees


# --- levels -----------------------------------------------------------------------------------------------------------


def level_variance(levels: Array) -> float:
    """Estimate the variance of a level from differences, of which the few that hold a change are cut off.

    Days next to each other may have something in common: differences of the means of neighbouring blocks say how much
    of the noise averages out (Wu and Zhao 2007, section 4); the largest of the estimates counts.

    Args:
        levels: in the order in which they were measured, without outliers.

    Returns:
        Infinity for too few levels to know.
    """
    n = levels.size
    if n < _FEWEST:
        return math.inf
    found = [EXACT, _spread(np.diff(levels) / math.sqrt(2))]
    sums = np.concatenate(([0.0], np.cumsum(levels - levels.mean())))
    for size in (2, 4, 8, 16):
        if n // size >= _BLOCKS:
            means = (sums[size:] - sums[:-size]) / size
            found.append(_spread(means[size:] - means[:-size]) * size / 2)
    return max(found)


def _spread(differences: Array) -> float:
    """Return the variance of most of the numbers, which scatter around 0."""
    scale = _MAD * float(np.median(np.abs(differences)))
    if scale == 0:
        return float((differences**2).mean())
    within = differences[np.abs(differences) <= _CUT * scale]
    return float((within**2).mean()) / _WITHIN


def outlying(levels: Array) -> Flags:
    """Tell which levels stand far off the days before and the days after, to one side: outliers of the machine.

    Medians of three days on each side, so that two outliers do not hide each other. A step is like those on one side;
    the first and the last level are judged by the one side that they have.
    """
    n = levels.size
    if n < _FEWEST:
        return np.zeros(n, dtype=np.bool_)
    scale = max(math.sqrt(_spread(np.diff(levels) / math.sqrt(2))), math.sqrt(EXACT))
    around = np.concatenate((np.full(_SIDE, np.nan), levels, np.full(_SIDE, np.nan)))
    windows = np.lib.stride_tricks.sliding_window_view(around, _SIDE)
    before, after = _medians(windows[:n]), _medians(windows[_SIDE + 1 : _SIDE + 1 + n])
    beside = np.column_stack((windows[:n], windows[_SIDE + 1 : _SIDE + 1 + n]))
    # where days scatter more than elsewhere, more is needed
    spread = _MAD * _medians(np.abs(beside - _medians(beside)[:, None]))
    off_before = levels - np.where(np.isnan(before), after, before)
    off_after = levels - np.where(np.isnan(after), before, after)
    far: Flags = np.minimum(np.abs(off_before), np.abs(off_after)) > _OUTLYING * np.maximum(spread, scale)
    return far & (off_before * off_after > 0)


def _medians(rows: Array) -> Array:
    """Return the median of each row without its missing numbers; missing where there are none."""
    with warnings.catch_warnings():
        # of a row that is missing as a whole
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.asarray(np.nanmedian(rows, axis=1))


# --- the level of each commit -----------------------------------------------------------------------------------------


class Path(msgspec.Struct, frozen=True, eq=False):
    """One entry a commit, one more than steps."""

    level: Array
    """log level relative to the first known commit of its piece; nan of a commit of which nothing is known."""
    low: Array
    high: Array
    """low and high: at 95%, for this commit alone; nan where nothing is known."""
    piece: Ints
    """Commits of different pieces are linked by nothing: no ratio, and no level of one machine on both sides."""


def path(steps: Steps) -> Path:
    """Estimate the level of each commit: ratios from commit to commit, held together by the levels of days.

    Generalised least squares over all commits, without any assumption about changes: a ratio says how far a commit lies
    from its parent; a level, with the variance of days, says where both lie, up to an offset of the machine. Ratios
    alone are a random walk, whose error grows with each commit; with levels it does not.
    """
    # number the stretches of commits that ratios, or levels of one machine, link
    usable = [own.count > 0 for own in steps.machines if math.isfinite(own.variance)]
    cut = np.flatnonzero(
        ~np.isfinite(steps.variance) & ~np.logical_or.reduce([np.zeros(steps.count, np.bool_), *usable])
    )
    for own in steps.machines:
        used = np.flatnonzero(own.count) if math.isfinite(own.variance) else np.zeros(0, dtype=np.int64)
        if used.size:
            # one machine on both sides bridges a gap
            cut = cut[(cut < used[0]) | (cut > used[-1])]
    pieces = np.searchsorted(cut, np.arange(steps.count + 1) - 1, side="right").astype(np.int64)
    level, sd = np.full((2, steps.count + 1), np.nan)
    for piece in range(int(pieces.max()) + 1):
        at = np.flatnonzero(pieces == piece)
        if at.size > 1:
            _solve(steps, int(at[0]), int(at[-1]), level, sd)
    half = -float(ndtri(_ALPHA / 2)) * np.where(sd < 1, sd, np.nan)
    return Path(level, level - half, level + half, pieces)


def _solve(steps: Steps, first: int, last: int, level: Array, sd: Array) -> None:
    """Solve the normal equations of commits first to last: tridiagonal, with a column for each machine's offset."""
    from scipy.linalg import solveh_banded

    size = last - first + 1
    span = slice(first, last)
    weight, ratio = steps.precision[span], steps.ratio[span]
    diagonal, beside, right = np.zeros(size), np.zeros(max(size - 1, 0)), np.zeros(size)
    diagonal[:-1] += weight
    diagonal[1:] += weight
    beside -= weight
    right[:-1] -= weight * ratio
    right[1:] += weight * ratio
    columns: list[Array] = []
    offsets: list[tuple[float, float]] = []
    for own in steps.machines:
        w = own.count[span] / own.variance
        if not w.sum():
            continue
        head, base = own.happened[span], 1 - own.happened[span]
        diagonal[:-1] += w * base**2
        diagonal[1:] += w * head**2
        beside += w * base * head
        both = np.zeros(size)
        both[:-1] += w * base
        both[1:] += w * head
        middle = float((w * own.level[span]).sum() / w.sum())
        about = w * (own.level[span] - middle)
        right[:-1] += about * base
        right[1:] += about * head
        columns.append(-both)
        offsets.append((float(w.sum()), float(about.sum())))
    known = diagonal > 0
    if not known.any():
        return
    diagonal += _RIDGE * float(diagonal[known].min())
    banded = np.vstack((np.concatenate(([0.0], beside)), diagonal))
    # where levels are of head alone, nothing is known of the first commit
    first_known = int(np.argmax(known))
    start = np.zeros(size)
    start[first_known] = 1.0
    coupled = np.column_stack([right, start, *columns])
    solved = solveh_banded(banded, coupled)
    x, spread, of_offsets = solved[:, 0], solved[:, 1], solved[:, 2:]
    # the diagonal of the inverse, by elimination from both ends
    forward, backward = diagonal.copy(), diagonal.copy()
    for index in range(1, size):
        forward[index] -= beside[index - 1] ** 2 / forward[index - 1]
    for index in range(size - 2, -1, -1):
        backward[index] -= beside[index] ** 2 / backward[index + 1]
    variance = 1 / (forward + backward - diagonal)
    if columns:
        b = np.column_stack(columns)
        schur = np.diag([w for w, _ in offsets]) - b.T @ of_offsets
        # one offset is free: all of them and all levels may move together
        inverse = np.linalg.pinv(schur, rcond=1e-9, hermitian=True)
        moved = np.array([-s for _, s in offsets]) - b.T @ x
        x = x - of_offsets @ (inverse @ moved)
        variance = variance + np.einsum("ij,jk,ik->i", of_offsets, inverse, of_offsets)
        spread = spread + of_offsets @ (inverse @ of_offsets[first_known])
    own_variance = np.maximum(variance - 2 * spread + spread[first_known], 0.0)
    level[first : last + 1] = np.where(known, x - x[first_known], np.nan)
    sd[first : last + 1] = np.sqrt(own_variance)
