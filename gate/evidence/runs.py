"""The run lines of measurement files: one run out of several that agree, and the parts of it that are missing.

A part is a shard in a session: what one job measured. What stands after a run line in its file belongs to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from gate.config.config_text import ConfigText, from_tables
from gate.config.parse import parse
from gate.config.resolve import over
from gate.config.types import Config
from gate.evidence.lines import Located
from gate.model import (
    SIDES,
    UNBUILT,
    Build,
    Case,
    Commit,
    Evidence,
    Execution,
    Failure,
    Record,
    RoundsDone,
    Run,
    Same,
    Sample,
    Side,
    UserError,
)
from gate.model.warnings.base import Said
from gate.writing.units import plural

MOST_PARTS = 4096
"""Shards times sessions; a job matrix has 256 at most, and each that is missing is a line of the report."""


class EvidenceError(UserError):
    """Files that contradict each other."""


def run_of(records: Iterable[Located]) -> Run | None:
    """Return the run of the files: the run line of the first part, with the benchmarks and warnings of all.

    What is remembered of a host stays only where there is one session and all run lines agree in it.

    Raises:
        EvidenceError: two run lines differ in commits, rules or the number of shards or sessions, hold the same part,
            or one names a part that there is not.
    """
    records = in_order(list(records))
    files = [File(located.path, located) for located in records if isinstance(located.record, Run)]
    run: Run | None = None
    for file in files:
        other = file.run
        if run is None:
            run = other
            continue
        if differing := _difference(run, other):
            raise EvidenceError(
                f"{files[0].place} and {file.place}: the runs differ in their {differing}; decide runs of one design "
                "together"
            )
        named = [each.benchmarks for each in (run, other) if each.benchmarks is not None]
        run = msgspec.structs.replace(
            run,
            benchmarks={side: list(dict.fromkeys(n for own in named for n in own.get(side, ()))) for side in SIDES}
            if named
            else None,
            commands={**(other.commands or {}), **(run.commands or {})} or None,
            warnings=list(dict.fromkeys([*run.warnings, *other.warnings])),
            tools=list(dict.fromkeys([*run.tools, *other.tools])),
        )
    if run is None:
        return None
    _refuse_wrong_parts(files)
    # another machine's noise is not one of this one's, and what builds vary by is not what sessions do
    measured = {r.record.session for r in records if isinstance(r.record, Execution)}
    several = (run.sessions or 1) > 1 or len(measured) > 1
    hosts = {(file.run.host or {}).get("fingerprint") for file in files}
    alike = len(hosts) == 1 and all(file.run.memory == run.memory for file in files)
    if (alike and not several) or not any(file.run.memory for file in files):
        return run
    text = "the memory of this host is not used: it holds one session, and this run has several"
    return msgspec.structs.replace(run, memory=None, warnings=[*run.warnings, Said(text, "memory-unused", "later")])


def config_of(run: Run | None, options: ConfigText | None = None) -> Config | None:
    """Parse the config that a run was measured by; None where its line holds none.

    Keys that this perfgate does not know are ignored.

    options: what is laid over it.

    Raises: ConfigError: a value that cannot be.
    """
    if run is None or run.config is None:
        return None
    source = from_tables(run.config, "the run's config")
    return parse(over(source, options) if options else source, lenient=True)


def in_order(records: Sequence[Located]) -> list[Located]:
    """Put files in the order of their sessions, then shards, so that a report does not depend on how they were named.

    A file stays whole and in its own order.
    """
    if len({located.path for located in records}) <= 1:
        return list(records)
    places: dict[str, tuple[int, int]] = {}
    for file in files_of(records):
        places.setdefault(file.path, (min(file.sessions, default=0), _shard(file.run)))
    return sorted(records, key=lambda located: places[located.path])


def _difference(one: Run, other: Run) -> str:
    if _identity(one.base) != _identity(other.base):
        return "base commit"
    if _identity(one.head) != _identity(other.head):
        return "head commit"
    if one.config != other.config and ((rules := config_of(one)) is None or rules != config_of(other)):
        return "rules"
    if _shards(one) != _shards(other):
        return "number of shards"
    return "number of sessions" if (one.sessions or 1) != (other.sessions or 1) else ""


def _identity(commit: Commit | None) -> tuple[str | None, str | None]:
    if commit is None:
        return None, None
    # a branch has another name in another clone
    return commit.sha or commit.ref, commit.tree


def _shards(run: Run) -> int:
    return int(run.shard.partition("/")[2]) if run.shard else 1


def _shard(run: Run) -> int:
    return int(run.shard.partition("/")[0]) if run.shard else 1


# --- parts ------------------------------------------------------------------------------------------------------------


class File(msgspec.Struct):
    """A run line and what follows it in its file; first is None for what no run line stands before."""

    path: str
    first: Located | None
    records: list[Record] = []

    @property
    def run(self) -> Run:
        """The run line, one that says nothing where there is none."""
        return self.first.record if self.first is not None and isinstance(self.first.record, Run) else Run()

    @property
    def place(self) -> str:
        """Where the run line stands."""
        return f"{self.path}:{self.first.line}" if self.first is not None else self.path

    @property
    def sessions(self) -> set[int]:
        """Sessions that it holds something of."""
        if self.run.session is not None:
            return {self.run.session}
        if (self.run.sessions or 1) == 1 and self.first is not None:
            return {0}
        return {r.session for r in self.records if isinstance(r, (Build, Execution, Failure, Same))}

    @property
    def both(self) -> set[str] | None:
        """Benchmarks that both sides are to measure; None: not known."""
        names = self.run.benchmarks
        return {*names.get("base", ())} & {*names.get("head", ())} if names is not None else None


def files_of(records: Iterable[Located]) -> list[File]:
    """Divide records by the run line that they belong to, in the order of these."""
    current: dict[str, File] = {}
    found = []
    for located in records:
        record, path = located.record, located.path
        begins = isinstance(record, Run)
        if begins or path not in current:
            current[path] = File(path, located if begins else None)
            found.append(current[path])
        if not begins:
            current[path].records.append(record)
    return found


def _refuse_wrong_parts(files: Sequence[File]) -> None:
    seen: dict[tuple[int, int], File] = {}
    for file in files:
        run, shards, sessions = file.run, _shards(file.run), file.run.sessions or 1
        if shards * sessions > MOST_PARTS:
            both = f"{plural(shards, 'shard')} x {plural(sessions, 'session')}"
            raise EvidenceError(f"{file.place}: {both} are more than {MOST_PARTS} parts")
        if _shard(run) > shards:
            raise EvidenceError(f"{file.place}: shard {run.shard}: there are {shards}")
        if run.session is not None and run.session >= sessions:
            raise EvidenceError(f"{file.place}: session {run.session} of {sessions}: they count from 0")
        if shards == sessions == 1 or (run.session is None and sessions > 1):
            continue
        part = _shard(run), run.session or 0
        if part in seen:
            named = _named(*part, shards, sessions)
            raise EvidenceError(f"{seen[part].place} and {file.place}: both hold {named}: leave one out")
        seen[part] = file


def _named(shard: int, session: int, shards: int, sessions: int) -> str:
    if shards == 1:
        return f"session {session} of {sessions}"
    return f"shard {shard} of {shards}{f' of session {session}' if sessions > 1 else ''}"


class ShardFiles(msgspec.Struct):
    """A shard in a session, by all the files that hold something of it."""

    name: str
    """For a reader."""
    shard: int
    session: int
    files: list[File] = []

    @property
    def executions(self) -> list[Execution]:
        """What was executed of it."""
        return [r for f in self.files for r in f.records if isinstance(r, Execution) and r.session == self.session]

    @property
    def failures(self) -> list[Failure]:
        """What failed of it."""
        return [r for f in self.files for r in f.records if isinstance(r, Failure) and r.session == self.session]

    @property
    def proved(self) -> set[str]:
        """Benchmarks of it that are the same on both sides, and so have no executions."""
        return {r.benchmark for f in self.files for r in f.records if isinstance(r, Same) and r.session == self.session}

    @property
    def compares(self) -> bool:
        """Return whether it is to measure anything on both sides; a shard may hold new benchmarks only, or old ones."""
        return any(file.both is None or file.both for file in self.files)


def parts_of(records: Sequence[Located]) -> list[ShardFiles]:
    """Return every part that the run lines promise, also those that no file holds; [] where one job measured all."""
    runs = [r.record for r in records if isinstance(r.record, Run)]
    shards = max(map(_shards, runs), default=1)
    sessions = max((run.sessions or 1 for run in runs), default=1)
    if shards == sessions == 1 or shards * sessions > MOST_PARTS:
        return []
    parts = {
        (shard, session): ShardFiles(_named(shard, session, shards, sessions), shard, session)
        for session in range(sessions)
        for shard in range(1, shards + 1)
    }
    for file in files_of(records):
        # values without a run line may be of any shard
        own = range(1, shards + 1) if file.first is None else [_shard(file.run)]
        for place in ((shard, session) for shard in own for session in file.sessions):
            if place in parts:
                parts[place].files.append(file)
    return list(parts.values())


def missing_parts(parts: Sequence[ShardFiles]) -> list[Failure]:
    """Return a failure for each part that the run lines promise and the files do not hold, or hold without values.

    A shard that no session has, and a session that no shard has, is named once.
    """
    shards, sessions = ({getattr(part, of) for part in parts} for of in ("shard", "session"))
    held = [part for part in parts if part.files]
    shards_held, sessions_held = {part.shard for part in held}, {part.session for part in held}
    named: dict[str, int] = {}
    for part in parts:
        if part.files:
            continue
        if len(sessions) > 1 and part.session not in sessions_held:
            named.setdefault(f"session {part.session} of {len(sessions)}", part.session)
        elif len(shards) > 1 and part.shard not in shards_held:
            named.setdefault(f"shard {part.shard} of {len(shards)}", part.session)
        else:
            named[part.name] = part.session
    failures = [Failure(kind="missing", session=at, status=f"{name} is missing") for name, at in named.items()]
    for part in held:
        is_proved = bool(part.proved) and all(file.both is None or file.both <= part.proved for file in part.files)
        if part.failures or not part.compares or is_proved:
            continue
        lacking: list[Side] = [side for side in SIDES if not any(e.side == side for e in part.executions)]
        for side in lacking if len(lacking) < len(SIDES) else ():
            status = f"{part.name} has no values of {side}"
            failures.append(Failure(kind="missing", side=side, session=part.session, status=status))
        # a run line from elsewhere may stand apart from its values
        if len(lacking) == len(SIDES) and any(file.both for file in part.files):
            where = ", ".join(dict.fromkeys(file.path for file in part.files))
            status = f"{part.name} gave no values: {where} ends before the first start"
            failures.append(Failure(kind="missing", session=part.session, status=status))
    return failures


def session_gaps(parts: Sequence[ShardFiles]) -> list[Failure]:
    """Return a failure for each benchmark that one session measured and another, which is there, did not.

    Judged by the others alone it would have fewer units than its plan says, or builds in their place. A benchmark that
    failed somewhere, and one that only one side measured anywhere, are spoken of elsewhere. A proof that both sides are
    the same is as good as values.
    """
    parts = [part for part in parts if part.executions or part.proved]
    failed = {f.benchmark for part in parts for f in part.failures}
    sides: dict[str, set[Side]] = {}
    of_shard: dict[int, set[str]] = {}
    suites: dict[str, str | None] = {}
    for part in parts:
        for e in part.executions:
            sides.setdefault(e.benchmark, set()).add(e.side)
            of_shard.setdefault(part.shard, set()).add(e.benchmark)
            suites[e.benchmark] = e.suite
    for part in parts:
        for name in part.proved - sides.keys() - {*suites.values()}:
            sides.setdefault(name, set(SIDES))
            of_shard.setdefault(part.shard, set()).add(name)
    found: list[Failure] = []
    for part in parts:
        lost = any(f.kind in (*UNBUILT, "tree", "lock") for f in part.failures)
        for side in () if lost else SIDES:
            names = {e.benchmark for e in part.executions if e.side == side}
            status = f"gave no values in session {part.session}"
            found += [
                Failure(kind="missing", benchmark=name, side=side, session=part.session, status=status)
                for name in (sorted(of_shard[part.shard] - failed - names) if names else ())
                if len(sides[name]) == len(SIDES) and not part.proved & {name, suites.get(name)}
            ]
    return found


# --- base and head of different times: they have no rounds, sessions or order in common -------------------------------


def apart(evidence: Evidence) -> Evidence:
    """Take away what both sides have in common only by its number: rounds, sessions and orders."""
    cases = [
        msgspec.structs.replace(case, base=_alone(case.base, 0), head=_alone(case.head, 1)) for case in evidence.cases
    ]
    return msgspec.structs.replace(evidence, cases=cases, rounds=RoundsDone(done=0, planned=None))


def _alone(sample: Sample, parity: int) -> Sample:
    """Number the builds of a side so that the other has none of the same number: there is no round that has both.

    What was executed first is not known either.
    """
    found = sessions_from_0(sample)
    builds = tuple((session, 2 * build + parity) for session, build in found.builds)
    return msgspec.structs.replace(found, builds=builds, orders=None)


def as_in_file(case: Case) -> Case:
    """Number the builds of each side as its lines do, for readers; pairs of one number are no rounds then either."""
    base, head = (
        msgspec.structs.replace(each, builds=tuple((session, build // 2) for session, build in each.builds))
        for each in (case.base, case.head)
    )
    return msgspec.structs.replace(case, base=base, head=head)


def sessions_from_0(sample: Sample) -> Sample:
    """Number sessions from 0, since session 1 of two runs is not one session."""
    numbers = {session: number for number, session in enumerate(dict.fromkeys(s for s, _ in sample.builds))}
    return msgspec.structs.replace(sample, builds=tuple((numbers[session], build) for session, build in sample.builds))
