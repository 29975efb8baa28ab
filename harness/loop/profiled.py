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
from gate.writing.units import Duration
from harness.loop.execution import Executions
from harness.loop.schedule import ExecutionStep
from harness.process.budget import Budget, BudgetEndedError, DeadlineError, deadline
from harness.profilers.profiler import Absent, Costs, Profiler, Tool, Workload, counted, fold

_DETAIL = 500
_LEAST = 10.0
"""Seconds that an execution may take under a profiler, whatever it took without."""
_UNREADABLE = (OutputError, OSError, DeadlineError, RecursionError, MemoryError)
Making = Callable[[int | None, Budget], Executions]
"""Gives what executes, with so many iterations (None: as planned), within a budget."""


@dataclass(frozen=True, slots=True)
class WantedProfile:
    """A benchmark to be profiled.

    name: of the case, of a suite that of its line. steps: of each side; head's execution has the seed of base's.
    directories: puts a side's tree where it is executed. seconds: what one iteration takes on the slower side.
    execution: what one execution does.
    """

    name: str
    steps: Mapping[Side, ExecutionStep]
    benchmarks: Mapping[Side, Benchmark]
    directories: Callable[[Side], Path]
    seconds: float
    execution: float
    session: int = 0
    factors: dict[str, Any] = field(default_factory=dict, hash=False)

    def subject(self, side: Side, executions: Executions) -> Workload:
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
        return Workload(benchmark, line, self.seconds, once, self.directories(side), environment)


def profiled(
    wanted: WantedProfile, profilers: Sequence[Profiler], making: Making, budget: Budget,
    caller: Mapping[str, str] = os.environ,
) -> Iterator[Profile | Unprofiled]:  # fmt: skip
    """Profile a benchmark on both sides, by the first profiler that fits, is there, and is done in time.

    One record says why that is not possible: one side alone explains nothing.

    profilers: the one to be preferred first. budget: of all profiles. caller: the environment that their tools are
    looked for in.
    """
    begin, executions = time.monotonic(), making(None, budget)
    subject = wanted.subject("base", executions)
    why: Unprofiled | None = None
    for profiler in (each for each in profilers if each.fits(subject)):
        found = profiler.find(caller)
        if isinstance(found, Absent):
            why = why or _unprofiled(wanted, "no-profiler", profiler.name, install=found.install, detail=found.why)
            continue
        effort = profiler.effort(subject)
        if len(SIDES) * effort.seconds <= executions.conditions.budget.left:
            break
        # unless no other one can
        why = _unprofiled(wanted, "budget", profiler.name)
    else:
        yield why or _unprofiled(wanted, "unsupported")
        return
    executions, why = making(effort.iterations, budget), None
    try:
        profiles = [_side(wanted, side, profiler, found, effort.executions, executions) for side in SIDES]
    except BudgetEndedError:
        why = _unprofiled(wanted, "budget", profiler.name)
    except _UNREADABLE as error:
        why = _unprofiled(wanted, "failed", profiler.name, detail=str(error))
    else:
        yield from profiles
        return
    finally:
        executions.end_round()
    yield msgspec.structs.replace(why, seconds=time.monotonic() - begin)


def _side(
    wanted: WantedProfile, side: Side, profiler: Profiler, found: Tool, count: int, executions: Executions
) -> Profile:
    """Profile some executions of one side; raises what _UNREADABLE names, and BudgetEndedError."""
    subject, first = wanted.subject(side, executions), wanted.steps["base"]
    step = replace(wanted.steps[side], seed=first.seed, padding=first.padding)
    begin, every = time.monotonic(), list[Costs]()
    for _ in range(count):
        ran = executions.run_unmeasured(
            subject.benchmark, step, subject.directory,
            wrapped=lambda context, command: profiler.wrap(found, subject, context, command),
        )  # fmt: skip
        if ran.failure is not None:
            raise OutputError(f"{ran.failure.status} {ran.failure.stderr}")
        with deadline(max(_LEAST, executions.conditions.budget.left)):
            for command in profiler.afterwards(subject, ran.attempt.context, ran.attempt.command):
                executions.conditions.executor.run(command)
            every.append(profiler.read(subject, ran.attempt.context))
    sampled = profiler.sampled(subject, every)
    frames, stacks = fold(sampled.costs)
    return Profile(
        benchmark=wanted.name, side=side, session=wanted.session, factors=wanted.factors, profiler=profiler.name,
        tool=found.version, unit=sampled.unit, operations=sampled.operations, seconds=time.monotonic() - begin,
        frames=frames, stacks=stacks,
        calls=None if sampled.calls is None else counted(frames, sampled.calls), approximate=sampled.approximate,
    )  # fmt: skip


def _unprofiled(
    wanted: WantedProfile, kind: str, profiler: str = "", *, install: str = "", detail: str = ""
) -> Unprofiled:
    return Unprofiled(
        benchmark=wanted.name, session=wanted.session, factors=wanted.factors, kind=kind, profiler=profiler,
        install=install, detail=detail.strip()[-_DETAIL:],
    )  # fmt: skip
