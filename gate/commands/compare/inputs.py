"""Two runs -> the evidence for comparing one side of each: A's as base, B's as head."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence, Set
from dataclasses import dataclass

import msgspec

from gate.commands.compare.unpaired import Unpaired, comparable, setting_differences, unpaired
from gate.config.rules import matches
from gate.config.types import Config
from gate.evidence.apart import apart, sessions_from_0
from gate.evidence.completeness import build_warnings
from gate.evidence.gather import gather
from gate.evidence.hosts import run_states, side_differences
from gate.evidence.inputs import Inputs, read_inputs
from gate.evidence.looks import looks_of
from gate.evidence.records import Located
from gate.evidence.runs import config_of, missing_parts, parts_of, run_of
from gate.evidence.sameness import identical
from gate.model import (
    Build,
    Case,
    Commit,
    Evidence,
    Execution,
    Failure,
    Look,
    Record,
    Run,
    Sample,
    Side,
    UserError,
)
from gate.model.case import CaseId
from gate.model.warnings import AnyWarning, OfRun, typed
from gate.model.warnings.hosts import SidesApart, SidesMixed
from gate.model.warnings.measured import NotComparable
from gate.stats.subsample import of_rounds

_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """One side of one run."""

    name: str
    """As the user named the run."""
    side: Side
    inputs: Inputs
    run: Run | None

    @property
    def commit(self) -> Commit | None:
        """What was measured."""
        return None if self.run is None else self.run.base if self.side == "base" else self.run.head

    @property
    def proved(self) -> list[str]:
        """Benchmarks that are the same on both sides of the run, so that it has no values of them."""
        return [same.benchmark for same in identical(self.inputs.records, self.run)]


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """What is compared."""

    base: Chosen
    head: Chosen
    apart: bool
    """Measured at different times."""
    twice: bool
    """The very same measurements."""
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
    hosts: list[SidesApart | SidesMixed]
    """How the machines differ."""


def read_pair(runs: Sequence[str], base: Side | None, head: Side | None) -> Pair:
    """Read the runs to be compared; of one alone base and head.

    Args:
        base, head: which side of the first and of the second run; None: head, where there is one.

    Raises:
        UserError: a file that cannot be read, standard input twice, or a side that is not there.
    """
    if len(runs) == 2 and runs[0] == runs[1] == "-":
        raise UserError("only one of the two runs can come from standard input")
    first = read_inputs(runs[:1])
    second = first if len(set(runs)) == 1 else read_inputs(runs[1:])
    same = second is first or _same(first, second)
    a = _chosen(runs[0], first, base or ("base" if len(runs) == 1 else None))
    b = _chosen(runs[-1], first if same else second, head or ("head" if len(runs) == 1 else None))
    rounds = min([*_first_looks(a), *_first_looks(b)], default=None)
    return Pair(a, b, apart=not same, twice=same and a.side == b.side, rounds=rounds)


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


def _same(one: Inputs, other: Inputs) -> bool:
    """Return whether two files hold the very same lines; an id alone is easily copied."""
    records = [[located.record for located in inputs.records] for inputs in (one, other)]
    return bool(records[0]) and records[0] == records[1]


def _chosen(name: str, inputs: Inputs, side: Side | None) -> Chosen:
    has = {r.record.side for r in inputs.records if isinstance(r.record, Execution)}
    shown = "standard input" if name == "-" else name
    if side is not None and has and side not in has:
        raise UserError(f"{shown}: has no measurements of {side}, only of {' and '.join(has)}")
    found: Side = side or ("base" if has == {"base"} else "head")
    return Chosen(shown, found, inputs, run_of(inputs.records))


def compared(pair: Pair, config: Config, select: Sequence[str], metrics: Sequence[str]) -> Compared:
    """Make the evidence: A's side as base, B's as head, every metric with an interval.

    Args:
        select, metrics: globs of benchmarks and of metrics; the others are left out.

    Raises:
        EvidenceError: the same execution twice in one run.
        UserError: nothing has such a name.
    """
    records = [*_relabelled(pair.base, "base"), *_relabelled(pair.head, "head")]
    _require(records, select, metrics)
    records = [wanted for r in records if (wanted := _wanted(r, select, metrics))]
    # a benchmark may well lack the metrics that were asked for
    found = comparable(records, config)
    expected = {} if metrics else _expected(pair, found.gone)
    gathered = gather([Located(Run(benchmarks=expected), "", 0), *found.records], config, select, one=pair.twice)
    executions = [r.record for r in found.records if isinstance(r.record, Execution)]
    promised = {*expected.get("base", ())}.intersection(expected.get("head", ()))
    alone = unpaired(executions, [*gathered.failures, *_missing_parts(pair)], promised)
    evidence = msgspec.structs.replace(
        gathered,
        run=Run(base=pair.base.commit, head=pair.head.commit, commands=_commands(pair)),
        cases=[msgspec.structs.replace(case, decided=True) for case in _in_order(gathered.cases, pair, config)],
        failures=alone.failures,
        new=alone.only["head"],
        looks=[],
        warnings=[
            *setting_differences(pair.base.run, pair.head.run),
            *_warnings(pair),
            *build_warnings(gathered.builds, None),
        ],
    )
    chief = frozenset(CaseId(case.benchmark, case.metric) for case in gathered.cases if case.decided)
    hosts = _hosts(records, evidence.cases)
    return Compared(_apart(evidence, pair), _whole(evidence, pair), alone, found.unlike, chief, hosts)


def _apart(evidence: Evidence, pair: Pair) -> Evidence:
    """Take away what two runs do not have in common: rounds, sessions, an order."""
    return apart(evidence) if pair.apart or pair.twice else evidence


def _whole(evidence: Evidence, pair: Pair) -> Evidence:
    """Keep the rounds that every benchmark has, where measuring could stop early."""

    def kept(sample: Sample) -> Sample:
        first = of_rounds(sample, pair.rounds)
        found = first if len(first.values) else sample
        return sessions_from_0(found) if pair.apart else found

    cases = [msgspec.structs.replace(c, base=kept(c.base), head=kept(c.head)) for c in evidence.cases]
    return msgspec.structs.replace(evidence, cases=cases)


def _hosts(records: Sequence[Located], cases: Sequence[Case]) -> list[SidesApart | SidesMixed]:
    compared = {case.benchmark for case in cases}
    return side_differences([r for r in records if getattr(r.record, "benchmark", None) in {*compared, None}])


def _relabelled(chosen: Chosen, side: Side) -> list[Located]:
    """Keep one side of a run under the name of the side it plays, and of its run lines what names the machine."""
    found = []
    for located in chosen.inputs.records:
        record = located.record
        if isinstance(record, Run):
            found.append(Located(Run(host=record.host), located.path, located.line))
        # a failure may be of no side, and then it is of both
        elif isinstance(record, (Build, Execution, Failure)) and record.side in (chosen.side, None):
            found.append(Located(msgspec.structs.replace(record, side=side), located.path, located.line))
    return found


def _expected(pair: Pair, gone: Set[str | None]) -> dict[Side, list[str]]:
    sides: list[tuple[Side, Chosen]] = [("base", pair.base), ("head", pair.head)]
    return {side: [name for name in _names(chosen) if name not in gone] for side, chosen in sides}


def _names(chosen: Chosen) -> list[str]:
    proved = chosen.proved
    names = (chosen.run.benchmarks or {}).get(chosen.side, []) if chosen.run else []
    return [name for name in names if name not in proved]


def _wanted(located: Located, select: Sequence[str], metrics: Sequence[str]) -> Located | None:
    """Leave out what was not asked for: other benchmarks, and of an execution other metrics."""
    record = located.record
    name = getattr(record, "benchmark", None)
    if name is not None and select and not any(matches(glob, name) for glob in select):
        return None
    if not isinstance(record, Execution) or not metrics:
        return located
    kept = {m: metric for m, metric in record.metrics.items() if any(matches(glob, m) for glob in metrics)}
    return Located(msgspec.structs.replace(record, metrics=kept), located.path, located.line) if kept else None


def _require(records: Sequence[Located], select: Sequence[str], metrics: Sequence[str]) -> None:
    executions = [r.record for r in records if isinstance(r.record, Execution)]
    names = {
        "benchmark": (select, sorted({e.benchmark for e in executions})),
        "metric": (metrics, sorted({metric for e in executions for metric in e.metrics})),
    }
    for option, (globs, known) in names.items():
        if globs and executions and not any(matches(glob, name) for glob in globs for name in known):
            raise UserError(f"--{option} {' '.join(globs)}: matches none of {', '.join(known)}")


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


def _in_order(cases: Sequence[Case], pair: Pair, config: Config) -> list[Case]:
    """Sort cases by the order in which benchmarks are declared; else by name, 9 before 10."""
    names = dict.fromkeys([*_names(pair.base), *_names(pair.head), *(b.name for b in config.benchmark)])
    place = {name: number for number, name in enumerate(names)}

    def key(case: Case) -> tuple[int, str]:
        parts = case.benchmark.split("/")
        owners = ("/".join(parts[:length]) for length in range(len(parts), 0, -1))
        name = _NUMBER.sub(lambda number: number[0].zfill(20), f"{case.benchmark} {case.factors}")
        return next((place[name] for name in owners if name in place), len(place)), name

    return sorted(cases, key=key)


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
