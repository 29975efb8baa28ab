"""The queue for the lock of the host: who came first gets it first.

Each process that wants the lock holds a shared record lock (fcntl(2)) on one byte of a file beside the lock file. The
offset of the byte is the time at which the process came, so that those on lower offsets came before. The kernel drops
the lock with the process, however it ends; nothing is written into the file. Where there can be no queue, such as on a
file system without record locks, the lock serves whoever asks first after it became free.
"""

from __future__ import annotations

import fcntl
import os
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from harness.errors import LockError

_LINUX = os.uname().sysname == "Linux"
_FLOCK = "@hhqqi0q" if _LINUX else "@qqihh0q"
"""The layout of struct flock: type, whence, start, length, process; elsewhere start, length, process, type, whence."""
_MOST = 1000
"""Processes that are counted."""


def queue_file(lock: Path) -> Path:
    """Return the file of the queue for a lock file."""
    return lock.with_name(f"{lock.name}.queue")


class Turn:
    """The place of this process in the queue, until it is closed."""

    def __init__(self, path: Path, opened: Callable[[Path], int]) -> None:
        """Join the queue at its end.

        Args:
            path: of the queue's file.
            opened: opens it, or raises LockError.
        """
        self._descriptor: int | None = None
        self._place = time.time_ns() // 1000
        with suppress(OSError, LockError):  # without a queue the lock is as good, but not fair
            self._descriptor = opened(path)
            # shared, since a file of another user may be read-only
            fcntl.lockf(self._descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB, 1, self._place)

    def before(self) -> int:
        """Count the processes that came before this one and still wait."""
        if self._descriptor is None:
            return 0
        count, ranges = 0, [(0, self._place)]
        while ranges and count < _MOST:
            begin, end = ranges.pop()
            found = _taken(self._descriptor, begin, end) if begin < end else None
            if found is not None:
                count += 1
                ranges += [(begin, found[0]), (found[1], end)]
        return count

    def close(self) -> None:
        """Leave the queue."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _taken(descriptor: int, begin: int, end: int) -> tuple[int, int] | None:
    """Return the first and the next byte of a range in which another process has a lock; None: none has."""
    length = end - begin
    # what an exclusive lock would meet; asking needs no right to write
    asked = (fcntl.F_WRLCK, os.SEEK_SET, begin, length, 0) if _LINUX else (begin, length, 0, fcntl.F_WRLCK, os.SEEK_SET)
    try:
        said = struct.unpack(_FLOCK, fcntl.fcntl(descriptor, fcntl.F_GETLK, struct.pack(_FLOCK, *asked)))
    except OSError:
        return None
    kind, first, size = (said[0], said[2], said[3]) if _LINUX else (said[3], said[0], said[1])
    if kind == fcntl.F_UNLCK:
        return None
    return max(first, begin), first + size if size else end
