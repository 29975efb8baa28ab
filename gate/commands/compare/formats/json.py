"""A comparison -> JSON with stable keys, which docs/compare.md names."""

from __future__ import annotations

from typing import Any

import msgspec

from gate.commands.compare.table import Block, Change, Row, Table
from gate.document.terminal import Screen
from gate.report.json import text_of

SCHEMA = 1


def render(table: Table, _: Screen) -> str:
    """Write all columns and rows; values are in base units, what does not exist is null."""
    titles = [column.title for column in table.columns]
    found = {
        "schema": SCHEMA,
        "base": titles[table.base],
        "columns": table.columns,
        "rows": [_row(block, row, titles) for block in table.blocks for row in block.rows],
        "identical": [row.benchmark for row in table.identical],
        "told": table.told,
        "cautions": table.cautions,
        "left_out": table.rest,
        "hidden": table.hidden,
        "nothing": table.nothing or None,
        "warnings": table.warnings,
    }  # fmt: skip
    return text_of(found)


def _row(block: Block, row: Row, titles: list[str]) -> dict[str, Any]:
    changes = zip(titles, row.changes, strict=True)
    return {
        "row": row.kind,
        "benchmark": row.benchmark,
        "factors": row.factors,
        "metric": block.metric,
        "statistic": block.statistic,
        "unit": block.unit,
        "better": block.better,
        "recorded": block.recorded,
        "cells": dict(zip(titles, row.cells, strict=True)),
        "changes": {title: _change(change) for title, change in changes if change is not None},
        "notes": row.notes,
    }


def _change(change: Change) -> dict[str, Any]:
    fields = msgspec.structs.asdict(change)
    return {"ratio": fields.pop("estimate")} | fields | {"shown": change.shown or "no interval"}
