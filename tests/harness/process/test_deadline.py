"""The time limit on what perfgate does itself: what a handler raises may be lost once, and the limit still holds."""

from __future__ import annotations

import signal
import time
from contextlib import suppress
from threading import Thread

import pytest

from harness.process.deadline import DeadlineError, deadline

LONG = 20
"""Seconds that nothing here takes, unless the limit fails."""


def loses_it(went_on: list[str]) -> None:
    with deadline(0.01):
        with suppress(DeadlineError):
            time.sleep(LONG)
        went_on.append("a little")
        time.sleep(LONG)
        went_on.append("for long")


def test_a_lost_one_comes_again() -> None:
    """CPython 3.11.2 replaces it by the ValueError whose message it formats; here it is swallowed once."""
    went_on: list[str] = []
    with pytest.raises(DeadlineError):
        loses_it(went_on)
    assert went_on == ["a little"]


class Finalised:
    """Waits in its finaliser, out of which no exception comes."""

    def __del__(self) -> None:
        time.sleep(0.02)


def finalises() -> None:
    with deadline(0.01):
        Finalised()
        time.sleep(LONG)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_one_in_a_finaliser_comes_again() -> None:
    with pytest.raises(DeadlineError):
        finalises()


def cleans_up(cleaned: list[str]) -> None:
    with deadline(0.01):
        try:
            time.sleep(LONG)
        finally:
            time.sleep(0.02)
            cleaned.append("up")


def test_cleaning_up_is_not_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.process.deadline._AGAIN", 0.001)
    cleaned: list[str] = []
    with pytest.raises(DeadlineError):
        cleans_up(cleaned)
    assert cleaned == ["up"]


@pytest.mark.parametrize("seconds", [0.01, LONG])
def test_no_alarm_outlives_the_block(seconds: float) -> None:
    before = signal.getsignal(signal.SIGALRM)
    with suppress(DeadlineError), deadline(seconds), suppress(DeadlineError):
        time.sleep(0.02)
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    assert signal.getsignal(signal.SIGALRM) is before


def test_another_thread_has_no_limit() -> None:
    done = []

    def work() -> None:
        with deadline(0.001):
            time.sleep(0.01)
            done.append(True)

    thread = Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]
