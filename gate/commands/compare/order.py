"""The order of rows, and which are worth showing."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import msgspec

from gate.commands.compare.table import Block, Row, Table
from gate.writing.amounts import known

_NUMBER = re.compile(r"\d+")


def sorted_rows(table: Table, order: str) -> Table:
    """Put the rows of each block in order: of the file, of the size of the change, of the name or of base's value."""
    if order == "file":
        return table
    return _with_rows(table, lambda block: sorted(block, key=_key(order, table.base)))


def hidden_below(table: Table, least: float | None) -> Table:
    """Leave rows out of which every change is smaller than `least`; geometric means stay, over all rows."""
    if not least:
        return table
    shown = _with_rows(table, lambda rows: [row for row in rows if _largest(row) >= math.log1p(least)])
    counts = [sum(row.kind == "benchmark" for block in each.blocks for row in block.rows) for each in (table, shown)]
    return msgspec.structs.replace(shown, hidden=counts[0] - counts[1])


def _largest(row: Row) -> float:
    """Give the size of the largest change; infinite where a column has none to show, so that it stays in sight."""
    sizes = [abs(math.log(c.estimate)) if known(c.estimate) and c.estimate > 0 else math.inf for c in row.changes if c]
    return max(sizes, default=math.inf)


def _with_rows(table: Table, change: Callable[[list[Row]], list[Row]]) -> Table:
    def changed(block: Block) -> Block:
        rows = change([row for row in block.rows if row.kind == "benchmark"])
        return msgspec.structs.replace(block, rows=[*rows, *(row for row in block.rows if row.kind == "geomean")])

    return msgspec.structs.replace(table, blocks=[changed(block) for block in table.blocks])


def natural(name: str) -> str:
    """Write a name so that 9 is sorted before 10."""
    return _NUMBER.sub(lambda number: number[0].zfill(20), name)


def _key(order: str, base: int) -> Callable[[Row], tuple[object, ...]]:
    def by_name(row: Row) -> tuple[object, ...]:
        return (natural(f"{row.benchmark} {row.factors}"),)

    def by_value(row: Row) -> tuple[object, ...]:
        cell = row.cells[base] or next((cell for cell in row.cells if cell is not None), None)
        return (math.inf if cell is None else cell.value,)

    def by_change(row: Row) -> tuple[object, ...]:
        size = _largest(row)
        return (0, -size) if math.isfinite(size) else (1, 0.0)

    return {"name": by_name, "value": by_value, "change": by_change}[order]
