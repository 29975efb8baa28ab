"""A comparison -> CSV in long form: one line for each row and column of the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from gate.commands.compare.table import Block, Row, Table
from gate.document.terminal import Screen
from gate.report.formats.csv import cell
from gate.writing.amounts import known

COLUMNS = (
    "row", "benchmark", "metric", "unit", "better", "statistic", "factors",
    "column", "value", "low", "high", "sd", "builds", "executions", "values",
    "base", "ratio", "ratio_low", "ratio_high", "confidence", "change", "notes",
)  # fmt: skip


def render(table: Table, _: Screen) -> str:
    r"""Write all rows as RFC 4180 has it, with a header line and "\n" at line ends.

    row is "benchmark" or "geomean"; of the latter benchmark is the group ("all" or a suite). factors is a JSON object.
    Values are in base units, what does not exist is empty. ratio is of the column to that which base names. change:
    worse, better, differs, same, not shown, no interval, both 0, or identical (not measured).
    """
    rows = [(block, row) for block in table.blocks for row in block.rows]
    lines = [cells for block, row in rows for cells in _row(block, row, table)]
    lines += [cells for row in table.identical for cells in _row(_NONE, row, table)]
    return "\n".join([",".join(COLUMNS), *(",".join(map(cell, each)) for each in lines)]) + "\n"


_NONE = Block(metric="", statistic="", unit="", better="lower", recorded=False, rows=[])


def _row(block: Block, row: Row, table: Table) -> Iterator[Sequence[object]]:
    factors = msgspec.json.encode(row.factors, order="sorted").decode() if row.factors else None
    mean = row.kind == "geomean"
    unit = None if mean else block.unit or None
    names = (row.kind, row.benchmark, block.metric or None, unit, block.better if block.metric else None)
    for place, column in enumerate(table.columns):
        own, change = row.cells[place], row.changes[place]
        if own is None and change is None:
            continue
        base = table.columns[table.base].title if change is not None else None
        notes = "; ".join([*row.notes, *(own.notes if own else ()), *(change.notes if change else ())]) or None
        values: Sequence[object] = (None,) * 7
        if own is not None:
            numbers = (_number(value) for value in (own.value, own.low, own.high, own.sd))
            values = (*numbers, own.builds or None, own.executions or None, own.values or None)
        changed: Sequence[object] = (None,) * 5
        if change is not None:
            ends = (_number(value) for value in (change.estimate, change.low, change.high))
            shown = None if mean else change.shown or "no interval"
            changed = (*ends, change.confidence if change.shown != "identical" else None, shown)
        yield (*names, block.statistic or None, factors, column.title, *values, base, *changed, notes)


def _number(value: float | None) -> float | None:
    return float(value) if known(value) else None
