"""One execution of a benchmark: its services, its process, and its records."""

from __future__ import annotations

import math
import os
import secrets
import shlex
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from gate.config import treatments
from gate.config.commands import by_hand, mentions
from gate.config.treatments import PlannedTreatment
from gate.config.types import Benchmark
from gate.model import SIDES, Execution, Failure, Metric, Side
from gate.model.case import canonical
from gate.model.directions import told_or_known
from gate.removal import remove_tree
from gate.writing.units import whole_of
from harness.build.conditions import Conditions
from harness.build.perturb import execution_environment
from harness.instruments import active_clock
from harness.instruments.protocol import OUTPUT, SHELL, Collected, Context, Instrument, Unusable, whole
from harness.instruments.spawn import Spawn
from harness.instruments.values import MOST_VALUES, TOO_MANY, Enough, so_far, tail
from harness.loop.schedule import ExecutionStep
from harness.process.budget import DeadlineError, deadline
from harness.process.execute import Command, ProcessEnd
from harness.process.forkserver import entered
from harness.sandbox.sandbox import outputs
from harness.service.service import Companions, Living, free_port
from harness.source.repository import Hint, no_hint
from harness.trace.trace import Trace, TracedExecutor

# What {output} is when a command is repeated by hand: a file beside the command, to be looked at.
_BY_HAND_OUTPUT = "perfgate-output"
_PRINTED = "printed"
_AGAIN = 120.0
"""Seconds that a command that failed without a word may take once more."""
_LEAST_TO_READ = 1.0
"""Seconds that reading the output may take, however late the program ended."""


