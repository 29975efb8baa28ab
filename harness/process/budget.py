"""The budget: the time that measuring may take, from the first checkout on."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from gate.model import Phase
from harness.process.background import Background
from harness.process.execute import Command, Executor, Outcome, no_complaint


class BudgetEndedError(Exception):
    """The budget ended within a step: which part of it, and after how many seconds of that part."""

    def __init__(self) -> None:
        super().__init__("the budget ended")
        self.phase: Phase | None = None
        self.seconds = 0.0
        self.setup = 0.0


class Budget:
    """Counts down from `limit` seconds, from when it is made."""

    def __init__(self, limit: float = math.inf, clock: Callable[[], float] = time.monotonic) -> None:
        self.limit = limit
        self.clock = clock
        self._began = clock()
        self._earlier = 0.0

    def resume(self, seconds: float) -> None:
        """Take what an interrupted run has used already."""
        self._earlier = seconds

    @property
    def left(self) -> float:
        """Return the seconds that are left, at least 0."""
        return max(0.0, self.limit - self.used)

    @property
    def used(self) -> float:
        """Return the seconds since it was made, and those of the interrupted run."""
        return self._earlier + self.elapsed

    @property
    def elapsed(self) -> float:
        """Return the seconds since it was made."""
        return self.clock() - self._began

    def require(self) -> None:
        """Raise if nothing is left.

        Raises:
            BudgetEndedError: the budget has ended.
        """
        if self.left <= 0:
            raise BudgetEndedError

    @contextmanager
    def phase(self, name: Phase, setup: float = 0.0) -> Iterator[None]:
        """Name a part of a step, for the error that ends it.

        setup: seconds that checkout and set-up took before it.
        """
        began = self.clock()
        try:
            yield
        except BudgetEndedError as ended:
            ended.phase, ended.seconds, ended.setup = name, self.clock() - began, setup
            raise


class BoundedExecutor:
    """Starts processes by another executor, and ends them when the budget does."""

    def __init__(self, executor: Executor, budget: Budget) -> None:
        self._executor = executor
        self._budget = budget

    def run(self, command: Command, complaint: Callable[[], str] = no_complaint) -> Outcome:
        """Run a command for at most what is left of the budget.

        Raises:
            BudgetEndedError: the budget ended first; nothing of the process is left.
        """
        self._budget.require()
        left = self._budget.left
        outcome = self._executor.run(replace(command, timeout=min(command.timeout, left)), complaint)
        if outcome.timed_out and left < command.timeout:
            raise BudgetEndedError
        return outcome

    def start(self, command: Command, log: Path) -> Background:
        """Start a process in the background.

        Raises:
            BudgetEndedError: the budget has ended.
        """
        self._budget.require()
        return self._executor.start(command, log)
