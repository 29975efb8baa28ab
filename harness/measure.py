"""The measuring loop: for each step execute, parse, append; between rounds ask whether to go on; resumes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import msgspec

from gate.config.types import SUITES, Benchmark
from gate.model import SIDES, AfterRound, Build, Failure, Look, Record, Side
from harness.execute import Executor
from harness.execution import Conditions, Executions, Place
from harness.hints import Hint, no_hint
from harness.instruments.common import Instrument
from harness.ledger import Ledger
from harness.schedule import BuildStep, ExecutionStep, Round

Stop = Literal["finished", "budget", "build failure", "failed", "settled"]
"""Why measuring ended: every round was done, the next one does not fit the budget, a build failed, every benchmark
failed, or those that did not fail need no more."""


class Append(Protocol):
    """Writes records, all of them or none, before it returns."""

    def __call__(self, *records: Record) -> None:
        """Append records."""
        ...


class Builder(Protocol):
    """Makes the trees that benchmarks run in."""

    def build(self, side: Side, build: int, seed: int) -> Build | Failure:
        """Make a side ready for round `build` and give the record of it."""
        ...

    def directory(self, side: Side) -> Path:
        """Give where a side's benchmarks run, for its latest build."""
        ...


@dataclass(frozen=True, slots=True)
class Work:
    """What is to be measured.

    benchmarks: by side and name, as that side's file has them. conditions: of each side's executions. caller: the
    environment that failures are told apart from. budget: seconds for builds and executions.
    """

    rounds: Sequence[Round]
    benchmarks: Mapping[Side, Mapping[str, Benchmark]]
    iterations: int
    budget: float
    conditions: Mapping[Side, Conditions]
    caller: Mapping[str, str]
    place: Place
    session: int = 0


@dataclass(frozen=True, slots=True)
class Tools:
    """What measuring works with; instruments by their name in the configuration."""

    executor: Executor
    builder: Builder
    instruments: Mapping[str, Instrument]
    hint: Hint = no_hint


@dataclass(frozen=True, slots=True)
class Measured:
    """How far measuring came: rounds that are complete, of those planned, and why it ended."""

    rounds: int
    planned: int
    stop: Stop


@dataclass(frozen=True, slots=True)
class RoundStarted:
    """A round begins; number from 0. executions: how many are still to be made in it."""

    number: int
    rounds: int
    executions: int


@dataclass(frozen=True, slots=True)
class StepStarted:
    """A build (benchmark is None) or an execution begins."""

    side: Side
    benchmark: str | None


@dataclass(frozen=True, slots=True)
class StepFinished:
    """The step that was started is over. failure: what was recorded of it, if it failed."""

    side: Side
    benchmark: str | None
    seconds: float
    failure: Failure | None


@dataclass(frozen=True, slots=True)
class LookTaken:
    """A round was looked at. settled: benchmarks that newly need no more; wanted: those that do."""

    settled: int
    wanted: int


Event = RoundStarted | StepStarted | StepFinished | LookTaken
Progress = Callable[[Event], None]


def _silent(event: Event) -> None:
    """Show nothing."""


def measure(
    work: Work,
    tools: Tools,
    append: Append,
    *,
    records: Sequence[Record] = (),
    after_round: AfterRound | None = None,
    progress: Progress = _silent,
) -> Measured:
    """Make what is not yet recorded of the rounds, and append a record after each step.

    records: what an interrupted run of the same schedule left; its steps are not made again, but a side that still
    has executions to make is built again with its seed, which is not recorded twice. after_round: asked after every
    round which benchmarks need no more; its answers are appended, and replayed from the records. None: the design is
    fixed.

    A failed execution ends its benchmark on both sides, a failed build ends measuring. A round other than the first
    does not begin when the slowest so far does not fit what is left of the budget; one that has begun is finished.

    Raises:
        OSError: a record cannot be appended; what was appended before stays.
    """
    suites = {b.name for side in work.benchmarks.values() for b in side.values() if b.instrument in SUITES}
    return _Loop(work, tools, append, Ledger(records, work.session, suites), after_round, progress).run()


