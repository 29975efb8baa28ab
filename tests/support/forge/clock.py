"""A clock for what waits for GitHub: pauses take no time."""

import time

import pytest

from gate.github import transport


class HurriedClock:
    """Seconds that pass when somebody would wait for them; slept: the pauses. In the place of the module time."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def monotonic(self) -> float:
        """Return what has passed."""
        return sum(self.slept)

    def time(self) -> float:
        """Return what the clock on the wall says."""
        return time.time()

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.slept.append(seconds)


def hurried(monkeypatch: pytest.MonkeyPatch) -> HurriedClock:
    """Let nobody wait for GitHub any more."""
    clock = HurriedClock()
    monkeypatch.setattr(transport, "time", clock)
    return clock
