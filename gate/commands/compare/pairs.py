"""Two columns -> the evidence for comparing them, the first as base, by rules without a threshold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from gate.cli.groups import RulesOptions
from gate.commands.compare.columns import Chosen, of_side
from gate.commands.compare.projection import Projection
from gate.config.rules import Policy, better_of
from gate.config.types import Config, Detectable, Interval
from gate.decide.policy import policy_of
from gate.evidence.completeness import at, build_warnings
from gate.evidence.doubtful import one_measurement
from gate.evidence.gather import gather
from gate.evidence.hosts import run_states, side_differences
from gate.evidence.lines import Located
from gate.evidence.runs import apart, missing_parts, parts_of
from gate.model import SIDES, Build, Evidence, Execution, Failure, Look, Run, Side, SummaryRecord, UserError
from gate.model.case import CaseId, canonical
from gate.model.directions import told_or_known
from gate.model.warnings import AnyWarning, OfRun, typed
from gate.model.warnings.measured import SAME_VALUES, NotComparable
from gate.writing.units import Quantity, Share, to_base

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
    config, replace = policy.config, msgspec.structs.replace
    interval: Interval = config.gate.interval if config.gate.interval != "fieller-moderated" else "auto"
    if apart and interval not in _UNPAIRED:
        interval = "fieller"
    opened = replace(
        config.gate,
        threshold=Share(0.0),
        implausible=Share(0.0),
        floor=Quantity.parse("0"),
        family="none",
        min_builds=2,
        # only whether an interval excludes 1 is asked
        detectable=Detectable(0),
        interval=interval,
        # of two runs no round has both sides on one machine
        sessions="random" if apart else config.gate.sessions,
    )
    benchmarks = [
        replace(own, metric={name: replace(m, threshold=None, floor=None) for name, m in own.metric.items()})
        for own in config.benchmark
    ]
    config = replace(config, gate=opened, override=[], accept=[], benchmark=benchmarks)
    return Policy(config, f"{policy.source}, to compare by", policy.today)


def comparable(records: Sequence[Located], config: Config) -> tuple[list[Located], list[NotComparable]]:
    """Take the metrics away that have one unit or direction on one side and another on the other, and name them.

    config: the rules; a direction that they name is that of both sides.
    """
    measured: dict[CaseId, list[Execution]] = defaultdict(list)
    for e in (r.record for r in records if isinstance(r.record, Execution)):
        for name, metric in e.metrics.items():
            if metric.values:
                measured[CaseId(e.benchmark, name, canonical(e.factors))].append(e)
    found = {key: unlike for key in sorted(measured) if (unlike := _unlike(key, measured[key], config))}
    names: dict[NotComparable, list[str]] = defaultdict(list)
    for key, unlike in found.items():
        names[unlike].append(key.benchmark + at(key))
    kept: list[Located] = []
    for located in records:
        one, own = located.record, located
        if isinstance(one, Execution):
            factors = canonical(one.factors)
            metrics = {n: m for n, m in one.metrics.items() if CaseId(one.benchmark, n, factors) not in found}
            if len(metrics) < len(one.metrics):
                if not any(metric.values for metric in metrics.values()):
                    continue
                own = Located(msgspec.structs.replace(one, metrics=metrics), located.path, located.line)
        kept.append(own)
    return kept, [msgspec.structs.replace(unlike, names=tuple(own)) for unlike, own in names.items()]


def _unlike(key: CaseId, executions: Sequence[Execution], config: Config) -> NotComparable | None:
    if len({e.side for e in executions}) < 2:
        return None
    metrics = [(e.side, e.metrics[key.metric]) for e in executions]
    units = {side: tuple(sorted({to_base(m.unit)[0] for s, m in metrics if s == side})) for side in SIDES}
    if len({*units["base"], *units["head"]}) > 1:
        return NotComparable(key.metric, "unit", units["base"], units["head"], ())
    known = [(side, told_or_known(m.better, key.metric, m.unit)) for side, m in metrics]
    ways = {side: tuple(sorted({better for s, better in known if s == side and better})) for side in SIDES}
    if len({*ways["base"], *ways["head"]}) > 1 and better_of(config, key.benchmark, key.metric) is None:
        return NotComparable(key.metric, "direction", ways["base"], ways["head"], ())
    return None


@dataclass(frozen=True, slots=True, eq=False)
class ComparedColumn:
    """A column and the base: the evidence for comparing them, and what stands beside it."""

    base: Chosen
    head: Chosen
    apart: bool
    """Measured at different times."""
    twice: bool
    """A run of perfgate and itself."""
    policy: Policy
    evidence: Evidence
    unlike: list[NotComparable]
    """What is in another unit or direction on each side."""
    chief: frozenset[CaseId]
    """What the rules decide, at any settings."""
    cautions: Sequence[AnyWarning]
    """How the machines differ, and whether all values are the same."""
    alike: bool
    """All values of base and head are the same."""
    same: bool
    """So certainly that nothing is compared."""

    @property
    def of_one_run(self) -> bool:
        """Whether it is what a gate decides: base and head of one run, each as itself."""
        ours = self.base.ours and self.head.ours and len(self.base.pieces) == 1
        return ours and not (self.apart or self.twice) and (self.base.side, self.head.side) == ("base", "head")


def compared(base: Chosen, head: Chosen, rules: RulesOptions, projection: Projection) -> ComparedColumn:
    """Make the evidence: the first column as base, the second as head, every metric with an interval.

    Raises: UserError: rules that cannot be used, or the same execution twice in one run.
    """
    same = base.inputs is head.inputs
    if not same and base.ours and head.ours:
        # the very same lines; an id alone is easily copied
        lines = [[located.record for located in chosen.inputs.records] for chosen in (base, head)]
        same = bool(lines[0]) and lines[0] == lines[1]
    elif not same:
        same = bool(base.records) and base.values == head.values
    at_other_times = not same if base.ours and head.ours else base.pieces != head.pieces
    twice = same and base.side == head.side and base.ours and base.values == head.values
    # two runs have no rounds, sessions or order in common
    separate = at_other_times or twice
    policy = rules_of(base.run, head.run, rules, apart=separate)
    records = [*_relabelled(base, "base"), *_relabelled(head, "head")]
    kept, unlike = comparable(records, policy.config)
    gone = _measured(records) - _measured(kept)
    # where everything that was measured is there, what is missing has failed
    expected: dict[Side, list[str]] = {
        side: [n for n in names_of(chosen) if n not in gone and projection.wants(n)]
        for side, chosen in zip(SIDES, (base, head), strict=True)
        if projection.whole
    }
    run = Run(benchmarks=expected, turns=base.run is not None and base.run.turns and not separate)
    gathered = gather(
        [Located(run, "", 0), *kept], policy.config, one=twice, separate=not head.ours, studied=False
    )  # fmt: skip
    # nor is there anything between a file and itself, whatever is known of its values
    one = twice or (not base.ours and base.pieces == head.pieces and base.values == head.values)
    evidence = msgspec.structs.replace(
        gathered,
        run=Run(base=base.commit, head=head.commit),
        # what is recorded only has no views
        cases=[msgspec.structs.replace(c, decided=True, turns=c.turns and c.decided) for c in gathered.cases],
        failures=_failures(base, head, gathered.failures, expected, kept),
        new=[],
        looks=[],
        warnings=[*_warnings(base, head), *build_warnings(gathered.builds, None)],
    )
    one = one or one_measurement() in gathered.failures
    doubtful = [warning for warning in gathered.warnings if warning == SAME_VALUES and not one]
    shown = {None, *(c.benchmark for c in evidence.cases)}
    shown |= {r.record.benchmark for r in records if isinstance(r.record, SummaryRecord)}
    of_shown = [] if twice else [r for r in records if getattr(r.record, "benchmark", None) in shown]
    return ComparedColumn(
        base=base,
        head=head,
        apart=at_other_times,
        twice=twice,
        policy=policy,
        evidence=apart(evidence) if separate else evidence,
        unlike=unlike,
        chief=frozenset(CaseId(case.benchmark, case.metric) for case in gathered.cases if case.decided),
        cautions=[*doubtful, *side_differences(of_shown, projection.named)],
        alike=one or bool(doubtful),
        same=one,
    )


def _measured(records: Iterable[Located]) -> set[str | None]:
    """Name the benchmarks and suites of which there is a value."""
    executions = (r.record for r in records if isinstance(r.record, Execution))
    return {name for e in executions for name in (e.benchmark, e.suite)}


def _failures(
    base: Chosen, head: Chosen, gathered: Sequence[Failure], expected: dict[Side, list[str]], kept: Sequence[Located]
) -> list[Failure]:
    """Leave of failures those of a comparison: what one side never had is none."""
    executions = [r.record for r in kept if isinstance(r.record, Execution)]
    sides = [{e.benchmark for e in executions if e.side == side} for side in SIDES]
    # what both were to measure and one lacks is one
    absent = {*expected.get("base", ())}.intersection(expected.get("head", ())) - sides[0].intersection(sides[1])
    lacking: list[Failure] = []
    for side, chosen in zip(SIDES, (base, head), strict=True):
        found = missing_parts(parts_of(chosen.inputs.records))
        lacking += [msgspec.structs.replace(f, side=side) for f in found if f.side in (chosen.side, None)]
    return [
        failure
        for failure in (*gathered, *lacking)
        if (failure.kind != "missing" or failure.benchmark is None or failure.benchmark in absent)
        and failure != one_measurement()
    ]


def _relabelled(chosen: Chosen, side: Side) -> list[Located]:
    """Keep one side of a run under the name of the side it plays, and of its run lines what names the machine."""
    found = []
    for located in chosen.records:
        record = located.record
        if isinstance(record, Run):
            record = Run(host=record.host, created=record.created, tools=record.tools, apart=record.apart)
        elif isinstance(record, (Build, Execution, Failure, SummaryRecord)) and of_side(record, chosen.side):
            record = msgspec.structs.replace(record, side=side)
        else:
            continue
        found.append(Located(record, located.path, located.line))
    return found


def names_of(chosen: Chosen) -> list[str]:
    """List the benchmarks that a run was to measure, but for those that needed no measuring."""
    proved = chosen.proved
    names = (chosen.run.benchmarks or {}).get(chosen.side, []) if chosen.run else []
    return [name for name in names if name not in proved]


def stops_early(chosen: Chosen) -> bool:
    """Return whether measuring could stop early."""
    return any(isinstance(located.record, Look) for located in chosen.inputs.records)


def _warnings(base: Chosen, head: Chosen) -> list[AnyWarning]:
    def told(chosen: Chosen) -> list[AnyWarning]:
        of_run = typed(chosen.run.warnings if chosen.run else ())
        return [*chosen.inputs.warnings, *of_run, *run_states(chosen.inputs.records)]

    if base.inputs is head.inputs:
        return told(head)
    return [OfRun(side, each) for side, own in zip(SIDES, (base, head), strict=True) for each in told(own)]
