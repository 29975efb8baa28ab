"""How short turns may be: what starting an execution costs beside its values says how few values one may have.

Source: docs/turns.md, suites.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from gate.config.types import Benchmark, Plan
from gate.model import SIDES, Record, Side, Turn
from harness.instruments.declaration import declared
from harness.loop.execution import Executed, Executions
from harness.loop.steps import ExecutionStep, Pair, Round
from harness.process.budget import Budget, BudgetEndedError

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


class Cost(NamedTuple):
    """Seconds that starting an execution takes, and one of its values."""

    starting: float
    value: float


class Lengths:
    """Knows how many values an execution of a benchmark has: as many as planned, or fewer."""

    def __init__(
        self, executions: Executions, benchmarks: Mapping[Side, Mapping[str, Benchmark]], names: Collection[str],
        plan: Plan, counted: Callable[[Sequence[Record]], Sequence[Round]],
    ) -> None:  # fmt: skip
        """Begin.

        executions: makes executions. benchmarks: by side and name. names: those whose executions may be divided, as far
        as the rules tell. plan: of which the number of values a build stays.
        """
        self._executions = executions
        self._benchmarks = benchmarks
        self._names = names
        self._plan = plan
        self.counted = counted
        """Lays out the rounds by what is recorded of how many executions they have."""
        self._known: dict[str, Turn] = {}

    def rounds(self, rounds: Sequence[Round], records: Sequence[Record]) -> Sequence[Round]:
        """Go from now on by the short turns that are recorded of this session; return the rounds that have these."""
        session = self._executions.conditions.session
        found = [each for each in records if isinstance(each, Turn) and each.session == session]
        self._known |= {turn.benchmark: turn for turn in found}
        return self.counted(list(self._known.values())) if found else rounds

    def is_open(self, name: str) -> bool:
        """Return whether it is to be found out how short the turns of a benchmark may be."""
        return name in self._names and name not in self._known

    def make(self, step: ExecutionStep, directory: Path) -> Executed:
        """Make an execution; see Executions.make.

        A command that is executed in more and shorter ones is warmed up once a build, as one that goes start by start:
        what warms up is the machine.
        """
        benchmark, turn = self._benchmarks[step.side][step.benchmark], self._known.get(step.benchmark)
        warm, place = self._executions.warm, (step.benchmark, step.side)
        if turn is not None and place in warm and _warms_machine(benchmark):
            benchmark = msgspec.structs.replace(benchmark, warmup=0)
        warm.add(place)
        return self._executions.make(benchmark, step, directory, None if turn is None else turn.iterations)

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
        costs: list[Cost] = []
        try:
            # so short a time may be another program's
            while not costs or (len(costs) == 1 and sum(costs[0]) < _QUICK):
                cost = self._cost(pair, begin, budget)
                if cost is None or fewest(cost, plan, most) == plan.iterations:
                    return None
                costs.append(cost)
        except BudgetEndedError as ended:
            # what the cut tells does not count twice
            budget.note("start", -ended.seconds)
            raise
        finally:
            # what a service has answered on one side it has not on the other
            self._executions.companions.stop_builds()
        few, cost = max((fewest(each, plan, most), each) for each in costs)
        return Turn(
            benchmark=pair["base"].benchmark,
            session=self._executions.conditions.session,
            executions=plan.executions * plan.iterations // few,
            iterations=few,
            starting=max(0.0, cost.starting) / (cost.starting + few * cost.value),
        )

    def _cost(self, pair: Pair, begin: Callable[[ExecutionStep], Path], budget: Budget) -> Cost | None:
        """Return what starting and a value take; None: one failed, gave another number of values, or takes long.

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
        return Cost(took[1] - value, value)


def fewest(cost: Cost, plan: Plan, most: float) -> int:
    """Return the fewest values of an execution of which starting takes at most a share; if there are none, as planned.

    So it is too where starting seems to take less than nothing by more than that share: other programs disturb.

    plan: whose values a build are divided without a rest. most: the share of the seconds.
    """
    whole = plan.executions * plan.iterations
    if cost.starting < -most * cost.value:
        return plan.iterations
    found = (few for few in range(1, plan.iterations) if whole % few == 0)
    return next((few for few in found if cost.starting <= most * (cost.starting + few * cost.value)), plan.iterations)


def _warms_machine(benchmark: Benchmark) -> bool:
    """Return whether the first values of an execution are starts like the others: no process lives through several."""
    fresh = benchmark.load is None and (benchmark.service is None or benchmark.service.per == "build")
    return fresh and declared(benchmark.instrument).any_command
