"""Outputs with one very long line, as of a program that dumps what it has: no reader may take minutes over it."""

import random
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_LONG = 200_000
_PIECES = (
    b" ",
    b"\t",
    b"a",
    b"1",
    b"a ",
    b"1 ",
    b"1.",
    b"1,",
    b"/",
    b"# ",
    b"| ",
    b"test ",
    b"test a ... ok\\n",
    b"a/",
    b"=",
    b"[",
    b"(",
    b'";"',
)
_LIMIT = 4.0
"""Seconds of the processor. Linear work takes milliseconds; what tries each pair of places, minutes."""


def stretched(data: bytes, seed: int, rounds: int) -> Iterator[bytes]:
    """Yield it with a long run of one piece within a line, in front of one, or behind one."""
    rng = random.Random(seed)
    for _ in range(rounds):
        at = rng.randrange(len(data) + 1)
        begins, ends = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
        at = rng.choice((at, begins, len(data) if ends < 0 else ends))
        own = data[at : at + rng.choice((1, 2, 5))].replace(b"\n", b" ")
        piece = rng.choice((*_PIECES, own or b" "))
        yield data[:at] + piece * (_LONG // len(piece)) + data[at:]


@contextmanager
def at_once(what: object) -> Iterator[None]:
    """Fail where this takes forever."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise AssertionError(f"it takes more than {_LIMIT:g} s: {what}")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, _LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
