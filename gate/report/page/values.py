"""The numbers behind a finding: its values by build, and its variance by level, as Kalibera and Jones (2012) do."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate

import msgspec
import numpy as np
import numpy.typing as npt

from gate.model import SIDES, Case, Counts, Finding, Level, Sample, Side, Variance
from gate.units import format_number, format_share, plural, shown_unit
from gate.words import numbers
from gate.writing.amounts import known
from gate.writing.plain import clip, visible

MOST_BUILDS = 30
"""Builds of a side that the table lists."""
_PLACES = 9
_LONG = 1e15

Array = npt.NDArray[np.float64]
Cells = list[str]


class ByBuild(msgspec.Struct, frozen=True):
    """The values of each build of both sides."""

    rows: list[tuple[str, Cells | None, Cells | None]]
    """Name of the build, and of base and head: how many values, their mean, the smallest, the largest; None: none."""
    unit: str
    range: str
    """The range of the means of builds, in words."""
    more: str
    """What is not listed."""


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
    unit, like = clip(visible(finding.unit), 12), numbers.larger(finding)
    scale, unit = shown_unit(like, unit) if known(like) else (1.0, unit)
    write = _writer(sides, scale)
    keys = sorted({*sides["base"].builds, *sides["head"].builds})
    several = len({session for session, _ in keys}) > 1
    found = {side: _cells(own, write) for side, own in sides.items()}
    rows = [
        (f"{key[0]}/{key[1]}" if several else str(key[1]), found["base"].get(key), found["head"].get(key))
        for key in keys[:MOST_BUILDS]
    ]
    ranges = [f"{side} {_range(sides[side].means, write)}" for side in SIDES if sides[side].builds]
    more = len(keys) - MOST_BUILDS
    return ByBuild(
        rows,
        unit,
        f"means of {finding.top}s: {', '.join(ranges)}{f' {unit}' if unit else ''}",
        f"The first {MOST_BUILDS} {finding.top}s of each; {plural(more, f'more {finding.top}')} in the measurements."
        if more > 0
        else "",
    )


def used(case: Case, finding: Finding) -> str:
    """Say that a finding rests on a part of the builds that were measured; nothing where it rests on all."""
    measured = {side: len(sample.builds) for side, sample in (("base", case.base), ("head", case.head))}
    rest_on = {"base": finding.base.counts.build, "head": finding.head.counts.build}
    if all(rest_on[side] >= measured[side] for side in SIDES):
        return ""
    parts = [f"{rest_on[side]} of the {plural(measured[side], f'measured {finding.top}')}" for side in SIDES]
    over = f"{parts[0]} of each" if parts[0] == parts[1] else f"{parts[0]} of base and {parts[1]} of head"
    look = finding.decided_at
    when = f", those up to interim check {look.look} of {look.looks}" if look.looks > 1 else ""
    return f"Decided over {over}{when}"


def _numbers(sample: Sample) -> _Numbers:
    executions = np.cumsum(sample.counts[0])
    ends = executions[np.cumsum(sample.counts[1]) - 1]
    starts = np.concatenate([[0], ends[:-1]])
    sizes = ends - starts
    means = np.add.reduceat(sample.values, starts) / sizes
    smallest, largest = (each.reduceat(sample.values, starts) for each in (np.minimum, np.maximum))
    return _Numbers(sample.builds, sizes, means, smallest, largest)


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
        build: [f"{count:,}", write(mean), write(low), write(high)]
        for build, (count, mean, low, high) in zip(numbers.builds, rows, strict=True)
    }


def _range(means: Array, write: Callable[[float], str]) -> str:
    low, high = write(float(means.min())), write(float(means.max()))
    return low if low == high else f"{low} to {high}"


# --- variance by level ------------------------------------------------------------------------------------------------

SHARES_WIDTH = 240.0
_LEVELS: tuple[Level, ...] = ("session", "build", "execution", "iteration")


class Shares(msgspec.Struct, frozen=True):
    """The bar of a side, and the same in words."""

    side: Side
    segments: list[tuple[Level, float, float]]
    """Each level from the highest on, with x and width."""
    words: str


def level_rows(finding: Finding) -> dict[Side, list[tuple[Level, Cells | None]]]:
    """Write count, S2, T2, the shares in the variance of a value and of the mean, and relative spread of each level.

    The highest level comes first; None: this side lacks the level.
    """
    variance = finding.variance
    found: dict[Side, dict[Level, Cells]] = {
        "base": _of_levels(variance.base, finding.base.counts), "head": _of_levels(variance.head, finding.head.counts),
    }  # fmt: skip
    levels = [level for level in _LEVELS if any(level in own for own in found.values())]
    return {side: [(level, own.get(level)) for level in levels] for side, own in found.items()} if levels else {}


def share_bars(finding: Finding) -> list[Shares]:
    """Draw up the shares of the levels in the variance of the mean, for the sides that have several levels."""
    found = []
    variance = finding.variance
    sides: list[tuple[Side, Sequence[Variance], Counts]] = [
        ("base", variance.base, finding.base.counts), ("head", variance.head, finding.head.counts),
    ]  # fmt: skip
    for side, variances, counts in sides:
        shares = _shares(variances, counts)
        if len(shares) > 1:
            starts = accumulate(shares.values(), initial=0.0)
            segments = [
                (level, round(SHARES_WIDTH * start, 1), round(SHARES_WIDTH * share, 1))
                for (level, share), start in zip(shares.items(), starts, strict=False)
            ]
            found.append(Shares(side, segments, ", ".join(f"{level} {share:.0%}" for level, share in shares.items())))
    return found


def _shares(variances: Sequence[Variance], counts: Counts | None = None) -> dict[Level, float]:
    """Give each level its part, the highest first; nothing where a level is not known or nothing varies.

    counts: of the variance of the mean, in which a level has T2 over its count; None: of one value.
    """
    alone = {item.level: item.t2 for item in variances}
    # a level whose T2 comes out negative adds nothing
    sizes = {
        level: max(t2, 0.0) / (max(1, getattr(counts, level)) if counts else 1)
        for level in _LEVELS
        if known(t2 := alone.get(level))
    }
    total = sum(sizes.values())
    if len(sizes) < len(alone) or total <= 0:
        return {}
    return {level: size / total for level, size in sizes.items()}


def _of_levels(variances: Sequence[Variance], counts: Counts) -> dict[Level, Cells]:
    of_value, of_mean = _shares(variances), _shares(variances, counts)
    return {
        item.level: [
            f"{getattr(counts, item.level):,}",
            *(format_number(s, 3) if known(s) else "unknown" for s in (item.s2, item.t2)),
            *(f"{of[item.level]:.0%}" if item.level in of else "unknown" for of in (of_value, of_mean)),
            format_share(item.relative) if known(item.relative) else "unknown",
        ]
        for item in variances
    }
