"""The ledger of a run: which steps are done, which benchmarks have failed, how long it took."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from gate.model import SIDES, Build, Execution, Failure, HostState, Look, Record, Same, Side
from gate.model.case import canonical
from harness.loop.schedule import BuildStep, ExecutionStep


class Scope(NamedTuple):
    """What goes out together: in the gate a benchmark, in a designed experiment a benchmark at one treatment."""

    benchmark: str
    side: Side | None = None
    factors: str = ""


class Ledger:
    """The records of one session, those of an interrupted run first, and what follows from them."""

    def __init__(
        self, records: Sequence[Record], session: int, suites: Collection[str] = (), *, study: bool = False
    ) -> None:
        """Take the records that are already in the file.

        suites: benchmarks that stand for many. study: a failure takes out its treatment only, and time is counted by
        replicates, which are told apart by the execution's number in the build.
        """
        self.records: list[Record] = []
        self.looks = [record for record in records if isinstance(record, Look)]
        """Of the interrupted run, to be replayed."""
        own = [record for record in records if isinstance(record, HostState) and record.session == session]
        self.ended = own[-1] if own and own[-1].stop == "budget" and not study else None
        """How the budget ended the gate that is resumed; None: it did not, or what is resumed is an experiment."""
        self.build_failed = False
        self.changed: int | None = None
        """The first round in which a tree was changed."""
        self._session = session
        self._suites = suites
        self._is_study = study
        self._failed: set[Scope] = set()
        self._out: set[Scope] = set()
        self.identical: set[str] = set()
        """Benchmarks that are proved the same on both sides."""
        self._absent: dict[str, set[Side]] = {}
        """The sides on which a suite found no benchmark."""
        self._named: dict[Scope, set[Scope]] = {}
        self._unbuilt: set[tuple[Side | None, str]] = set()
        self._built: set[tuple[Side, int, str]] = set()
        self.made: set[tuple[str, Side, str, int, int]] = set()
        """Executions: benchmark, side, settings, build and number."""
        self._begun: set[tuple[int, int | None]] = set()
        self._following: dict[int, float] = {}
        """By round, what its builds would take again: after the first round perhaps a link."""
        self._executing: dict[tuple[int, int], float] = {}
        self._other = 0.0
        for record in records:
            self.note(record)

    def note(self, record: Record) -> None:
        """Take one more record."""
        self.records.append(record)
        if isinstance(record, Same) and record.session == self._session:
            self.prove(record.benchmark)
        if isinstance(record, (Build, Execution, Failure)) and record.session == self._session:
            self._note(record)

    def _note(self, record: Build | Execution | Failure) -> None:
        factors = canonical(record.factors)
        match record:
            case Build():
                self._built.add((record.side, record.build, factors))
                self._following[record.build] = self._following.get(record.build, 0.0) + (
                    record.next_build_seconds or 0.0
                )
                self._other += (record.seconds or 0.0) + (record.setup or 0.0) + (record.checked or 0.0)
            case Execution():
                name = record.suite or record.benchmark
                self.made.add((name, record.side, factors, record.build, record.execution))
                self._name(self._scope(record))
                place = (record.build, record.execution)
                self._executing[place] = self._executing.get(place, 0.0) + (record.seconds or 0.0)
            case Failure(kind="setup" | "build" | "tree"):
                self.build_failed = True
                if record.kind == "tree":
                    self.changed = record.build if self.changed is None else min(self.changed, record.build or 0)
                self._unbuilt.add((record.side, factors))
            case Failure(empty=True, benchmark=str(), side="base" | "head") if self._is_absent(record):
                pass
            case Failure(kind="execution" | "output" | "outside" | "unproved", benchmark=str()):
                scope = self._scope(record)
                self._failed.add(scope)
                self._out.add(scope)
                self._name(scope)
        if isinstance(record, Failure):
            # not of a round: a failed benchmark takes no time of the next one
            self._other += record.seconds or 0.0
        if record.build is not None:
            self._begun |= {(record.build, None), (record.build, getattr(record, "execution", None))}

    def _is_absent(self, record: Failure) -> bool:
        """Return whether a suite may be one that this side does not have; one that no side has fails, as in a study."""
        if self._is_study or record.benchmark is None or record.side is None:
            return False
        absent = self._absent.setdefault(record.benchmark, set())
        if any((name, side) == (record.benchmark, record.side) for name, side, *_ in self.made):
            return False
        absent.add(record.side)
        return len(absent) < len(SIDES)

    def is_begun(self, benchmark: str) -> bool:
        """Return whether a benchmark was executed."""
        return any(name == benchmark for name, *_ in self.made)

    def _scope(self, of: Execution | Failure | ExecutionStep) -> Scope:
        return (
            Scope(of.benchmark or "", of.side, canonical(of.factors)) if self._is_study else Scope(of.benchmark or "")
        )

    def _name(self, scope: Scope) -> None:
        for suite in self._suites:
            if scope.benchmark.startswith(f"{suite}/"):
                self._named.setdefault(scope._replace(benchmark=suite), set()).add(scope)

    def has_failed(self, record: Execution | Failure) -> bool:
        """Return whether the very benchmark of a record failed before, in an experiment at its treatment."""
        return self._scope(record) in self._failed

    def is_failed(self, step: ExecutionStep) -> bool:
        """Return whether a step's benchmark failed, of a suite each that it names; in an experiment also its build."""
        unbuilt = self._is_study and (step.side, canonical(step.building)) in self._unbuilt
        absent = step.side in self._absent.get(step.benchmark, ())
        return unbuilt or absent or self._all_in(self._scope(step), self._failed)

    def is_out(self, step: ExecutionStep) -> bool:
        """Return whether a step's benchmark failed or needs no more; of a suite each that it names."""
        # what only one side has is executed once
        once = bool(self._absent.get(step.benchmark)) and self.is_begun(step.benchmark)
        return once or self.is_failed(step) or self._all_in(self._scope(step), self._out)

    def _all_in(self, scope: Scope, scopes: set[Scope]) -> bool:
        named = self._named.get(scope)
        return scope in scopes or (named is not None and named <= scopes)

    def prove(self, benchmark: str, *, holds: bool = True) -> None:
        """Take a benchmark for the same on both sides, or no longer; nothing is recorded yet."""
        if holds:
            self.identical.add(benchmark)
            self._out.add(Scope(benchmark))
        else:
            self.identical.discard(benchmark)
            self._out.discard(Scope(benchmark))

    def settle(self, benchmarks: Iterable[str]) -> None:
        """Take benchmarks of the gate that need no more."""
        self._out |= {Scope(name) for name in benchmarks}

    def pending(self, steps: Sequence[ExecutionStep]) -> list[ExecutionStep]:
        """Return the steps that are not recorded and whose benchmark is neither failed nor settled."""
        return [step for step in steps if not self.is_made(step) and not self.is_out(step)]

    def is_made(self, step: ExecutionStep) -> bool:
        """Return whether an execution is recorded."""
        return (step.benchmark, step.side, canonical(step.factors), step.build, step.execution) in self.made

    def built(self, step: BuildStep) -> bool:
        """Return whether a build is recorded."""
        return (step.side, step.build, canonical(step.factors)) in self._built

    def begun(self, build: int, execution: int | None = None) -> bool:
        """Return whether anything of a round is recorded, or of one of its replicates."""
        return (build, execution) in self._begun

    @property
    def seconds(self) -> float:
        """Return what the steps took that are recorded, set-up and failures among them."""
        return sum(self._executing.values()) + self._other

    def fits(self, left: float, *, builds: bool = True) -> bool:
        """Return whether what comes next fits into the seconds that are left, if it takes as long as the slowest.

        In the gate that is a round; in an experiment a replicate, and the builds of a round where it begins with them.
        """
        if self._is_study:
            slowest = max(self._executing.values(), default=0.0)
            slowest += max(self._following.values(), default=0.0) if builds else 0.0
        else:
            rounds = dict(self._following)
            for (build, _), seconds in self._executing.items():
                rounds[build] = rounds.get(build, 0.0) + seconds
            # the first may have built what later ones need not
            later = [seconds for build, seconds in rounds.items() if build > 0]
            slowest = max(later or rounds.values(), default=0.0)
        return slowest <= left
