"""What a comparison shows: columns, rows, cells and changes; every format is made of it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, Literal

import msgspec

from gate.model import Better, Commit, IntervalKind, RatioInterval
from gate.model.case import canonical

Shown = Literal["worse", "better", "same", "differs", "not shown", "both 0", ""]
"""What an interval shows; "": there is none. "not shown": it does not exclude 1."""


ALL = "all"
"""The group of the geometric mean over all rows."""


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """A column, and where it comes from."""

    title: str
    name: str
    """The files, as the user named them."""
    side: Literal["base", "head"] | None
    """Of a run of perfgate the side of it; None: of result files."""
    commit: Commit | None
    created: str | None
    host: str | None
    counts: dict[str, tuple[int, int]] = {}
    """The smallest and the largest number of builds, executions and values of any row."""


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """The value of a row in a column, in the base unit."""

    value: float
    low: float | None = None
    high: float | None = None
    """Its own interval over builds; of an aggregate the tool's own."""
    sd: float | None = None
    """Standard deviation of its values where it is of one build."""
    builds: int = 0
    executions: int = 0
    values: int = 0
    """0: not known."""
    aggregate: bool = False
    """Another tool gave it without the values behind it."""
    notes: tuple[str, ...] = ()


class Change(RatioInterval, frozen=True, kw_only=True):
    """The ratio of a column to the first one, with an interval or without."""

    low: float | None = None
    high: float | None = None
    df: float | None = None
    kind: IntervalKind = "withheld"
    shown: Shown = ""
    notes: tuple[str, ...] = ()


class Row(msgspec.Struct, kw_only=True):
    """A benchmark, or a geometric mean over some; cells and changes stand in the order of the columns."""

    kind: Literal["benchmark", "geomean"] = "benchmark"
    benchmark: str
    """Of a geometric mean its group, "all" where it is over all."""
    factors: dict[str, Any]
    metric: str
    statistic: str
    unit: str
    better: Better | None
    recorded: bool = False
    """No gate would decide on it."""
    cells: list[Cell | None]
    changes: list[Change | None]
    """None of the base column, and where one of both has no value."""
    notes: tuple[str, ...] = ()

    @property
    def block(self) -> tuple[str, str, str, str]:
        """What all rows of a block have in common."""
        return self.metric, self.statistic, self.unit, self.better or ""

    @property
    def key(self) -> tuple[str, ...]:
        """What makes a row: all of it is the same in each of its columns."""
        return self.benchmark, canonical(self.factors), *self.block


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """All of a comparison."""

    columns: list[Column]
    base: int
    """The place of the column that the others are compared with."""
    rows: list[Row]
    """Block by block."""
    identical: list[str]
    """Benchmarks that one run did not measure, since base and head are the same program."""
    told: list[str]
    """What was chosen without being asked."""
    cautions: list[str]
    """What all changes rest on, the gravest first."""
    rest: list[str]
    """What is not in the table: what cannot be compared, what failed."""
    warnings: list[str]
    nothing: str
    """Why there is no row; "": there is one."""
    confidences: str
    """Of one run by itself: how its intervals are meant; "": of a comparison."""
    alone: bool
    """Base and head of one run: intervals are those of its gate."""

    @property
    def blocks(self) -> Sequence[Sequence[Row]]:
        """The rows of each metric and statistic, unit and direction."""
        return [[*own] for _, own in groupby(self.rows, key=lambda row: row.block)]
