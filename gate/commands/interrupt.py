"""Signals that end measuring: the first one unwinds, so that processes and worktrees are cleaned up."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(BaseException):
    """A signal asked to end; the exit code is the shell's convention, 128 + number."""

    def __init__(self, number: int) -> None:
        """Keep the signal."""
        super().__init__(signal.Signals(number).name)
        self.exit_code = 128 + number


@contextmanager
def interruptible() -> Iterator[None]:
    """Turn SIGINT, SIGTERM and SIGHUP into Interrupted, once; while cleaning up further ones are ignored."""

    def unwind(number: int, _: FrameType | None) -> None:
        for each in _SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        raise Interrupted(number)

    before = {number: signal.getsignal(number) for number in _SIGNALS}
    # nohup and shells' background jobs ignore some of these on purpose
    for number in _SIGNALS:
        if before[number] != signal.SIG_IGN:
            signal.signal(number, unwind)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
