"""Counts for a suite that make a run of the plan take minutes."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gate.commands.init.detect.result import Amount

_WANTED = 300.0
"""Seconds that the whole plan may take."""
_SIDES = 2
_BUILDS = 12  # at most, by the plan that is written
_LENGTHS = (0.2, 0.1, 0.05, 0.02, 0.01)
_MINUTE = 60
_BUDGET = 10
"""Minutes of a plan that is shorter."""
_STEP = 5
_ROOM = 1.25
"""What builds and a slower machine add to the time that was counted."""


@dataclass(frozen=True, slots=True)
class Suite:
    """The benchmarks that were counted in a suite's sources."""

    cases: int
    overhead: float
    """Time of a tool to find how often to repeat and to warm up, in values' lengths for each value."""
    start: float
    """Of one execution of everything, in seconds."""
    more: str = ""
    """In words, what was not counted; may be empty."""
    warmup: int = 1
    """Values that are dropped."""
    iterations: int = 5
    """Values that are measured."""
    executions: int = 2
    """In each build."""
    shortest: float = 0.01
    """Seconds of a value at least."""

    @property
    def values(self) -> int:
        """How many values of each benchmark an execution takes."""
        return self.iterations + self.warmup

    def total(self, length: float) -> float:
        """Return the seconds that all builds of both sides are measured for."""
        execution = self.start + self.cases * self.values * length * (1 + self.overhead)
        return _whole_plan(execution * self.executions)


def _whole_plan(build: float) -> float:
    """Return the seconds that the executions of all builds of both sides take, from those of one build."""
    return build * _BUILDS * _SIDES


def _in_minutes(seconds: float) -> str:
    """Write a time in minutes, rounded up."""
    minutes = math.ceil(seconds / _MINUTE)
    return f"{minutes} minute{'s' if minutes != 1 else ''}"


def _budget(seconds: float) -> int:
    """Return the minutes of a budget in which a plan of so many seconds fits."""
    return max(_BUDGET, _STEP * math.ceil(_ROOM * seconds / _MINUTE / _STEP))


def length_of_value(suite: Suite) -> float:
    """Return for how many seconds one value is measured: the longest with which the plan takes some minutes."""
    lengths = [length for length in _LENGTHS if length >= suite.shortest]
    return next((length for length in lengths if suite.total(length) <= _WANTED), lengths[-1])


def amount(suite: Suite, length: float) -> Amount:
    """Return the plan of a suite, which says how long it takes."""
    cases = f"{suite.cases} benchmark{'s' if suite.cases != 1 else ''}"
    executions = f"{suite.executions} execution{'s' if suite.executions != 1 else ''}"
    comment = [
        f"{cases} x {suite.values} values of about {1000 * length:.0f} ms x {executions} x {_BUILDS} builds x 2 sides:",
        f"about {_in_minutes(suite.total(length))}, plus the builds.{' ' + suite.more if suite.more else ''}",
    ]
    return Amount(suite.executions, suite.iterations, suite.warmup, comment, _budget(suite.total(length)))


def fixed_amount(tool: str, cases: int, start: float, each: float) -> Amount:
    """Return the plan of benchmarks that take the time that their tool gives them, one value an execution.

    Args:
        start: seconds of the tool in each execution.
        each: seconds of a benchmark.
    """
    execution = start + each * cases
    executions = next((count for count in (3, 2) if _whole_plan(execution * count) <= _WANTED), 1)
    counted = f"{cases} benchmark{'s were' if cases != 1 else ' was'}"
    number = f"{executions} execution{'s' if executions != 1 else ''}"
    total = _whole_plan(execution * executions)
    comment = [
        f"{counted} counted in the sources; {tool} takes some {execution:.0f} s for them, and gives one value of each.",
        f"{number} x {_BUILDS} builds x 2 sides: about {_in_minutes(total)}. A loop or a function that adds benchmarks",
        "makes it longer: `perfgate try` measures it.",
    ]
    return Amount(executions, 1, warmup=0, comment=comment, budget=_budget(total))
