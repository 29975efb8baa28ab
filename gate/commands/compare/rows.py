"""What a comparison shows: columns, rows, cells and changes; and the rows of aggregates and geometric means."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Literal

import msgspec

from gate.commands.compare.columns import Chosen
from gate.evidence.aggregates import side_of
from gate.model import Better, Commit, Execution, IntervalKind, Overall, RatioInterval, Report, SummaryRecord
from gate.model.case import MEAN, canonical, pairs
from gate.model.directions import told_or_known
from gate.writing.amounts import known
from gate.writing.phrases import named
from gate.writing.units import format_confidence, plural, ratio_of, to_base

Shown = Literal["worse", "better", "same", "differs", "not shown", "both 0", ""]
"""What an interval shows; "": there is none. "not shown": it does not exclude 1."""


ALL = "all"
"""The group of the geometric mean over all rows."""


class CompareColumn(msgspec.Struct, frozen=True, kw_only=True):
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


class CompareCell(msgspec.Struct, frozen=True, kw_only=True):
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


class ColumnRatio(RatioInterval, frozen=True, kw_only=True):
    """The ratio of a column to the first one, with an interval or without."""

    low: float | None = None
    high: float | None = None
    df: float | None = None
    kind: IntervalKind = "withheld"
    shown: Shown = ""
    notes: tuple[str, ...] = ()


class CompareRow(msgspec.Struct, kw_only=True):
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
    cells: list[CompareCell | None]
    changes: list[ColumnRatio | None]
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


class CompareTable(msgspec.Struct, frozen=True, kw_only=True):
    """All of a comparison."""

    columns: list[CompareColumn]
    base: int
    """The place of the column that the others are compared with."""
    rows: list[CompareRow]
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
    def blocks(self) -> Sequence[Sequence[CompareRow]]:
        """The rows of each metric and statistic, unit and direction."""
        return [[*own] for _, own in groupby(self.rows, key=lambda row: row.block)]


NOT_SAID = "value"
"""The statistic of an aggregate of which the file does not say what it is."""
_NO_VALUES = "an aggregate has no values, so the change has no interval"

Lines = dict[tuple[str, ...], CompareRow]


def line_of(lines: Lines, like: CompareRow, columns: int) -> CompareRow:
    """Return the row of the same key, an empty one of so many columns where there is none."""
    if like.key not in lines:
        empty: list[None] = [None] * columns
        lines[like.key] = msgspec.structs.replace(like, cells=[*empty], changes=[*empty])
    return lines[like.key]


def add_aggregates(
    lines: Lines, columns: Sequence[Chosen], base: int, confidence: float, statistics: Sequence[str]
) -> None:
    """Add what other tools gave without values, where a column has no values of its own.

    Args:
        statistics: the wanted ones; (): all. What a tool does not call by a name is always wanted.
    """
    added: list[CompareRow] = []
    for place, chosen in enumerate(columns):
        for own in _aggregates(chosen.values):
            if statistics and own.statistic not in (*statistics, NOT_SAID):
                continue
            row = line_of(lines, own, len(columns))
            if row.cells[place] is None:
                row.cells[place] = own.cells[0]
                added.append(row)
    for row in added:
        first = row.cells[base]
        for place, found in enumerate(row.cells):
            if place != base and first is not None and found is not None and row.changes[place] is None:
                ratio = ratio_of(row.metric, row.unit, first.value, found.value)
                row.changes[place] = ColumnRatio(
                    estimate=ratio, confidence=confidence, method="none", notes=(_NO_VALUES,)
                )


def _aggregates(records: Sequence[Execution | SummaryRecord]) -> Iterator[CompareRow]:
    """Yield a row of one cell for each case and statistic."""
    found: dict[tuple[str, str, str, str, str, Better | None], list[SummaryRecord]] = defaultdict(list)
    for one in records:
        if isinstance(one, SummaryRecord):
            unit, _ = to_base(one.unit)
            better = told_or_known(one.better, one.metric, unit)
            name = "p50" if one.statistic == "median" else one.statistic
            found[one.benchmark, canonical(one.factors), one.metric, name, unit, better].append(one)
    for (benchmark, _, metric, name, unit, better), lines in found.items():
        first, side, sd = lines[0], side_of(lines), None
        note = f"the mean of {len(lines)} aggregates of another tool, without the values behind them"
        if len(lines) == 1:
            sd = None if first.sd is None else first.sd * to_base(first.unit)[1]
            confidence = f"{format_confidence(first.confidence)} " if first.confidence else ""
            own = "" if side.low is None or side.high is None else f" with its own {confidence}interval"
            note = f"an aggregate of another tool{own}, without the values behind it"
        cell = CompareCell(
            value=side.value, low=side.low, high=side.high, sd=sd, builds=side.counts.build, executions=len(lines),
            values=side.counts.iteration, aggregate=True, notes=(note,),
        )  # fmt: skip
        yield CompareRow(
            benchmark=benchmark, factors=dict(first.factors), metric=metric, statistic=name, unit=unit, better=better,
            cells=[cell], changes=[],
        )  # fmt: skip


def means_of(rows: Sequence[CompareRow], base: int, gate: Report | None) -> list[CompareRow]:
    """Summarize the rows of one block; the mean over all stands last, below those of its parts.

    gate: what decides the one run that is shown, whose overall changes have an interval.
    """
    groups: dict[str, list[CompareRow]] = defaultdict(list)
    for row in rows:
        suite, slash, _ = row.benchmark.partition("/")
        if slash:
            groups[suite].append(row)
    # a group of all rows says nothing that the mean over all does not
    parts = {name: own for name, own in groups.items() if 1 < len(own) < len(rows)}
    parts |= {ALL: [*rows]} if len(rows) > 1 else {}
    decided = gate.overall if gate is not None and rows[0].statistic == MEAN else []
    bounded = {o.group: o for o in decided if o.metric == rows[0].metric and o.ratio.kind == "bounded"}
    found = (_mean_row(name, own, base, bounded.get(name)) for name, own in parts.items())
    return [row for row in found if any(row.cells) or any(row.changes)]


def _mean_row(group: str, rows: Sequence[CompareRow], base: int, decided: Overall | None) -> CompareRow:
    places = range(len(rows[0].cells))
    everywhere = [
        [cell.value for cell in row.cells if cell is not None and known(cell.value) and cell.value > 0] for row in rows
    ]
    everywhere = [values for values in everywhere if len(values) == len(places)]
    cells: list[CompareCell | None] = [None for _ in places]
    if len(everywhere) > 1:
        logs = zip(*(map(math.log, values) for values in everywhere), strict=True)
        cells = [CompareCell(value=math.exp(math.fsum(own) / len(own))) for own in logs]
    changes = [None if place == base else _mean_change(rows, place, decided, len(everywhere)) for place in places]
    notes: tuple[str, ...] = ()
    if 1 < len(everywhere) < len(rows):
        notes = (f"values are of the {plural(len(everywhere), 'row')} that all columns have",)
    return msgspec.structs.replace(
        rows[0], kind="geomean", benchmark=group, factors={}, cells=cells, changes=changes, notes=notes
    )


def _mean_change(
    rows: Sequence[CompareRow], place: int, decided: Overall | None, everywhere: int
) -> ColumnRatio | None:
    """Summarize the changes of a column; everywhere: how many rows the values beside it are of."""
    counted = [(row, change) for row in rows if (change := row.changes[place]) and change.estimate]
    if len(counted) < 2:
        return None
    used = [id(row) for row, _ in counted]
    left = [
        f"{row.benchmark}{f' ({pairs(row.factors)})' if row.factors else ''}" for row in rows if id(row) not in used
    ]
    if decided is None:
        notes = (f"of {plural(len(counted), 'row')}, without {named(left, 5)}",) if len(counted) != everywhere else ()
        estimate = math.exp(math.fsum(math.log(change.estimate or 1) for _, change in counted) / len(counted))
        return ColumnRatio(estimate=estimate, confidence=counted[0][1].confidence, method="none", notes=notes)
    ratio, left, better = decided.ratio, decided.dropped, rows[0].better
    shown: Shown = "not shown"
    if ratio.low is not None and ratio.high is not None and not ratio.low <= 1 <= ratio.high:
        shown = "differs" if better is None else "worse" if (ratio.low > 1) == (better == "lower") else "better"
    return ColumnRatio(
        estimate=ratio.estimate, low=ratio.low, high=ratio.high, kind=ratio.kind,
        confidence=float(f"{ratio.confidence:.12g}"), method=ratio.method, shown=shown,
        notes=(f"of {plural(decided.cases, 'row')}, without {named(left, 5)}",) if left else (),
    )  # fmt: skip
