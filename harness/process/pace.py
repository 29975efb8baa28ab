"""Processors, priority and limits of perfgate's own processes, which commands inherit: nobody else may change them.

Whoever runs as the same user can, and no sandbox of the kernel's stops that: a benchmark of head could slow down base.
"""

from __future__ import annotations

import os
import resource
import sys
from contextlib import suppress

_LIMITS = 16  # of resource.h


class PaceError(Exception):
    """Something that is not perfgate has changed them: what, in words."""


class Pace:
    """What a process has when this is made."""

    def __init__(self, pid: int) -> None:
        """Look at it."""
        self._pid = pid
        self._known = _of(pid)

    def check(self) -> None:
        """Make sure that it is still so.

        Raises:
            PaceError: it is not.
        """
        now = _of(self._pid)
        if now != self._known:
            what = next(name for name in now if now[name] != self._known.get(name))
            raise PaceError(f"a command changed the {what} of perfgate's own process {self._pid}")


def _of(pid: int) -> dict[str, object]:
    if sys.platform != "linux":
        return {}
    found: dict[str, object] = {}
    with suppress(OSError):  # it has ended, which others find
        found["processors"] = os.sched_getaffinity(pid)
        found["scheduling policy"] = os.sched_getscheduler(pid)
        found["priority"] = os.getpriority(os.PRIO_PROCESS, pid)
        found["limits"] = [resource.prlimit(pid, number) for number in range(_LIMITS)]
    return found
