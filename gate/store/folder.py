"""The history in a folder: one file a record, linked into place, so that no writer overwrites another's."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from gate.checkout import refuse_tracked
from gate.model import UserError
from gate.model.history import HistoryRecord
from gate.store.history_records import (
    Added,
    Reading,
    encode,
    is_name,
    name_of,
    reading,
    refuse_other,
)

_UNFINISHED = ".tmp-"


class FolderStore:
    """A history in a folder, which is made when the first record is added."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __str__(self) -> str:
        """Name it for people."""
        return str(self._folder)

    def read(self) -> Reading:
        """Read all records, the oldest commit first.

        Raises:
            UserError: there is no such folder.
        """
        if not self._folder.is_dir():
            raise UserError(f"{self._folder}: no such folder: `perfgate history add RUN --history DIR` makes one")
        files, problems = list[tuple[str, bytes]](), list[str]()
        for place in (self._folder / name for name in self._names()):
            try:
                files.append((str(place), place.read_bytes()))
            except OSError as error:
                problems.append(f"{place}: cannot be read: {error.strerror}")
        found = reading(files)
        return msgspec.structs.replace(found, problems=[*problems, *found.problems])

    def add(self, record: HistoryRecord) -> Added:
        """Add a record.

        Raises:
            UserError: it holds other measurements of the same run, or cannot be written.
        """
        place = self._folder / name_of(record)
        try:
            known = not write_new(place, encode(record))
            if known:
                refuse_other(str(place), place.read_bytes(), record, ": remove it, and add the run again")
        except OSError as error:
            where, why = error.filename or self._folder, f"cannot be written: {error.strerror}"
            if error.errno in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS):
                why = "this file system has no hard links: name another folder, or use a ref"
            raise UserError(f"{where}: {why}") from None
        return Added(known, len(self._names()), None)

    def _names(self) -> list[str]:
        # a pipe would be read for ever
        found = (file for file in self._folder.glob("*/*.json") if not file.is_fifo())
        return sorted(filter(is_name, (file.relative_to(self._folder).as_posix() for file in found)))


def write_new(place: Path, data: bytes) -> bool:
    """Write a file that appears whole or not at all; False: there is one of that name."""
    refuse_tracked(place.parent, "--history")
    place.parent.mkdir(parents=True, exist_ok=True)
    # with a random name: two writers may be two machines with one number of process
    unfinished = place.with_name(f"{_UNFINISHED}{secrets.token_hex(8)}")
    try:
        with unfinished.open("xb") as opened:
            opened.write(data)
            opened.flush()
            os.fsync(opened.fileno())
        try:
            os.link(unfinished, place)
        except FileExistsError:
            return False
    finally:
        with suppress(FileNotFoundError):
            unfinished.unlink()
    return True


def drop_oldest(files: Sequence[Path], keep: int) -> None:
    """Remove the first of some files, so that the last `keep` of them stay."""
    for file in files[: max(len(files) - keep, 0)]:
        # of two writers that drop the same one is first
        with suppress(FileNotFoundError):
            file.unlink()
