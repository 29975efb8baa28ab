"""The search for changes: seeded binary segmentation, and what is called of what it finds.

Windows of all sizes are looked at (seeded intervals: Kovács, Bühlmann, Li and Munk 2023), so that a step and its revert
do not hide each other; the clearest change splits the chain, and both parts are searched on. A change is called only
if it is shown at the confidence that all comparisons leave, first in its window and again between its neighbours.
"""

from __future__ import annotations

from functools import cache

import msgspec
import numpy as np

from gate.stats.series.contrasts import Contrasts, Sums, contrasts
from gate.stats.series.steps import Indices, Steps

_SHRINK = 2**-0.5
"""Of windows from one size to the next."""


class Windows(msgspec.Struct, frozen=True, eq=False):
    """A comparison each: a window and a step in it."""

    first: Indices
    last: Indices
    at: Indices


class Point(msgspec.Struct, frozen=True):
    """A change of a case at a step, between the changes before and after it."""

    at: int
    """The step at which it fits best."""
    first: int
    last: int
    """first and last: the steps over which nothing else was found to change."""
    change: float
    """In log."""
    variance: float
    df: float
    p: float
    """Of this comparison alone."""


@cache
def seeded(count: int) -> Windows:
    """Return the comparisons of a chain with so many steps: about 17 times as many as steps, for 250 of them."""
    firsts, lasts = [0], [count - 1]
    size = float(count)
    while size * _SHRINK >= 2:
        size *= _SHRINK
        width = max(2, round(size))
        pieces = max(1, int(np.ceil(2 * (count - width) / width)))
        starts = np.unique(np.round(np.linspace(0, count - width, pieces + 1)).astype(np.int64))
        firsts += starts.tolist()
        lasts += (starts + width - 1).tolist()
    pairs = sorted(set(zip(firsts, lasts, strict=True)))
    sizes = np.array([last - first + 1 for first, last in pairs])
    first = np.repeat([first for first, _ in pairs], sizes)
    last = np.repeat([last for _, last in pairs], sizes)
    at = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes) + first
    return Windows(first.astype(np.int64), last.astype(np.int64), at.astype(np.int64))


def comparisons(count: int) -> int:
    """Return how many comparisons the search of so many steps makes."""
    return int(seeded(count).at.size) if count else 0


def search(steps: Steps, alpha: float, threshold: float = 0.0) -> list[Point]:
    """Find the changes of a chain, in its order.

    Args:
        steps: of one case.
        alpha: of one comparison, what all comparisons of the report leave to it.
        threshold: the least change that counts, in log.
    """
    if steps.count == 0:
        return []
    sums = Sums.of(steps)
    found = _split(steps, sums, alpha, threshold)
    return _settled(steps, sums, found, alpha, threshold)


def _split(steps: Steps, sums: list[Sums], alpha: float, threshold: float) -> list[int]:
    windows = seeded(steps.count)
    all_found = contrasts(steps, windows.first, windows.last, windows.at, sums)
    shown = np.flatnonzero(all_found.p(threshold) < alpha)
    # the clearest first; of equally clear ones the first
    order = shown[np.argsort(-all_found.score(threshold)[shown], kind="stable")]
    first, last, at = (each[order] for each in (windows.first, windows.last, windows.at))
    points: list[int] = []
    while at.size:
        point = int(at[0])
        points.append(point)
        apart = (last < point) | (first > point)
        first, last, at = first[apart], last[apart], at[apart]
    return sorted(points)


def _settled(steps: Steps, sums: list[Sums], points: list[int], alpha: float, threshold: float) -> list[Point]:
    """Move each change to where it fits best between its neighbours, and drop those that are not shown there."""
    moved = [_best(steps, sums, points, index, threshold) for index in range(len(points))]
    # a place that goes to and fro ends where it is
    for _ in range(len(points) + 3):
        weakest = max(moved, key=lambda point: point.p, default=None)
        if weakest is None or (weakest.p < alpha and [point.at for point in moved] == points):
            return moved
        points = sorted({point.at for point in moved if point.p < alpha or point is not weakest})
        moved = [_best(steps, sums, points, index, threshold) for index in range(len(points))]
    return [point for point in moved if point.p < alpha]


def _best(steps: Steps, sums: list[Sums], points: list[int], index: int, threshold: float) -> Point:
    first = points[index - 1] + 1 if index else 0
    last = points[index + 1] - 1 if index + 1 < len(points) else steps.count - 1
    found = of_window(steps, first, last, sums)
    at = int(np.argmax(found.score(threshold)))
    p = float(found.p(threshold)[at])
    change, variance, df = (float(each[at]) for each in (found.change, found.variance, found.df))
    return Point(first + at, first, last, change, variance, df, p)


def of_window(steps: Steps, first: int, last: int, sums: list[Sums] | None = None) -> Contrasts:
    """Estimate a change at each step of one window."""
    at = np.arange(first, last + 1)
    return contrasts(steps, np.full(at.size, first), np.full(at.size, last), at, sums)
