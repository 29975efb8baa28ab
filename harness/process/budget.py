"""Limits in time: the budget of measuring, from the first checkout on, and one on what perfgate does with an output."""

import math
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType

from gate.model import Aside, Execution, Phase
from harness.process.execute import Command, Executor, ProcessEnd, no_complaint
from harness.process.process_groups import Background


class BudgetEndedError(Exception):
    """The budget ended within a step: which part of it, and after how many seconds of that part."""

    def __init__(self) -> None:
        super().__init__("the budget ended")
        self.phase: Phase | None = None
        self.seconds = 0.0
        self.setup = 0.0
        self.beyond = 0.0
        """Seconds that it had beyond its limit."""
        self.so_far: list[Execution] = []
        """What an execution had told until then, where somebody has asked."""


class Budget:
    """Counts down from `limit` seconds, from when it is made."""

    def __init__(self, limit: float = math.inf, clock: Callable[[], float] = time.monotonic) -> None:
        self.limit = limit
        self.clock = clock
        self._began = clock()
        self._earlier = 0.0
        self._overtime = 0.0
        self.aside: dict[str, float] = {}
        """Seconds of what is no step of the plan, by what it was: an Aside."""

    def resume(self, seconds: float) -> None:
        """Take what an interrupted run has used already."""
        self._earlier = seconds

    def allow(self, overtime: float) -> None:
        """Let what comes next take so many seconds beyond the limit; 0: no longer."""
        self._overtime = overtime

    @property
    def left(self) -> float:
        """Return the seconds that are left, those allowed beyond the limit among them; at least 0."""
        return max(0.0, self.limit + self._overtime - self.used)

    @property
    def is_over(self) -> bool:
        """Return whether the limit is reached, whatever is allowed beyond it."""
        return self.used >= self.limit

    @property
    def used(self) -> float:
        """Return the seconds since it was made, and those of the interrupted run."""
        return self._earlier + self.elapsed

    @property
    def elapsed(self) -> float:
        """Return the seconds since it was made."""
        return self.clock() - self._began

    def require(self) -> None:
        """Raise if nothing is left. Raises: BudgetEndedError: the budget has ended."""
        if self.left <= 0:
            raise BudgetEndedError

    @contextmanager
    def timed(self, what: Aside) -> Iterator[None]:
        """Add the seconds of what is no step of the plan; what is timed inside counts there alone."""
        began, counted = self.clock(), sum(self.aside.values())
        try:
            yield
        finally:
            self.note(what, self.clock() - began - (sum(self.aside.values()) - counted))

    def note(self, what: Aside, seconds: float) -> None:
        """Add so many seconds to what took them."""
        self.aside[what] = self.aside.get(what, 0.0) + seconds

    @contextmanager
    def phase(self, name: Phase, setup: float = 0.0) -> Iterator[None]:
        """Name a part of a step, for the error that ends it; setup: seconds that checkout and set-up took before it."""
        began = self.clock()
        try:
            yield
        except BudgetEndedError as ended:
            ended.phase, ended.seconds, ended.setup = name, self.clock() - began, setup
            ended.beyond = self._overtime
            raise


class BoundedExecutor:
    """Starts processes by another executor, and ends them when the budget does."""

    def __init__(self, executor: Executor, budget: Budget) -> None:
        self._executor = executor
        self._budget = budget

    def run(self, command: Command, complaint: Callable[[], str] = no_complaint) -> ProcessEnd:
        """Run a command for at most what is left of the budget.

        Raises: BudgetEndedError: the budget ended first; nothing of the process is left.
        """
        self._budget.require()
        left = self._budget.left
        outcome = self._executor.run(replace(command, timeout=min(command.timeout, left)), complaint)
        if outcome.timed_out and left < command.timeout:
            raise BudgetEndedError
        return outcome

    def start(self, command: Command, log: Path) -> Background:
        """Start a process in the background. Raises: BudgetEndedError: the budget has ended."""
        self._budget.require()
        return self._executor.start(command, log)


_AGAIN = 0.1
"""Seconds after which the alarm comes again, for as long as the block goes on."""


class DeadlineError(BaseException):
    """The time is over. No Exception: whoever handles bad output must not take it for that."""


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """End what is done inside after so many seconds, also in the middle of it.

    The alarm repeats until the block is left. Python can lose what a signal's handler raises: in `__del__`, and up to
    3.11.2 while it formats the message of another exception. Cleaning up after DeadlineError is not interrupted.

    Only the main thread can be interrupted; elsewhere there is no limit.

    Raises: DeadlineError: they are over.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  # of a signal's handler
        if not unwinding(DeadlineError):
            raise DeadlineError

    before = signal.signal(signal.SIGALRM, over)
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        # an alarm may have ended the line above before it did anything
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def unwinding(kind: type[BaseException]) -> bool:
    """Tell whether an exception of this kind is being handled: a `finally`, an `except` or an `__exit__` runs."""
    error = sys.exception()
    while error is not None and not isinstance(error, kind):
        error = error.__context__
    return error is not None
