"""Processors, priority and limits of perfgate's own processes, which commands inherit: nobody else may change them.

Whoever runs as the same user can, and no sandbox of the kernel's stops that: a benchmark of head could slow down base.
"""

from __future__ import annotations

from contextlib import suppress

from harness.sandbox.enter import pace, put_back


class PaceError(Exception):
    """Something that is not perfgate has changed them: what, in words."""


class Pace:
    """What a process has when this is made."""

    def __init__(self, pid: int) -> None:
        """Look at it."""
        self._pid = pid
        self._known = pace(pid)

    def check(self) -> None:
        """Make sure that it is still so, and put it back where it is not.

        Raises:
            PaceError: it was not.
        """
        now: dict[str, object] = {}
        with suppress(OSError):  # it has ended, which others find
            now = pace(self._pid)
        what = next((name for name in now if now[name] != self._known.get(name)), None)
        if what is not None:
            put_back(self._pid, self._known)
            raise PaceError(f"changed the {what} of perfgate's own process {self._pid}")
