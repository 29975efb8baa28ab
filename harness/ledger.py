"""What the records of a run say: which steps are done, which benchmarks are out, how long it all took."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from gate.model import Build, Execution, Failure, Look, Record, Side
from harness.schedule import ExecutionStep


class Ledger:
    """The records of one session, those of an interrupted run first, and what follows from them."""

    def __init__(self, records: Sequence[Record], session: int, suites: Collection[str] = ()) -> None:
        """Take the records that are already in the file; suites: benchmarks that stand for many."""
        self.records: list[Record] = []
        self.looks = [record for record in records if isinstance(record, Look)]
        """Of the interrupted run, to be replayed."""
        self.failed: set[str] = set()
        """Benchmarks with a failed execution, suites and those that they name."""
        self.settled: set[str] = set()
        """Benchmarks that need no more."""
        self.build_failed = False
        self._session = session
        self._suites = suites
        self._named: dict[str, set[str]] = {}
        self._built: set[tuple[Side, int]] = set()
        self._made: set[tuple[str, Side, int, int]] = set()
        self._seconds: dict[int, float] = {}
        self._lost = 0.0
        for record in records:
            self.note(record)

    def note(self, record: Record) -> None:
        """Take one more record."""
        self.records.append(record)
        if isinstance(record, (Build, Execution, Failure)) and record.session != self._session:
            return
        match record:
            case Build():
                self._built.add((record.side, record.build))
            case Execution():
                self._made.add((record.suite or record.benchmark, record.side, record.build, record.execution))
                self._name(record.benchmark)
            case Failure(kind="build"):
                self.build_failed = True
            case Failure(kind="execution", benchmark=str(benchmark)):
                self.failed.add(benchmark)
                self._name(benchmark)
            case _:
                pass
        if isinstance(record, (Build, Execution)):
            self._seconds[record.build] = self._seconds.get(record.build, 0.0) + (record.seconds or 0.0)
        elif isinstance(record, Failure):
            # not of a round: a failed benchmark takes no time of the next one
            self._lost += record.seconds or 0.0

    def _name(self, benchmark: str) -> None:
        for suite in self._suites:
            if benchmark.startswith(f"{suite}/"):
                self._named.setdefault(suite, set()).add(benchmark)

    def is_failed(self, name: str) -> bool:
        """Tell whether a benchmark failed; a suite also when each that it names did."""
        return self._all_in(name, self.failed)

    def is_out(self, name: str) -> bool:
        """Tell whether a benchmark failed or needs no more; a suite also when that holds for each that it names."""
        return self._all_in(name, self.failed | self.settled)

    def _all_in(self, name: str, names: set[str]) -> bool:
        named = self._named.get(name)
        return name in names or (named is not None and named <= names)

    def pending(self, steps: Sequence[ExecutionStep]) -> list[ExecutionStep]:
        """Return the steps that are not recorded and whose benchmark is neither failed nor settled."""
        made = self._made
        out = {name for name in {step.benchmark for step in steps} if self.is_out(name)}
        return [s for s in steps if s.benchmark not in out and (s.benchmark, s.side, s.build, s.execution) not in made]

    def built(self, side: Side, build: int) -> bool:
        """Tell whether a build is recorded."""
        return (side, build) in self._built

    def begun(self, build: int) -> bool:
        """Tell whether anything of a round is recorded."""
        return build in self._seconds

    def fits(self, budget: float) -> bool:
        """Tell whether a round as long as the slowest so far fits what is left of a budget in seconds."""
        spent = sum(self._seconds.values()) + self._lost
        return max(self._seconds.values(), default=0.0) <= budget - spent
