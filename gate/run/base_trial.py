"""What base runs before anything of head has run: by its own configuration, or built as head says where it has none."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass

import msgspec

from gate.config.types import Benchmark
from gate.model import UNBUILT, Cut, Failure, Side
from gate.run.hints import was_exhausted
from gate.run.workshop import Workshop
from harness.loop.execution import Executions, Unmeasured
from harness.loop.measure import cut_at
from harness.loop.steps import BuildStep, ExecutionStep
from harness.process.budget import BudgetEndedError
from harness.process.process_groups import NOT_STARTED
from harness.source.tracked import facts_of, restore
from harness.source.untracked import checkout_hint

SECONDS = 30.0
"""That the first starts take of all benchmarks together, but for the least of each; and at most this share of the
budget. What still runs then has started."""
_SHARE = 0.05
_LEAST = 0.5


@dataclass(frozen=True, slots=True)
class Started:
    """What came of a side's first build, and of the first start of each of its benchmarks.

    runs: the benchmarks that start, or suites of which some cases do. failures: of those that fail. broken: each failed
    twice alike, by itself. built: its build succeeded. begun: when it began, in nanoseconds. cut: where the budget
    ended it, which tells nothing else. unstarted: no program of those that failed could be started.
    """

    runs: frozenset[str]
    failures: tuple[Failure, ...]
    broken: bool
    built: bool
    begun: int
    cut: Cut | None = None
    unstarted: bool = False


def started(made: Workshop, side: Side = "base") -> tuple[Workshop, Started]:
    """Build a side, and start each of its benchmarks once; what fails is tried once more in the same way.

    Returns what goes on in the same trees, which are as the build has left them, or empty; and what came of it.

    Raises:
        OSError: perfgate's own files cannot be written.
        SourceError: the side's tree cannot be made.
    """
    begun, at = time.time_ns(), list[BuildStep | ExecutionStep]()
    try:
        return _started(made, side, begun, at.append)
    except BudgetEndedError as error:
        if error.phase == "comparison":
            # an execution, though it has no instrument, whose seconds the cut has
            error.phase = "execution"
            made.conditions.budget.note("start", -error.seconds)
        nothing = Started(frozenset(), (), broken=False, built=False, begun=begun, cut=cut_at(at[-1], error))
        return made.afresh(made.job), nothing


def _started(
    made: Workshop, side: Side, begun: int, begin: Callable[[BuildStep | ExecutionStep], None]
) -> tuple[Workshop, Started]:
    step = _build_step(made, side)
    begin(step)
    record = made.builder.build_ahead(side, 0, step.seed, step.factors)
    if isinstance(record, Failure):
        fault = made.builder.fault(side, step.factors)
        # while the tree stands: a disk that it fills is full, and what the build made is there
        own = _is_own(made, record, fault)
        again, second = made.afresh(made.job), None
        if own:
            second = again.builder.build(step.side, 0, step.seed, step.factors)
        alike = isinstance(second, Failure) and second.kind == record.kind
        alike = alike and again.builder.fault(step.side, step.factors) == fault
        record = _flaky(record) if own and not alike else record
        return again.afresh(made.job), Started(frozenset(), (record,), broken=alike, built=False, begun=begun)
    before = facts_of(made.trees.made(side).path)
    steps, executions = _first_steps(made, side), made.executions(1)
    benchmarks = {b.name: b for b in made.job.project.settings.sides[side].benchmark}
    # a port or another program may be why one with a service or a load fails: it is taken to run, and fails as ever
    runs = {name for name in steps if benchmarks[name].service is not None or benchmarks[name].load is not None}
    steps = {name: each for name, each in steps.items() if name not in runs}
    failures, broken, unstarted = list[Failure](), True, True
    budget = made.conditions.budget
    end = time.monotonic() + min(SECONDS, _SHARE * budget.limit)
    with ExitStack() as stack:
        stack.enter_context(budget.timed("start"))
        stack.callback(executions.end_round)
        for number, (name, each) in enumerate(steps.items()):
            begin(each)
            share = max(_LEAST, (end - time.monotonic()) / (len(steps) - number))
            ran = _start(made, executions, benchmarks[name], each, share)
            if ran.failure is None or ran.ended:
                runs.add(name)
                continue
            kept = str(made.builder.kept(side, each.building))
            failure = msgspec.structs.replace(ran.failure, directory=kept)
            own = alike = _is_own(made, ran.failure, ran.fault)
            if own:
                repeated = _start(made, executions, benchmarks[name], each, share)
                alike = repeated.failure is not None and not repeated.ended and repeated.fault == ran.fault
            if alike and benchmarks[name].measured.suite:
                directory = made.builder.directory(each.side, each.building)
                # one case of it fails: the others can be compared
                runs |= {name} if executions.make(benchmarks[name], each, directory).executions else set()
            failures.append(_flaky(failure) if own and not alike else failure)
            broken, unstarted = broken and alike, unstarted and ran.fault in NOT_STARTED
    # what the first starts have left there the other side's tree does not have
    whole = restore(made.trees.made(side).path, before)
    broken, unstarted = broken and bool(failures), unstarted and bool(failures)
    found = Started(frozenset(runs), tuple(failures), broken=broken, built=True, begun=begun, unstarted=unstarted)
    if not whole:
        budget.note("again", (record.seconds or 0.0) + (record.checked or 0.0) + (record.setup or 0.0))
        made = made.afresh(made.job)
    return made, found


def _flaky(failure: Failure) -> Failure:
    return msgspec.structs.replace(failure, hint="tried again in the same way it did not fail so: it is not reliable")


def _start(
    made: Workshop, executions: Executions, benchmark: Benchmark, step: ExecutionStep, seconds: float
) -> Unmeasured:
    return executions.unmeasured(benchmark, step, made.builder.directory(step.side, step.building), seconds=seconds)


def _is_own(made: Workshop, failure: Failure, fault: int | None) -> bool:
    """Return whether a program failed by itself, and by what its commit holds, as far as that shows.

    No signal, time-out or full disk had it fail, nor a file of the checkout that git does not track.
    """
    if failure.kind not in (*UNBUILT, "execution") or fault is None or was_exhausted(failure.stderr):
        return False
    here = msgspec.structs.replace(failure, directory=str(made.trees.found(failure.side or "base")))
    if checkout_hint(made.trees.repository)(here, fault in NOT_STARTED):
        return False
    room = os.statvfs(made.trees.directory)
    return room.f_bavail > 0 and (room.f_favail > 0 or room.f_files == 0)


def _build_step(made: Workshop, side: Side = "base") -> BuildStep:
    return next(step for step in made.job.rounds[0].builds if step.side == side)


def _first_steps(made: Workshop, side: Side = "base") -> Mapping[str, ExecutionStep]:
    """Return a side's first execution of each benchmark; of base only those that head has too."""
    steps: dict[str, ExecutionStep] = {}
    for step in made.job.rounds[0].executions:
        if step.side == side:
            steps.setdefault(step.benchmark, step)
    return steps


