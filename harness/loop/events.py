"""What happens while measuring, for whoever shows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from gate.config.study import Setting
from gate.model import Failure, Side, Turn, Unproved


@dataclass(frozen=True, slots=True)
class RoundStarted:
    """A round begins; number from 0.

    executions: how many are still to be made in it; where the first ones tell how many there are, these first ones.
    """

    number: int
    rounds: int
    executions: int


@dataclass(frozen=True, slots=True)
class StepStarted:
    """A build (benchmark is None) or an execution begins. factors: the settings that it is made with."""

    side: Side
    benchmark: str | None
    factors: Mapping[str, Setting] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class StepFinished:
    """The step that was started is over. failure: what was recorded of it, if it failed."""

    side: Side
    benchmark: str | None
    failure: Failure | None
    factors: Mapping[str, Setting] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class LookTaken:
    """A round was looked at. settled: benchmarks that newly need no more; wanted: those that do."""

    settled: int
    wanted: int


@dataclass(frozen=True, slots=True)
class ProbeStarted:
    """It is looked at what so many benchmarks read, for at most so many seconds."""

    benchmarks: int
    seconds: float


@dataclass(frozen=True, slots=True)
class ProbeFinished:
    """So many of the benchmarks are the same on both sides. unproved: why others may differ, by benchmark."""

    identical: int
    benchmarks: int
    unproved: Mapping[str, Unproved] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class LaidOut:
    """How much rounds have was found out. turns: those that are shorter than planned.

    executions: of a round, judging by the first starts; 0: these are not made, or tell nothing.
    """

    turns: Sequence[Turn] = ()
    executions: int = 0


@dataclass(frozen=True, slots=True)
class OutsideFound:
    """A benchmark reads a file outside its tree that a build wrote: the sides are built again, to see whose it is."""

    path: str


Event = RoundStarted | StepStarted | StepFinished | LookTaken | ProbeStarted | ProbeFinished | LaidOut | OutsideFound
Progress = Callable[[Event], None]
