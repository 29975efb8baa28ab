"""A benchmark that regressed under the profiler that fits it: one profile a side, or why there is none."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from gate.config.types import Benchmark
from gate.formats.parts.output import OutputError
from gate.model import SIDES, Side
from gate.model.profile import Profile, Unprofiled
from gate.units import Duration
from harness.loop.execution import Executions
from harness.loop.steps import ExecutionStep
from harness.process.budget import Budget, BudgetEndedError
from harness.process.deadline import DeadlineError, deadline
from harness.profilers.profiler import Absent, Costs, Effort, Found, Profiler, Subject, counted, fold

_DETAIL = 500
_LEAST = 10.0
"""Seconds that an execution may take under a profiler, whatever it took without."""
_UNREADABLE = (OutputError, OSError, DeadlineError, RecursionError, MemoryError)
Making = Callable[[int | None, Budget], Executions]
"""Gives what executes, with so many iterations (None: as planned), within a budget."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A benchmark to be profiled.

    name: of the case, of a suite that of its line. steps: of each side; head's execution has the seed of base's.
    directories: puts a side's tree where it is executed. seconds: what one iteration takes on
    the slower side. execution: what one execution does.
    """

    name: str
    steps: Mapping[Side, ExecutionStep]
    benchmarks: Mapping[Side, Benchmark]
    directories: Callable[[Side], Path]
    seconds: float
    execution: float
    """Seconds of one execution."""
    session: int = 0
    factors: dict[str, Any] = field(default_factory=dict, hash=False)

    def subject(self, side: Side, executions: Executions) -> Subject:
        """Return what a profiler is asked of."""
        benchmark = self.benchmarks[side]
        # a profiled execution is longer, and its warm-up tells nothing
        benchmark = msgspec.structs.replace(
            benchmark, warmup=0, timeout=Duration(float(executions.conditions.budget.limit))
        )
        line = self.name.removeprefix(f"{benchmark.name}/") if benchmark.measured.suite else ""
        environment = executions.conditions.recipes[side].environment
        whole = benchmark.measured.suite or benchmark.instrument == "values"
        once = self.execution if whole else self.seconds
        return Subject(benchmark, line, self.seconds, once, self.directories(side), environment)


@dataclass(frozen=True, slots=True)
class _Chosen:
    profiler: Profiler
    found: Found
    effort: Effort


def profiled(
    wanted: Wanted, profilers: Sequence[Profiler], making: Making, budget: Budget,
    caller: Mapping[str, str] = os.environ,
) -> Iterator[Profile | Unprofiled]:  # fmt: skip
    """Profile a benchmark on both sides; one record says why that is not possible.

    profilers: the one to be preferred first. budget: of all profiles. caller: the environment that their tools are
    looked for in.
    """
    begin = time.monotonic()
    found: list[Profile] = []
    chosen = _chosen(wanted, profilers, making(None, budget), caller)
    if isinstance(chosen, Unprofiled):
        yield chosen
        return
    executions = making(chosen.effort.iterations, budget)
    why: Unprofiled | None = None
    try:
        for side in SIDES:
            each = _side(wanted, side, chosen, executions)
            if isinstance(each, Unprofiled):
                why = each
                break
            found.append(each)
    except BudgetEndedError:
        why = _unprofiled(wanted, "budget", chosen.profiler.name)
    finally:
        executions.end_round()
    if why is not None:
        yield msgspec.structs.replace(why, seconds=time.monotonic() - begin)
        return
    # one side alone explains nothing
    yield from found


def _chosen(
    wanted: Wanted, profilers: Sequence[Profiler], executions: Executions, caller: Mapping[str, str]
) -> _Chosen | Unprofiled:
    """Choose the first profiler that fits, is there, and is done in time."""
    subject = wanted.subject("base", executions)
    fitting = [each for each in profilers if each.fits(subject)]
    why: Unprofiled | None = None
    for each in fitting:
        found = each.find(caller)
        if isinstance(found, Absent):
            why = why or _unprofiled(wanted, "no-profiler", each.name, install=found.install, detail=found.why)
            continue
        effort = each.effort(subject)
        if len(SIDES) * effort.seconds > executions.conditions.budget.left:
            # unless no other one can
            why = _unprofiled(wanted, "budget", each.name)
            continue
        return _Chosen(each, found, effort)
    return why or _unprofiled(wanted, "unsupported")


def _side(wanted: Wanted, side: Side, chosen: _Chosen, executions: Executions) -> Profile | Unprofiled:
    profiler, subject = chosen.profiler, wanted.subject(side, executions)
    first = wanted.steps["base"]
    step = replace(wanted.steps[side], seed=first.seed, padding=first.padding)
    begin, every = time.monotonic(), list[Costs]()
    for _ in range(chosen.effort.executions):
        ran = executions.unmeasured(
            subject.benchmark, step, subject.directory,
            wrapped=lambda context, command: profiler.wrap(chosen.found, subject, context, command),
        )  # fmt: skip
        if ran.failure is not None:
            return _unprofiled(wanted, "failed", profiler.name, detail=f"{ran.failure.status} {ran.failure.stderr}")
        try:
            with deadline(max(_LEAST, executions.conditions.budget.left)):
                for command in profiler.afterwards(subject, ran.attempt.context, ran.attempt.command):
                    executions.conditions.executor.run(command)
                every.append(profiler.read(subject, ran.attempt.context))
        except _UNREADABLE as error:
            return _unprofiled(wanted, "failed", profiler.name, detail=str(error))
    try:
        sampled = profiler.sampled(subject, every)
        folded = fold(sampled.costs)
    except _UNREADABLE as error:
        return _unprofiled(wanted, "failed", profiler.name, detail=str(error))
    return Profile(
        benchmark=wanted.name, side=side, session=wanted.session, factors=wanted.factors, profiler=profiler.name,
        tool=chosen.found.version, unit=sampled.unit, operations=sampled.operations, seconds=time.monotonic() - begin,
        frames=folded.frames, stacks=folded.stacks,
        calls=None if sampled.calls is None else counted(folded.frames, sampled.calls), approximate=sampled.approximate,
    )  # fmt: skip


def _unprofiled(wanted: Wanted, kind: str, profiler: str = "", *, install: str = "", detail: str = "") -> Unprofiled:
    return Unprofiled(
        benchmark=wanted.name, session=wanted.session, factors=wanted.factors, kind=kind, profiler=profiler,
        install=install, detail=detail.strip()[-_DETAIL:],
    )  # fmt: skip
