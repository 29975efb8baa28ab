"""A time limit on what perfgate itself does with the output of a program."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_AGAIN = 0.1
"""Seconds after which the alarm comes again, for as long as the block goes on."""


class DeadlineError(BaseException):
    """The time is over. No Exception: whoever handles bad output must not take it for that."""


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """End what is done inside after so many seconds, also in the middle of it.

    The alarm repeats until the block is left. Python can lose what a signal's handler raises: in `__del__`, and up to
    3.11.2 while it formats the message of another exception. Cleaning up after DeadlineError is not interrupted.

    Only the main thread can be interrupted; elsewhere there is no limit.

    Raises:
        DeadlineError: they are over.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  # of a signal's handler
        if not unwinding(DeadlineError):
            raise DeadlineError

    before = signal.signal(signal.SIGALRM, over)
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        # an alarm may have ended the line above before it did anything
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def unwinding(kind: type[BaseException]) -> bool:
    """Tell whether an exception of this kind is being handled: a `finally`, an `except` or an `__exit__` runs."""
    error = sys.exception()
    while error is not None and not isinstance(error, kind):
        error = error.__context__
    return error is not None