# --- base has no configuration ----------------------------------------------------------------------------------------


def tried(made: Workshop) -> tuple[set[str], Failure | None] | None:
    """Build base as head says, and execute each benchmark there once; None: the budget has ended.

    Returns those that it runs, and what became of the first that it does not.

    Raises:
        OSError: perfgate's own files cannot be written.
    """
    repository, revision = made.trees.repository, made.trees.sources.base.revision
    where = str(repository.prefix)
    if not (
        where == "." or repository.git.maybe("rev-parse", "--verify", "--quiet", f"{revision}:{where}") is not None
    ):
        return set(), None
    try:
        built = _build_step(made)
        record = made.builder.build("base", 0, built.seed, built.factors)
        if isinstance(record, Failure):
            return set(), record
        benchmarks = {b.name: b for b in made.job.project.settings.sides["base"].benchmark}
        steps = _first_steps(made)
        directory = made.builder.directory("base", built.factors)
        executions = made.executions(1)
        runs: set[str] = set()
        failures: list[Failure] = []
        try:
            for name, step in steps.items():
                done = executions.make(benchmarks[name], step, directory)
                runs |= {name} if done.executions else set()
                failures += done.failures if not done.executions else []
        finally:
            executions.end_round()
        return runs, next(iter(failures), None)
    except BudgetEndedError:
        return None
