"""The measurements that jobs left: what broke off, what is not to be read, and their whole lines."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from gate.github.command_files import open_regular, read_regular
from gate.github.notice import Notice
from gate.github.publishing.outcome import read_status
from gate.github.publishing.request import STATUS
from gate.model import UserError

_LARGEST = 1_000_000_000


class NothingError(UserError):
    """There are no measurements."""


def broken_off(runs: Iterable[str]) -> list[Notice]:
    """Return a notice for each part whose measuring did not come to its end, as far as it has a status.

    Args:
        runs: folders, or folders of such folders; a job that did not come to measuring left a status alone.
    """
    notices = []
    for folder in (part for run in map(Path, runs) for part in (run, *sorted(run.glob("*/")))):
        if os.path.lexists(folder / STATUS):
            status = read_status(folder)
            if status.code:
                why = "; ".join(status.lines) or f"exit code {status.code}"
                notices.append(Notice(status.code, f"measuring in {folder.name} did not end well: {why}"))
    return notices


def require_readable(files: Iterable[Path]) -> None:
    """Refuse what is not to be read: measured code could put a link there, or more than fits into the memory.

    Raises:
        UserError: a file is none, or is larger than 1 GB.
    """
    for file in files:
        try:
            with open_regular(file) as stream:
                size = os.fstat(stream.fileno()).st_size
        except OSError as error:
            raise UserError(f"{file}: cannot be read: {error.strerror}") from None
        if size > _LARGEST:
            raise UserError(f"{file}: is larger than {_LARGEST // 1_000_000_000} GB")


def copy_lines(file: Path, target: Path) -> None:
    """Copy the whole lines of a measurement file to a new one; links are not followed.

    Raises:
        UserError: it cannot be read, or is larger than 1 GB.
        OSError: the target is there already, or cannot be written.
    """
    require_readable([file])
    whole, newline, _ = (read_regular(file, _LARGEST) or b"").rpartition(b"\n")
    with target.open("xb") as out:
        out.writelines((whole, newline))
