"""The line that says why measuring ended: an interruption, a full disk, a budget; and what was kept."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread, main_thread
from types import FrameType
from typing import TextIO

from gate.checkout import refuse_tracked
from gate.cli.lacks import lack_of
from gate.codes import Exit, of_signal
from gate.decide.causes import budget_ended
from gate.decide.next_steps import raise_budget
from gate.evidence.lines import of_this_run
from gate.evidence.records import MEASUREMENTS
from gate.evidence.time_spent import unfinished
from gate.github.runner import HandedOn
from gate.model import Execution, UserError
from gate.report.outputs import make_folder
from gate.run.job import Job
from gate.run.run_folder import outputs_in, records_of
from gate.writing.units import agree, plural
from harness.process.budget import unwinding

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_AGAIN = 0.1
"""Seconds after which a signal is sent again, for as long as what it ends goes on."""


class Interrupted(BaseException):
    """A signal asked to end; the exit code is the shell's convention, 128 + number."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.exit_code = of_signal(number)


@contextmanager
def interruptible() -> Iterator[None]:
    """Turn SIGINT, SIGTERM and SIGHUP into Interrupted, once; while cleaning up further ones are ignored.

    Python can lose what a signal's handler raises (harness.process.budget): so a signal is sent again until the block
    is left. Once one has come, Interrupted is what is raised at the end, whatever else cleaning up meets.
    """
    came: list[Interrupted] = []
    left = False
    asked: SimpleQueue[int] = SimpleQueue()  # a handler may be interrupted by another while it puts something there

    def unwind(number: int, frame: FrameType | None) -> None:
        if not came:
            came.append(Interrupted(number))
            asked.put(number)
        # an exception in a finaliser would be printed there, and end nothing
        if not (left or unwinding(Interrupted) or _in_finaliser(frame)):
            raise came[0]

    before = {number: signal.getsignal(number) for number in _SIGNALS}
    insistent = Thread(target=_insist, args=(asked,), daemon=True)
    with suppress(RuntimeError):  # no more threads can be started: it is sent once
        insistent.start()
    # nohup and shells' background jobs ignore some of these on purpose
    for number in _SIGNALS:
        if before[number] != signal.SIG_IGN:
            signal.signal(number, unwind)
    try:
        yield
    except Exception:
        # it may come between the close of a descriptor and the note of that: then it is closed once more
        if not came:
            raise
    finally:
        left = True
        asked.put(0)
        with suppress(RuntimeError):  # it was not started
            insistent.join()
        for number, handler in before.items():
            signal.signal(number, handler)
    if came:
        raise came[0]


def _insist(asked: SimpleQueue[int]) -> None:
    """Send the main thread the signal that is asked for, until 0 is."""
    number = asked.get()
    while number:
        try:
            number = asked.get(timeout=_AGAIN)
        except Empty:
            signal.pthread_kill(main_thread().ident or 0, number)


def _in_finaliser(frame: FrameType | None) -> bool:
    while frame is not None and frame.f_code.co_name != "__del__":
        frame = frame.f_back
    return frame is not None


NOTHING = "nothing was measured"
STAYS = "what was measured before stays"


class EndedError(Exception):
    """Measuring ended before it was done, by a signal or a disk that is full; says what was kept."""

    def __init__(self, why: str, exit_code: int) -> None:
        """Keep why, and what the command ends with."""
        super().__init__(why)
        self.exit_code = exit_code


class Folder:
    """The folder of a run, as far as it is known: the one that was asked for, else one below the project."""

    def __init__(self, given: Path | None, default: Path, *, resume: bool) -> None:
        """Begin with the folder that was asked for, if one was; default: below the project's directory."""
        self._given = given
        self.known = given
        self._default = default
        self._resume = resume
        self._begun = False

    def fix(self, project: Path) -> Path:
        """Return the folder of a run of the project in this directory; from now on it is known."""
        self.known = self.known or Path(os.path.relpath(project / self._default))
        return self.known

    def make(self, folder: Path) -> None:
        """Make the folder of the run. Raises: UserError: it cannot be made."""
        for place in outputs_in(folder):
            refuse_tracked(place)
        own = self._given is None
        if own and len(self._default.parts) > 1:
            # made first, so that it is out of git's sight as when check makes it
            make_folder(folder.parent, own=True)
        make_folder(folder, own=own)

    def begin(self) -> None:
        """Take note that what is in the folder is of this run from now on."""
        self._begun = True

    def kept(self) -> str:
        """Say what is kept of an ended run, and how it goes on.

        A new run has nothing before it begins, such as while it waits for another one.
        """
        if self.known is None or not (self._begun or self._resume):
            return STAYS if self._resume else NOTHING
        try:
            executions = sum(isinstance(record, Execution) for record in records_of(self.known))
        except (OSError, UserError):
            return NOTHING
        return kept_in(executions, self.known / MEASUREMENTS)


def kept_in(executions: int, where: Path) -> str:
    """Say that so many executions are kept there, and how the command goes on."""
    if not executions:
        return NOTHING
    kept = f"{plural(executions, 'start')} {agree(executions, 'is', 'are')}"
    return f"{kept} kept in {where}; to continue, add --resume to the same command"


@contextmanager
def orderly(folder: Folder | None = None) -> Iterator[None]:
    """End on a signal, or where the measurements cannot be written, with a line that says what is kept.

    folder: of the run; None: nothing is kept.

    Raises: EndedError: with 128 + the signal's number, or 4.
    """
    try:
        with interruptible():
            yield
    except Interrupted as interrupted:
        kept = folder.kept() if folder else NOTHING
        raise EndedError(f"{interrupted}: {kept}", interrupted.exit_code) from None
    except OSError as error:
        what = lack_of(error) or (
            f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error)
        )
        raise EndedError(f"{what}: {folder.kept() if folder else NOTHING}", Exit.ERROR) from error


class Heard(HandedOn):
    """Hands text on, and keeps why the command ended badly."""

    why = ""


def say_why(err: TextIO, why: str, *, as_input: str | None = None) -> None:
    """Write why a command ends badly; as_input: the same for the action, whose inputs are no options."""
    err.write(f"perfgate: {why}\n")
    if isinstance(err, Heard):
        err.why = as_input or why


def ended_before_a_round(job: Job) -> str | None:
    """Say what the budget of a run was spent on, if it ended before one round was complete; else None."""
    rules = job.project.settings.rules
    records = of_this_run(records_of(job.out))
    found = unfinished(records, float(rules.plan.budget))
    ended = budget_ended(found, job.run, rules) if found else None
    return f"{ended.sentence()}. {raise_budget(ended).text}" if ended else None
