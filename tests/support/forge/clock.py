"""A clock for what waits for GitHub: pauses take no time, and an answer that is held back is overdue at once."""

from __future__ import annotations

import threading

import pytest

from gate.github import transport
from tests.support.forge.server import FakeGitHub

# how soon an answer that is held back is noticed
_LOOK = 0.002


class HurriedClock(transport.Clock):
    """Seconds that pass when somebody would wait for them; slept: the pauses.

    held_back: released by a server when it begins to hold an answer back.
    """

    def __init__(self, held_back: threading.Semaphore) -> None:
        self.held_back = held_back
        self.slept: list[float] = []
        self._now = 0.0

    def now(self) -> float:
        """Return what has passed."""
        return self._now

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.slept.append(seconds)
        self._now += seconds

    def join(self, worker: threading.Thread, seconds: float) -> None:
        """Wait for a thread, or let all of the time pass when its answer is held back."""
        while worker.is_alive():
            if self.held_back.acquire(blocking=False):
                self._now += seconds
                return
            worker.join(_LOOK)


def hurried(monkeypatch: pytest.MonkeyPatch, github: FakeGitHub | None = None) -> HurriedClock:
    """Let nobody wait for GitHub any more."""
    clock = HurriedClock(github.held_back if github else threading.Semaphore(0))
    monkeypatch.setattr(transport, "Clock", lambda: clock)
    return clock
