"""An executor and a background process that start nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.process.execute import Command, Outcome, no_complaint


class FakeBackground:
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

    def unstarted(self) -> bool:
        """Say no."""
        return False

    def stop(self, grace: float) -> None:  # the Protocol's
        """End as by a signal."""
        self.ended = self.ended or "signal SIGTERM"


@dataclass(frozen=True, slots=True)
class FakeExecutor:
    """An executor that starts nothing: a function answers, and the commands are kept."""

    answer: Callable[[Command], Outcome]
    commands: list[Command] = field(default_factory=list)
    background: list[FakeBackground] = field(default_factory=list)

    def run(self, command: Command, complaint: Callable[[], str] = no_complaint) -> Outcome:
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
