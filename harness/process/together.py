"""Work that is a sequence of commands, each chosen by what became of the one before: alone, or beside other work."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Generic, TypeVar

from gate.units import Duration
from harness.process import mounted
from harness.process.background import Background, StartError
from harness.process.budget import Budget, BudgetEndedError
from harness.process.execute import Command, Executor, Outcome
from harness.process.forkserver import entered, entering

T = TypeVar("T")

Work = Generator[Command, Outcome, T]
"""Gives one command after the other, takes the outcome of each, and returns a result."""

Place = Callable[[Command], Command]
"""Has a command run in a place of its own."""

_PAUSE = 0.01
_GRACE = 3.0
_LEFTOVER_GRACE = 0.5


class LeftBehindError(Exception):
    """A command ended, and something that it had started lives on."""


def standing(command: Command, places: Mapping[Path, Path]) -> Command:
    """Return a command for which directories stand at paths, existing ones; it runs at or below the first.

    It exits with 125 where that cannot be. Its sandbox it enters after that.
    """
    pairs = [str(each) for pair in places.items() for each in pair]
    confined = command.confined
    where = (str(command.directory), *entering(confined), str(len(places)))
    argv = (sys.executable, "-I", "-S", mounted.__file__, *where, *pairs, *command.argv)
    first = next(iter(places.values()))
    return replace(command, argv=argv, directory=first, launch=None, enters=entered(confined))


def alone(work: Work[T], run: Callable[[Command], Outcome]) -> T:
    """Do work by itself.

    Raises:
        BudgetEndedError: the budget has ended.
    """
    try:
        command = next(work)
        while True:
            try:
                outcome = run(command)
            except BudgetEndedError as ended:
                command = work.throw(ended)
            else:
                command = work.send(outcome)
    except StopIteration as end:
        result: T = end.value
        return result


def together(works: Sequence[tuple[Work[T], Place]], executor: Executor, budget: Budget) -> list[T]:
    """Do several works at once, each in its place; a command's file for standard output takes standard error, too.

    Raises:
        LeftBehindError: one of them has left a process behind, which may serve the others: all are ended.
        BudgetEndedError: the budget has ended.
        OSError: an output cannot be written.
    """
    with ExitStack() as stack:
        courses = [_Course(work, place, executor, budget) for work, place in works]
        for course in courses:
            stack.callback(course.end)
        while [course for course in courses if course.goes_on()]:
            time.sleep(_PAUSE)
        return [course.result() for course in courses]


@dataclass(frozen=True, slots=True)
class _Running:
    command: Command
    started: str
    begin: float
    background: Background


class _Course(Generic[T]):
    """One work while it is done."""

    def __init__(self, work: Work[T], place: Place, executor: Executor, budget: Budget) -> None:
        self._work = work
        self._place = place
        self._executor = executor
        self._budget = budget
        self._running: _Running | None = None
        self._begun = False
        self._results: list[T] = []

    def goes_on(self) -> bool:
        """Look after the command that runs, begin the next one when it has ended; return whether there was one."""
        if self._results:
            return False
        if not self._begun:
            self._begun = True
            self._begin(lambda: next(self._work))
        elif self._running is not None:
            outcome = self._outcome(self._running)
            if outcome is not None:
                self._running = None
                self._begin(lambda: self._work.send(outcome))
        return not self._results

    def result(self) -> T:
        """Return what the work came to."""
        return self._results[0]

    def end(self) -> None:
        """End what runs."""
        self._work.close()
        if self._running is not None:
            self._running.background.stop(_GRACE)

    def _begin(self, following: Callable[[], Command]) -> None:
        try:
            command = following()
            while True:
                started = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
                begin = time.perf_counter()
                try:
                    background = self._started(command)
                except StartError as error:
                    taken = time.perf_counter() - begin
                    outcome = Outcome(str(error), started, taken, "", begun=False, absent=error.absent)
                    command = self._work.send(outcome)
                else:
                    self._running = _Running(command, started, begin, background)
                    return
        except StopIteration as end:
            self._results.append(end.value)

    def _started(self, command: Command) -> Background:
        assert command.stdout is not None  # noqa: S101  # its maker's promise
        try:
            return self._executor.start(self._place(command), command.stdout)
        except BudgetEndedError as ended:
            self._work.throw(ended)
            raise

    def _outcome(self, running: _Running) -> Outcome | None:
        """Return what became of the command; None: it runs."""
        background, command = running.background, running.command
        seconds = time.perf_counter() - running.begin
        if not background.alive():
            status, code = background.status(), background.code()
            if background.outlived():
                # processes that end with their parent a moment
                deadline = time.monotonic() + _LEFTOVER_GRACE
                while background.outlived():
                    if time.monotonic() > deadline:
                        raise LeftBehindError
                    time.sleep(_PAUSE)
            background.stop(_LEFTOVER_GRACE)
            return Outcome("" if code == 0 else status, running.started, seconds, "", code or None)
        if self._budget.left <= 0:
            self._work.throw(BudgetEndedError())
        if seconds > command.timeout:
            background.stop(_GRACE)
            return Outcome(f"time-out after {Duration(command.timeout)}", running.started, seconds, "", timed_out=True)
        return None
