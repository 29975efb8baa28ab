"""The variability of metrics, for a terminal."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from gate.commands.doctor.metrics_summary import Row, advice
from gate.units import format_number, format_share, format_value
from gate.words.grid import Cell, Column, lay_out
from gate.words.plain import clip, visible, wrap

_HEAD = (
    Column("metric"),
    Column("instrument"),
    Column("n", right=True),
    Column("mean", right=True),
    Column("between", right=True),
    Column("within", right=True),
    Column("against time"),
)
_LEGEND = "n: executions x iterations; between, within: the variation (CV) that executions add, and inside them."


@dataclass(frozen=True, slots=True)
class Found:
    """What was found out about a command."""

    command: tuple[str, ...]
    rows: tuple[Row, ...]
    versions: dict[str, str]
    absent: dict[str, str]
    """By instrument, why it measured nothing."""
    notes: dict[str, str]
    """By instrument."""


def render(found: Found, *, color: bool = False, width: int = 100) -> str:
    """Write a table of the metrics, what measured nothing and why, and advice; ends with a newline."""
    width = max(width, 40)
    lines = [clip(f"Metrics of {visible(shlex.join(found.command))}", width), ""]
    table = [_cells(row) for row in found.rows]
    grid = lay_out(_HEAD, table, width, style="1" if color else "")
    lines += grid if grid is not None else _listed(table, width)
    lines += [
        "",
        *wrap("n: executions x iterations; between, within: variation (CV) of executions and in them.", width),
    ]
    for name, why in (*found.absent.items(), *found.notes.items()):
        left_out = "not measured: " if name in found.absent else ""
        lines += ["", *wrap(f"{name}: {left_out}{visible(why)}", width, rest="  ")]
    for line in advice(found.rows):
        lines += ["", *wrap(line, width)]
    return "\n".join(lines) + "\n"


def _cells(row: Row) -> list[Cell]:
    mean = format_value(row.mean, row.unit) if row.unit else _count(row.mean)
    return [
        Cell(row.metric),
        Cell(row.instrument),
        Cell(f"{row.executions} x {row.iterations}"),
        Cell(mean),
        Cell(_share(row.between)),
        Cell(_share(row.within)),
        Cell(_against(row)),
    ]


def _count(mean: float) -> str:
    return f"{mean:.0f}" if mean == round(mean) else format_number(mean)


def _share(share: float | None) -> str:
    return "-" if share is None else format_share(share)


def _against(row: Row) -> str:
    parts = []
    if row.ratio is not None:
        parts.append(f"{row.ratio:.3f} of it")
    if row.rank is not None:
        parts.append(f"rank correlation {row.rank:.2f}")
    return ", ".join(parts) or "-"


def _listed(table: Sequence[Sequence[Cell]], width: int) -> list[str]:
    """Write each row as a paragraph, where the terminal is too narrow for a table."""
    return [
        line
        for row in table
        for line in wrap(
            ", ".join(f"{column.title} {cell.text}" for column, cell in zip(_HEAD, row, strict=True)), width, rest="  "
        )
    ]
