"""The measurements that several jobs left: found by folder or glob, read together, and put into one file."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import BinaryIO

from gate.github.command_files import open_regular
from gate.github.notice import Notice
from gate.github.publishing.outcome import read_status
from gate.github.publishing.request import STATUS
from gate.model import UserError

_GZIP = b"\x1f\x8b"
_LARGEST = 1_000_000_000
_PIECE = 1 << 20


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


def join(files: Sequence[Path], target: Path) -> None:
    """Put measurement files into one new file; links are not followed.

    Raises:
        UserError: one cannot be read, or unpacks to more than 1 GB.
        OSError: the target is there already, or cannot be written.
    """
    with target.open("xb") as out:
        for file in files:
            try:
                with open_regular(file) as stream:
                    packed = stream.peek(2)[:2] == _GZIP
                    _append(gzip.GzipFile(fileobj=stream) if packed else stream, out)
            except (OSError, EOFError, zlib.error, ValueError) as error:
                raise UserError(f"{file}: cannot be copied: {getattr(error, 'strerror', None) or error}") from None


def _append(stream: BinaryIO | gzip.GzipFile, out: BinaryIO) -> None:
    """Copy whole lines; a torn last line is left out: in the middle it would be a bad one.

    Raises:
        ValueError: it is larger than 1 GB.
    """
    rest: list[bytes] = []
    size = 0
    while piece := stream.read(_PIECE):
        size += len(piece)
        if size > _LARGEST:
            raise ValueError(f"it is larger than {_LARGEST // 1_000_000_000} GB")
        whole, newline, end = piece.rpartition(b"\n")
        if newline:
            out.writelines([*rest, whole, newline])
            rest = []
        rest.append(end)