@dataclass(frozen=True, slots=True)
class Executed:
    """What came out of one execution: its records and its seconds.

    Without executions it failed, or, where there are no failures either, it gave nothing to record.
    """

    executions: list[Execution]
    failures: list[Failure]
    seconds: float
    cut: bool = False
    """It was ended for the time that it took, and has what it had printed by then."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """An execution that is made, and the process that it starts."""

    step: ExecutionStep
    benchmark: Benchmark
    context: Context
    command: Command


@dataclass(frozen=True, slots=True)
class Unmeasured:
    """An execution that is not measured."""

    attempt: Attempt
    failure: Failure | None
    """Why it gave nothing; None: it did not fail."""
    ended: bool = False
    """Whether it was ended: it took longer than it might, or nothing more was wanted of it."""
    fault: int | None = None
    """See Outcome.fault."""


class Executions:
    """Makes executions: the companions, the process, the values.

    instruments: by their name in the configuration. iterations: of an execution. planned: the treatments whose numbers
    stand in the steps. hint: what probably went wrong.
    """

    def __init__(
        self, conditions: Conditions, instruments: Mapping[str, Instrument], iterations: int,
        planned: Sequence[PlannedTreatment] = (), hint: Hint = no_hint,
    ) -> None:  # fmt: skip
        self.conditions = conditions
        self.hint = hint
        self.unmeasured_seconds: list[float] = []
        """Of each execution that was not measured."""
        self.warm: set[tuple[str, Side]] = set()
        """What was executed in this round, by benchmark and side: builds come next, which are warmed up again."""
        self._instruments = instruments
        self._values = 0
        """Of all executions."""
        self._begun: Attempt | None = None
        """The last that `make` began."""
        self._iterations = iterations
        self._planned = {each.number: each for each in planned}
        self.companions = Companions(conditions.executor, conditions.scratch, conditions.budget)
        self._scratch = {side: Scratch(outputs(conditions.scratch, side), conditions.sandbox.own) for side in SIDES}
        self._apart = {side: Scratch(conditions.scratch) for side in SIDES}

    def make(
        self, benchmark: Benchmark, step: ExecutionStep, directory: Path, iterations: int | None = None,
        within: float = math.inf,
    ) -> Executed:  # fmt: skip
        """Execute a benchmark once in a directory, at the step's treatment.

        iterations: others than those of all. within: seconds after which what it has printed is enough, of programs
        that may be ended then.
        """
        begin, untreated = time.perf_counter(), benchmark
        benchmark = self._treated(benchmark, step)
        context = self.context(benchmark, step, directory)
        context = replace(context, iterations=iterations or self._iterations)
        with self.companions.around(benchmark, context) as living:
            context = replace(context, port=context.port if isinstance(living, Unusable) else living.port)
            self._begun = attempt = self.prepare(benchmark, step, context)
            if isinstance(living, Unusable):
                seconds = time.perf_counter() - begin
                return Executed([], [self.failure(attempt, living, seconds)], seconds)
            command = replace(attempt.command, cpus=benchmark.cpus)
            enough = Enough(benchmark, context, within)
            with self.conditions.budget.phase("execution"):
                outcome = self.conditions.executor.run(
                    command, lambda: _complaint(living, benchmark, context, enough=enough())
                )
            made = replace(self._made(attempt, _as_wanted(outcome, enough), living), cut=enough.cut)
        if command.stdout is None and outcome.seconds < benchmark.timeout:
            made = self.with_printed_reason(made, untreated, step, directory)
        if benchmark.service is None and benchmark.load is None:
            return made
        # what starting and stopping them takes is part of what an execution costs
        seconds = time.perf_counter() - begin
        share = (seconds - made.seconds) / max(1, len(made.executions))
        longer = [msgspec.structs.replace(each, seconds=(each.seconds or 0.0) + share) for each in made.executions]
        return Executed(longer, made.failures, seconds)

    def so_far(self) -> list[Execution]:
        """Return what the execution that the budget has just ended had told of its cases.

        Programs of the values instrument may print them one by one, and pyperf adds each to its file; of other suites
        nothing is known before the end.
        """
        begun, ended = self._begun, ProcessEnd("", "", 0.0, "")
        if begun is not None and begun.benchmark.instrument == "pyperf":
            collected = self._collected(begun.benchmark, begun.context, ended)
            return self._lines(begun, ended, collected) if isinstance(collected, Collected) else []
        if begun is None or begun.benchmark.instrument != "values":
            return []
        metrics = so_far(begun.benchmark, begun.context)
        return [self.record(begun, ended, metrics, 0.0)] if metrics else []

    def with_printed_reason(
        self, made: Executed, benchmark: Benchmark, step: ExecutionStep, directory: Path
    ) -> Executed:
        """Add standard output to a failure that has no standard error, by running the command once more, unmeasured.

        Standard output is discarded while measuring, and test runners report failures there. directory: of the side's
        tree.
        """
        if made.executions or not made.failures or any(each.stderr for each in made.failures):
            return made
        printed = self.conditions.scratch / _PRINTED
        again = self.run_unmeasured(benchmark, step, directory, printed=printed, seconds=_AGAIN)
        told = tail(printed) if again.failure is not None and not again.ended else ""
        printed.unlink(missing_ok=True)
        return replace(made, failures=[msgspec.structs.replace(each, stderr=told) for each in made.failures])

    def run_unmeasured(
        self, benchmark: Benchmark, step: ExecutionStep, directory: Path, *,
        printed: Path | None = None, trace: Trace | None = None, seconds: float = math.inf,
        wrapped: Callable[[Context, Command], Command] = lambda _, command: command,
        enough: Callable[[], bool] = lambda: False,
    ) -> Unmeasured:  # fmt: skip
        """Run a benchmark's command once without measuring it.

        A suite, and a program with a clock of its own, get the very command they are measured with; others run without
        their instrument.

        printed: takes its standard output. trace: sees what it and its companions read. seconds: at most. wrapped:
        puts a profiler around the command. enough: asked now and then whether it may end, as nothing more is wanted.
        """
        benchmark = self._treated(benchmark, step)
        context = self.context(benchmark, step, directory)
        executor = self.conditions.executor if trace is None else TracedExecutor(self.conditions.executor, trace)
        companions = Companions(executor, self.conditions.scratch, self.conditions.budget)
        with ExitStack() as stack:
            stack.callback(companions.stop_builds)
            living = stack.enter_context(companions.around(benchmark, context))
            port = context.port if isinstance(living, Unusable) else living.port
            prepared = self.prepare(benchmark, step, replace(context, port=port))
            if isinstance(living, Unusable):
                return Unmeasured(prepared, self.failure(prepared, living, None))
            # a program that prints its own values is asked for what is measured of it, not for all that it has
            own = benchmark.measured.suite or benchmark.measured.own_clock
            argv = prepared.command.argv if own else whole(benchmark, prepared.context)
            wanted = Enough(benchmark, prepared.context)
            command = replace(
                prepared.command, argv=argv, launch=None, enters=(),
                # who looks at it would see the clock's own calls
                environment=active_clock.silent(prepared.command.environment),
                stdout=printed or wanted.output, max_stdout=benchmark.max_output.value,
                cpus=benchmark.cpus, timeout=min(prepared.command.timeout, seconds),
            )  # fmt: skip
            command = wrapped(prepared.context, command)
            attempt = replace(prepared, command=command)
            with self.conditions.budget.phase("comparison"):
                outcome = executor.run(
                    command, lambda: _complaint(living, benchmark, context, enough=wanted() or enough())
                )
            outcome = outcome if living.complaint() else _as_wanted(outcome, wanted)
            too_slow = outcome.timed_out and seconds < prepared.command.timeout
            ended = too_slow or (bool(outcome.status) and enough())
            if not ended:
                # an execution that was cut short does not show how long one takes
                self.unmeasured_seconds.append(outcome.seconds)
            told = "\n".join(part for part in (living.logs(), outcome.stderr) if part)
        if not outcome.status:
            return Unmeasured(attempt, None)
        if benchmark.measured.suite:
            found = self._collected(benchmark, attempt.context, outcome)
            if isinstance(found, Unusable) and found.empty:
                return Unmeasured(attempt, None)
        why = Unusable(outcome.status, told, outcome.unstarted)
        failure = self.failure(attempt, why, outcome.seconds)
        return Unmeasured(attempt, failure, ended, outcome.fault)

    def _treated(self, benchmark: Benchmark, step: ExecutionStep) -> Benchmark:
        """Return a benchmark of a step's side as it is executed at that step's treatment."""
        study = self.conditions.study
        if study is None or step.treatment is None:
            return benchmark
        return treatments.applied(benchmark, study, self._planned[step.treatment])

    def end_round(self) -> None:
        """Stop the services that live as long as a build, and remove outputs."""
        self.companions.stop_builds()
        self.warm.clear()
        for scratch in (*self._scratch.values(), *self._apart.values()):
            scratch.clear()
        self.conditions.sandbox.clear()

    def context(self, benchmark: Benchmark, step: ExecutionStep, directory: Path, tree: Path | None = None) -> Context:
        """Lay out where and how an execution happens; the directories of the side's last one are emptied.

        tree: the root of the side's tree, where it is not found by the directory.
        """
        scratch = self._scratch[step.side].fresh()
        sandbox = self.conditions.sandbox
        wants_port = benchmark.service or benchmark.load or mentions(benchmark.command, "port")
        # a suite may build what it measures, and fetch what it builds
        needs = bool(benchmark.network or benchmark.service or benchmark.load or benchmark.measured.suite)
        common = Context(
            directory=directory,
            environment={},
            side=step.side,
            seed=0,
            padding=0,
            iterations=self._iterations,
            scratch=scratch,
            port=free_port() if wants_port else 0,
            treatment=canonical(step.factors),
            apart=self._apart[step.side].fresh(),
            confined=sandbox.confined(
                step.side, tree or self.conditions.root(directory), building=False, network=needs, scratch=scratch
            ),
            slowdown=self.conditions.slowdown.get(step.side, 0.0),
        )
        return self.with_draws(benchmark, step, common)

    def with_draws(self, benchmark: Benchmark, step: ExecutionStep, context: Context) -> Context:
        """Return the context with what is drawn for each execution: environment, seed and padding."""
        recipe, study = self.conditions.recipes[step.side], self.conditions.study
        # exact values must not move with the layout: the same seed and environment for every execution
        fixed = benchmark.measured.exact
        perturb: Collection[str] = () if fixed else recipe.table.perturb
        environment = dict(recipe.environment)
        if study is not None and step.treatment is not None:
            environment |= treatments.environment(study, self._planned[step.treatment])
        environment |= self.conditions.sandbox.environment(step.side)
        own = execution_environment(perturb, step.seed, environment, self.conditions.shims)
        padding = step.padding if "environment" in perturb else 0
        return replace(context, environment={**environment, **own}, seed=0 if fixed else step.seed, padding=padding)

    def _made(self, attempt: Attempt, outcome: ProcessEnd, living: Living) -> Executed:
        """Record what came out of a process: of one benchmark, or of each that a suite names."""
        collected, name = self._collected(attempt.benchmark, attempt.context, outcome), attempt.benchmark.name
        if isinstance(collected, Unusable):
            # last stands what a report shows: the words of what ended first
            parts = (collected.stderr, living.logs()) if living.complaint() else (living.logs(), collected.stderr)
            told = "\n".join(part for part in parts if part)
            empty = collected.empty and not living.complaint()
            why = Unusable(collected.status, told, collected.unstarted or living.unstarted(), empty)
            return Executed([], [self.failure(attempt, why, outcome.seconds)], outcome.seconds)
        if not isinstance(collected, Collected):
            return Executed([self.record(attempt, outcome, collected, outcome.seconds)], [], outcome.seconds)
        executions = self._lines(attempt, outcome, collected)
        # the lines have the time already, where there are any
        share = None if executions else outcome.seconds / max(1, len(collected.failures))
        failures = [
            msgspec.structs.replace(self.failure(attempt, why, share), benchmark=f"{name}/{own}")
            for own, why in collected.failures.items()
        ]
        return Executed(executions, failures, outcome.seconds)

    def _lines(self, attempt: Attempt, outcome: ProcessEnd, collected: Collected) -> list[Execution]:
        """Record what a suite gave of each benchmark that it names."""
        lines, name = len(collected.benchmarks), attempt.benchmark.name
        return [
            msgspec.structs.replace(
                # an even share of the time, so that the lines of a run add up to what it took
                self.record(attempt, outcome, metrics, outcome.seconds / lines),
                benchmark=f"{name}/{own}",
                suite=name,
                lines=lines,
            )
            for own, metrics in collected.benchmarks.items()
        ]

    def _collected(
        self, benchmark: Benchmark, context: Context, outcome: ProcessEnd
    ) -> dict[str, Metric] | Collected | Unusable:
        """Read the output within what the process left of the time limit, or a little more.

        Counts the values of the run; too many are unusable.
        """
        try:
            with deadline(max(benchmark.timeout - outcome.seconds, _LEAST_TO_READ)):
                found = self._instruments[benchmark.instrument].collect(benchmark, context, outcome)
        except DeadlineError:
            why = f"time-out after {benchmark.timeout}: the program had ended, and its output was still being read"
            return Unusable(why, outcome.stderr)
        if isinstance(found, Unusable):
            return found
        every = found.benchmarks.values() if isinstance(found, Collected) else [found]
        self._values += sum(len(each.values) for metrics in every for each in metrics.values())
        return Unusable(TOO_MANY, outcome.stderr) if self._values > MOST_VALUES else found

    def record(self, attempt: Attempt, outcome: ProcessEnd, metrics: dict[str, Metric], seconds: float) -> Execution:
        """Record what an execution gave."""
        step, waited = attempt.step, active_clock.stood_still(attempt.context.scratch)
        if waited:
            # a suite's line gets its share
            waited = waited * seconds / max(outcome.seconds, waited)
        instrument = self._instruments[attempt.benchmark.instrument]
        # spawn's launcher spends it
        if attempt.context.slowdown and not isinstance(instrument, Spawn):
            metrics = {name: _slowed_down(name, metric, attempt.context.slowdown) for name, metric in metrics.items()}
        return Execution(
            benchmark=step.benchmark, side=step.side, session=self.conditions.session, build=step.build,
            execution=step.execution, order=step.order, started=outcome.started, seconds=seconds,
            warmup=max(len(metric.dropped) for metric in metrics.values()), factors=dict(step.factors), metrics=metrics,
            waited=waited,
        )  # fmt: skip

    def prepare(self, benchmark: Benchmark, step: ExecutionStep, context: Context) -> Attempt:
        """Return an execution with the process that it starts."""
        command = self._instruments[benchmark.instrument].prepare(benchmark, context)
        if benchmark.measured.own_clock and benchmark.clock == "active":
            added = active_clock.variables(self.conditions.shims, context.scratch, command.environment)
            command = replace(command, environment={**command.environment, **added})
        if context.confined is not None:
            # a launcher starts the program inside, and stays outside itself
            enters = entered(context.confined) if command.launch is not None else ()
            command = replace(command, confined=context.confined, enters=enters)
        return Attempt(step, benchmark, context, command)

    def failure(self, attempt: Attempt, why: Unusable, seconds: float | None) -> Failure:
        """Record an execution that gave nothing to be used."""
        step = attempt.step
        difference = self.conditions.difference(step.side, attempt.command.environment)
        if "PERFGATE_OUTPUT" in difference:
            difference["PERFGATE_OUTPUT"] = _BY_HAND_OUTPUT
        failure = Failure(
            kind="execution", benchmark=step.benchmark, side=step.side, session=self.conditions.session,
            build=step.build, execution=step.execution, factors=dict(step.factors), status=why.status,
            stderr=why.stderr, seconds=seconds, command=_to_repeat(attempt), directory=str(attempt.context.directory),
            environment=difference, empty=why.empty,
        )  # fmt: skip
        return msgspec.structs.replace(failure, hint=self.hint(failure, why.unstarted))


def _slowed_down(name: str, metric: Metric, slowdown: float) -> Metric:
    """Return a metric as if the program had done that share more work; one without a direction stays."""
    better = told_or_known(metric.better, name, metric.unit)
    if better is None or whole_of(name, metric.unit) is not None:
        return metric
    times = 1 + slowdown if better == "lower" else 1 / (1 + slowdown)
    return msgspec.structs.replace(metric, values=[value * times for value in metric.values])


def _complaint(living: Living, benchmark: Benchmark, context: Context, *, enough: bool) -> str:
    """Say why an execution is ended; "": it goes on. enough: nothing more is wanted of it."""
    why = living.complaint() or too_long(benchmark, context)
    return why or ("ended, as nothing more was wanted of it" if enough else "")


def _as_wanted(outcome: ProcessEnd, enough: Enough) -> ProcessEnd:
    """Treat a program that had printed all that was wanted as successful, however it ended."""
    return replace(outcome, status="", code=None) if outcome.status and enough() else outcome


def too_long(benchmark: Benchmark, context: Context) -> str:
    """Say that {output} has grown beyond its limit, before it fills the disk; "" while it has not."""
    try:
        size = (context.scratch / OUTPUT).lstat().st_size
    except OSError:
        return ""
    limit = benchmark.max_output.value
    return f"the output is longer than max_output ({limit:.0f} bytes)" if size > limit else ""


def _to_repeat(attempt: Attempt) -> str:
    """Return what to type to repeat an execution, with what ran beside it.

    Of an instrument that adds to the command it is the whole; of hyperfine and the like it is the user's own.
    """
    benchmark, context = attempt.benchmark, attempt.context
    values = {"seed": str(context.seed), "output": _BY_HAND_OUTPUT, "port": str(context.port)}
    if benchmark.measured.suite or benchmark.measured.exact:
        argv = attempt.command.argv
        text = argv[-1] if isinstance(benchmark.command, str) and argv[:2] == SHELL else shlex.join(argv)
        # the directory of the execution is gone, and what a tool writes is to be looked at
        own = text.replace(str(context.scratch / OUTPUT), _BY_HAND_OUTPUT).replace(f"{context.scratch}/", "perfgate-")
    else:
        own = by_hand(benchmark.command, values)
    beside = [each.command for each in (benchmark.service, benchmark.load) if each is not None]
    before, after = ([by_hand(each, values)] if each else [] for each in (benchmark.prepare, benchmark.cleanup))
    return "\n".join([*(f"{by_hand(command, values)} &  # beside it" for command in beside), *before, own, *after])


class Scratch:
    """One directory that is emptied and renamed for each execution.

    Reused, because removing a directory takes milliseconds on some file systems, more than everything else perfgate
    does for an execution. What still writes to the old name finds no directory there.
    """

    def __init__(self, parent: Path, chown: Callable[[Path], None] = lambda _: None) -> None:
        """Make nothing yet; parent: an existing directory. chown: gives one to the user that commands run as."""
        self._parent = parent
        self._chown = chown
        self._directory: Path | None = None

    def fresh(self) -> Path:
        """Return the empty directory under a new name. Raises: OSError: it cannot be made."""
        path = self._parent / secrets.token_hex(6)
        if self._directory is not None and _empty(self._directory):
            self._directory.rename(path)
        else:
            path.mkdir(mode=0o700, parents=True)
            self._chown(path)
        self._directory = path
        return path

    def clear(self) -> None:
        """Remove the directory."""
        if self._directory is not None:
            remove_tree(self._directory)
            self._directory = None


def _empty(directory: Path) -> bool:
    """Empty a directory; return whether it is empty and may be used again."""
    try:
        for entry in os.scandir(directory):
            if entry.is_dir(follow_symlinks=False):
                remove_tree(Path(entry.path))
            else:
                Path(entry.path).unlink()
        return not any(os.scandir(directory))
    except OSError:  # a program made its output undeletable, or removed the directory: it gets no second use
        return False
