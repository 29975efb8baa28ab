"""Columns -> the table: every column estimated against the base, with what has to be said around the rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from gate.cli.groups import RulesOptions
from gate.commands.compare.columns import Chosen, Columns
from gate.commands.compare.estimate import estimates, is_one_run, rules_of, walk_of
from gate.commands.compare.keys import Item, Key, require_known
from gate.commands.compare.pairs import Compared, compared, names_of, pair_of
from gate.commands.compare.projection import Projection
from gate.commands.compare.rows import GroupOf, Lines, RowKey, add_aggregates, add_alone, add_pair, lacking, means_of
from gate.commands.compare.table import Block, Change, Column, Row, Span, Table, natural
from gate.config.types import Config
from gate.decide.overall import overall_of, without_case
from gate.decide.policy import policy_of
from gate.evidence.aggregates import figure_warnings, figures_of, with_figures
from gate.evidence.completeness import failed_at
from gate.evidence.gather import gather
from gate.evidence.hosts import is_fact
from gate.evidence.records import Located
from gate.evidence.repeated import one_measurement
from gate.model import Better, Execution, Failure, Finding, Overall, Report, Run
from gate.model.case import MEAN, CaseId, canonical
from gate.model.names import BUILD_TIME
from gate.model.reasons import SameProgram
from gate.model.warnings.measured import MEASURED_SEPARATELY
from gate.planning.deciding import decide_by
from gate.words import failures, reports
from gate.writing.phrases import listed, named
from gate.writing.plain import clip, visible


class _Made(msgspec.Struct, eq=False, kw_only=True):
    """The table while it is made, and what it is made of."""

    columns: Columns
    base: int
    rules: RulesOptions
    statistics: Sequence[str]
    group_of: GroupOf
    lines: Lines = {}
    sides: list[Compared] = []
    means: dict[int, tuple[Sequence[Overall], int | None]] = {}
    chief: set[CaseId] = set()
    findings: list[Finding] = []
    gate: Report | None = None


def tabulated(
    columns: Columns, base: int, rules: RulesOptions, statistics: Sequence[str], group: Sequence[Key]
) -> Table:
    """Compare every column with the base.

    statistics: of all metrics; (): what the rules name. group: keys of the geometric means; (): suites.

    Raises:
        UserError: rules that cannot be read, or files that contradict each other.
    """
    figures = figures_of(own.records for own in columns.found)
    if figures:
        found = [msgspec.structs.replace(own, records=with_figures(own.records, figures)) for own in columns.found]
        columns = msgspec.structs.replace(columns, found=found)
    chosen = columns.found
    group_of = _grouping(group, chosen)
    made = _Made(columns=columns, base=base, rules=rules, statistics=statistics, group_of=group_of)
    for place in range(len(chosen)):
        if place != base:
            _add(made, place)
    policy = rules_of(chosen[base].run, chosen[-1].run, rules, apart=True)
    for place, own in enumerate(chosen):
        failed = failed_at(f for side in made.sides for f in side.evidence.failures)
        left = [
            r for r in own.records if not failed(getattr(r.record, "benchmark", None), getattr(r.record, "factors", {}))
        ]
        records = lacking(made.lines, msgspec.structs.replace(own, records=left), place)
        if records:
            evidence = gather([Located(Run(), "", 0), *records], policy.config, one=True, studied=False)
            cases = [msgspec.structs.replace(case, decided=True) for case in evidence.cases]
            evidence = msgspec.structs.replace(evidence, cases=cases, looks=[])
            add_alone(made.lines, estimates(evidence, policy, statistics), place, len(chosen))
    add_aggregates(made.lines, chosen, base, policy.config.gate.confidence, statistics)
    _order(made, chosen, base, policy.config)
    everywhere, mixed = varied(chosen, columns.projection)
    for key, row in made.lines.items():
        row.notes = tuple(mixed.get((key.benchmark, key.factors), ()))
    nowhere, identical = [None] * (len(chosen) - 1), []
    for each in made.gate.identical if made.gate else ():
        why = (each.reason.sentence(),)
        same = Change(estimate=None, confidence=0.95, method="none", shown="identical", notes=why)
        row = Row(
            kind="benchmark", benchmark=each.benchmark, factors={}, cells=[None, *nowhere], changes=[*nowhere, same]
        )
        identical.append(row)
    table = Table(
        columns=[_column(own, place, made) for place, own in enumerate(chosen)],
        base=base,
        blocks=_blocks(made, chosen, base),
        identical=identical,
        told=[
            *columns.told,
            *differing(chosen, columns.projection),
            *everywhere,
            *(each.sentence() for each in figure_warnings(figures)),
        ],
        cautions=cautions(made.sides, chosen),
        rest=rest(made.sides, chosen),
        warnings=warnings(made.sides, chosen),
        nothing="",
        confidences=reports.confidences(made.findings) if made.gate and made.findings else "",
        alone=made.gate is not None,
    )
    return msgspec.structs.replace(table, nothing=nothing(table, made.sides))


def _grouping(keys: Sequence[Key], chosen: Sequence[Chosen]) -> GroupOf:
    labels: dict[tuple[str, str], Mapping[str, Any]] = {}
    for record in (record for own in chosen for record in own.values) if keys else ():
        labels.setdefault((record.benchmark, canonical(record.factors)), record.labels | record.factors)
    require_known(keys, [Item(benchmark, own) for (benchmark, _), own in labels.items()], "--group")

    def group_of(benchmark: str, factors: Mapping[str, Any]) -> str | None:
        if not keys:
            first, slash, _ = benchmark.partition("/")
            return first if slash else None
        item = Item(benchmark, {**labels.get((benchmark, canonical(factors)), {}), **factors})
        return " ".join(value for key in keys if (value := key.value(item)) is not None) or None

    return group_of


def _add(made: _Made, place: int) -> None:
    chosen = made.columns.found
    base, own = chosen[made.base], chosen[place]
    pair = pair_of(base, own)
    policy = rules_of(base.run, own.run, made.rules, apart=pair.apart or pair.twice)
    projection = made.columns.projection
    found = compared(pair, policy.config, whole=projection.whole, select=projection.benchmarks, away=projection.named)
    # base and head of one run, each as itself: as `perfgate decide` decides it
    gate = None
    if is_one_run(pair):
        gate = decide_by(pair.base.inputs, policy_of(base.run, made.rules), made.rules).report
    made.gate = gate or made.gate
    estimated = estimates(found.evidence, policy, made.statistics, gate)
    # with one build on a side no geometric mean has an interval
    builds = [[len(case.base.builds), len(case.head.builds)] for case in found.whole.cases]
    means: list[Overall] = []
    if builds and all(max(own) > 1 for own in zip(*builds, strict=True)):
        walked, design = walk_of(found.whole, policy, MEAN)
        whole = without_case(found.whole)
        means = overall_of(walked.judged, whole, design, lambda case: made.group_of(case.benchmark, case.factors))
    rounds = pair.rounds
    if gate is not None:
        decided = {(o.group, o.metric): o for o in gate.overall}
        means = [decided.get((each.group, each.metric), each) for each in means]
        level = next((o for o in means if o.level == "build"), None)
        rounds = level.units if level is not None and rounds is not None else rounds
    made.means[place] = means, rounds
    made.sides.append(found)
    made.chief |= found.chief
    made.findings += [each.finding for each in estimated if each.finding is not None]
    add_pair(made.lines, estimated, made.base, place, [each.title for each in chosen])


def _order(made: _Made, chosen: Sequence[Chosen], base: int, config: Config) -> None:
    """Put rows in the order of the files; those of runs of perfgate as they are declared, else by name, 9 before 10."""
    order = [chosen[base], *(own for place, own in enumerate(chosen) if place != base)]
    ours = all(own.ours for own in chosen)
    named: list[tuple[str, str]] = []
    for own in order:
        named += [(n, "") for n in names_of(own)] if ours else [(r.benchmark, canonical(r.factors)) for r in own.values]
    declared = [(benchmark.name, "") for benchmark in config.benchmark] if ours else []
    place = {each: number for number, each in enumerate(dict.fromkeys([*named, *declared]))}

    def key(row: RowKey) -> tuple[object, ...]:
        if not ours:
            return (place.get((row.benchmark, row.factors), len(place)),)
        parts = row.benchmark.split("/")
        owners = (("/".join(parts[:length]), "") for length in range(len(parts), 0, -1))
        first = next((place[name] for name in owners if name in place), len(place))
        return first, natural(row.benchmark), natural(row.factors)

    made.lines = dict(sorted(made.lines.items(), key=lambda each: key(each[0])))


def _blocks(made: _Made, chosen: Sequence[Chosen], base: int) -> list[Block]:
    """Arrange all rows by metric, statistic, unit and direction; what a gate would decide comes first."""
    found: dict[tuple[str, str, str, Better | None], dict[RowKey, Row]] = {}
    for key, row in made.lines.items():
        found.setdefault((key.metric, key.statistic, key.unit, key.better), {})[key] = row
    blocks = []
    # of one column alone nothing is decided
    all_ours = made.sides and all(own.ours for own in chosen)
    for rows in found.values():
        key = next(iter(rows))
        decided = not all_ours or any(CaseId(own.benchmark, key.metric) in made.chief for own in rows)
        blocks.append(
            Block(
                metric=key.metric, statistic=key.statistic, unit=key.unit, better=key.better, recorded=not decided,
                rows=[*rows.values(), *means_of([*rows.values()], key, base, made.means, made.group_of)],
            )
        )  # fmt: skip
    return sorted(blocks, key=lambda block: block.recorded)


def _column(own: Chosen, place: int, made: _Made) -> Column:
    host = (own.run.host or {}).get("hostname") if own.run else None
    every = [(key.metric, cell) for key, row in made.lines.items() if (cell := row.cells[place]) is not None]
    cells = [cell for metric, cell in every if metric != BUILD_TIME] or [cell for _, cell in every]
    counts = {
        "build": [cell.builds for cell in cells],
        "execution": [cell.executions for cell in cells],
        "value": [cell.values for cell in cells if cell.values],
    }
    return Column(
        title=own.title,
        name=own.name,
        side=own.side if own.ours and not made.columns.projection.by else None,
        commit=own.commit,
        created=own.run.created if own.run else None,
        host=str(host) if host else None,
        counts={level: Span(min(found), max(found)) for level, found in counts.items() if found},
    )


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
        told.append(MEASURED_SEPARATELY.text)
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