class _Loop:
    def __init__(
        self,
        work: Work,
        tools: Tools,
        append: Append,
        ledger: Ledger,
        after_round: AfterRound | None,
        progress: Progress,
    ) -> None:
        self._work = work
        self._tools = tools
        self._append = append
        self._ledger = ledger
        self._after_round = after_round
        self._progress = progress
        self._empty: set[tuple[Side, str]] = set()
        self._executions = Executions(
            tools.executor,
            tools.instruments,
            work.conditions,
            work.place,
            caller=work.caller,
            hint=tools.hint,
            iterations=work.iterations,
            session=work.session,
        )

    def run(self) -> Measured:
        rounds = self._work.rounds
        for number, each in enumerate(rounds):
            stop = self._reason_to_stop(number, each)
            if stop is None and not self._round(each):
                stop = "build failure"
            if stop is not None:
                return Measured(number, len(rounds), stop)
            self._look(number)
        measured = {step.benchmark for each in rounds for step in each.executions}
        all_failed = bool(measured) and all(map(self._ledger.is_failed, measured))
        return Measured(len(rounds), len(rounds), "failed" if all_failed else "finished")

    def _reason_to_stop(self, number: int, each: Round) -> Stop | None:
        ledger = self._ledger
        if ledger.build_failed and ledger.pending(each.executions):
            return "build failure"
        rest = {step.benchmark for later in self._work.rounds[number:] for step in later.executions}
        if rest and all(map(ledger.is_failed, rest)):
            return "failed"
        if rest and all(map(ledger.is_out, rest)):
            return "settled"
        begins = number > 0 and bool(each.executions) and not ledger.begun(each.build)
        return "budget" if begins and not ledger.fits(self._work.budget) else None

    def _round(self, each: Round) -> bool:
        # returns whether its builds succeeded
        pending = self._ledger.pending(each.executions)
        if not pending:
            return True
        self._progress(RoundStarted(each.build, len(self._work.rounds), len(pending)))
        needed = {step.side for step in pending}
        for build in each.builds:
            wanted = build.side in needed or not self._ledger.built(build.side, build.build)
            if wanted and not self._build(build):
                return False
        try:
            for step in pending:
                # a suite of which nothing is wanted on either side need not run again
                empty = all((side, step.benchmark) in self._empty for side in SIDES)
                if not empty and not self._ledger.is_failed(step.benchmark):
                    self._execute(step)
        finally:
            self._executions.end_round()
        return True

    def _build(self, step: BuildStep) -> bool:
        self._progress(StepStarted(step.side, None))
        record = self._tools.builder.build(step.side, step.build, step.seed)
        if isinstance(record, Failure):
            if record.hint is None:
                record = msgspec.structs.replace(record, hint=self._tools.hint(record))
            self._add(record)
            self._progress(StepFinished(step.side, None, 0.0, record))
            return False
        if not self._ledger.built(step.side, step.build):
            self._add(record)
        self._progress(StepFinished(step.side, None, record.seconds or 0.0, None))
        return True

    def _execute(self, step: ExecutionStep) -> None:
        self._progress(StepStarted(step.side, step.benchmark))
        benchmark = self._work.benchmarks[step.side][step.benchmark]
        made = self._executions.make(benchmark, step, self._tools.builder.directory(step.side))
        # of a suite's benchmark that has failed neither values nor more failures are wanted
        failed = self._ledger.failed
        failures = [failure for failure in made.failures if failure.benchmark not in failed]
        executions = [each for each in made.executions if each.benchmark not in failed]
        if any(each.suite for each in executions):
            executions = [msgspec.structs.replace(each, lines=len(executions)) for each in executions]
        self._add(*failures, *executions)
        if not made.executions and not made.failures:
            self._empty.add((step.side, step.benchmark))
        whole = failures[0] if failures and not made.executions else None
        self._progress(StepFinished(step.side, step.benchmark, made.seconds, whole))

    def _look(self, number: int) -> None:
        ledger = self._ledger
        if number < len(ledger.looks):
            ledger.settled |= set(ledger.looks[number].settled)
        elif self._after_round is not None:
            measured = {step.benchmark for step in self._work.rounds[number].executions}
            before = set(filter(ledger.is_out, measured))
            settled = self._after_round(ledger.records)
            ledger.settled |= settled
            self._add(Look(look=number + 1, settled=sorted(settled)))
            out = set(filter(ledger.is_out, measured))
            self._progress(LookTaken(len(out - before), len(measured - out)))

    def _add(self, *records: Record) -> None:
        self._append(*records)
        for record in records:
            self._ledger.note(record)
