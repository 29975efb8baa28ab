"""An executor and a background process that start nothing, and a clock that only they move."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from gate.config.study import Setting
from gate.model import Failure, Side
from harness.build.builder import TreeBuilder
from harness.process.budget import Budget, BudgetEndedError
from harness.process.execute import Command, ProcessEnd, no_complaint
from harness.process.process_groups import Background


@dataclass
class Clock:
    """Seconds that pass only when a test says so."""

    now: float = 0.0

    def __call__(self) -> float:
        """Return them."""
        return self.now

    def pass_within(self, budget: Budget, seconds: float) -> None:
        """Let time pass, as far as the budget goes.

        Raises:
            BudgetEndedError: it does not go that far.
        """
        budget.require()
        late = seconds > budget.left
        self.now += min(seconds, budget.left)
        if late:
            raise BudgetEndedError


class FakeBackground(Background):
    """A background process that is none; `ended` is its status, and a test may set it."""

    def __init__(self, log: Path) -> None:
        self.log = log
        self.ended = ""

    def alive(self) -> bool:
        """Return whether it has no status yet."""
        return not self.ended

    def status(self) -> str:
        """Return `ended`."""
        return self.ended

    def code(self) -> int | None:
        """Say nothing."""
        return None

    def unstarted(self) -> bool:
        """Say no."""
        return False

    def stop(self, grace: float) -> None:  # the Protocol's
        """End as by a signal."""
        self.ended = self.ended or "signal SIGTERM"


@dataclass(frozen=True, slots=True)
class FakeExecutor:
    """An executor that starts nothing: a function answers, and the commands are kept."""

    answer: Callable[[Command], ProcessEnd]
    commands: list[Command] = field(default_factory=list)
    background: list[FakeBackground] = field(default_factory=list)

    def run(self, command: Command, complaint: Callable[[], str] = no_complaint) -> ProcessEnd:
        """Keep the command and return the function's answer, its status the complaint if there is one."""
        self.commands.append(command)
        outcome = self.answer(command)
        complained = complaint()
        return replace(outcome, status=complained, code=None) if complained else outcome

    def start(self, command: Command, log: Path) -> FakeBackground:
        """Keep the command and what stands for the process, whose log is empty."""
        self.commands.append(command)
        log.touch()
        self.background.append(FakeBackground(log))
        return self.background[-1]


def taking(seconds: float, clock: Clock) -> FakeExecutor:
    """Make an executor whose commands all take so many seconds of a clock, or their time-out."""

    def answer(command: Command) -> ProcessEnd:
        took = min(seconds, command.timeout)
        clock.now += took
        late = seconds > command.timeout
        return ProcessEnd("time-out" if late else "", "2026-01-01T00:00:00Z", took, "said", timed_out=late)

    return FakeExecutor(answer)


NO_FACTORS: Mapping[str, Setting] = MappingProxyType({})
"""No factors."""


class NoTrees(TreeBuilder):
    """A builder whose trees do not exist, so that nothing of them is compared or traced."""

    def __init__(self) -> None:
        """Need nothing."""

    @abstractmethod
    def directory(self, side: Side, factors: Mapping[str, Setting] = NO_FACTORS) -> Path:
        """Name where a build would be."""

    def kept(self, side: Side, factors: Mapping[str, Setting] = NO_FACTORS) -> Path:
        """Name the same."""
        return self.directory(side, factors)

    def changed(self, build: int, *, executed: bool) -> list[Failure]:
        """Know of no tree that changed."""
        return []

    def roots(self) -> Mapping[Side, Path] | None:
        """Return that there are none."""
        return None

    def is_ahead(self, side: Side, build: int, seed: int, factors: Mapping[str, Setting]) -> bool:
        """Nothing is."""
        return False
