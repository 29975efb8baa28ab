"""Files that a process writes into for as long as it likes, of which only the end is kept.

A file and not a pipe: a reader would take time from the benchmark, and a daemon that keeps a pipe open would never let
it end.
"""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress

KEPT = 64 * 1024
"""Bytes of the end that are kept."""
_ON_DISK = 64 * 1024 * 1024
_PUNCH_HOLE = 0x03
"""FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE of linux/falloc.h."""


def bound(fd: int) -> None:
    """Take the room of all but the end of a file that has grown too long; it must be open for writing.

    Its beginning becomes a hole, and whoever writes goes on: nothing that is written meanwhile is lost. Where a file
    cannot have holes it is cut to its end; it must be open for appending then, by whoever writes it too.
    """
    found = os.fstat(fd)
    if found.st_blocks * 512 <= _ON_DISK:
        return
    if _punched(fd, found.st_size - KEPT):
        return
    kept = _last(fd)
    os.ftruncate(fd, 0)
    with suppress(OSError):  # a full disk may refuse even what was just given up
        os.write(fd, kept)


def _punched(fd: int, length: int) -> bool:
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "fallocate64"):
        return False
    done: int = libc.fallocate64(fd, _PUNCH_HOLE, ctypes.c_int64(0), ctypes.c_int64(length))
    return done == 0


def last(fd: int) -> str:
    """Return the end of a file, decoded with replacement."""
    return _last(fd).decode("utf-8", "replace")


def _last(fd: int) -> bytes:
    return os.pread(fd, KEPT, max(0, os.fstat(fd).st_size - KEPT))
