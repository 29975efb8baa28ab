"""Columns -> rows: each column against the base, what only some have, aggregates of other tools, geometric means."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from gate.commands.compare.columns import Chosen
from gate.commands.compare.estimate import EXTREMES, Estimate
from gate.commands.compare.table import ALL, Cell, Change, Row, Shown
from gate.directions import told_or_known
from gate.evidence.aggregates import side_of
from gate.evidence.records import Located
from gate.model import SIDES, Better, Execution, Overall, Report, Side, Unsampled, Verdict, reasons
from gate.model.case import MEAN, canonical, pairs
from gate.stats.estimate import OF_QUANTILES
from gate.units import format_confidence, plural, ratio_of, to_base
from gate.words import views
from gate.writing.amounts import known
from gate.writing.phrases import named
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


def _aggregates(records: Sequence[Execution | Unsampled]) -> dict[RowKey, tuple[Cell, dict[str, Any]]]:
    found: dict[RowKey, list[Unsampled]] = defaultdict(list)
    for one in records:
        if isinstance(one, Unsampled):
            unit, _ = to_base(one.unit)
            better = told_or_known(one.better, one.metric, unit)
            name = "p50" if one.statistic == "median" else one.statistic
            found[RowKey(one.benchmark, canonical(one.factors), one.metric, name, unit, better)].append(one)
    cells = {}
    for key, lines in found.items():
        first, side, sd = lines[0], side_of(lines), None
        note = f"the mean of {len(lines)} aggregates of another tool, without the values behind them"
        if len(lines) == 1:
            sd = None if first.sd is None else first.sd * to_base(first.unit)[1]
            confidence = f"{format_confidence(first.confidence)} " if first.confidence else ""
            own = "" if side.low is None or side.high is None else f" with its own {confidence}interval"
            note = f"an aggregate of another tool{own}, without the values behind it"
        cell = Cell(
            value=side.value, low=side.low, high=side.high, sd=sd, builds=side.counts.build, executions=len(lines),
            values=side.counts.iteration, aggregate=True, notes=(note,),
        )  # fmt: skip
        cells[key] = cell, dict(first.factors)
    return cells


_SHOWN: dict[Verdict, Shown] = {
    "regression": "worse", "accepted": "worse", "improvement": "better", "unchanged": "same",
}  # fmt: skip
_NO_VALUES = "an aggregate has no values, so the change has no interval"
_NO_RATIO = "the base is 0, so there is no ratio"
_EXTREME = "an extreme has no interval"


Lines = dict[RowKey, Row]


def _row(lines: Lines, key: RowKey, factors: Mapping[str, Any], columns: int) -> Row:
    if key not in lines:
        cells, changes = list[Cell | None]([None] * columns), list[Change | None]([None] * columns)
        lines[key] = Row(kind="benchmark", benchmark=key.benchmark, factors=dict(factors), cells=cells, changes=changes)
    return lines[key]


def add_pair(lines: Lines, found: Sequence[Estimate], base: int, place: int, titles: Sequence[str]) -> None:
    """Add the estimates of a column against the base; titles: of all columns."""
    for each in found:
        row = _row(lines, _key(each), each.case.factors, len(titles))
        first = row.cells[base] = row.cells[base] or each.base
        row.cells[place] = each.head
        few = [titles[p] for p, cell in ((base, first), (place, each.head)) if cell.builds == 1]
        row.changes[place] = _change(each, first, each.head, few)


def add_alone(lines: Lines, found: Sequence[Estimate], place: int, columns: int) -> None:
    """Add what a column has and the base lacks, or the other way round: its values, compared with nothing."""
    for each in found:
        _row(lines, _key(each), each.case.factors, columns).cells[place] = each.head


def lacking(lines: Lines, chosen: Chosen, place: int) -> list[Located]:
    """Give the executions of a column whose values are in no row yet, each as of base and as of head."""
    have = {(k.benchmark, k.factors, k.metric) for k, row in lines.items() if row.cells[place] is not None}
    found: dict[Side, list[Located]] = {side: [] for side in SIDES}
    for located in chosen.records:
        e = located.record
        if isinstance(e, Execution) and e.side == chosen.side:
            metrics = {n: m for n, m in e.metrics.items() if (e.benchmark, canonical(e.factors), n) not in have}
            for side, own in found.items() if metrics else ():
                record = msgspec.structs.replace(e, metrics=metrics, side=side)
                own.append(Located(record, located.path, located.line))
    return [*found["base"], *found["head"]]


def add_aggregates(
    lines: Lines, columns: Sequence[Chosen], base: int, confidence: float, statistics: Sequence[str]
) -> None:
    """Add what other tools gave without values, where a column has no values of its own.

    Args:
        statistics: the wanted ones; (): all. What a tool does not call by a name is always wanted.
    """
    cells = [_aggregates(chosen.values) for chosen in columns]
    added: list[tuple[RowKey, Row]] = []
    for place, own in enumerate(cells):
        for key, (cell, factors) in own.items():
            if statistics and key.statistic not in (*statistics, NOT_SAID):
                continue
            row = _row(lines, key, factors, len(columns))
            if row.cells[place] is None:
                row.cells[place] = cell
                added.append((key, row))
    for key, row in added:
        first = row.cells[base]
        for place, found in enumerate(row.cells):
            if place != base and first is not None and found is not None and row.changes[place] is None:
                ratio = ratio_of(key.metric, key.unit, first.value, found.value)
                row.changes[place] = Change(estimate=ratio, confidence=confidence, method="none", notes=(_NO_VALUES,))


def _key(each: Estimate) -> RowKey:
    case = each.case
    return RowKey(case.benchmark, canonical(case.factors), case.metric, each.statistic, case.unit, case.better)


def _change(each: Estimate, base: Cell, cell: Cell, few: Sequence[str]) -> Change:
    """Write a change; few: the columns of one build, by their titles."""
    ratio = ratio_of(each.case.metric, each.case.unit, base.value, cell.value)
    changes: dict[str, Any] = {}
    if each.statistic in EXTREMES:
        found = Change(estimate=ratio, confidence=each.ratio.confidence, method="none", notes=(_EXTREME,))
    else:
        found = _with_interval(each)
        if found.kind != "withheld":
            return found
        if base.value == 0 and found.estimate is None:
            # a gate may have a floor for such a case, a comparison has none
            both = cell.value == 0
            changes = {"method": "exact", "shown": "both 0" if both else "", "notes": () if both else (_NO_RATIO,)}
        elif base.builds == cell.builds == 1 and found.estimate is not None and base.value > 0:
            changes = {"estimate": ratio}
    if few and isinstance(each.reason, (reasons.OneUnit, reasons.FewValues)):
        # first that there is one build, where that is why there is no interval: more values would not help
        of = "of each" if len(few) == 2 else f"of {visible(few[0])}"
        said = f"one build {of}: no interval, since the variation between builds is unknown"
        kept = [w.sentence() for w in each.warnings if getattr(w, "what", "") not in OF_QUANTILES]
        changes["notes"] = (said, *kept)
    return msgspec.structs.replace(found, **changes)


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
        estimate=ratio.estimate if known(ratio.estimate) else None,
        low=ratio.low if known(ratio.low) else None,
        high=ratio.high if known(ratio.high) else None,
        kind=ratio.kind,
        confidence=float(f"{ratio.confidence:.12g}"),
        method=ratio.method,
        shown=shown,
        notes=(*reason, *(warning.sentence() for warning in each.warnings)),
    )


# --- geometric means --------------------------------------------------------------------------------------------------


def means_of(rows: Sequence[Row], key: RowKey, base: int, gate: Report | None) -> list[Row]:
    """Summarize the rows of one metric and statistic; the mean over all stands last, below those of its parts.

    key: of one of the rows. gate: what decides the one run that is shown, whose overall changes have an interval.
    """
    groups: dict[str, list[Row]] = {}
    for row in rows:
        suite, slash, _ = row.benchmark.partition("/")
        if slash:
            groups.setdefault(suite, []).append(row)
    # a group of all rows says nothing that the mean over all does not
    parts = {name: own for name, own in groups.items() if 1 < len(own) < len(rows)}
    parts |= {ALL: [*rows]} if len(rows) > 1 else {}
    decided = gate.overall if gate is not None and key.statistic == MEAN else []
    bounded = {o.group: o for o in decided if o.metric == key.metric and o.ratio.kind == "bounded"}
    found = (_mean_row(name, own, key, base, bounded.get(name)) for name, own in parts.items())
    return [row for row in found if row is not None]


def _mean_row(group: str, rows: Sequence[Row], key: RowKey, base: int, decided: Overall | None) -> Row | None:
    places = range(len(rows[0].cells))
    everywhere = [
        [cell.value for cell in row.cells if cell is not None and known(cell.value) and cell.value > 0] for row in rows
    ]
    everywhere = [values for values in everywhere if len(values) == len(places)]
    cells: list[Cell | None] = [None for _ in places]
    if len(everywhere) > 1:
        logs = zip(*(map(math.log, values) for values in everywhere), strict=True)
        cells = [Cell(value=math.exp(math.fsum(own) / len(own))) for own in logs]
    changes = [None if place == base else _mean_change(rows, key, place, decided, len(everywhere)) for place in places]
    if not any(cells) and not any(changes):
        return None
    notes: tuple[str, ...] = ()
    if 1 < len(everywhere) < len(rows):
        notes = (f"values are of the {plural(len(everywhere), 'row')} that all columns have",)
    return Row(kind="geomean", benchmark=group, factors={}, cells=cells, changes=changes, notes=notes)


def _mean_change(
    rows: Sequence[Row], key: RowKey, place: int, decided: Overall | None, everywhere: int
) -> Change | None:
    """Summarize the changes of a column; everywhere: how many rows the values beside it are of."""
    counted = [(row, change) for row in rows if (change := row.changes[place]) and change.estimate]
    if len(counted) < 2:
        return None
    used = [id(row) for row, _ in counted]
    left = [
        f"{row.benchmark}{f' ({pairs(row.factors)})' if row.factors else ''}" for row in rows if id(row) not in used
    ]
    if decided is None:
        notes = (f"of {plural(len(counted), 'row')}, without {named(left, 5)}",) if len(counted) != everywhere else ()
        estimate = math.exp(math.fsum(math.log(change.estimate or 1) for _, change in counted) / len(counted))
        return Change(estimate=estimate, confidence=counted[0][1].confidence, method="none", notes=notes)
    ratio, left = decided.ratio, decided.dropped
    shown: Shown = "not shown"
    if ratio.low is not None and ratio.high is not None and not ratio.low <= 1 <= ratio.high:
        shown = "differs" if key.better is None else "worse" if (ratio.low > 1) == (key.better == "lower") else "better"
    return Change(
        estimate=ratio.estimate, low=ratio.low, high=ratio.high, kind=ratio.kind,
        confidence=float(f"{ratio.confidence:.12g}"), method=ratio.method, shown=shown,
        notes=(f"of {plural(decided.cases, 'row')}, without {named(left, 5)}",) if left else (),
    )  # fmt: skip
