"""A comparison -> JSON with stable keys, which docs/compare.md names."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from gate.commands.compare.table import Block, Cell, Change, Row, Table
from gate.document.terminal import Screen

SCHEMA = 1


def render(table: Table, _: Screen) -> str:
    """Write all columns and rows; values are in base units, what does not exist is null."""
    titles = [column.title for column in table.columns]
    found = {
        "schema": SCHEMA,
        "base": titles[table.base],
        "columns": [
            {
                "title": column.title, "name": column.name, "side": column.side, "commit": column.commit,
                "created": column.created, "host": column.host, "counts": column.counts,
            }
            for column in table.columns
        ],
        "rows": [_row(block, row, titles) for block in table.blocks for row in block.rows],
        "identical": [row.benchmark for row in table.identical],
        "told": table.told,
        "cautions": table.cautions,
        "left_out": table.rest,
        "hidden": table.hidden,
        "nothing": table.nothing or None,
        "warnings": table.warnings,
    }  # fmt: skip
    text = msgspec.json.encode(_finite(msgspec.to_builtins(found)))
    return msgspec.json.format(text, indent=2).decode() + "\n"


def _row(block: Block, row: Row, titles: list[str]) -> dict[str, Any]:
    return {
        "row": row.kind,
        "benchmark": row.benchmark,
        "factors": row.factors,
        "metric": block.metric,
        "statistic": block.statistic,
        "unit": block.unit,
        "better": block.better,
        "recorded": block.recorded,
        "cells": {title: _cell(cell) for title, cell in zip(titles, row.cells, strict=True)},
        "changes": {title: _change(c) for title, c in zip(titles, row.changes, strict=True) if c is not None},
        "notes": list(row.notes),
    }


def _cell(cell: Cell | None) -> dict[str, Any] | None:
    if cell is None:
        return None
    return {
        "value": cell.value, "low": cell.low, "high": cell.high, "sd": cell.sd, "builds": cell.builds,
        "executions": cell.executions, "values": cell.values, "aggregate": cell.aggregate, "notes": list(cell.notes),
    }  # fmt: skip


def _change(change: Change) -> dict[str, Any]:
    return {
        "ratio": change.estimate, "low": change.low, "high": change.high, "kind": change.kind,
        "confidence": change.confidence, "method": change.method, "shown": change.shown or "no interval",
        "notes": list(change.notes),
    }  # fmt: skip


def _finite(value: Any) -> Any:
    """Write what is no finite number as null."""
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
