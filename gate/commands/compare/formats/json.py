"""A comparison -> JSON with stable keys, which docs/compare.md names."""

from __future__ import annotations

from typing import Any

from gate.commands.compare.table import Table
from gate.document.terminal import Screen
from gate.report.json import text_of

SCHEMA = 1
_FIELDS = ("low", "high", "kind", "confidence", "method")


def render(table: Table, _: Screen) -> str:
    """Write all columns and rows; values are in base units, what does not exist is null."""
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
        "identical": [row.benchmark for row in table.identical], "told": table.told, "cautions": table.cautions,
        "left_out": table.rest, "nothing": table.nothing or None, "warnings": table.warnings,
    }  # fmt: skip
    return text_of(found)
