"""Sanitising of untrusted measurements: keeps values and shortened texts, replaces all claims by known facts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from gate import model
from gate.checkout import is_sha
from gate.config.rules import benchmark_rules, better_of, most_builds
from gate.config.schema import to_tables
from gate.config.types import Builds, Config
from gate.evidence.lines import Located
from gate.evidence.runs import files_of
from gate.model.case import CaseId, canonical
from gate.model.directions import direction
from gate.model.profile import Profile, Unprofiled
from gate.model.sameness import MOST_NAMED, Unproved
from gate.writing.plain import clip, visible
from gate.writing.units import plural

MOST_FAILURES = 500
"""More of them add nothing and fill a page."""
MOST_ARTIFACTS = 100
MOST_STATES = 256
MOST_PARTS = 256
"""Shards times sessions, and so jobs of a matrix by GitHub's limits."""

_SHARD = re.compile(r"([0-9]{1,4})/([0-9]{1,4})")
# what these facts are made of, so that none is a sentence of somebody's
_FACT = re.compile(r"[\w .,:+/@()-]{1,80}")
_WORD = re.compile(r"[\w.,:+~-]{1,80}")
_FACTS = (
    "os", "kernel", "machine", "cpu", "cores", "affinity", "memory", "priority", "hostname", "python", "boot_id",
    "fingerprint", "hyperfine", "perf_stat", "callgrind",
)  # fmt: skip
_STATES = (
    "time", "boot_id", "kernel", "uptime", "load", "processors", "cpu_total", "cpu_idle", "cpu_steal", "pressure_cpu",
    "pressure_memory", "pressure_io", "throttled", "throttled_seconds", "thermal_throttles", "swap_in", "swap_out",
    "oom_kills", "memory_available", "governor", "turbo",
)  # fmt: skip
_LARGEST_FACT = 2**63
_OUTPUT = 4000
_STATUS = 200


@dataclass(frozen=True, slots=True)
class Claims:
    """What run lines say that is to be checked against the forge: commits, and into how much the gate was divided."""

    base: str
    head: str
    shards: int
    sessions: int | None


def claims_of(records: Iterable[Located]) -> Claims:
    """Return what the run lines say, which must be one thing.

    Raises: UserError: there is no run line, it names no commits, or two differ.
    """
    found: Claims | None = None
    for located in records:
        run, where = located.record, f"{located.path}: line {located.line}"
        if not isinstance(run, model.Run):
            continue
        commits = [str(side and side.sha) for side in (run.base, run.head)]
        if not all(map(is_sha, commits)):
            raise model.UserError(f"{where}: does not name the commits of base and head")
        shard = _SHARD.fullmatch(run.shard) if run.shard else None
        number, shards = (int(shard[1]), int(shard[2])) if shard else (1, 1)
        if number > shards or shards * (run.sessions or 1) > MOST_PARTS:
            part = f"shard {run.shard or '1/1'} in {plural(run.sessions or 1, 'session')}"
            raise model.UserError(f"{where}: {part}: at most {MOST_PARTS} parts")
        claims = Claims(commits[0], commits[1], shards, run.sessions)
        if found not in (None, claims):
            raise model.UserError(f"{where}: the runs differ in their commits, shards or sessions")
        found = claims
    if found is None:
        raise model.UserError("the artifact: has no run line, so it does not say what was measured")
    return found


def refuse_unfinished(records: Iterable[Located]) -> None:
    """Refuse a run that began and was broken off: what it lacks would be judged by what it has.

    Raises: UserError: the last state of a host in a part is one of its beginning.
    """
    for file in files_of(records):
        states = [record for record in file.records if isinstance(record, model.HostState)]
        if states and states[-1].when == "begin":
            raise model.UserError(f"{file.path}: its run did not finish; measure again")


def sanitise(records: Sequence[Located], known: model.Run, config: Config) -> list[Located]:
    """Make of measurements that read_untrusted gave a run of which only the values are somebody's word.

    known: the run line as far as the forge and the rules say it. config: the rules that decide.

    Every run line becomes the one that is known, with the benchmarks that the rules name: what an artifact leaves out
    is missing. Benchmarks that the rules do not name are named as new, and their values left out. Of a suite it is
    known which benchmarks are its own by their names, and of a metric which direction is better by its rules.
    Looks are kept, since decide judges at each of them anew.

    Raises: UserError: run lines that differ, or a session that they do not promise.
    """
    claims = claims_of(records)
    sieve = _Sieve(config, claims.sessions or 1)
    kept = [Located(record, each.path, each.line) for each in records if (record := sieve.pass_on(each)) is not None]
    names = [b.name for b in config.benchmark]
    # jobs that measure parts of a gate do not look
    looks = isinstance(config.plan.builds, Builds) and claims.shards == 1 and (claims.sessions or 1) == 1
    run = msgspec.structs.replace(
        known, looks=most_builds(config.plan) if looks else None, sessions=claims.sessions, config=to_tables(config),
        chosen=str(known.choice), rules=str(known.whose), benchmarks={"base": names, "head": [*names, *sieve.new]},
    )  # fmt: skip
    for place, each in enumerate(kept):
        if isinstance(part := each.record, model.Run):
            own = msgspec.structs.replace(run, shard=part.shard, session=part.session, host=part.host)
            kept[place] = Located(own, each.path, each.line)
    return kept


