"""A time limit on what perfgate itself does with the output of a program."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class DeadlineError(BaseException):
    """The time is over. No Exception: whoever handles bad output must not take it for that."""


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """End what is done inside after so many seconds, also in the middle of it.

    Only the main thread can be interrupted; elsewhere there is no limit.

    Raises:
        DeadlineError: they are over.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  # of a signal's handler
        raise DeadlineError

    before = signal.signal(signal.SIGALRM, over)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.signal(signal.SIGALRM, before)
