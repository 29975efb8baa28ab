"""Two columns -> the evidence for comparing them: the first as base, the second as head."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence, Set
from dataclasses import dataclass

import msgspec

from gate.commands.compare.columns import Chosen, of_side
from gate.commands.compare.unpaired import Unpaired, comparable, setting_differences, unpaired
from gate.config.rules import matches
from gate.config.types import Config
from gate.evidence.apart import apart, sessions_from_0
from gate.evidence.completeness import build_warnings
from gate.evidence.gather import Sampler, gather
from gate.evidence.hosts import run_states, side_differences
from gate.evidence.looks import looks_of
from gate.evidence.records import Located
from gate.evidence.repeated import one_measurement
from gate.evidence.runs import config_of, missing_parts, parts_of
from gate.model import (
    Build,
    Case,
    Evidence,
    Execution,
    Failure,
    Look,
    Record,
    Run,
    Sample,
    Side,
    Unsampled,
)
from gate.model.case import CaseId
from gate.model.warnings import AnyWarning, OfRun, typed
from gate.model.warnings.measured import NotComparable, SameValues


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """What is compared."""

    base: Chosen
    head: Chosen
    apart: bool
    """Measured at different times."""
    twice: bool
    """A run of perfgate and itself."""
    rounds: int | None
    """Those that every benchmark has where measuring could stop early; None: it could not."""


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """The evidence for comparing, and what stands beside it."""

    evidence: Evidence
    whole: Evidence
    """The same evidence for the geometric means: builds numbered as they were measured, so that those count that all
    benchmarks have.
    """
    alone: Unpaired
    """What has no partner."""
    unlike: list[NotComparable]
    """What is in another unit or direction on each side."""
    chief: frozenset[CaseId]
    """What the rules decide, at any settings."""
    cautions: list[AnyWarning]
    """How the machines differ, and whether all values are the same."""
    alike: bool
    """All values of base and head are the same."""
    same: bool
    """So certainly that nothing is compared."""


def pair_of(base: Chosen, head: Chosen) -> Pair:
    """Bring two columns together."""
    same = base.inputs is head.inputs or _same(base, head)
    apart = not same if base.ours and head.ours else base.pieces != head.pieces
    twice = same and base.side == head.side and base.ours and _values(base) == _values(head)
    rounds = min([*_first_looks(base), *_first_looks(head)], default=None)
    return Pair(base, head, apart=apart, twice=twice, rounds=rounds)


def _first_looks(chosen: Chosen) -> list[int]:
    """Give the first look of each session, before which no benchmark has stopped; its own first round sets it."""
    lines: list[Record] = []
    sessions: dict[int, list[Record]] = defaultdict(list)
    for located in chosen.inputs.records:
        record = located.record
        if isinstance(record, Look):
            lines.append(record)
        elif isinstance(record, (Build, Execution)):
            sessions[record.session].append(record)
    if not lines:
        return []
    config = config_of(chosen.run)
    return [look for own in sessions.values() for look in looks_of(chosen.run, [*lines, *own], config)[:1]]


def _same(one: Chosen, other: Chosen) -> bool:
    """Return whether two files hold the very same lines; an id alone is easily copied."""
    if one.ours and other.ours:
        records = [[located.record for located in chosen.inputs.records] for chosen in (one, other)]
        return bool(records[0]) and records[0] == records[1]
    return bool(one.records) and _values(one) == _values(other)


def _values(chosen: Chosen) -> list[Record]:
    return [located.record for located in chosen.records if isinstance(located.record, (Execution, Unsampled))]


def compared(
    pair: Pair,
    config: Config,
    *,
    whole: bool,
    select: Sequence[str] = (),
    sampled: Sampler | None = None,
    away: Collection[str] = (),
) -> Compared:
    """Make the evidence: the first column as base, the second as head, every metric with an interval.

    Args:
        whole: everything that was measured is there, so that what is missing has failed.
        select: globs of the benchmarks that are.
        sampled: makes samples without arrays, of which nothing is asked but their values.
        away: keys by which columns or rows are made, whose differences nobody needs to be told.

    Raises:
        EvidenceError: the same execution twice in one run.
    """
    records = [*_relabelled(pair.base, "base"), *_relabelled(pair.head, "head")]
    found = comparable(records, config)
    expected = _expected(pair, found.gone, select) if whole else {}
    # of one run alone are base and head neighbours in time
    turns = pair.base.run is not None and pair.base.run.turns and not (pair.apart or pair.twice)
    run = Located(Run(benchmarks=expected, turns=turns), "", 0)
    gathered = gather(
        [run, *found.records], config, one=pair.twice, separate=not pair.head.ours, studied=False, sampled=sampled
    )
    executions = [r.record for r in found.records if isinstance(r.record, Execution)]
    promised = {*expected.get("base", ())}.intersection(expected.get("head", ()))
    alone = unpaired(executions, [*gathered.failures, *_missing_parts(pair)], promised)
    evidence = msgspec.structs.replace(
        gathered,
        run=Run(base=pair.base.commit, head=pair.head.commit, commands=_commands(pair)),
        # what is recorded only has no views
        cases=[msgspec.structs.replace(c, decided=True, turns=c.turns and c.decided) for c in gathered.cases],
        failures=[f for f in alone.failures if f != one_measurement()],
        new=alone.only["head"],
        looks=[],
        warnings=[
            *setting_differences(pair.base.run, pair.head.run),
            *_warnings(pair),
            *build_warnings(gathered.builds, None),
        ],
    )
    chief = frozenset(CaseId(case.benchmark, case.metric) for case in gathered.cases if case.decided)
    same = one_measurement() in gathered.failures
    doubtful = [warning for warning in gathered.warnings if isinstance(warning, SameValues)]
    cautions = [*doubtful, *([] if pair.twice else _machines(records, evidence.cases, away))]
    # two runs have no rounds, sessions or order in common
    separated = apart(evidence) if sampled is None and (pair.apart or pair.twice) else evidence
    return Compared(
        evidence=separated,
        whole=_whole(evidence, pair) if sampled is None else evidence,
        alone=alone,
        unlike=found.unlike,
        chief=chief,
        cautions=cautions,
        alike=same or pair.twice or bool(doubtful),
        same=same,
    )


def _whole(evidence: Evidence, pair: Pair) -> Evidence:
    """Keep the rounds that every benchmark has, where measuring could stop early."""
    from gate.stats.subsample import of_rounds

    def kept(sample: Sample) -> Sample:
        first = of_rounds(sample, pair.rounds)
        found = first if len(first.values) else sample
        return sessions_from_0(found) if pair.apart else found

    cases = [msgspec.structs.replace(c, base=kept(c.base), head=kept(c.head)) for c in evidence.cases]
    return msgspec.structs.replace(evidence, cases=cases)


def _machines(records: Sequence[Located], cases: Sequence[Case], away: Collection[str]) -> list[AnyWarning]:
    aggregates = (r.record.benchmark for r in records if isinstance(r.record, Unsampled))
    compared = {None, *(case.benchmark for case in cases), *aggregates}
    return [*side_differences([r for r in records if getattr(r.record, "benchmark", None) in compared], away)]


def _relabelled(chosen: Chosen, side: Side) -> list[Located]:
    """Keep one side of a run under the name of the side it plays, and of its run lines what names the machine."""
    found = []
    for located in chosen.records:
        record = located.record
        if isinstance(record, Run):
            kept = Run(host=record.host, created=record.created, tools=record.tools, apart=record.apart)
            found.append(Located(kept, located.path, located.line))
        elif isinstance(record, (Build, Execution, Failure, Unsampled)) and of_side(record, chosen.side):
            found.append(Located(msgspec.structs.replace(record, side=side), located.path, located.line))
    return found


def _expected(pair: Pair, gone: Set[str | None], select: Sequence[str]) -> dict[Side, list[str]]:
    sides: list[tuple[Side, Chosen]] = [("base", pair.base), ("head", pair.head)]

    def wanted(name: str) -> bool:
        return name not in gone and (not select or any(matches(glob, name) for glob in select))

    return {side: [name for name in names_of(chosen) if wanted(name)] for side, chosen in sides}


def names_of(chosen: Chosen) -> list[str]:
    """List the benchmarks that a run was to measure, but for those that needed no measuring."""
    proved = chosen.proved
    names = (chosen.run.benchmarks or {}).get(chosen.side, []) if chosen.run else []
    return [name for name in names if name not in proved]


def _missing_parts(pair: Pair) -> list[Failure]:
    sides: list[tuple[Chosen, Side]] = [(pair.base, "base"), (pair.head, "head")]
    return [
        msgspec.structs.replace(failure, side=side)
        for chosen, side in sides
        for failure in missing_parts(parts_of(chosen.inputs.records))
        if failure.side in (chosen.side, None)
    ]


def _commands(pair: Pair) -> dict[str, str] | None:
    both = [chosen.run.commands or {} for chosen in (pair.base, pair.head) if chosen.run is not None]
    return {name: command for commands in both for name, command in commands.items()} or None


def _warnings(pair: Pair) -> list[AnyWarning]:
    if pair.base.inputs is pair.head.inputs:
        return [*_told(pair.head), *run_states(pair.head.inputs.records)]
    found: list[AnyWarning] = []
    sides: list[tuple[Side, Chosen]] = [("base", pair.base), ("head", pair.head)]
    for side, chosen in sides:
        found += [OfRun(side, each) for each in _told(chosen)]
        found += [msgspec.structs.replace(event, run=side) for event in run_states(chosen.inputs.records)]
    return found


def _told(chosen: Chosen) -> list[AnyWarning]:
    return [*chosen.inputs.warnings, *typed(chosen.run.warnings if chosen.run else ())]
