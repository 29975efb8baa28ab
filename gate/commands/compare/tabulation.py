"""Columns -> the table: every column estimated against the base, with what has to be said beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from gate.cli.groups import RulesOptions
from gate.commands.compare.columns import Chosen, Columns
from gate.commands.compare.estimate import estimates, is_one_run, walk_of
from gate.commands.compare.keys import Item, Key, require_known
from gate.commands.compare.pairs import Compared, compared, names_of, pair_of
from gate.commands.compare.rows import GroupOf, Lines, RowKey, add_aggregates, add_alone, add_pair, lacking, means_of
from gate.commands.compare.surroundings import cautions, differing, nothing, rest, varied, warnings
from gate.commands.compare.table import Block, Change, Column, Row, Span, Table, natural
from gate.config.rules import Policy
from gate.config.types import Config, Detectable, Interval
from gate.decide.overall import overall_of, without_case
from gate.decide.policy import policy_of
from gate.evidence.aggregates import figure_warnings, figures_of, with_figures
from gate.evidence.completeness import failed_at
from gate.evidence.gather import gather
from gate.evidence.records import Located
from gate.model import Better, Finding, Overall, Report, Run, UserError
from gate.model.case import MEAN, CaseId, canonical
from gate.model.names import BUILD_TIME
from gate.planning.deciding import decide_by
from gate.units import Quantity, Share
from gate.words import reports


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


_OF_GATES = ("threshold", "floor", "family", "min_builds", "inconclusive", "missing", "implausible")
_UNPAIRED: tuple[Interval, ...] = ("fieller", "fieller-kj", "bootstrap", "bootstrap-bca")


def rules_of(base: Run | None, head: Run | None, options: RulesOptions, *, apart: bool) -> Policy:
    """Settle the rules: those that the options name, otherwise those of the runs; head's where they differ.

    What is left of them is confidence, interval, statistics, units, directions and exactness. The threshold is 0, there
    is no floor and no family: a finding's verdict is regression or improvement when its own interval excludes 1.

    Args:
        apart: the two were measured at different times, so that no round has both and nothing can be paired.

    Raises:
        UserError: rules that cannot be read, or a rule of gates that was set for this command.
    """
    for each in options.sets:
        key = each.partition("=")[0].strip()
        if key in {f"gate.{name}" for name in _OF_GATES} or key.partition(".")[0] in ("override", "accept"):
            raise UserError(f"--set {key}: compare has no gate and shows every change; use `perfgate decide`")
    # head's rules, and the benchmarks of both
    configs = [run.config for run in (head, base) if run is not None and run.config is not None]
    named = [
        {str(b.get("name")) if isinstance(b, dict) else "": b for b in each.get("benchmark") or ()} for each in configs
    ]
    together = None
    if configs:
        together = Run(config={**configs[0], "benchmark": [*{**named[0], **named[-1], **named[0]}.values()]})
    policy = policy_of(together, options)
    return Policy(_opened(policy.config, apart=apart), f"{policy.source}, to compare by", policy.today)


def _opened(config: Config, *, apart: bool) -> Config:
    gate, replace = config.gate, msgspec.structs.replace
    interval: Interval = gate.interval if gate.interval != "fieller-moderated" else "auto"
    if apart and interval not in _UNPAIRED:
        interval = "fieller"
    opened = replace(
        gate,
        threshold=Share(0.0),
        implausible=Share(0.0),
        floor=Quantity.parse("0"),
        family="none",
        min_builds=2,
        # only whether an interval excludes 1 is asked
        detectable=Detectable(0),
        interval=interval,
        # of two runs no round has both sides on one machine
        sessions="random" if apart else gate.sessions,
    )
    benchmarks = [
        replace(own, metric={name: replace(m, threshold=None, floor=None) for name, m in own.metric.items()})
        for own in config.benchmark
    ]
    return replace(config, gate=opened, override=[], accept=[], benchmark=benchmarks)
