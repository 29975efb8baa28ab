"""Aggregates of other tools -> cells: means, medians and quantiles without the values behind them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from gate.commands.compare.table import Cell
from gate.directions import told_or_known
from gate.evidence.records import Located
from gate.model import Better, Unsampled
from gate.model.case import canonical
from gate.units import format_confidence, to_base

NOT_SAID = "value"
"""The statistic of an aggregate of which the file does not say what it is."""


class RowKey(NamedTuple):
    """What makes a row: all of it is the same in each of its columns."""

    benchmark: str
    factors: str
    metric: str
    statistic: str
    unit: str
    better: Better | None


def aggregate_cells(records: Sequence[Located]) -> dict[RowKey, tuple[Cell, dict[str, Any]]]:
    """Give the aggregates of a column, with their settings."""
    found: dict[RowKey, list[Unsampled]] = defaultdict(list)
    for located in records:
        one = located.record
        if isinstance(one, Unsampled):
            unit, _ = to_base(one.unit)
            better = told_or_known(one.better, one.metric, unit)
            key = RowKey(one.benchmark, canonical(one.factors), one.metric, _name(one.statistic), unit, better)
            found[key].append(one)
    return {key: (_cell(lines), dict(lines[0].factors)) for key, lines in found.items()}


def _name(statistic: str) -> str:
    return "p50" if statistic == "median" else statistic


def _cell(lines: Sequence[Unsampled]) -> Cell:
    scales = [to_base(line.unit)[1] for line in lines]
    values = [line.value * scale for line, scale in zip(lines, scales, strict=True)]
    alone = lines[0] if len(lines) == 1 else None
    limits = alone is not None and alone.low is not None and alone.high is not None
    return Cell(
        value=math.fsum(values) / len(values),
        low=alone.low * scales[0] if alone is not None and limits and alone.low is not None else None,
        high=alone.high * scales[0] if alone is not None and limits and alone.high is not None else None,
        sd=None if alone is None or alone.sd is None else alone.sd * scales[0],
        builds=len({(line.session, line.build) for line in lines}),
        executions=len(lines),
        values=sum(line.count or 0 for line in lines),
        aggregate=True,
        notes=(_note(alone, len(lines)),),
    )


def _note(alone: Unsampled | None, count: int) -> str:
    if alone is None:
        return f"the mean of {count} aggregates of another tool, without the values behind them"
    if alone.low is None or alone.high is None:
        return "an aggregate of another tool, without the values behind it"
    confidence = f"{format_confidence(alone.confidence)} interval" if alone.confidence else "interval"
    return f"an aggregate of another tool with its own {confidence}, without the values behind it"
