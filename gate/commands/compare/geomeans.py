"""Geometric means of the rows of a block: of all, of each suite or of what a key says; of values and of changes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import msgspec

from gate.commands.compare.lines import Line
from gate.commands.compare.table import Cell, Change, Row, Shown
from gate.model import Better, Overall, RatioInterval
from gate.model.case import MEAN, pairs
from gate.units import plural
from gate.writing.amounts import known
from gate.writing.phrases import named

ALL = "all"
_VISIBLE = 0.01
"""Difference of two changes, as logarithms, that a reader would wonder at."""
_APART = "the change is over the logarithms of builds, in which a few slow builds count less than in the values"
GroupOf = Callable[[Line], str | None]


class Means(msgspec.Struct, frozen=True):
    """The geometric means with an interval, of each column against the base, and what is to be said of them."""

    found: Mapping[int, Sequence[Overall]]
    rounds: Mapping[int, int | None]
    """The rounds that they are over, where that is not all of them."""


def suite_of(line: Line) -> str | None:
    """Return the suite of "suite/case"."""
    first, slash, _ = line.key.benchmark.partition("/")
    return first if slash else None


def means_of(lines: Sequence[Line], columns: int, base: int, means: Means, group_of: GroupOf) -> list[Row]:
    """Summarize the rows of one metric and statistic; the mean over all stands last, below those of its parts."""
    groups: dict[str, list[Line]] = {}
    for line in lines:
        group = group_of(line)
        if group is not None:
            groups.setdefault(group, []).append(line)
    # a group of all rows says nothing that the mean over all does not
    parts = {name: own for name, own in groups.items() if 1 < len(own) < len(lines)}
    found = [_row(name, own, columns, base, means) for name, own in parts.items()]
    if len(lines) > 1:
        found.append(_row(ALL, lines, columns, base, means))
    return [row for row in found if row is not None]


def _row(group: str, lines: Sequence[Line], columns: int, base: int, means: Means) -> Row | None:
    dropped = {name for place in range(columns) if (own := _mean(group, lines, place, means)) for name in own.dropped}
    everywhere = [
        line
        for line in lines
        if _named(line) not in dropped and all(_positive(line.cells.get(place)) for place in range(columns))
    ]
    cells = [_cell([line.cells[place] for line in everywhere]) for place in range(columns)]
    changes = [None if place == base else _change(group, lines, place, means) for place in range(columns)]
    if not any(cells) and not any(changes):
        return None
    notes: tuple[str, ...] = ()
    if len(everywhere) > 1 and len(everywhere) < len(lines) and not dropped:
        notes = (f"values are of the {plural(len(everywhere), 'row')} that all columns have",)
    if any(_is_apart(cells[base], cells[place], changes[place]) for place in range(columns)):
        notes = (*notes, _APART)
    return Row(kind="geomean", benchmark=group, factors={}, cells=cells, changes=changes, notes=notes)


def _is_apart(base: Cell | None, cell: Cell | None, change: Change | None) -> bool:
    """Return whether a change over builds is visibly another one than that of the values beside it."""
    if base is None or cell is None or change is None or not change.estimate:
        return False
    return abs(math.log(cell.value / base.value) - math.log(change.estimate)) > _VISIBLE


def _mean(group: str, lines: Sequence[Line], place: int, means: Means) -> Overall | None:
    """Return the mean with an interval of a column, where there is one."""
    key = lines[0].key
    if key.statistic != MEAN:
        return None
    found = (o for o in means.found.get(place, ()) if (o.group, o.metric) == (group, key.metric))
    return next((o for o in found if o.ratio.kind == "bounded"), None)


def _named(line: Line) -> str:
    return f"{line.key.benchmark}{f' ({pairs(line.factors)})' if line.factors else ''}"


def _positive(cell: Cell | None) -> bool:
    return cell is not None and known(cell.value) and cell.value > 0


def _cell(cells: Sequence[Cell]) -> Cell | None:
    if len(cells) < 2:
        return None
    return Cell(value=math.exp(math.fsum(math.log(cell.value) for cell in cells) / len(cells)))


def _change(group: str, lines: Sequence[Line], place: int, means: Means) -> Change | None:
    counted = [line for line in lines if (change := line.changes.get(place)) and change.estimate]
    if len(counted) < 2:
        return None
    logs = [math.log(line.changes[place].estimate or 1) for line in counted]
    estimate = math.exp(math.fsum(logs) / len(logs))
    first = counted[0].changes[place]
    if all(line.changes[place].method == "exact" for line in counted):
        return Change(
            estimate=estimate, low=estimate, high=estimate, kind="bounded", confidence=first.confidence,
            method="exact", shown="same" if estimate == 1 else "", notes=_without(lines, counted),
        )  # fmt: skip
    own, better = _mean(group, lines, place, means), lines[0].key.better
    # of rows without an interval the mean has none either: what spread there is, is rounding
    if own is None or all(line.changes[place].kind == "withheld" for line in counted):
        return Change(estimate=estimate, confidence=first.confidence, method="none", notes=_without(lines, counted))
    ratio = own.ratio
    rounds = means.rounds.get(place)
    notes = [] if rounds is None else [f"over the first {plural(rounds, 'round')}, which all rows have"]
    if own.dropped:
        left_out = named(own.dropped, 5)
        notes = [f"of {plural(own.cases, 'row')}, without {left_out}"]
    return Change(
        estimate=ratio.estimate if known(ratio.estimate) else estimate, low=ratio.low, high=ratio.high,
        kind=ratio.kind, confidence=float(f"{ratio.confidence:.12g}"), method=ratio.method, shown=_shown(ratio, better),
        notes=tuple(notes),
    )  # fmt: skip


def _shown(ratio: RatioInterval, better: Better | None) -> Shown:
    """Say on which side of no change an interval lies."""
    if ratio.low is None or ratio.high is None or ratio.low <= 1 <= ratio.high:
        return "not shown"
    if better is None:
        return "differs"
    return "worse" if (ratio.low > 1) == (better == "lower") else "better"


def _without(lines: Sequence[Line], counted: Sequence[Line]) -> tuple[str, ...]:
    left = [line for line in lines if line not in counted]
    if not left:
        return ()
    said = named([*map(_named, left)], 5)
    return (f"of {plural(len(counted), 'row')}, without {said}",)
