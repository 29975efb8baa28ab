"""How long a forge is waited for: no answer, however slow, takes longer than it may."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Overdue(Exception):  # noqa: N818  # the other side is, nothing is wrong here
    """It took longer than it may; seconds: how long that is."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"longer than {seconds:g} s")
        self.seconds = seconds


class Patience:
    """Seconds that may pass in all while a forge works or is waited for; what else happens takes none of them."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._spent = 0.0

    @property
    def left(self) -> float:
        """The seconds that are left, 0 when all are spent."""
        return max(0.0, self.seconds - self._spent)

    def sleep(self, seconds: float) -> None:
        """Wait, for as long as there is patience."""
        pause = min(seconds, self.left)
        time.sleep(pause)
        self._spent += pause

    def within(self, seconds: float, work: Callable[[], T]) -> T:
        """Do something within so many seconds, and within what is left.

        In a thread of its own that is left behind when it takes longer: looking up a name has no time-out, and a
        server that sends a byte now and then never runs into that of a socket.

        Raises:
            Overdue: it took longer; it may go on, and nobody sees what comes of it.
            Exception: what the work raised.
        """
        limit = min(seconds, self.left)
        done: list[T] = []
        failed: list[Exception] = []

        def run() -> None:
            try:
                done.append(work())
            except Exception as error:  # noqa: BLE001  # raised again by the caller's thread
                failed.append(error)

        begin = time.monotonic()
        worker = threading.Thread(target=run, name="perfgate-forge", daemon=True)
        worker.start()
        worker.join(limit)
        self._spent += time.monotonic() - begin
        if failed:
            raise failed[0]
        if not done:
            raise Overdue(limit)
        return done[0]
