"""Columns -> the table: every column estimated against the base, with what has to be said around the rows."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence

import msgspec

from gate.cli.groups import RulesOptions
from gate.commands.compare.columns import Chosen, Columns
from gate.commands.compare.estimate import estimates, is_one_run, rules_of
from gate.commands.compare.pairs import Compared, compared, names_of, pair_of
from gate.commands.compare.projection import Projection
from gate.commands.compare.rows import Lines, RowKey, add_aggregates, add_alone, add_pair, lacking, means_of
from gate.commands.compare.table import Block, Column, Row, Table, change_of, natural
from gate.config.types import Config
from gate.decide.policy import policy_of
from gate.evidence.aggregates import figure_warnings, figures_of, with_figures
from gate.evidence.completeness import failed_at
from gate.evidence.doubtful import one_measurement
from gate.evidence.gather import gather
from gate.evidence.records import Located
from gate.model import Better, Execution, Failure, Finding, Report, Run
from gate.model.case import CaseId, canonical
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
    lines: Lines = {}
    sides: list[Compared] = []
    chief: set[CaseId] = set()
    findings: list[Finding] = []
    gate: Report | None = None


def tabulated(columns: Columns, base: int, rules: RulesOptions, statistics: Sequence[str], *, by_change: bool) -> Table:
    """Compare every column with the base.

    statistics: of all metrics; (): what the rules name. by_change: with the largest changes of each block first.

    Raises:
        UserError: rules that cannot be read, or files that contradict each other.
    """
    figures = figures_of(own.records for own in columns.found)
    if figures:
        found = [msgspec.structs.replace(own, records=with_figures(own.records, figures)) for own in columns.found]
        columns = msgspec.structs.replace(columns, found=found)
    chosen = columns.found
    made = _Made(columns=columns, base=base, rules=rules, statistics=statistics)
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
    table = Table(
        columns=[_column(own, place, made) for place, own in enumerate(chosen)],
        base=base,
        blocks=_blocks(made, chosen, base, by_change=by_change),
        identical=[each.benchmark for each in made.gate.identical] if made.gate else [],
        told=[
            *columns.told,
            *varied(chosen, columns.projection),
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


def _blocks(made: _Made, chosen: Sequence[Chosen], base: int, *, by_change: bool) -> list[Block]:
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
        every = sorted(rows.values(), key=_by_change) if by_change else [*rows.values()]
        blocks.append(
            Block(
                metric=key.metric, statistic=key.statistic, unit=key.unit, better=key.better, recorded=not decided,
                rows=[*every, *means_of(every, key, base, made.gate)],
            )
        )  # fmt: skip
    return sorted(blocks, key=lambda block: block.recorded)


def _by_change(row: Row) -> tuple[int, float]:
    size = change_of(row)
    return (0, -size) if math.isfinite(size) else (1, 0.0)


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
    if any(side.pair.early and not is_one_run(side.pair) for side in sides):
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
