"""What stands around the rows of a comparison: cautions, warnings, what failed and what cannot be compared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import msgspec

from gate.commands.compare.columns import Chosen
from gate.commands.compare.estimate import is_one_run
from gate.commands.compare.pairs import Compared
from gate.commands.compare.projection import Projection
from gate.commands.compare.table import Table
from gate.evidence.hosts import is_fact
from gate.evidence.repeated import one_measurement
from gate.model import Execution, Failure
from gate.model.case import canonical
from gate.model.reasons import SameProgram
from gate.model.warnings.measured import MeasuredSeparately
from gate.words import failures
from gate.writing.phrases import listed, named
from gate.writing.plain import clip, visible

_EXPECTED = {"commit", "baseline", "benchmark", "date", "branch"}
"""Labels by which columns usually differ."""
_KEYS = 4
_RowOf = tuple[str, str]


def varied(columns: Sequence[Chosen], projection: Projection) -> tuple[list[str], dict[_RowOf, list[str]]]:
    """Name the keys of which a cell mixes several values: once where it is so in all rows, otherwise by row."""
    away = projection.named
    found: dict[_RowOf, dict[str, None]] = defaultdict(dict)
    for column in columns:
        cells: dict[tuple[_RowOf, str], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        for record in column.values:
            row = record.benchmark, canonical(record.factors)
            for metric in record.metrics if isinstance(record, Execution) else (record.metric,):
                for key, value in record.labels.items():
                    cells[row, metric][key].add(str(value))
        for (row, _), labels in cells.items():
            found[row] |= {key: None for key, values in labels.items() if len(values) > 1 and key not in away}
    common = set.intersection(*(set(keys) for keys in found.values())) if len(found) > 1 else set()
    named = [visible(key) for keys in list(found.values())[:1] for key in keys if key in common]
    notes = {row: [visible(key) for key in keys if key not in common] for row, keys in found.items()}
    everywhere = [f"values vary in {listed(named, _KEYS)} in every row"] if named else []
    return everywhere, {row: [f"values vary in {listed(keys, _KEYS)}"] for row, keys in notes.items() if keys}


def differing(columns: Sequence[Chosen], projection: Projection) -> list[str]:
    """Name the keys that have one value in each column, and not the same one; of machines warnings tell."""
    if len(columns) < 2 or any(column.ours for column in columns):
        return []
    found: dict[str, list[set[str]]] = {}
    for place, column in enumerate(columns):
        for record in column.values:
            for key in record.labels.keys() - record.factors.keys() - projection.named - _EXPECTED:
                found.setdefault(key, [set() for _ in columns])[place].add(str(record.labels[key]))
    said = [
        f"{visible(key)} ({', '.join(clip(visible(*values), 40) for values in own)})"
        for key, own in sorted(found.items())
        if not is_fact(key) and all(len(values) == 1 for values in own) and set.union(*own) != own[0]
    ]
    return [f"the columns differ in {listed(said, _KEYS)}"] if said else []


_ONE = f"{one_measurement().status}: every ratio is 1, whatever was measured"
_EARLY = (
    "measured with early stopping: intervals here treat the number of builds as fixed, so they cover somewhat less; "
    "`perfgate decide` allows for it"
)
_FAILURES = 10
_NAMES = 20


def _title(side: Compared, chosen: Sequence[Chosen]) -> str:
    """Name the column that a sentence about base and head is of, where these are not its words."""
    titles = [own.title for own in chosen]
    return "" if titles == ["base", "head"] else f"{side.pair.head.title}: "


def cautions(sides: Sequence[Compared], chosen: Sequence[Chosen]) -> list[str]:
    """Say what all changes rest on: first what is of single columns."""
    told: list[str] = []
    for side in sides:
        one = [_ONE] if side.pair.twice or (side.same and len(sides) > 1) else []
        told += [_title(side, chosen) + each for each in (*one, *(each.sentence() for each in side.cautions))]
    if any(side.pair.apart and not side.alike for side in sides):
        told.append(MeasuredSeparately().sentence())
    if any(side.pair.rounds is not None and not is_one_run(side.pair) for side in sides):
        told.append(_EARLY)
    return list(dict.fromkeys(told))


def warnings(sides: Sequence[Compared], chosen: Sequence[Chosen]) -> list[str]:
    """Say what the evidence of each column warns about."""
    told = [_title(side, chosen) + each.sentence() for side in sides for each in side.evidence.warnings]
    return list(dict.fromkeys(told))


def rest(sides: Sequence[Compared], chosen: Sequence[Chosen]) -> list[str]:
    """Name what is not in the table: what cannot be compared, and what failed."""
    found = [(side, each.sentence()) for side in sides for each in side.unlike]
    unlike = [clip(visible(_title(side, chosen) + said), 1000) for side, said in found]
    unmeasured: dict[tuple[str, ...], str] = {}
    for column in chosen:
        if column.ours and (names := column.proved):
            why = f"because base and head run {SameProgram.same}"
            unmeasured[column.name, *names] = f"not measured by {visible(column.name)}, {why}: {named(names, _NAMES)}"
    failed: dict[str, None] = {}
    for side in sides:
        own = side.evidence.failures
        if _title(side, chosen):
            for which, column in side.pair.sides:
                some = [msgspec.structs.replace(f, side=None) for f in own if f.side in (which, None)]
                failed |= dict.fromkeys(f"{column.title}: {said}" for said in _failures(some))
        else:
            failed |= dict.fromkeys(_failures(own))
    if not sides:
        records = [located.record for column in chosen for located in column.records]
        own = [msgspec.structs.replace(r, side=None) for r in records if isinstance(r, Failure)]
        failed |= dict.fromkeys(_failures(own))
    said = list(failed)
    more = len(said) - _FAILURES
    return [
        *unlike,
        *unmeasured.values(),
        *said[:_FAILURES],
        *([f"{more} more failures" if more > 1 else "1 more failure"] if more > 0 else []),
    ]


def _failures(found: Sequence[Failure]) -> Iterator[str]:
    for group in failures.grouped(found, by_output=False):
        where = failures.places(group, 3)
        yield failures.heading(group) + (f" ({where})" if where else "")


def nothing(table: Table, sides: Sequence[Compared]) -> str:
    """Say that there is nothing to compare."""
    if sides and all(side.same for side in sides):
        return one_measurement().status
    rows = [row for block in table.blocks for row in block.rows]
    if any(change for row in rows for change in row.changes) or (len(table.columns) == 1 and rows):
        return ""
    if table.identical:
        return f"all benchmarks run {SameProgram.same}"
    if len(table.columns) == 1:
        return "no values"
    if any(side.unlike for side in sides):
        return "what base and head have in common is in other units or directions"
    failed = any(side.evidence.failures for side in sides)
    return f"base and head have no benchmark in common{' that did not fail' if failed else ''}"
