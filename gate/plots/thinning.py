"""Thinning: which of many values are drawn, and where."""

from __future__ import annotations

import msgspec
import numpy as np
import numpy.typing as npt

from gate.model import Sample

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_FINE = 160
_FEWEST_FOR_DENSITY = 8
_EXTREMES_EACH = 10
"""Where fewer values of a build are drawn than this, its own extremes would be most of them."""


class Places(msgspec.Struct, frozen=True, eq=False):
    """Where values stand in their sample, each an array as long as the values."""

    build: Indices
    """Index of its build."""
    execution: Indices
    """Index of its execution in the sample."""
    of_execution: Array
    """0 to 1 over the executions of its build, the middle of its own."""
    of_iteration: Array
    """0 to 1 over the iterations of its execution."""
    share: Array
    """Of a build's width that an execution takes."""
    nth: Indices
    """Number of the execution in its build, from 0."""
    within: Indices
    """Number of the value in its execution, from 0."""


class Kept(msgspec.Struct, frozen=True, eq=False):
    """Values that are drawn."""

    indices: Indices
    """In their sample, ascending."""
    extreme: Flags
    """Drawn for their size, not chosen evenly."""


class Density(msgspec.Struct, frozen=True, eq=False):
    """How numbers are spread from the smallest to the largest: heights at evenly spaced points, the highest being 1."""

    low: float
    high: float
    heights: Array


def build_sizes(sample: Sample) -> Indices:
    """Return the number of values of each build."""
    ends = np.concatenate(([0], np.cumsum(sample.counts[0])))
    sizes: Indices = np.diff(ends[np.concatenate(([0], np.cumsum(sample.counts[1])))])
    return sizes


def used_builds(sample: Sample, count: int | None) -> Flags:
    """Tell which builds a finding over so many of them rests on: those of the first rounds; None: all."""
    used = np.zeros(len(sample.builds), dtype=np.bool_)
    rounds = sorted(range(used.size), key=lambda index: sample.builds[index][::-1])
    used[rounds[:count]] = True
    return used


def thinned(sample: Sample, limit: int) -> Kept:
    """Choose about `limit` values at most: from every build some evenly, and the extremes of all or of each build.

    Where there are more builds than that, one value of so many builds, evenly chosen.
    """
    sizes = build_sizes(sample)
    if sample.values.size <= limit:
        return Kept(np.arange(sample.values.size), np.zeros(sample.values.size, dtype=np.bool_))
    quota = max(1, limit // sizes.size)
    builds = np.unique(np.linspace(0, sizes.size - 1, min(sizes.size, limit)).astype(np.int64))
    starts = np.cumsum(sizes) - sizes
    even: set[int] = set()
    extremes = {int(sample.values.argmin()), int(sample.values.argmax())}
    for start, size in zip(starts[builds].tolist(), sizes[builds].tolist(), strict=True):
        part = sample.values[start : start + size]
        if size <= quota:
            even.update(range(start, start + size))
        elif quota >= _EXTREMES_EACH:
            extremes |= {start + int(part.argmin()), start + int(part.argmax())}
            even.update((start + np.linspace(0, size - 1, quota - 2).astype(int)).tolist())
        else:
            even.update((start + (np.arange(quota) + 0.5) / quota * size).astype(int).tolist())
    indices = np.array(sorted(even | extremes), dtype=np.int64)
    return Kept(indices, ~np.isin(indices, sorted(even)))


def places(sample: Sample, values: Indices) -> Places:
    """Return where the values with these indices stand."""
    iterations, executions = sample.counts[0], sample.counts[1]
    value_ends, execution_ends = np.cumsum(iterations), np.cumsum(executions)
    execution = np.searchsorted(value_ends, values, side="right")
    build = np.searchsorted(execution_ends, execution, side="right")
    within = values - (value_ends - iterations)[execution]
    nth = execution - (execution_ends - executions)[build]
    return Places(
        build,
        execution,
        (nth + 0.5) / executions[build],
        (within + 0.5) / iterations[execution],
        1 / executions[build],
        nth,
        within,
    )


def density(numbers: Array, low: float, high: float, points: int) -> Density | None:
    """Estimate the density of the numbers within two ends; it begins at the smallest and ends at the largest of them.

    A histogram smoothed by a normal kernel of Silverman's width: linear in the number of values. None: fewer than 8
    numbers within the ends.
    """
    inside = numbers[(numbers >= low) & (numbers <= high)]
    if inside.size < _FEWEST_FOR_DENSITY:
        return None
    least, most = float(inside.min()), float(inside.max())
    cell = (most - least) / _FINE
    if cell <= 0:
        return Density(least, most, np.ones(2))
    counts = np.bincount(np.minimum(((inside - least) / cell).astype(np.int64), _FINE - 1), minlength=_FINE)
    sd = float(inside.std())
    first, third = np.percentile(inside, [25, 75])
    spread = min(sd, float(third - first) / 1.34) or sd
    width = max(0.9 * spread * inside.size**-0.2 / cell, 1.2)
    reach = int(min(4 * width + 1, _FINE))
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / width) ** 2)
    smooth = np.convolve(counts.astype(np.float64), kernel)[reach : reach + _FINE]
    found = np.interp(np.linspace(0, 1, points), (np.arange(_FINE) + 0.5) / _FINE, smooth)
    return Density(least, most, found / found.max())
