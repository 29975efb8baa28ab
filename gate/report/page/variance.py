"""The variance of a finding by level: a table as Table VII of Kalibera and Jones (2012), and bars of the mean's."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gate.model import Counts, Finding, Level, Variance
from gate.units import format_number
from gate.writing import amounts
from gate.writing.amounts import known

SHARES_WIDTH = 240.0
_LEVELS: tuple[Level, ...] = ("session", "build", "execution", "iteration")


class Cells(msgspec.Struct, frozen=True):
    """S2, T2 and relative spread of one level, and its share in the variance of a value and of the mean, written."""

    count: str
    s2: str
    t2: str
    relative: str
    of_value: str
    of_mean: str


class LevelRow(msgspec.Struct, frozen=True):
    """One level on both sides; None: this side lacks the level."""

    level: Level
    base: Cells | None
    head: Cells | None


class Segment(msgspec.Struct, frozen=True):
    """One level's part of a bar."""

    level: Level
    x: float
    width: float


class Shares(msgspec.Struct, frozen=True):
    """The bar of a side: its segments from the highest level on, and the same in words."""

    side: str
    segments: tuple[Segment, ...]
    words: str


def level_rows(finding: Finding) -> list[LevelRow]:
    """Write the table, the highest level first."""
    base, head = _cells(finding.variance.base, finding.base.counts), _cells(finding.variance.head, finding.head.counts)
    return [LevelRow(level, base.get(level), head.get(level)) for level in _LEVELS if level in base or level in head]


def share_bars(finding: Finding) -> list[Shares]:
    """Draw up the shares of the levels in the variance of the mean, for the sides that have several levels."""
    found = []
    for side, variances, counts in (
        ("base", finding.variance.base, finding.base.counts),
        ("head", finding.variance.head, finding.head.counts),
    ):
        shares = _shares(variances, counts)
        if len(shares) > 1:
            found.append(_bar(side, shares))
    return found


def _bar(side: str, shares: dict[Level, float]) -> Shares:
    segments, x = [], 0.0
    for level, share in shares.items():
        width = SHARES_WIDTH * share
        segments.append(Segment(level, round(x, 1), round(width, 1)))
        x += width
    return Shares(side, tuple(segments), ", ".join(f"{level} {share:.0%}" for level, share in shares.items()))


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


def _cells(variances: Sequence[Variance], counts: Counts) -> dict[Level, Cells]:
    of_value, of_mean = _shares(variances), _shares(variances, counts)
    return {
        item.level: Cells(
            count=f"{getattr(counts, item.level):,}",
            s2=format_number(item.s2, 3) if known(item.s2) else "unknown",
            t2=format_number(item.t2, 3) if known(item.t2) else "unknown",
            relative=amounts.share(item.relative) if known(item.relative) else "unknown",
            of_value=f"{of_value[item.level]:.0%}" if item.level in of_value else "unknown",
            of_mean=f"{of_mean[item.level]:.0%}" if item.level in of_mean else "unknown",
        )
        for item in variances
    }
