"""Turns: base and head of a command alternate start by start, so that neighbours in time meet the same machine.

How short a turn may be is found first: what starting costs beside the values says how few an execution may have.
Source: docs/method.md, turns; docs/turns.md, suites.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from gate.config.types import Benchmark, Plan
from gate.model import SIDES, Record, Side, Turn
from harness.build.builder import TreeBuilder
from harness.instruments.declaration import declared
from harness.instruments.protocol import Unusable, around, words
from harness.instruments.protocol import environment as environment_of
from harness.instruments.spawn import LAUNCHER, RESULT, Spawn, Start, launched
from harness.loop.execution import Attempt, Executed, Executions, too_long
from harness.loop.schedule import ExecutionStep, Pair, Round
from harness.process.budget import Budget, BudgetEndedError
from harness.process.execute import ProcessEnd
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

        Raises: SourceError: a tree cannot be moved.
        """
        made, first = self._executions, {step.side: step for step in reversed(steps)}
        if len({benchmarks[side].cpus for side in first}) > 1:
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
                    failure = made.failure(made.prepare(benchmark, step, context), living, 0.0)
                    # a failure before any start is that of the side's first
                    return [*[Executed([], [], 0.0)] * steps.index(step), Executed([], [failure], 0.0)]
                context = replace(context, port=living.port)
                launched = LaunchSide(
                    argv=words(benchmark, context), environment=environment_of(context), directory=stands.directory,
                    places=stands.places, confined=context.confined, slowdown=context.slowdown,
                    around=around(benchmark, context),
                )  # fmt: skip
                ready[side] = _Ready(made.prepare(benchmark, step, context), living, launched)
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
            context = made.with_draws(each.attempt.benchmark, step, each.attempt.context)
            attempts.append(replace(each.attempt, step=step, context=context))
            argv, known = words(each.attempt.benchmark, context), each.launched.environment
            added = {name: value for name, value in environment_of(context).items() if known.get(name) != value}
            starts.append(LaunchStart(sides.index(step.side), added, argv if argv != each.launched.argv else ()))
        timeout = max(float(each.timeout) for each in benchmarks.values())
        launch = Launch(
            LAUNCHER, attempts[0].context.told / RESULT, tuple(each.launched for each in ready.values()), starts,
            seconds=SECONDS, step=_FOUR, timeout=timeout,
        )  # fmt: skip
        # whoever coordinates the starts ends the one that takes too long
        command = launched(launch, SECONDS + (len(before) + _FOUR) * timeout + _GRACE)
        with made.conditions.budget.phase("execution"):
            outcome = made.conditions.executor.run(
                replace(command, cpus=benchmarks[sides[-1]].cpus),
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

    def _executed(self, attempt: Attempt, outcome: ProcessEnd, starts: Sequence[Start], own: float) -> Executed:
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


OF_TIME = 0.1
"""The share of the time that starting may take, of what writes its own values."""
OF_COMMAND = 0.05
"""The same of an instrument that measures any command: its own cost beside the program's."""
_SEVERAL = 3
"""Values of the longer executions that are tried."""
_QUICK = 0.5
"""Seconds of an execution of one value below which it is tried twice."""
_ROOM = 0.05
"""Of the budget that is left, what trying one benchmark may take."""


class Lengths:
    """Knows how many values an execution of a benchmark has: as many as planned, or fewer."""

    def __init__(
        self, executions: Executions, benchmarks: Mapping[Side, Mapping[str, Benchmark]], names: Collection[str],
        plan: Plan, lay_out: Callable[[Sequence[Record]], Sequence[Round]],
    ) -> None:  # fmt: skip
        """Begin.

        executions: makes executions. benchmarks: by side and name. names: those whose executions may be divided, as far
        as the rules tell. plan: of which the number of values a build stays.
        """
        self._executions = executions
        self._benchmarks = benchmarks
        self._names = names
        self._plan = plan
        self.lay_out = lay_out
        """Lays out the rounds by what is recorded of how many executions they have."""
        self._known: dict[str, Turn] = {}

    def rounds(self, rounds: Sequence[Round], records: Sequence[Record]) -> Sequence[Round]:
        """Go from now on by the short turns that are recorded of this session; return the rounds that have these."""
        session = self._executions.conditions.session
        found = [each for each in records if isinstance(each, Turn) and each.session == session]
        self._known |= {turn.benchmark: turn for turn in found}
        return self.lay_out(list(self._known.values())) if found else rounds

    def is_open(self, name: str) -> bool:
        """Return whether it is to be found out how short the turns of a benchmark may be."""
        return name in self._names and name not in self._known

    def asked(self, step: ExecutionStep) -> tuple[Benchmark, int | None]:
        """Return a benchmark as it is executed at a step, and its iterations; None: as many as planned.

        A command that is executed in more and shorter ones is warmed up once a build, as one that goes start by start:
        what warms up is the machine.
        """
        benchmark, turn = self._benchmarks[step.side][step.benchmark], self._known.get(step.benchmark)
        warm, place = self._executions.warm, (step.benchmark, step.side)
        if turn is not None and place in warm and _warms_machine(benchmark):
            benchmark = msgspec.structs.replace(benchmark, warmup=0)
        warm.add(place)
        return benchmark, None if turn is None else turn.iterations

    def found(self, pair: Pair, begin: Callable[[ExecutionStep], Path]) -> Turn | None:
        """Find out how short the turns of a benchmark may be; None: as long as the executions of the plan.

        One value and several are measured on both sides, and thrown away: where one more value takes as long as the
        first did, starting takes nothing. First values that are longer than later ones are a part of starting. What is
        short is tried twice, and the try counts that asks for the most values.

        begin: called with each step before it is executed; gives the directory.
        """
        budget, plan = self._executions.conditions.budget, self._plan
        command = declared(self._benchmarks["base"][pair["base"].benchmark].instrument).any_command
        most = OF_COMMAND if command else OF_TIME
        costs: list[tuple[float, float]] = []
        try:
            # so short a time may be another program's
            while not costs or (len(costs) == 1 and sum(costs[0]) < _QUICK):
                cost = self._cost(pair, begin, budget)
                if cost is None or fewest(*cost, plan, most) == plan.iterations:
                    return None
                costs.append(cost)
        except BudgetEndedError as ended:
            # what the cut tells does not count twice
            budget.note("start", -ended.seconds)
            raise
        finally:
            # what a service has answered on one side it has not on the other
            self._executions.companions.stop_builds()
        few, (starting, value) = max((fewest(*each, plan, most), each) for each in costs)
        return Turn(
            benchmark=pair["base"].benchmark,
            session=self._executions.conditions.session,
            executions=plan.executions * plan.iterations // few,
            iterations=few,
            starting=max(0.0, starting) / (starting + few * value),
        )

    def _cost(self, pair: Pair, begin: Callable[[ExecutionStep], Path], budget: Budget) -> tuple[float, float] | None:
        """Return the seconds that starting and a value take; None: one failed, gave too few values, or takes long.

        Of both sides the shorter time counts, since other programs only add to it.
        """
        several = min(self._plan.iterations, _SEVERAL)
        # seconds of a value
        room = _ROOM * budget.left / (len(SIDES) * (several + 1))
        took: dict[int, float] = {}
        for step, values in zip((pair["base"],) * 2 + (pair["head"],) * 2, (1, several, several, 1), strict=True):
            benchmark = self._benchmarks[step.side][step.benchmark]
            if _warms_machine(benchmark):
                benchmark = msgspec.structs.replace(benchmark, warmup=0)
            began = budget.clock()
            made = self._executions.make(benchmark, step, begin(step), values)
            seconds = budget.clock() - began
            given = {max(len(metric.values) for metric in each.metrics.values()) for each in made.executions}
            if made.failures or given != {values} or seconds > values * room:
                return None
            took[values] = min(seconds, took.get(values, seconds))
        value = (took[several] - took[1]) / (several - 1)
        return took[1] - value, value


def fewest(starting: float, value: float, plan: Plan, most: float) -> int:
    """Return the fewest values of an execution of which starting takes at most a share; if there are none, as planned.

    So it is too where starting seems to take less than nothing by more than that share: other programs disturb.

    starting, value: seconds that starting takes, and one value. plan: whose values a build are divided without a rest.
    most: the share of the seconds.
    """
    whole = plan.executions * plan.iterations
    if starting < -most * value:
        return plan.iterations
    found = (few for few in range(1, plan.iterations) if whole % few == 0)
    return next((few for few in found if starting <= most * (starting + few * value)), plan.iterations)


def _warms_machine(benchmark: Benchmark) -> bool:
    """Return whether the first values of an execution are starts like the others: no process lives through several."""
    fresh = benchmark.load is None and (benchmark.service is None or benchmark.service.per == "build")
    return fresh and declared(benchmark.instrument).any_command
