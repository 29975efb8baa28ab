"""What a measuring command does when it is interrupted or a disk is full: one line, and what was kept."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

from gate.commands.interrupt import Interrupted, interruptible
from gate.commands.runs import MEASUREMENTS, records_of
from gate.model import Execution, UserError

EXIT_ERROR = 4
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
        err.write(f"perfgate: {interrupted}: {_kept(folder())}\n")
        return interrupted.exit_code
    except OSError as error:
        what = f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error)
        err.write(f"perfgate: {what}: {_kept(folder())}\n")
        return EXIT_ERROR


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
