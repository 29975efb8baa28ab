"""Two columns -> the evidence for comparing them: the first as base, the second as head."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence, Set
from dataclasses import dataclass

import msgspec

from gate.commands.compare.columns import Chosen, of_side
from gate.config.rules import better_of, matches
from gate.config.types import Config
from gate.directions import told_or_known
from gate.evidence.completeness import at, build_warnings
from gate.evidence.doubtful import one_measurement
from gate.evidence.gather import gather
from gate.evidence.hosts import run_states, side_differences
from gate.evidence.records import Located
from gate.evidence.runs import apart, missing_parts, parts_of
from gate.model import SIDES, Build, Evidence, Execution, Failure, Look, Run, Side, Unsampled
from gate.model.case import CaseId, canonical
from gate.model.warnings import AnyWarning, OfRun, typed
from gate.model.warnings.measured import SAME_VALUES, NotComparable
from gate.units import to_base


def comparable(
    records: Sequence[Located], config: Config
) -> tuple[list[Located], list[NotComparable], Set[str | None]]:
    """Take the metrics away that have one unit or direction on one side and another on the other.

    Args:
        config: the rules; a direction that they name is that of both sides.

    Returns:
        What can be compared, or is of one side alone; what is in several units or directions; the benchmarks and suites
        of which no value is left.
    """
    measured: dict[CaseId, list[Execution]] = defaultdict(list)
    executions = [r.record for r in records if isinstance(r.record, Execution)]
    for e in executions:
        for name, metric in e.metrics.items():
            if metric.values:
                measured[CaseId(e.benchmark, name, canonical(e.factors))].append(e)
    found = {key: unlike for key in sorted(measured) if (unlike := _unlike(key, measured[key], config))}
    names: dict[NotComparable, list[str]] = defaultdict(list)
    for key, unlike in found.items():
        names[unlike].append(key.benchmark + at(key))
    kept: list[Located] = []
    left: set[str | None] = set()
    for located in records:
        one, own = located.record, located
        if isinstance(one, Execution):
            factors = canonical(one.factors)
            metrics = {n: m for n, m in one.metrics.items() if CaseId(one.benchmark, n, factors) not in found}
            if len(metrics) < len(one.metrics):
                own = Located(msgspec.structs.replace(one, metrics=metrics), located.path, located.line)
                if not any(metric.values for metric in metrics.values()):
                    continue
            left |= {one.benchmark, one.suite}
        kept.append(own)
    gone = {name for e in executions for name in (e.benchmark, e.suite)} - left
    return kept, [msgspec.structs.replace(unlike, names=tuple(own)) for unlike, own in names.items()], gone


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
class Pair:
    """What is compared."""

    base: Chosen
    head: Chosen
    apart: bool
    """Measured at different times."""
    twice: bool
    """A run of perfgate and itself."""
    early: bool
    """Measuring could stop early."""

    @property
    def sides(self) -> Iterator[tuple[Side, Chosen]]:
        """Yield each column with the side that it plays."""
        yield "base", self.base
        yield "head", self.head


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """The evidence for comparing a column with the base, and what stands beside it."""

    pair: Pair
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


def pair_of(base: Chosen, head: Chosen) -> Pair:
    """Bring two columns together."""
    same = base.inputs is head.inputs
    if not same and base.ours and head.ours:
        # the very same lines; an id alone is easily copied
        records = [[located.record for located in chosen.inputs.records] for chosen in (base, head)]
        same = bool(records[0]) and records[0] == records[1]
    elif not same:
        same = bool(base.records) and base.values == head.values
    apart = not same if base.ours and head.ours else base.pieces != head.pieces
    twice = same and base.side == head.side and base.ours and base.values == head.values
    early = any(isinstance(r.record, Look) for chosen in (base, head) for r in chosen.inputs.records)
    return Pair(base, head, apart=apart, twice=twice, early=early)


def compared(
    pair: Pair, config: Config, *, whole: bool, select: Sequence[str] = (), away: Collection[str] = ()
) -> Compared:
    """Make the evidence: the first column as base, the second as head, every metric with an interval.

    Args:
        whole: everything that was measured is there, so that what is missing has failed.
        select: globs of the benchmarks that are.
        away: keys by which columns or rows are made, whose differences nobody needs to be told.

    Raises:
        EvidenceError: the same execution twice in one run.
    """
    records = [*_relabelled(pair.base, "base"), *_relabelled(pair.head, "head")]
    kept, unlike, gone = comparable(records, config)
    expected: dict[Side, list[str]] = {
        side: [n for n in names_of(chosen) if n not in gone and any(matches(glob, n) for glob in select or ["*"])]
        for side, chosen in (pair.sides if whole else ())
    }
    # of one run alone are base and head neighbours in time
    turns = pair.base.run is not None and pair.base.run.turns and not (pair.apart or pair.twice)
    run = Located(Run(benchmarks=expected, turns=turns), "", 0)
    gathered = gather([run, *kept], config, one=pair.twice, separate=not pair.head.ours, studied=False)
    executions = [r.record for r in kept if isinstance(r.record, Execution)]
    sides = [{e.benchmark for e in executions if e.side == side} for side in SIDES]
    # what one side never had is no failure of a comparison, but what both were to measure and one lacks is
    absent = {*expected.get("base", ())}.intersection(expected.get("head", ())) - sides[0].intersection(sides[1])
    lacking: list[Failure] = []
    for side, chosen in pair.sides:
        found = missing_parts(parts_of(chosen.inputs.records))
        lacking += [msgspec.structs.replace(f, side=side) for f in found if f.side in (chosen.side, None)]
    failures = [
        failure
        for failure in (*gathered.failures, *lacking)
        if (failure.kind != "missing" or failure.benchmark is None or failure.benchmark in absent)
        and failure != one_measurement()
    ]
    evidence = msgspec.structs.replace(
        gathered,
        run=Run(base=pair.base.commit, head=pair.head.commit),
        # what is recorded only has no views
        cases=[msgspec.structs.replace(c, decided=True, turns=c.turns and c.decided) for c in gathered.cases],
        failures=failures,
        new=[],
        looks=[],
        warnings=[*_warnings(pair), *build_warnings(gathered.builds, None)],
    )
    chief = frozenset(CaseId(case.benchmark, case.metric) for case in gathered.cases if case.decided)
    same = one_measurement() in gathered.failures
    doubtful = [warning for warning in gathered.warnings if warning == SAME_VALUES]
    unsampled = (r.record.benchmark for r in records if isinstance(r.record, Unsampled))
    shown = {None, *(c.benchmark for c in evidence.cases), *unsampled}
    of_shown = [] if pair.twice else [r for r in records if getattr(r.record, "benchmark", None) in shown]
    # two runs have no rounds, sessions or order in common
    separated = apart(evidence) if pair.apart or pair.twice else evidence
    return Compared(
        pair=pair,
        evidence=separated,
        unlike=unlike,
        chief=chief,
        cautions=[*doubtful, *side_differences(of_shown, away)],
        alike=same or pair.twice or bool(doubtful),
        same=same,
    )


def _relabelled(chosen: Chosen, side: Side) -> list[Located]:
    """Keep one side of a run under the name of the side it plays, and of its run lines what names the machine."""
    found = []
    for located in chosen.records:
        record = located.record
        if isinstance(record, Run):
            record = Run(host=record.host, created=record.created, tools=record.tools, apart=record.apart)
        elif isinstance(record, (Build, Execution, Failure, Unsampled)) and of_side(record, chosen.side):
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


def _warnings(pair: Pair) -> list[AnyWarning]:
    if pair.base.inputs is pair.head.inputs:
        return [*_told(pair.head), *run_states(pair.head.inputs.records)]
    found: list[AnyWarning] = []
    for side, chosen in pair.sides:
        found += [OfRun(side, each) for each in (*_told(chosen), *run_states(chosen.inputs.records))]
    return found


def _told(chosen: Chosen) -> list[AnyWarning]:
    return [*chosen.inputs.warnings, *typed(chosen.run.warnings if chosen.run else ())]
