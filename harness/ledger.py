"""What the records of a run say: which steps are done, which benchmarks are out, how long it all took."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gate.model import Build, Execution, Failure, Look, Record, Side
from harness.schedule import ExecutionStep


class Ledger:
    """The records of one session, those of an interrupted run first, and what follows from them."""

    def __init__(self, records: Sequence[Record], session: int) -> None:
        """Take the records that are already in the file."""
        self.records: list[Record] = []
        self.looks = [record for record in records if isinstance(record, Look)]
        """Of the interrupted run, to be replayed."""
        self.failed: set[str] = set()
        """Benchmarks with a failed execution."""
        self.settled: set[str] = set()
        """Benchmarks that need no more."""
        self.build_failed = False
        self._session = session
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
                self._made.add((record.benchmark, record.side, record.build, record.execution))
            case Failure(kind="build"):
                self.build_failed = True
            case Failure(kind="execution", benchmark=str(benchmark)):
                self.failed.add(benchmark)
            case _:
                pass
        if isinstance(record, (Build, Execution)):
            self._seconds[record.build] = self._seconds.get(record.build, 0.0) + (record.seconds or 0.0)

    def lose(self, seconds: float) -> None:
        """Count the time of a failed step, which no record holds."""
        self._lost += seconds

    def wanted(self, steps: Iterable[ExecutionStep]) -> list[ExecutionStep]:
        """Return the steps whose benchmark is neither failed nor settled."""
        out = self.failed | self.settled
        return [step for step in steps if step.benchmark not in out]

    def pending(self, steps: Iterable[ExecutionStep]) -> list[ExecutionStep]:
        """Return the wanted steps that are not recorded."""
        made = self._made
        return [s for s in self.wanted(steps) if (s.benchmark, s.side, s.build, s.execution) not in made]

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
