"""The measuring loop: for each step execute, parse, append; between rounds ask whether to go on; resumes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import msgspec

from gate.config.types import Benchmark
from gate.model import AfterRound, Build, Execution, Failure, Look, Record, Side
from harness.execute import Executor, environment_difference
from harness.hints import Hint, no_hint
from harness.instruments.common import Context, Instrument, Unusable, by_hand
from harness.ledger import Ledger
from harness.schedule import BuildStep, ExecutionStep, Round

Stop = Literal["finished", "budget", "build failure", "failed", "settled"]
"""Why measuring ended: every round was done, the next one does not fit the budget, a build failed, every benchmark
failed, or those that did not fail need no more."""

# What {output} is when a command is repeated by hand: a file beside the command, to be looked at.
_BY_HAND_OUTPUT = "perfgate-output"


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

    benchmarks: by side and name, as that side's file has them. environments: of each side, whole, as
    clean_environment makes them. caller: the environment that failures are told apart from. budget: seconds for builds
    and executions. scratch: an existing directory for the outputs of executions.
    """

    rounds: Sequence[Round]
    benchmarks: Mapping[Side, Mapping[str, Benchmark]]
    iterations: int
    budget: float
    environments: Mapping[Side, Mapping[str, str]]
    caller: Mapping[str, str]
    scratch: Path
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
    append: Callable[[Record], None],
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
    return _Loop(work, tools, append, Ledger(records, work.session), after_round, progress).run()


class _Loop:
    def __init__(
        self,
        work: Work,
        tools: Tools,
        append: Callable[[Record], None],
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
        all_failed = bool(measured) and measured <= self._ledger.failed
        return Measured(len(rounds), len(rounds), "failed" if all_failed else "finished")

    def _reason_to_stop(self, number: int, each: Round) -> Stop | None:
        ledger = self._ledger
        if ledger.build_failed and ledger.pending(each.executions):
            return "build failure"
        rest = {step.benchmark for later in self._work.rounds[number:] for step in later.executions}
        if rest and rest <= ledger.failed:
            return "failed"
        if rest and rest <= ledger.failed | ledger.settled:
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
        for step in pending:
            if step.benchmark not in self._ledger.failed:
                self._execute(step)
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
        work = self._work
        self._progress(StepStarted(step.side, step.benchmark))
        benchmark = work.benchmarks[step.side][step.benchmark]
        instrument = self._tools.instruments[benchmark.instrument]
        # a new name of the same length each time: no execution sees another's output
        with tempfile.TemporaryDirectory(dir=work.scratch, ignore_cleanup_errors=True) as scratch:
            context = Context(
                directory=self._tools.builder.directory(step.side),
                environment=work.environments[step.side],
                side=step.side,
                seed=step.seed,
                padding=step.padding,
                iterations=work.iterations,
                scratch=Path(scratch),
            )
            command = instrument.prepare(benchmark, context)
            outcome = self._tools.executor.run(command)
            collected = instrument.collect(benchmark, context, outcome)
        if isinstance(collected, Unusable):
            failure = self._failure(step, benchmark, context.directory, command.environment, collected)
            self._ledger.lose(outcome.seconds)
            self._add(failure)
            self._progress(StepFinished(step.side, step.benchmark, outcome.seconds, failure))
            return
        self._add(
            Execution(
                benchmark=step.benchmark,
                side=step.side,
                session=work.session,
                build=step.build,
                execution=step.execution,
                order=step.order,
                started=outcome.started,
                seconds=outcome.seconds,
                warmup=benchmark.warmup,
                metrics=collected,
            )
        )
        self._progress(StepFinished(step.side, step.benchmark, outcome.seconds, None))

    def _failure(
        self, step: ExecutionStep, benchmark: Benchmark, directory: Path, environment: Mapping[str, str], why: Unusable
    ) -> Failure:
        difference = environment_difference(self._work.caller, environment)
        if "PERFGATE_OUTPUT" in difference:
            difference["PERFGATE_OUTPUT"] = _BY_HAND_OUTPUT
        failure = Failure(
            kind="execution",
            benchmark=step.benchmark,
            side=step.side,
            session=self._work.session,
            build=step.build,
            execution=step.execution,
            status=why.status,
            stderr=why.stderr,
            command=by_hand(benchmark.command, {"seed": str(step.seed), "output": _BY_HAND_OUTPUT}),
            directory=str(directory),
            environment=difference,
        )
        return msgspec.structs.replace(failure, hint=self._tools.hint(failure))

    def _look(self, number: int) -> None:
        ledger = self._ledger
        if number < len(ledger.looks):
            ledger.settled |= set(ledger.looks[number].settled)
        elif self._after_round is not None:
            settled = self._after_round(ledger.records)
            new = settled - ledger.settled - ledger.failed
            ledger.settled |= settled
            self._add(Look(look=number + 1, settled=sorted(settled)))
            measured = {step.benchmark for step in self._work.rounds[number].executions}
            self._progress(LookTaken(len(new & measured), len(measured - ledger.settled - ledger.failed)))

    def _add(self, record: Record) -> None:
        self._append(record)
        self._ledger.note(record)
