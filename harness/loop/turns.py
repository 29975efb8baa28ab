"""Turns: base and head of a command alternate start by start, so that neighbours in time meet the same machine.

Source: docs/method.md, turns.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from gate.config.types import Benchmark
from gate.model import Side
from harness.build.builder import TreeBuilder
from harness.build.conditions import Standing
from harness.instruments.protocol import Context, Unusable, around, words
from harness.instruments.protocol import environment as environment_of
from harness.instruments.spawn import LAUNCHER, RESULT, Spawn, Start, launched
from harness.loop.execution import Attempt, Executed, Executions, Scratch, too_long
from harness.loop.steps import ExecutionStep
from harness.process.execute import Command, Outcome
from harness.process.forkserver import Launch, LaunchSide, LaunchStart
from harness.sandbox.sandbox import outputs
from harness.service.service import Living

SECONDS = 1.0
"""What one process measures at least, before what it has is recorded: more than a hundred times its own start."""
_FOUR = 4
"""Starts of which both sides have two each, so that neither is favoured by where it stands."""
_GRACE = 10.0


@dataclass(frozen=True, slots=True)
class _Ready:
    """A side that takes its turns: what is common to its starts."""

    benchmark: Benchmark
    context: Context
    command: Command
    living: Living
    launched: LaunchSide

    def complaint(self) -> str:
        return self.living.complaint() or too_long(self.benchmark, self.context)


class Turns:
    """Makes the starts of both sides by turns."""

    def __init__(self, executions: Executions, builder: TreeBuilder, benchmarks: Collection[str]) -> None:
        """Begin; benchmarks: those that go start by start."""
        self._executions = executions
        self._builder = builder
        self._spawn = Spawn()
        self._benchmarks = benchmarks
        conditions = executions.conditions
        self._scratch: dict[Side, Scratch] = {
            side: Scratch(outputs(conditions.scratch, side), conditions.sandbox.own) for side in ("base", "head")
        }
        self._apart = Scratch(conditions.scratch)
        self._warm: set[tuple[str, Side]] = set()
        """What was started in this round, by benchmark and side."""

    def takes(self, step: ExecutionStep) -> bool:
        """Return whether a step is a start that is made here."""
        return step.benchmark in self._benchmarks

    def make(self, benchmarks: Mapping[Side, Benchmark], steps: Sequence[ExecutionStep]) -> list[Executed]:
        """Make the first of the steps, which are of one benchmark, and give what came out of each, in their order.

        As many as take about a second; the last one may have failed, and nothing is made after it.

        Raises:
            SourceError: a tree cannot be moved.
        """
        first = {step.side: step for step in reversed(steps)}
        if len({(benchmarks[side].cpus, benchmarks[side].priority) for side in first}) > 1:
            # one process has one set of processors
            first = {steps[0].side: steps[0]}
            steps = steps[: next((n for n, step in enumerate(steps) if step.side not in first), len(steps))]
        with ExitStack() as stack:
            standing = stack.enter_context(self._builder.taking_turns())
            ready: dict[Side, _Ready] = {}
            apart = self._apart.fresh()
            for side, step in first.items():
                found = self._ready(benchmarks[side], step, standing[side], apart, stack)
                if isinstance(found, Executed):
                    # a failure before any start is that of the side's first
                    before = next(n for n, step in enumerate(steps) if step.side == side)
                    return [Executed([], [], 0.0) for _ in range(before)] + [found]
                ready[side] = found
            return self._launched(ready, steps, apart)

    def _ready(
        self, benchmark: Benchmark, step: ExecutionStep, standing: Standing, apart: Path, stack: ExitStack
    ) -> _Ready | Executed:
        made = self._executions
        scratch = self._scratch[step.side].fresh()
        context = made.context(benchmark, step, standing.directory, scratch, standing.tree)
        context = replace(context, apart=apart)
        living = stack.enter_context(made.companions.around(benchmark, context))
        if isinstance(living, Unusable):
            return Executed([], [made.failure(made.attempt(benchmark, step, context), living, 0.0)], 0.0)
        context = replace(context, port=living.port)
        command = made.attempt(benchmark, step, context).command
        side = LaunchSide(
            argv=words(benchmark, context), environment=environment_of(context), directory=standing.directory,
            places=standing.places, confined=context.confined, longer=context.longer, around=around(benchmark, context),
        )  # fmt: skip
        return _Ready(benchmark, context, command, living, side)

    def _launched(self, ready: Mapping[Side, _Ready], steps: Sequence[ExecutionStep], apart: Path) -> list[Executed]:
        made, sides = self._executions, list(ready)
        warmups = self._warmups(ready)
        planned = [(side, next(step for step in steps if step.side == side)) for side in warmups]
        planned += [(step.side, step) for step in steps]
        contexts = [made.drawn(ready[side].benchmark, step, ready[side].context) for side, step in planned]
        starts: list[LaunchStart] = []
        for (side, _), context in zip(planned, contexts, strict=True):
            common, argv = ready[side].launched, words(ready[side].benchmark, context)
            own_environment = environment_of(context).items()
            added = {name: value for name, value in own_environment if common.environment.get(name) != value}
            starts.append(LaunchStart(sides.index(side), added, argv if argv != common.argv else ()))
        timeout = max(float(each.benchmark.timeout) for each in ready.values())
        launch = Launch(
            LAUNCHER, apart / RESULT, tuple(ready[side].launched for side in sides), starts,
            seconds=SECONDS, step=_FOUR, timeout=timeout,
        )  # fmt: skip
        head = ready[sides[-1]].benchmark
        # whoever coordinates the starts ends the one that takes too long
        command = launched(launch, SECONDS + (len(warmups) + _FOUR) * timeout + _GRACE)
        command = replace(command, cpus=head.cpus, priority=head.priority)

        def complaint() -> str:
            return next(filter(None, (each.complaint() for each in ready.values())), "")

        with made.conditions.budget.phase("execution"):
            outcome = made.conditions.executor.run(command, complaint)
        result = self._spawn.starts([ready[side].benchmark for side in sides], launch, outcome)
        measuring = sum(each.metrics["time"].values[0] for each in result.made)
        # what perfgate itself takes is part of what a start costs
        own = max(0.0, outcome.seconds - measuring) / max(1, len(result.made))
        dropped: dict[Side, list[Start]] = {side: [] for side in sides}
        found: list[Executed] = []
        for number, ((side, step), each) in enumerate(zip(planned, result.made, strict=False)):
            if number < len(warmups):
                dropped[side].append(each)
                continue
            attempt = Attempt(step, ready[side].benchmark, contexts[number], ready[side].command)
            found.append(self._executed(attempt, outcome, each, dropped[side], own))
            dropped[side] = []
            self._warm.add((step.benchmark, side))
        if result.failed is not None:
            number = min(len(result.made), len(planned) - 1)
            side, step = planned[number]
            attempt = Attempt(step, ready[side].benchmark, contexts[number], ready[side].command)
            said = [each.living.logs() for each in ready.values()]
            told = "\n".join(part for part in (*said, result.failed.stderr) if part)
            why = replace(result.failed, stderr=told)
            # of a warm-up it is that of the side's first start
            found += [Executed([], [], 0.0)] * (steps.index(step) - len(found))
            found.append(Executed([], [made.failure(attempt, why, own)], own))
        return found

    def _executed(
        self, attempt: Attempt, outcome: Outcome, start: Start, dropped: Sequence[Start], own: float
    ) -> Executed:
        metrics = {
            name: msgspec.structs.replace(
                metric, dropped=[each.metrics[name].values[0] for each in dropped if name in each.metrics]
            )
            for name, metric in start.metrics.items()
        }
        seconds = sum(each.metrics["time"].values[0] + own for each in (start, *dropped))
        record = self._executions.record(attempt, outcome, metrics, seconds)
        record = msgspec.structs.replace(record, own=start.own, outlived=start.outlived)
        return Executed([record], [], seconds)

    def _warmups(self, ready: Mapping[Side, _Ready]) -> list[Side]:
        """Give the sides of the starts that come first and do not count: once a build, by turns."""
        counts = {
            side: 0 if warmup == "auto" or (each.benchmark.name, side) in self._warm else warmup
            for side, each in ready.items()
            for warmup in [each.benchmark.warmup]
        }
        return [side for number in range(max(counts.values())) for side in ready if number < counts[side]]

    def end_round(self) -> None:
        """Remove outputs; builds come next, which are warmed up again."""
        self._warm.clear()
        for scratch in (*self._scratch.values(), self._apart):
            scratch.clear()
