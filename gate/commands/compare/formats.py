"""A comparison as text, Markdown, a page that loads nothing, JSON and CSV: the choices of `compare --format`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from gate.commands.compare.document import document_of
from gate.commands.compare.table import Block, Row, Table
from gate.document import html, markdown, terminal
from gate.document.terminal import Screen
from gate.report.formats.csv import cell
from gate.report.json import text_of
from gate.writing.amounts import known

COLUMNS = (
    "row", "benchmark", "metric", "unit", "better", "statistic", "factors",
    "column", "value", "low", "high", "sd", "builds", "executions", "values",
    "base", "ratio", "ratio_low", "ratio_high", "confidence", "change", "notes",
)  # fmt: skip


def as_csv(table: Table, _: Screen) -> str:
    r"""Write all rows in long form as RFC 4180 has it, with a header line and "\n" at line ends.

    row is "benchmark" or "geomean"; of the latter benchmark is the group ("all" or a suite). factors is a JSON object.
    Values are in base units, what does not exist is empty. ratio is of the column to that which base names. change:
    worse, better, differs, same, not shown, no interval or both 0.
    """
    rows = [(block, row) for block in table.blocks for row in block.rows]
    lines = [cells for block, row in rows for cells in _row(block, row, table)]
    return "\n".join([",".join(COLUMNS), *(",".join(map(cell, each)) for each in lines)]) + "\n"


def _row(block: Block, row: Row, table: Table) -> Iterator[Sequence[object]]:
    factors = msgspec.json.encode(row.factors, order="sorted").decode() if row.factors else None
    mean = row.kind == "geomean"
    unit = None if mean else block.unit or None
    names = (row.kind, row.benchmark, block.metric, unit, block.better)
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
            changed = (*ends, change.confidence, shown)
        yield (*names, block.statistic, factors, column.title, *values, base, *changed, notes)


def _number(value: float | None) -> float | None:
    return float(value) if known(value) else None


SCHEMA = 1
_FIELDS = ("low", "high", "kind", "confidence", "method")


def as_json(table: Table, _: Screen) -> str:
    """Write columns and rows by the keys of docs/compare.md; values are in base units, what does not exist is null."""
    titles = [column.title for column in table.columns]
    rows = []
    for block, row in ((each, row) for each in table.blocks for row in each.rows):
        changes: dict[str, Any] = {}
        for title, change in zip(titles, row.changes, strict=True):
            if change is not None:
                fields = {name: getattr(change, name) for name in _FIELDS}
                shown = change.shown or "no interval"
                changes[title] = {"ratio": change.estimate, **fields, "shown": shown, "notes": change.notes}
        of = {name: getattr(block, name) for name in ("metric", "statistic", "unit", "better", "recorded")}
        own = {"row": row.kind, "benchmark": row.benchmark, "factors": row.factors, **of}
        cells = dict(zip(titles, row.cells, strict=True))
        rows.append({**own, "cells": cells, "changes": changes, "notes": row.notes})
    found = {
        "schema": SCHEMA, "base": titles[table.base], "columns": table.columns, "rows": rows,
        "identical": table.identical, "told": table.told, "cautions": table.cautions,
        "left_out": table.rest, "nothing": table.nothing or None, "warnings": table.warnings,
    }  # fmt: skip
    return text_of(found)


FORMATS: Mapping[str, Callable[[Table, Screen], str]] = {
    "csv": as_csv,
    "html": lambda table, _: html.render(document_of(table)),
    "json": as_json,
    "markdown": lambda table, _: markdown.render(document_of(table)),
    "text": lambda table, screen: terminal.render(document_of(table), screen),
}
"""What is printed, each ending with a newline."""
