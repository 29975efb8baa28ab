"""What nobody named and yet differs: within a cell, which mixes it, and between columns, whose change it is part of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import msgspec

from gate.commands.compare.columns import Chosen
from gate.commands.compare.projection import Projection
from gate.evidence.facts import is_fact
from gate.model import Execution, Unsampled
from gate.model.case import canonical
from gate.writing.phrases import listed
from gate.writing.plain import clip, visible

_EXPECTED = {"commit", "baseline", "benchmark", "date", "branch"}
"""Labels by which columns usually differ."""
_KEYS = 4
_RowOf = tuple[str, str]


class Varied(msgspec.Struct, frozen=True):
    """Keys of which cells mix several values."""

    everywhere: str
    """What is said of all rows; "": nothing."""
    notes: dict[_RowOf, list[str]]
    """What is said of single rows."""


def varied(columns: Sequence[Chosen], projection: Projection) -> Varied:
    """Name the keys of which a cell mixes several values: once where it is so in all rows, otherwise by row."""
    found = _varied(columns, projection)
    common = set.intersection(*(set(keys) for keys in found.values())) if len(found) > 1 else set()
    named = [visible(key) for keys in list(found.values())[:1] for key in keys if key in common]
    notes = {row: [key for key in keys if key not in common] for row, keys in found.items()}
    return Varied(
        f"values vary in {listed(named, _KEYS)} in every row" if named else "",
        {row: [f"values vary in {listed([visible(k) for k in keys], _KEYS)}"] for row, keys in notes.items() if keys},
    )


def _varied(columns: Sequence[Chosen], projection: Projection) -> Mapping[_RowOf, Mapping[str, None]]:
    away = projection.named
    found: dict[_RowOf, dict[str, None]] = defaultdict(dict)
    for column in columns:
        cells: dict[tuple[_RowOf, str], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        for record in _values(column):
            row = record.benchmark, canonical(record.factors)
            for metric in record.metrics if isinstance(record, Execution) else (record.metric,):
                for key, value in record.labels.items():
                    cells[row, metric][key].add(str(value))
        for (row, _), labels in cells.items():
            found[row] |= {key: None for key, values in labels.items() if len(values) > 1 and key not in away}
    return found


def differing(columns: Sequence[Chosen], projection: Projection) -> list[str]:
    """Name the keys that have one value in each column, and not the same one, but for what tells of machines."""
    if len(columns) < 2 or any(column.ours for column in columns):
        return []
    away = projection.named | _EXPECTED
    values = [_labels(column) for column in columns]
    common = [key for key in values[0] if all(key in own for own in values)]
    single = [
        key for key in common if key not in away and not is_fact(key) and all(len(own[key]) == 1 for own in values)
    ]
    told = {key: [next(iter(own[key])) for own in values] for key in single}
    found = {key: own for key, own in told.items() if len(set(own)) > 1}
    if not found:
        return []
    said = [f"{visible(key)} ({', '.join(clip(visible(v), 40) for v in own)})" for key, own in found.items()]
    return [f"the columns differ in {listed(said, _KEYS)}"]


def _values(column: Chosen) -> list[Execution | Unsampled]:
    found = (located.record for located in column.records)
    return [r for r in found if isinstance(r, (Execution, Unsampled)) and r.side == column.side]


def _labels(column: Chosen) -> Mapping[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    settings: set[str] = set()
    for record in _values(column):
        settings |= record.factors.keys()
        for key, value in record.labels.items():
            found[key].add(str(value))
    return {key: own for key, own in found.items() if key not in settings}