class _Sieve:
    """Passes records on, cut to what is needed, and notes the benchmarks that the rules do not name."""

    def __init__(self, config: Config, sessions: int) -> None:
        self._config = config
        self._sessions = sessions
        # of the run line that each file had last
        self._session: dict[str, int | None] = {}
        self._suites = {b.name for b in config.benchmark if b.measured.suite}
        self._single = {b.name for b in config.benchmark} - self._suites
        self._owners: dict[str, str | None] = {}
        self._better: dict[CaseId, model.Better | None] = {}
        self._builds: set[tuple[str, int, int, str]] = set()
        self._failures = self._states = 0
        self.new: dict[str, None] = {}

    def pass_on(self, located: Located) -> model.Record | None:
        record = located.record
        self._refuse_other_sessions(located)
        match record:
            case model.Run():
                host = _facts(record.host or {}, _FACTS, _FACT)
                return model.Run(shard=record.shard, session=record.session, host=host)
            case model.Execution():
                return self._execution(record)
            case model.Failure():
                return self._failure(record)
            case model.SummaryRecord() | Profile() | Unprofiled():
                # perfgate measures values: no run of its own holds the first; the others its own report shows
                return None
            case model.Build():
                return self._build(record)
            case model.HostState():
                return self._state(record)
            case model.Same() | model.Turn():
                return self._of_both(record)
            case model.Look():
                settled = [name for name in record.settled if self._is_known(name)]
                return msgspec.structs.replace(record, settled=settled, stop=None)

    def _refuse_other_sessions(self, located: Located) -> None:
        record, where = located.record, f"{located.path}: line {located.line}"
        if isinstance(record, model.Run):
            self._session[located.path] = record.session
        elif located.path not in self._session:
            raise model.UserError(f"{where}: is before the first run line")
        session = getattr(record, "session", None)
        if session is None:
            return
        promised = self._session[located.path]
        if session >= self._sessions or promised not in (None, session):
            known = f"one of {self._sessions}" if promised is None else f"{promised}, which its run line names"
            raise model.UserError(f"{where}: session {session} is not {known}")

    def _is_known(self, benchmark: str) -> bool:
        return benchmark in self._single or self._suite(benchmark) is not None

    def _suite(self, benchmark: str) -> str | None:
        if benchmark not in self._owners:
            owner = benchmark_rules(self._config, benchmark)
            of_suite = owner is not None and owner.name in self._suites and owner.name != benchmark
            self._owners[benchmark] = owner.name if owner is not None and of_suite else None
        return self._owners[benchmark]

    def _execution(self, record: model.Execution) -> model.Execution | None:
        if not self._is_known(record.benchmark):
            self.new[record.benchmark] = None
            return None
        return msgspec.structs.replace(
            record,
            suite=self._suite(record.benchmark),
            lines=None,
            started=None,
            metrics={name: self._metric(record.benchmark, name, each) for name, each in record.metrics.items()},
        )

    def _metric(self, benchmark: str, name: str, metric: model.Metric) -> model.Metric:
        case = CaseId(benchmark, name)
        if case not in self._better:
            self._better[case] = better_of(self._config, benchmark, name)
        better = self._better[case]
        if better is None:
            # which metrics a suite has, and which way they go, only its tool knows; a unit is the artifact's word
            better = metric.better if self._suite(benchmark) else direction(name, "")
        return msgspec.structs.replace(metric, better=better)

    def _of_both(self, record: model.Same | model.Turn) -> model.Same | model.Turn | None:
        if record.benchmark not in self._single | self._suites:
            return None
        if isinstance(record, model.Turn):
            return record
        hashes = {side: clip(visible(value), 80) for side, value in record.hash.items()}
        differ = [clip(visible(path), _STATUS) for path in record.differ[:MOST_NAMED]]
        return msgspec.structs.replace(record, differ=differ, hash=hashes)

    def _failure(self, record: model.Failure) -> model.Failure | None:
        self._failures += 1
        if self._failures > MOST_FAILURES:
            return None
        return model.Failure(
            kind=record.kind, benchmark=record.benchmark, side=record.side, session=record.session, build=record.build,
            execution=record.execution, status=clip(visible(record.status), _STATUS), stderr=record.stderr[-_OUTPUT:],
            seconds=record.seconds, factors=record.factors,
        )  # fmt: skip

    def _build(self, record: model.Build) -> model.Build | None:
        place = (record.side, record.session, record.build, canonical(record.factors))
        if place in self._builds:
            return None
        self._builds.add(place)
        artifacts = {
            clip(visible(k), _STATUS): clip(visible(v), 80) for k, v in [*record.artifacts.items()][:MOST_ARTIFACTS]
        }
        return msgspec.structs.replace(record, seed=None, artifacts=artifacts)

    def _state(self, record: model.HostState) -> model.HostState | None:
        self._states += 1
        if self._states > MOST_STATES:
            return None
        cut = record.cut
        if cut is not None and not (cut.benchmark is None or self._is_known(cut.benchmark)):
            cut = msgspec.structs.replace(cut, benchmark=None)
        unproved = {
            name: Unproved(kind=why.kind, path=why.path and clip(visible(why.path), _STATUS), seconds=why.seconds)
            for name, why in record.unproved.items()
            if name in self._single | self._suites
        }
        return model.HostState(
            when=record.when, session=record.session, state=_facts(record.state, _STATES, _WORD), stop=record.stop,
            rounds=record.rounds, cut=cut, unproved=unproved,
        )  # fmt: skip


def _facts(found: Mapping[str, Any], names: Sequence[str], text: re.Pattern[str]) -> dict[str, Any]:
    """Keep known facts that are a number, a truth or a short plain text."""

    def is_plain(value: object) -> bool:
        if isinstance(value, str):
            return value.isascii() and text.fullmatch(value) is not None
        return isinstance(value, (int, float)) and abs(value) <= _LARGEST_FACT

    return {name: found[name] for name in names if name in found and is_plain(found[name])}
