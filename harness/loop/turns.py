"""Turns: base and head of a command alternate start by start, so that neighbours in time meet the same machine.

Source: docs/method.md, turns.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

import msgspec

from gate.config.types import Benchmark
from gate.model import Side
from harness.build.builder import TreeBuilder
from harness.instruments.protocol import Unusable, around, words
from harness.instruments.protocol import environment as environment_of
from harness.instruments.spawn import LAUNCHER, RESULT, Spawn, Start, launched
from harness.loop.execution import Attempt, Executed, Executions, too_long
from harness.loop.steps import ExecutionStep
from harness.process.execute import Outcome
from harness.process.forkserver import Launch, LaunchSide, LaunchStart
from harness.service.service import Living

SECONDS = 1.0
"""What one process measures at least, before what it has is recorded: more than a hundred times its own start."""
_FOUR = 4
"""Starts of which both sides have two each, so that neither is favoured by where it stands."""
_GRACE = 10.0


@dataclass(frozen=True, slots=True)
class _Ready:
    """A side that takes its turns: what is common to its starts."""

    attempt: Attempt
    living: Living
    launched: LaunchSide

    def complaint(self) -> str:
        return self.living.complaint() or too_long(self.attempt.benchmark, self.attempt.context)


class Turns:
    """Makes the starts of both sides by turns."""

    def __init__(self, executions: Executions, builder: TreeBuilder, benchmarks: Collection[str]) -> None:
        """Begin; benchmarks: those that go start by start."""
        self._executions = executions
        self._builder = builder
        self._benchmarks = benchmarks

    def takes(self, step: ExecutionStep) -> bool:
        """Return whether a step is a start that is made here."""
        return step.benchmark in self._benchmarks

    def make(self, benchmarks: Mapping[Side, Benchmark], steps: Sequence[ExecutionStep]) -> list[Executed]:
        """Make the first of the steps, which are of one benchmark, and give what came out of each, in their order.

        As many as take about a second; the last one may have failed, and nothing is made after it.

        Raises:
            SourceError: a tree cannot be moved.
        """
        made, first = self._executions, {step.side: step for step in reversed(steps)}
        if len({(benchmarks[side].cpus, benchmarks[side].priority) for side in first}) > 1:
            # one process has one set of processors
            first = {steps[0].side: steps[0]}
            steps = steps[: next((n for n, step in enumerate(steps) if step.side not in first), len(steps))]
        with ExitStack() as stack:
            standing = stack.enter_context(self._builder.taking_turns())
            ready: dict[Side, _Ready] = {}
            for side, step in first.items():
                benchmark, stands = benchmarks[side], standing[side]
                context = made.context(benchmark, step, stands.directory, stands.tree)
                living = stack.enter_context(made.companions.around(benchmark, context))
                if isinstance(living, Unusable):
                    failure = made.failure(made.attempt(benchmark, step, context), living, 0.0)
                    # a failure before any start is that of the side's first
                    return [*[Executed([], [], 0.0)] * steps.index(step), Executed([], [failure], 0.0)]
                context = replace(context, port=living.port)
                launched = LaunchSide(
                    argv=words(benchmark, context), environment=environment_of(context), directory=stands.directory,
                    places=stands.places, confined=context.confined, longer=context.longer,
                    around=around(benchmark, context),
                )  # fmt: skip
                ready[side] = _Ready(made.attempt(benchmark, step, context), living, launched)
            return self._launched(ready, steps)

    def _launched(self, ready: Mapping[Side, _Ready], steps: Sequence[ExecutionStep]) -> list[Executed]:
        made, sides = self._executions, list(ready)
        benchmarks = {side: each.attempt.benchmark for side, each in ready.items()}
        # warm-ups come first and do not count: once a build, by turns
        warmups = {
            side: 0 if each.warmup == "auto" or (each.name, side) in made.warm else each.warmup
            for side, each in benchmarks.items()
        }
        before = [side for number in range(max(warmups.values())) for side in sides if number < warmups[side]]
        attempts: list[Attempt] = []
        starts: list[LaunchStart] = []
        for step in [*(next(step for step in steps if step.side == side) for side in before), *steps]:
            each = ready[step.side]
            context = made.drawn(each.attempt.benchmark, step, each.attempt.context)
            attempts.append(replace(each.attempt, step=step, context=context))
            argv, known = words(each.attempt.benchmark, context), each.launched.environment
            added = {name: value for name, value in environment_of(context).items() if known.get(name) != value}
            starts.append(LaunchStart(sides.index(step.side), added, argv if argv != each.launched.argv else ()))
        timeout = max(float(each.timeout) for each in benchmarks.values())
        launch = Launch(
            LAUNCHER, attempts[0].context.told / RESULT, tuple(each.launched for each in ready.values()), starts,
            seconds=SECONDS, step=_FOUR, timeout=timeout,
        )  # fmt: skip
        head = benchmarks[sides[-1]]
        # whoever coordinates the starts ends the one that takes too long
        command = launched(launch, SECONDS + (len(before) + _FOUR) * timeout + _GRACE)
        with made.conditions.budget.phase("execution"):
            outcome = made.conditions.executor.run(
                replace(command, cpus=head.cpus, priority=head.priority),
                lambda: next(filter(None, (each.complaint() for each in ready.values())), ""),
            )
        result = Spawn().starts(list(benchmarks.values()), launch, outcome)
        # what perfgate itself takes is part of what a start costs
        measuring = sum(each.metrics["time"].values[0] for each in result.made)
        own = max(0.0, outcome.seconds - measuring) / max(1, len(result.made))
        dropped: dict[Side, list[Start]] = {side: [] for side in sides}
        found: list[Executed] = []
        for attempt, start in zip(attempts, result.made, strict=False):
            side = attempt.step.side
            dropped[side].append(start)
            if len(dropped[side]) > warmups[side]:
                found.append(self._executed(attempt, outcome, dropped[side], own))
                dropped[side], warmups[side] = [], 0
                made.warm.add((attempt.step.benchmark, side))
        if result.failed is not None:
            attempt = attempts[min(len(result.made), len(attempts) - 1)]
            said = [each.living.logs() for each in ready.values()]
            why = replace(result.failed, stderr="\n".join(part for part in (*said, result.failed.stderr) if part))
            # of a warm-up it is that of the side's first start
            found += [Executed([], [], 0.0)] * (steps.index(attempt.step) - len(found))
            found.append(Executed([], [made.failure(attempt, why, own)], own))
        return found

    def _executed(self, attempt: Attempt, outcome: Outcome, starts: Sequence[Start], own: float) -> Executed:
        """Record the last of some starts of a side; those before it warmed up."""
        *dropped, start = starts
        metrics = {
            name: msgspec.structs.replace(
                metric, dropped=[each.metrics[name].values[0] for each in dropped if name in each.metrics]
            )
            for name, metric in start.metrics.items()
        }
        seconds = sum(each.metrics["time"].values[0] + own for each in starts)
        record = self._executions.record(attempt, outcome, metrics, seconds)
        return Executed([msgspec.structs.replace(record, own=start.own, outlived=start.outlived)], [], seconds)
