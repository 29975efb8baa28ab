"""The level of each commit of a chain: ratios from commit to commit, held together by the levels of days.

Generalised least squares over all commits, without any assumption about changes: a ratio says how far a commit lies from
its parent; a level, with the variance of days, says where both lie, up to an offset of the machine. Ratios alone are a
random walk, whose error grows with each commit; with levels it does not.
"""

from __future__ import annotations

import math

import msgspec
import numpy as np
import numpy.typing as npt

from gate.stats.series.steps import Array, Steps

_RIDGE = 1e-6
"""Precision that each commit has beside its data, relative to the least of these: keeps what is unknown finite."""


class Path(msgspec.Struct, frozen=True, eq=False):
    """One entry a commit, one more than steps."""

    level: Array
    """log level relative to the mean of the reference commits of its piece."""
    sd: Array
    """Standard error of that; nan where nothing is known."""
    piece: npt.NDArray[np.int64]
    """Commits of different pieces are linked by nothing: no ratio, and no level of one machine on both sides."""


def path(steps: Steps, reference: int) -> Path:
    """Estimate the level of each commit.

    Args:
        steps: of the case.
        reference: commits of the first piece that are its reference; of later pieces all commits are.
    """
    pieces = _pieces(steps)
    level, sd = np.zeros(steps.count + 1), np.full(steps.count + 1, np.nan)
    for piece in range(int(pieces.max()) + 1):
        at = np.flatnonzero(pieces == piece)
        first, last = int(at[0]), int(at[-1])
        count = min(max(reference, 1), at.size) if piece == 0 else at.size
        _solve(steps, first, last, count, level, sd)
    return Path(level, sd, pieces)


def _pieces(steps: Steps) -> npt.NDArray[np.int64]:
    """Number the stretches of commits that ratios, or levels of one machine, link."""
    cut = np.flatnonzero(~np.isfinite(steps.variance) & ~_measured(steps))
    for own in steps.machines:
        used = np.flatnonzero(own.count) if math.isfinite(own.noise.variance) else np.zeros(0, dtype=np.int64)
        if used.size:
            # one machine on both sides bridges a gap
            cut = cut[(cut < used[0]) | (cut > used[-1])]
    return np.searchsorted(cut, np.arange(steps.count + 1) - 1, side="right").astype(np.int64)


def _measured(steps: Steps) -> npt.NDArray[np.bool_]:
    usable = [own.count > 0 for own in steps.machines if math.isfinite(own.noise.variance)]
    return np.logical_or.reduce(usable) if usable else np.zeros(steps.count, dtype=np.bool_)


def _solve(steps: Steps, first: int, last: int, reference: int, level: Array, sd: Array) -> None:
    """Solve the normal equations of commits first to last: tridiagonal, with a column for each machine's offset."""
    from scipy.linalg import solveh_banded

    size = last - first + 1
    span = slice(first, last)
    weight, ratio = steps.precision[span], steps.ratio[span]
    diagonal, beside, right = np.zeros(size), np.zeros(max(size - 1, 0)), np.zeros(size)
    _add(diagonal, beside, weight, 1.0, -1.0)
    right[:-1] -= weight * ratio
    right[1:] += weight * ratio
    columns: list[Array] = []
    offsets: list[tuple[float, float]] = []
    for own in steps.machines:
        w = own.count[span] / own.noise.variance
        if not w.sum():
            continue
        _add(diagonal, beside, w / 4, 1.0, 1.0)
        half = np.zeros(size)
        half[:-1] += w / 2
        half[1:] += w / 2
        middle = float((w * own.level[span]).sum() / w.sum())
        about = w * (own.level[span] - middle) / 2
        right[:-1] += about
        right[1:] += about
        columns.append(-half)
        offsets.append((float(w.sum()), float((w * (own.level[span] - middle)).sum())))
    if not diagonal.any():
        return
    diagonal += _RIDGE * float(diagonal[diagonal > 0].min())
    banded = np.vstack((np.concatenate(([0.0], beside)), diagonal))
    mean = np.zeros(size)
    mean[:reference] = 1 / reference
    coupled = np.column_stack([right, mean, *columns])
    solved = solveh_banded(banded, coupled)
    x, spread, of_offsets = solved[:, 0], solved[:, 1], solved[:, 2:]
    variance = _inverse_diagonal(diagonal, beside)
    if columns:
        b = np.column_stack(columns)
        schur = np.diag([w for w, _ in offsets]) - b.T @ of_offsets
        # one offset is free: all of them and all levels may move together
        inverse = np.linalg.pinv(schur, rcond=1e-9, hermitian=True)
        moved = np.array([-s for _, s in offsets]) - b.T @ x
        x = x - of_offsets @ (inverse @ moved)
        variance = variance + np.einsum("ij,jk,ik->i", of_offsets, inverse, of_offsets)
        spread = spread + of_offsets @ (inverse @ (of_offsets.T @ mean))
    own = variance - 2 * spread + float(mean @ spread)
    level[first : last + 1] = x - float(mean @ x)
    sd[first : last + 1] = np.sqrt(np.maximum(own, 0.0))


def _add(diagonal: Array, beside: Array, weight: Array, one: float, both: float) -> None:
    diagonal[:-1] += one * weight
    diagonal[1:] += one * weight
    beside += both * weight


def _inverse_diagonal(diagonal: Array, beside: Array) -> Array:
    """Return the diagonal of the inverse of a symmetric tridiagonal matrix, by its elimination from both ends."""
    size = diagonal.size
    forward, backward = diagonal.copy(), diagonal.copy()
    for index in range(1, size):
        forward[index] -= beside[index - 1] ** 2 / forward[index - 1]
    for index in range(size - 2, -1, -1):
        backward[index] -= beside[index] ** 2 / backward[index + 1]
    return 1 / (forward + backward - diagonal)
