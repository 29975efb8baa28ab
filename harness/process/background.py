"""Processes that live beside executions, their output in a log."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from contextlib import suppress

from harness.process.process_groups import NOT_STARTED, Process, end_group, exit_status, return_code

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
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        holes = hasattr(libc, "fallocate64")
        length = ctypes.c_int64(found.st_size - KEPT)
        if holes and libc.fallocate64(fd, _PUNCH_HOLE, ctypes.c_int64(0), length) == 0:
            return
    kept = _last(fd)
    os.ftruncate(fd, 0)
    with suppress(OSError):  # a full disk may refuse even what was just given up
        os.write(fd, kept)


def last(fd: int) -> str:
    """Return the end of a file, decoded with replacement."""
    return _last(fd).decode("utf-8", "replace")


def _last(fd: int) -> bytes:
    return os.pread(fd, KEPT, max(0, os.fstat(fd).st_size - KEPT))


class StartError(Exception):
    """A process cannot be started: why, in words that begin with "cannot start: ".

    absent: because there is no such program, or none that may be executed.
    """

    def __init__(self, why: str, *, absent: bool = False) -> None:
        super().__init__(why)
        self.absent = absent


class Background:
    """A process in the background, which leads its own session.

    log: open for reading and appending; the process writes it, and it is closed in the end. released: called once,
    when its group has ended.
    """

    def __init__(self, process: Process, log: int, released: Callable[[], None]) -> None:
        self._process = process
        self._log = log
        self._released = released
        self._stopped = False

    def alive(self) -> bool:
        """Return whether it runs, and cut its log when that has grown too long."""
        if not self._stopped:
            bound(self._log)
        return return_code(self._process) is None

    def status(self) -> str:
        """Say how it ended: "exit 0", "exit 1", "signal SIGSEGV"; "" while it lives."""
        code = return_code(self._process)
        return "" if code is None else exit_status(code) or "exit 0"

    def code(self) -> int | None:
        """Return what it exited with; None: it lives, or a signal ended it."""
        code = return_code(self._process)
        return code if code is not None and code >= 0 else None

    def unstarted(self) -> bool:
        """Return whether it was a shell that could not start a program."""
        return return_code(self._process) in NOT_STARTED

    def stop(self, grace: float) -> None:
        """End it with its whole group, and what left the group: SIGTERM, SIGKILL after `grace` seconds; only once."""
        if self._stopped:
            return
        self._stopped = True
        try:
            end_group(self._process, grace)
        finally:
            try:
                self._released()
            finally:
                os.close(self._log)
