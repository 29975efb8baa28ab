"""The values of a case by build, as a table and a sentence: what its pictures show, for those who do not see them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from gate.model import SIDES, Case, Finding, Sample, Side
from gate.units import format_number, plural, shown_unit
from gate.words import numbers
from gate.writing.amounts import known
from gate.writing.plain import clip, visible

MOST_BUILDS = 30
"""Builds of a side that the table lists."""
_PLACES = 9
_LONG = 1e15

Array = npt.NDArray[np.float64]


class Cells(msgspec.Struct, frozen=True):
    """The values of one build of a side, written: how many, their mean, the smallest and the largest."""

    count: str
    mean: str
    smallest: str
    largest: str


class BuildLine(msgspec.Struct, frozen=True):
    """One build; None: this side lacks it."""

    name: str
    base: Cells | None
    head: Cells | None


class ByBuild(msgspec.Struct, frozen=True):
    """The table, the unit of its numbers, and in words: the range of the means of builds, and what is not listed."""

    lines: tuple[BuildLine, ...]
    unit: str
    range: str
    more: str


class _Numbers(msgspec.Struct, frozen=True, eq=False):
    """Of one side, by build: counts, means and extremes, in the order of its builds."""

    builds: tuple[tuple[int, int], ...]
    counts: npt.NDArray[np.int64]
    means: Array
    smallest: Array
    largest: Array


def by_build(case: Case, finding: Finding) -> ByBuild:
    """Sum up each build of both sides, in the unit that suits the finding."""
    sides: dict[Side, _Numbers] = {"base": _numbers(case.base), "head": _numbers(case.head)}
    scale, unit = _scale(finding)
    write = _writer(sides, scale)
    keys = sorted({*sides["base"].builds, *sides["head"].builds})
    several = len({session for session, _ in keys}) > 1
    found = {side: _cells(numbers, write) for side, numbers in sides.items()}
    lines = [
        BuildLine(f"{key[0]}/{key[1]}" if several else str(key[1]), found["base"].get(key), found["head"].get(key))
        for key in keys[:MOST_BUILDS]
    ]
    ranges = [f"{side} {_range(sides[side].means, write)}" for side in SIDES if sides[side].builds]
    more = len(keys) - MOST_BUILDS
    return ByBuild(
        tuple(lines),
        unit,
        f"means of builds: {', '.join(ranges)}{f' {unit}' if unit else ''}",
        f"The first {MOST_BUILDS} builds a side; {plural(more, 'more build')} in the measurements." if more > 0 else "",
    )


def used(case: Case, finding: Finding) -> str:
    """Say that a finding rests on a part of the builds that were measured; nothing where it rests on all."""
    measured = {side: len(sample.builds) for side, sample in (("base", case.base), ("head", case.head))}
    rest_on = {"base": finding.base.counts.build, "head": finding.head.counts.build}
    if all(rest_on[side] >= measured[side] for side in SIDES):
        return ""
    parts = [f"{rest_on[side]} of the {plural(measured[side], 'measured build')}" for side in SIDES]
    over = f"{parts[0]} a side" if parts[0] == parts[1] else f"{parts[0]} of base and {parts[1]} of head"
    look = finding.decided_at
    when = f", those up to look {look.look} of {look.looks}" if look.looks > 1 else ""
    return f"Decided over {over}{when}"


def _numbers(sample: Sample) -> _Numbers:
    executions = np.cumsum(sample.counts[0])
    ends = executions[np.cumsum(sample.counts[1]) - 1]
    starts = np.concatenate([[0], ends[:-1]])
    sizes = ends - starts
    means = np.add.reduceat(sample.values, starts) / sizes
    smallest, largest = (each.reduceat(sample.values, starts) for each in (np.minimum, np.maximum))
    return _Numbers(sample.builds, sizes, means, smallest, largest)


def _scale(finding: Finding) -> tuple[float, str]:
    unit = clip(visible(finding.unit), 12)
    like = numbers.larger(finding)
    return shown_unit(like, unit) if known(like) else (1.0, unit)


def _writer(sides: dict[Side, _Numbers], scale: float) -> Callable[[float], str]:
    """Choose as many places as tell the means of builds apart."""
    means = np.concatenate([numbers.means for numbers in sides.values()]) / scale
    spread = float(means.max() - means.min())
    size = float(np.abs(means).max())
    if not (known(spread) and known(size)) or size >= _LONG or spread <= 0 or size < 1e-4:
        return lambda value: format_number(value / scale, 5) if known(value) else "unknown"
    places = min(max(0, 2 - math.floor(math.log10(spread))), _PLACES)
    return lambda value: f"{value / scale:,.{places}f}" if known(value) else "unknown"


def _cells(numbers: _Numbers, write: Callable[[float], str]) -> dict[tuple[int, int], Cells]:
    columns = (numbers.counts, numbers.means, numbers.smallest, numbers.largest)
    rows: Sequence[tuple[int, float, float, float]] = list(zip(*(c.tolist() for c in columns), strict=True))
    return {
        build: Cells(f"{count:,}", write(mean), write(low), write(high))
        for build, (count, mean, low, high) in zip(numbers.builds, rows, strict=True)
    }


def _range(means: Array, write: Callable[[float], str]) -> str:
    low, high = write(float(means.min())), write(float(means.max()))
    return low if low == high else f"{low} to {high}"
