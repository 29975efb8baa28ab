"""Columns -> the table: every column estimated against the base, with what has to be said around the rows."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import msgspec

from gate.cli.groups import RulesOptions
from gate.commands.compare.columns import Chosen
from gate.commands.compare.pairs import ComparedColumn, compared, names_of, rules_of, stops_early
from gate.commands.compare.projection import Projection
from gate.commands.compare.rows import (
    ColumnRatio,
    CompareCell,
    CompareColumn,
    CompareRow,
    CompareTable,
    Lines,
    Shown,
    add_aggregates,
    line_of,
    means_of,
)
from gate.config.rules import Policy
from gate.config.types import Config
from gate.decide.causes import trouble_of
from gate.decide.design import Design, design_of, statistics_of
from gate.decide.estimates import questions_of, ratio_interval, side_summary, subject_of
from gate.decide.looks import Judged
from gate.decide.policy import policy_of
from gate.decide.report import decide_by, findings_of, judge_looks
from gate.evidence.aggregates import figure_warnings, figures_of, with_figures
from gate.evidence.completeness import failed_at
from gate.evidence.gather import gather
from gate.evidence.lines import Located
from gate.model import (
    SIDES,
    Case,
    Evidence,
    Execution,
    Failure,
    Finding,
    RatioInterval,
    Recorded,
    Report,
    Run,
    Sample,
    SideSummary,
    Verdict,
    reasons,
)
from gate.model.case import MEAN, CaseId, canonical, case_id, quantile_of
from gate.model.names import BUILD_TIME
from gate.model.reasons import SameProgram
from gate.model.warnings import AnyWarning
from gate.model.warnings.measured import MEASURED_SEPARATELY
from gate.planning.deciding import next_plan
from gate.stats.centers import OF_QUANTILES, type8
from gate.words import failures, reports, views
from gate.writing.amounts import known
from gate.writing.phrases import joined, listed, named
from gate.writing.plain import clip, visible
from gate.writing.units import plural, ratio_of

EXTREMES = ("min", "max")
"""Statistics that have no interval: of more values they are only more extreme."""
_SHOWN: dict[Verdict, Shown] = {
    "regression": "worse", "accepted": "worse", "improvement": "better", "unchanged": "same",
}  # fmt: skip
_NO_RATIO = "the base is 0, so there is no ratio"
_EXTREME = "an extreme has no interval"


class _Estimate(NamedTuple):
    """One case and statistic of two columns."""

    base: SideSummary
    head: SideSummary
    ratio: RatioInterval
    """With the interval that is shown."""
    verdict: Verdict
    """On which side of no change the interval lies, as a gate with a threshold of 0 says it."""
    reason: reasons.Reason
    warnings: list[AnyWarning]
    by: str
    """Which view decides, and why; "" where nobody needs to be told."""


def estimates(
    evidence: Evidence, policy: Policy, statistics: Sequence[str], titles: Sequence[str], gate: Report | None = None
) -> Iterator[CompareRow]:
    """Yield a row of two cells for every case.

    Args:
        statistics: of all of them; (): those that the rules name, otherwise the mean.
        titles: of base and of head.
        gate: what `perfgate decide` says of the same run, whose intervals are shown, with what is remembered; what it
            has none for (counts, values in trouble, other statistics) has one of its own.
    """
    shown: dict[CaseId, Finding | Recorded] = {}
    if gate is not None:
        shown |= {case_id(r, MEAN): r for r in gate.recorded if r.statistic == MEAN}
        shown |= {case_id(v, v.statistic): v for f in gate.findings for v in f.views if v.shown is not None}
    for statistic in statistics or (None,):
        judged, design = _walk_of(evidence, policy, statistic)
        # what has no interval needs none of the diagnostics, which take most of the time and memory
        able = [each for each in judged if not each.estimated.reduced.trouble]
        findings = iter(findings_of(able, design, len(judged)))
        for each in judged:
            case = each.subject.case
            # an extreme stands in the place of the mean
            name = statistic if statistic in EXTREMES else each.subject.statistic
            finding = None if each.estimated.reduced.trouble else next(findings)
            found = _estimate(each, finding, shown.get(case_id(case, name)), design)
            cells = _cell(found.base, case.base, name), _cell(found.head, case.head, name)
            yield CompareRow(
                benchmark=case.benchmark, factors=dict(case.factors), metric=case.metric, statistic=name,
                unit=case.unit, better=case.better, cells=[*cells],
                changes=[None, _change(case, name, cells, found, titles)],
            )  # fmt: skip


def _estimate(each: Judged, finding: Finding | None, own: Finding | Recorded | None, design: Design) -> _Estimate:
    """Take what is shown of a case; own: what the gate of its run shows."""
    found = each.estimated
    if finding is None:
        made = _Estimate(
            side_summary(found, "base", design.alpha), side_summary(found, "head", design.alpha),
            ratio_interval(found, design.alpha), "inconclusive",
            trouble_of(found.reduced, each.subject, found.machines), [*each.subject.case.warnings, *found.warnings], "",
        )  # fmt: skip
    else:
        made = _Estimate(
            finding.base, finding.head, finding.ratio, finding.verdict, finding.reason, finding.warnings,
            views.clause(finding),
        )  # fmt: skip
    if own is None or own.ratio.method == "exact":
        return made
    verdict: Verdict = "inconclusive"
    low, high = own.ratio.low or 1.0, own.ratio.high or 1.0
    if own.ratio.kind == "bounded" and not low <= 1 <= high:
        verdict = "regression" if (low > 1) == ((own.better or "lower") == "lower") else "improvement"
    made = made._replace(base=own.base, head=own.head, ratio=own.ratio, verdict=verdict)
    if isinstance(own, Finding):
        return made._replace(reason=own.reason, warnings=own.warnings, by=views.clause(own))
    return made


def _change(
    case: Case, statistic: str, cells: tuple[CompareCell, CompareCell], found: _Estimate, titles: Sequence[str]
) -> ColumnRatio:
    base, head = cells
    ratio = ratio_of(case.metric, case.unit, base.value, head.value)
    changes: dict[str, Any] = {}
    if statistic in EXTREMES:
        change = ColumnRatio(estimate=ratio, confidence=found.ratio.confidence, method="none", notes=(_EXTREME,))
    else:
        change = _with_interval(case, found)
        if change.kind != "withheld":
            return change
        if base.value == 0 and change.estimate is None:
            # a gate may have a floor for such a case, a comparison has none
            both = head.value == 0
            changes = {"method": "exact", "shown": "both 0" if both else "", "notes": () if both else (_NO_RATIO,)}
        elif base.builds == head.builds == 1 and change.estimate is not None and base.value > 0:
            changes = {"estimate": ratio}
    few = [title for title, cell in zip(titles, cells, strict=True) if cell.builds == 1]
    if few and isinstance(found.reason, (reasons.OneUnit, reasons.FewValues)):
        # first that there is one build, where that is why there is no interval: more values would not help
        of = "of each" if len(few) == 2 else f"of {visible(few[0])}"
        said = f"one build {of}: no interval, since the variation between builds is unknown"
        kept = [w.sentence() for w in found.warnings if getattr(w, "what", "") not in OF_QUANTILES]
        changes["notes"] = (said, *kept)
    return msgspec.structs.replace(change, **changes)


def _with_interval(case: Case, found: _Estimate) -> ColumnRatio:
    ratio = found.ratio
    shown: Shown = "" if ratio.kind == "withheld" else _SHOWN.get(found.verdict, "not shown")
    if case.better is None and shown in ("worse", "better"):
        shown = "differs"
    notes = [] if ratio.kind == "bounded" else [found.reason.sentence()]
    # where the gate decides a run, the row of the view that decided says so
    notes += [f"the gate decides {found.by}"] if found.by else []
    return ColumnRatio(
        estimate=ratio.estimate if known(ratio.estimate) else None,
        low=ratio.low if known(ratio.low) else None,
        high=ratio.high if known(ratio.high) else None,
        kind=ratio.kind,
        confidence=float(f"{ratio.confidence:.12g}"),
        method=ratio.method,
        shown=shown,
        notes=(*notes, *(warning.sentence() for warning in found.warnings)),
    )


def _cell(side: SideSummary, sample: Sample, statistic: str) -> CompareCell:
    value, low, high = side.value, side.low, side.high
    one = len(sample.builds) == 1
    sd = float(sample.values.std(ddof=1)) if one and len(sample.values) > 1 else None
    if sd and sample.values.min() == sample.values.max():
        # the mean of equal values is rounded
        sd = 0.0
    if statistic in EXTREMES:
        value, low, high = float(sample.values.min() if statistic == "min" else sample.values.max()), None, None
    elif one and (tau := quantile_of(statistic)) is not None:
        # of one build the same without the rounding of logarithms
        value = type8(sample.values, tau)
    return CompareCell(
        value=value,
        low=low if known(low) else None,
        high=high if known(high) else None,
        sd=sd,
        builds=side.counts.build,
        executions=side.counts.execution,
        values=side.counts.iteration,
    )


def _walk_of(evidence: Evidence, policy: Policy, statistic: str | None) -> tuple[list[Judged], Design]:
    """Judge every case by a statistic; None: by those that the rules name."""
    asked: dict[int, list[str]] = defaultdict(list)
    for case, name in chain.from_iterable(questions_of(evidence.cases, policy.config)):
        asked[id(case)].append(name)

    def names(case: Case) -> Sequence[str]:
        if statistic is None:
            # views are shown side by side: nothing is decided here
            return asked[id(case)] or statistics_of(policy.config, case.benchmark, case.metric)
        return [MEAN if statistic in EXTREMES else statistic]

    subjects = [subject_of(case, name, policy, {}) for case in evidence.cases for name in names(case)]
    design = design_of(evidence, policy, subjects)
    return judge_looks(subjects, design)[0], design


def tabulated(
    columns: Sequence[Chosen], base: int, rules: RulesOptions, statistics: Sequence[str], projection: Projection,
    told: Sequence[str], *, by_change: bool,
) -> CompareTable:  # fmt: skip
    """Compare every column with the base.

    Args:
        statistics: of all metrics; (): what the rules name.
        told: what was chosen without being asked.
        by_change: with the largest changes of each block first.

    Raises:
        UserError: rules that cannot be read, or files that contradict each other.
    """
    figures = figures_of(own.records for own in columns)
    columns = [msgspec.structs.replace(own, records=with_figures(own.records, figures)) for own in columns]
    sides = {n: compared(columns[base], own, rules, projection) for n, own in enumerate(columns) if n != base}
    pairs, titles = [*sides.values()], [own.title for own in columns]
    # base and head of one run, each as itself: as `perfgate decide` decides it
    gate: Report | None = None
    for pair in (each for each in pairs if each.of_one_run):
        gate = decide_by(pair.base.inputs, policy_of(pair.base.run, rules), rules, next_plan).report
    lines: Lines = {}
    for place, pair in sides.items():
        for found in estimates(
            pair.evidence, pair.policy, statistics, (titles[base], titles[place]), gate if pair.of_one_run else None
        ):
            row = line_of(lines, found, len(columns))
            row.cells[base] = row.cells[base] or found.cells[0]
            row.cells[place], row.changes[place] = found.cells[1], found.changes[1]
    policy = rules_of(columns[base].run, columns[-1].run, rules, apart=True)
    failed = failed_at(f for pair in pairs for f in pair.evidence.failures)
    for place, own in enumerate(columns):
        # what a column has and the base lacks, or the other way round: its values, compared with nothing
        evidence = _lacking(lines, own, place, policy, failed)
        for found in estimates(evidence, policy, statistics, ("", "")) if evidence is not None else ():
            line_of(lines, found, len(columns)).cells[place] = found.cells[1]
    add_aggregates(lines, columns, base, policy.config.gate.confidence, statistics)
    rows = _in_order(lines, columns, base, policy.config)
    chief = {case for pair in pairs for case in pair.chief}
    # of one column alone nothing is decided
    all_ours = bool(pairs) and all(own.ours for own in columns)
    table = CompareTable(
        columns=[_column(own, place, rows, projection) for place, own in enumerate(columns)],
        base=base,
        rows=_in_blocks(rows, base, gate, chief if all_ours else None, by_change=by_change),
        identical=[each.benchmark for each in gate.identical] if gate else [],
        told=[*told, *varied(columns, projection), *(each.sentence() for each in figure_warnings(figures))],
        cautions=cautions(pairs, titles),
        rest=rest(pairs, columns),
        warnings=[*dict.fromkeys(_title(p, titles) + w.sentence() for p in pairs for w in p.evidence.warnings)],
        nothing="",
        confidences=reports.confidences(gate.findings) if gate else "",
        alone=gate is not None,
    )
    return msgspec.structs.replace(table, nothing=nothing(table, pairs))


def _lacking(lines: Lines, chosen: Chosen, place: int, policy: Policy, failed: Callable[..., bool]) -> Evidence | None:
    """Give the values of a column that are in no row yet, each as of base and as of head; None: all are."""
    have = {(row.benchmark, canonical(row.factors), row.metric) for row in lines.values() if row.cells[place]}
    found: list[Located] = []
    for side in SIDES:
        for located in chosen.records:
            e = located.record
            if not isinstance(e, Execution) or e.side != chosen.side or failed(e.benchmark, e.factors):
                continue
            metrics = {n: m for n, m in e.metrics.items() if (e.benchmark, canonical(e.factors), n) not in have}
            if metrics:
                record = msgspec.structs.replace(e, metrics=metrics, side=side)
                found.append(Located(record, located.path, located.line))
    if not found:
        return None
    evidence = gather([Located(Run(), "", 0), *found], policy.config, one=True, studied=False)
    cases = [msgspec.structs.replace(case, decided=True) for case in evidence.cases]
    return msgspec.structs.replace(evidence, cases=cases, looks=[])


def _in_order(lines: Lines, chosen: Sequence[Chosen], base: int, config: Config) -> list[CompareRow]:
    """Put rows in the order of the files; those of runs of perfgate as they are declared, else by name, 9 before 10."""
    order = [chosen[base], *(own for place, own in enumerate(chosen) if place != base)]
    ours = all(own.ours for own in chosen)
    found: list[tuple[str, str]] = []
    for own in order:
        found += [(n, "") for n in names_of(own)] if ours else [(r.benchmark, canonical(r.factors)) for r in own.values]
    declared = [(benchmark.name, "") for benchmark in config.benchmark] if ours else []
    place = {each: number for number, each in enumerate(dict.fromkeys([*found, *declared]))}

    def natural(name: str) -> str:
        return re.sub(r"\d+", lambda number: number[0].zfill(20), name)

    def key(row: CompareRow) -> tuple[object, ...]:
        factors = canonical(row.factors)
        if not ours:
            return (place.get((row.benchmark, factors), len(place)),)
        parts = row.benchmark.split("/")
        owners = (("/".join(parts[:length]), "") for length in range(len(parts), 0, -1))
        first = next((place[name] for name in owners if name in place), len(place))
        return first, natural(row.benchmark), natural(factors)

    return sorted(lines.values(), key=key)


def _in_blocks(
    rows: Sequence[CompareRow], base: int, gate: Report | None, chief: set[CaseId] | None, *, by_change: bool
) -> list[CompareRow]:
    """Put the rows of a metric, statistic, unit and direction together; what a gate would decide comes first.

    chief: what it decides; None: everything.
    """

    def size(row: CompareRow) -> float:
        # a column without a change comes last
        found = [c.estimate for c in row.changes if c]
        sizes = [abs(math.log(each)) if known(each) and each > 0 else -1.0 for each in found]
        return -1.0 if not sizes or min(sizes) < 0 else max(sizes)

    found: dict[tuple[str, ...], list[CompareRow]] = defaultdict(list)
    for row in rows:
        found[row.block].append(row)
    blocks = []
    for own in found.values():
        recorded = chief is not None and not any(CaseId(row.benchmark, row.metric) in chief for row in own)
        every = sorted(own, key=size, reverse=True) if by_change else own
        blocks.append(
            [msgspec.structs.replace(row, recorded=recorded) for row in (*every, *means_of(every, base, gate))]
        )
    return [row for block in sorted(blocks, key=lambda block: block[0].recorded) for row in block]


def _column(own: Chosen, place: int, rows: Sequence[CompareRow], projection: Projection) -> CompareColumn:
    host = (own.run.host or {}).get("hostname") if own.run else None
    every = [(row.metric, cell) for row in rows if (cell := row.cells[place]) is not None]
    cells = [cell for metric, cell in every if metric != BUILD_TIME] or [cell for _, cell in every]
    counts = {
        "build": [cell.builds for cell in cells],
        "execution": [cell.executions for cell in cells],
        "value": [cell.values for cell in cells if cell.values],
    }
    return CompareColumn(
        title=own.title,
        name=own.name,
        side=own.side if own.ours and not projection.by else None,
        commit=own.commit,
        created=own.run.created if own.run else None,
        host=str(host) if host else None,
        counts={level: (min(found), max(found)) for level, found in counts.items() if found},
    )


_KEYS = 4


def varied(columns: Sequence[Chosen], projection: Projection) -> list[str]:
    """Name the keys of which a cell mixes several values, but for those that columns or rows are made of."""
    found: dict[str, None] = {}
    for column in columns:
        cells: dict[tuple[str, ...], set[str]] = defaultdict(set)
        for record in column.values:
            row = record.benchmark, canonical(record.factors)
            for metric in record.metrics if isinstance(record, Execution) else (record.metric,):
                for key, value in record.labels.items():
                    cells[*row, metric, key].add(str(value))
        found |= {key: None for (*_, key), values in cells.items() if len(values) > 1 and key not in projection.named}
    return [f"values vary in {listed(list(map(visible, found)), _KEYS)}"] if found else []


_EARLY = (
    "measured with early stopping: intervals here treat the number of builds as fixed, so they cover somewhat less; "
    "`perfgate decide` allows for it"
)
_FAILURES = 10
_NAMES = 20


def _title(side: ComparedColumn, titles: Sequence[str]) -> str:
    """Name the column that a sentence about base and head is of, where these are not its words."""
    return "" if [*titles] == ["base", "head"] else f"{side.head.title}: "


def cautions(sides: Sequence[ComparedColumn], titles: Sequence[str]) -> list[str]:
    """Say what all changes rest on: first what is of single columns."""
    told: list[str] = []
    for side in sides:
        if side.same and len(sides) > 1:
            told.append(f"{side.base.title} and {side.head.title} are the same measurements: every ratio is 1")
        told += [_title(side, titles) + each.sentence() for each in side.cautions]
    if any(side.apart and not side.alike for side in sides):
        told.append(MEASURED_SEPARATELY.text)
    if any(not side.of_one_run and (stops_early(side.base) or stops_early(side.head)) for side in sides):
        told.append(_EARLY)
    return list(dict.fromkeys(told))


def rest(sides: Sequence[ComparedColumn], chosen: Sequence[Chosen]) -> list[str]:
    """Name what is not in the table: what cannot be compared, and what failed."""
    titles = [own.title for own in chosen]
    unlike = [clip(visible(_title(side, titles) + each.sentence()), 1000) for side in sides for each in side.unlike]
    unmeasured: dict[tuple[str, ...], str] = {}
    for column in chosen:
        if column.ours and (names := column.proved):
            why = f"because base and head run {SameProgram.same}"
            unmeasured[column.name, *names] = f"not measured by {visible(column.name)}, {why}: {named(names, _NAMES)}"
    failed: dict[str, None] = {}
    for side in sides:
        own = side.evidence.failures
        if not _title(side, titles):
            failed |= dict.fromkeys(_failures(own))
            continue
        for which, column in zip(SIDES, (side.base, side.head), strict=True):
            some = [msgspec.structs.replace(f, side=None) for f in own if f.side in (which, None)]
            failed |= dict.fromkeys(f"{column.title}: {said}" for said in _failures(some))
    if not sides:
        records = [located.record for column in chosen for located in column.records]
        own = [msgspec.structs.replace(r, side=None) for r in records if isinstance(r, Failure)]
        failed |= dict.fromkeys(_failures(own))
    said, more = list(failed), len(failed) - _FAILURES
    left = [plural(more, "more failure")] if more > 0 else []
    return [*unlike, *unmeasured.values(), *said[:_FAILURES], *left]


def _failures(found: Sequence[Failure]) -> Iterator[str]:
    for group in failures.grouped(found, by_output=False):
        where = failures.places(group, 3)
        yield failures.heading(group) + (f" ({where})" if where else "")


def nothing(table: CompareTable, sides: Sequence[ComparedColumn]) -> str:
    """Say that there is nothing to compare."""
    every = [column.title for column in table.columns]
    titles = [every[table.base], *(title for place, title in enumerate(every) if place != table.base)]
    if sides and all(side.same for side in sides):
        return f"{joined(titles)} are the same measurements"
    if any(change for row in table.rows for change in row.changes) or (len(table.columns) == 1 and table.rows):
        return ""
    if table.identical:
        return f"all benchmarks run {SameProgram.same}"
    if len(table.columns) == 1:
        return "no values"
    if any(side.unlike for side in sides):
        return f"what {joined(titles)} have in common is in other units or directions"
    failed = any(side.evidence.failures for side in sides)
    shared = f"benchmark in common{' that did not fail' if failed else ''}"
    if len(titles) == 2:
        return f"{joined(titles)} have no {shared}"
    return f"{titles[0]} has no {shared} with {joined(titles[1:])}"
