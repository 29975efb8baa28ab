"""Processes that live beside executions, their output in a log."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from harness.bounded import bound
from harness.process import end_group, exit_status, return_code


class StartError(Exception):
    """A process cannot be started: why, in words that begin with "cannot start: "."""


class Background(Protocol):
    """A process in the background."""

    def alive(self) -> bool:
        """Tell whether it runs."""
        ...

    def status(self) -> str:
        """Say how it ended: "exit 0", "exit 1", "signal SIGSEGV"; "" while it lives."""
        ...

    def stop(self, grace: float) -> None:
        """End it with its whole group, and what left the group: SIGTERM, SIGKILL after `grace` seconds.

        Once it is stopped nothing happens.
        """
        ...


class ProcessBackground:
    """A real process that leads its own session.

    log: open for reading and appending; the process writes it, and it is closed in the end. released: called once,
    when its group has ended.
    """

    def __init__(self, process: subprocess.Popen[bytes], log: int, released: Callable[[], None]) -> None:
        self._process = process
        self._log = log
        self._released = released
        self._stopped = False

    def alive(self) -> bool:
        """Tell whether it runs, and cut its log when that has grown too long."""
        if not self._stopped:
            bound(self._log)
        return return_code(self._process) is None

    def status(self) -> str:
        """Say how it ended."""
        code = return_code(self._process)
        return "" if code is None else exit_status(code) or "exit 0"

    def stop(self, grace: float) -> None:
        """End it with its whole group, and what left the group."""
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


class FakeBackground:
    """A background process that is none; `ended` is its status, and a test may set it."""

    def __init__(self, log: Path) -> None:
        self.log = log
        self.ended = ""

    def alive(self) -> bool:
        """Tell whether it has no status yet."""
        return not self.ended

    def status(self) -> str:
        """Return `ended`."""
        return self.ended

    def stop(self, grace: float) -> None:  # noqa: ARG002  # the Protocol's
        """End as by a signal."""
        self.ended = self.ended or "signal SIGTERM"
