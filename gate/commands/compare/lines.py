"""Columns -> rows: each column against the base, what only some have, and what other tools gave without values."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from gate.commands.compare.columns import Chosen
from gate.commands.compare.estimate import EXTREMES, Estimate
from gate.commands.compare.table import Cell, Change, Shown
from gate.directions import told_or_known
from gate.evidence.records import Located
from gate.model import SIDES, Better, Execution, Unsampled, Verdict, reasons
from gate.model.case import canonical
from gate.model.warnings.estimates import BuildsCut, BuildsUnlike, FewExecutions
from gate.units import format_confidence, ratio_of, to_base
from gate.words import views
from gate.writing.amounts import known
from gate.writing.plain import visible

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


_SHOWN: dict[Verdict, Shown] = {
    "regression": "worse", "accepted": "worse", "improvement": "better", "unchanged": "same",
}  # fmt: skip
_OF_INTERVALS = (BuildsUnlike, BuildsCut, FewExecutions)
"""Warnings about quantiles that matter where there is an interval."""
_NO_VALUES = "an aggregate has no values, so the change has no interval"
_NO_RATIO = "the base is 0, so there is no ratio"
_EXTREME = "an extreme has no interval"


class Line(msgspec.Struct, eq=False):
    """A row while it is made."""

    key: RowKey
    factors: dict[str, Any]
    cells: dict[int, Cell]
    changes: dict[int, Change]
    recorded: bool = False
    notes: tuple[str, ...] = ()


Lines = dict[RowKey, Line]


def line_of(lines: Lines, key: RowKey, factors: Mapping[str, Any]) -> Line:
    """Return the row of a key, a new one where there is none yet."""
    if key not in lines:
        lines[key] = Line(key, dict(factors), {}, {})
    return lines[key]


def add_pair(lines: Lines, found: Sequence[Estimate], base: int, place: int, titles: Sequence[str]) -> None:
    """Add the estimates of a column against the base; titles: of all columns."""
    for each in found:
        line = line_of(lines, _key(each), each.case.factors)
        line.cells.setdefault(base, each.base)
        line.cells[place] = each.head
        change = _change(each, line.cells[base], line.cells[place])
        few = [titles[p] for p in (base, place) if line.cells[p].builds == 1]
        line.changes[place] = _without_builds(each, change, few) if few else change


def add_alone(lines: Lines, found: Sequence[Estimate], place: int) -> None:
    """Add what a column has and the base lacks, or the other way round: its values, compared with nothing."""
    for each in found:
        line_of(lines, _key(each), each.case.factors).cells[place] = each.head


def lacking(lines: Lines, chosen: Chosen, place: int) -> list[Located]:
    """Give the executions of a column whose values are in no row yet, each as of base and as of head."""
    have = {(k.benchmark, k.factors, k.metric) for k, line in lines.items() if place in line.cells}
    wanted = [left for located in chosen.records if (left := _lacking(located, chosen, have))]
    return [
        Located(msgspec.structs.replace(left.record, side=side), left.path, left.line)
        for side in SIDES
        for left in wanted
    ]


def _lacking(located: Located, chosen: Chosen, have: set[tuple[str, str, str]]) -> Located | None:
    e = located.record
    if not isinstance(e, Execution) or e.side != chosen.side:
        return None
    factors = canonical(e.factors)
    metrics = {m: metric for m, metric in e.metrics.items() if (e.benchmark, factors, m) not in have}
    if not metrics:
        return None
    return Located(msgspec.structs.replace(e, metrics=metrics), located.path, located.line)


def add_aggregates(
    lines: Lines, columns: Sequence[Chosen], base: int, confidence: float, statistics: Sequence[str]
) -> None:
    """Add what other tools gave without values, where a column has no values of its own.

    Args:
        statistics: the wanted ones; (): all. What a tool does not call by a name is always wanted.
    """
    cells = [aggregate_cells(chosen.records) for chosen in columns]
    added: list[Line] = []
    for place, own in enumerate(cells):
        for key, (cell, factors) in own.items():
            if statistics and key.statistic not in (*statistics, NOT_SAID):
                continue
            line = line_of(lines, key, factors)
            if place not in line.cells:
                line.cells[place] = cell
                added.append(line)
    for line in added:
        first = line.cells.get(base)
        for place, cell in line.cells.items():
            if place != base and first is not None and place not in line.changes:
                estimate = ratio_of(line.key.metric, line.key.unit, first.value, cell.value)
                line.changes[place] = Change(
                    estimate=estimate, confidence=confidence, method="none", notes=(_NO_VALUES,)
                )


def _key(each: Estimate) -> RowKey:
    case = each.case
    return RowKey(case.benchmark, canonical(case.factors), case.metric, each.statistic, case.unit, case.better)


def _known(value: float | None) -> float | None:
    return value if known(value) else None


def _change(each: Estimate, base: Cell, cell: Cell) -> Change:
    if each.statistic in EXTREMES:
        estimate = ratio_of(each.case.metric, each.case.unit, base.value, cell.value)
        confidence = each.ratio.confidence
        return Change(estimate=estimate, confidence=confidence, method="none", notes=(_EXTREME,))
    found = _with_interval(each)
    if found.kind == "withheld" and base.value == 0 and found.estimate is None:
        # a gate may have a floor for such a case, a comparison has none
        both = cell.value == 0
        notes = () if both else (_NO_RATIO,)
        return msgspec.structs.replace(
            found, estimate=None, method="exact", shown="both 0" if both else "", notes=notes
        )
    one = base.builds == cell.builds == 1
    if found.kind == "withheld" and one and found.estimate is not None and base.value > 0:
        estimate = ratio_of(each.case.metric, each.case.unit, base.value, cell.value)
        return msgspec.structs.replace(found, estimate=estimate)
    return found


def _without_builds(each: Estimate, change: Change, few: Sequence[str]) -> Change:
    """Say first that there is one build, where that is why there is no interval: more values would not help."""
    if change.kind != "withheld" or not isinstance(each.reason, (reasons.OneUnit, reasons.FewValues)):
        return change
    of = "a side" if len(few) == 2 else f"of {visible(few[0])}"
    said = f"one build {of}: no interval, since the variation between builds is unknown"
    kept = [w.sentence() for w in each.warnings if not w.for_experts and not isinstance(w, _OF_INTERVALS)]
    return msgspec.structs.replace(change, notes=(said, *kept))


def _with_interval(each: Estimate) -> Change:
    ratio = each.ratio
    shown: Shown = "" if ratio.kind == "withheld" else _SHOWN.get(each.verdict, "not shown")
    if each.case.better is None and shown in ("worse", "better"):
        shown = "differs"
    reason = [] if ratio.kind == "bounded" else [each.reason.sentence()]
    # where the gate decides a run, the row of the view that decided says so
    by = views.clause(each.finding) if each.finding is not None else ""
    reason += [f"the gate decides {by}"] if by else []
    return Change(
        estimate=_known(ratio.estimate),
        low=_known(ratio.low),
        high=_known(ratio.high),
        kind=ratio.kind,
        confidence=float(f"{ratio.confidence:.12g}"),
        method=ratio.method,
        shown=shown,
        notes=(*reason, *(warning.sentence() for warning in each.warnings if not warning.for_experts)),
    )
