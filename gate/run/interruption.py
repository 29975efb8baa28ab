"""Interruptions and full disks while measuring: one line that says what was kept."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TextIO

from gate.codes import Exit, of_signal
from gate.model import Execution, UserError
from gate.run.folder import MEASUREMENTS, records_of
from gate.run.saying import say_why

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(BaseException):
    """A signal asked to end; the exit code is the shell's convention, 128 + number."""

    def __init__(self, number: int) -> None:
        """Keep the signal."""
        super().__init__(signal.Signals(number).name)
        self.exit_code = of_signal(number)


@contextmanager
def interruptible() -> Iterator[None]:
    """Turn SIGINT, SIGTERM and SIGHUP into Interrupted, once; while cleaning up further ones are ignored."""

    def unwind(number: int, _: FrameType | None) -> None:
        for each in _SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        raise Interrupted(number)

    before = {number: signal.getsignal(number) for number in _SIGNALS}
    # nohup and shells' background jobs ignore some of these on purpose
    for number in _SIGNALS:
        if before[number] != signal.SIG_IGN:
            signal.signal(number, unwind)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


_TOP = ("perfgate.toml", ".git")
"""No project is above one of these."""


def guarded(measure: Callable[[], int], folder: Callable[[], Path | None], err: TextIO) -> int:
    """Return what measure does; 128 + signal after an interruption, 4 when the measurements could not be written.

    folder: of the run, once it is known; see `folder_of`.
    """
    try:
        with interruptible():
            return measure()
    except Interrupted as interrupted:
        say_why(err, f"{interrupted}: {_kept(folder())}")
        return interrupted.exit_code
    except OSError as error:
        what = f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error)
        say_why(err, f"{what}: {_kept(folder())}")
        return Exit.ERROR


def folder_of(known: Path | None, default: Path, *, resume: bool) -> Path | None:
    """Return the folder of the run: the known one; of one to be resumed, before the project is, the one in reach.

    default: in the project's directory, which is this one or above it.
    """
    if known is not None or not resume:
        return known
    here = Path.cwd()
    for directory in (here, *here.parents):
        if (directory / default / MEASUREMENTS).is_file():
            return Path(os.path.relpath(directory / default))
        if any((directory / name).exists() for name in _TOP):
            break
    return None


def _kept(folder: Path | None) -> str:
    nothing = "nothing was measured"
    if folder is None:
        return nothing
    try:
        executions = sum(isinstance(record, Execution) for record in records_of(folder))
    except (OSError, UserError):
        return nothing
    kept = f"{executions} executions are" if executions != 1 else "1 execution is"
    return f"{kept} kept in {folder / MEASUREMENTS}; the same command with --resume goes on"
