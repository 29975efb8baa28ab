"""Files that were cut off or garbled, for readers that must never fail with another error than theirs."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from contextlib import suppress

from gate.model import UserError
from gate.results.reading import read, recognised
from gate.results.source import Source

NUMBERS = re.compile(rb"-?\d+(\.\d+)?([eE][+-]?\d+)?")
STRANGE = (b"-1", b"NaN", b"1e999", b"-Infinity", b"null", b'"x"', b"[]", b"{}", b"0", b"true", b"9" * 40, b"")


def mangled(data: bytes, rounds: int = 30, seed: int = 1) -> Iterator[bytes]:
    """Yield a file cut off, with strange numbers, without some lines, and with bytes replaced, from a fixed seed."""
    draw = random.Random(seed)
    for _ in range(rounds):
        yield data[: draw.randrange(len(data))]
        numbers = list(NUMBERS.finditer(data))
        if numbers:
            number = draw.choice(numbers)
            yield data[: number.start()] + draw.choice(STRANGE) + data[number.end() :]
        lines = data.split(b"\n")
        del lines[draw.randrange(len(lines))]
        yield b"\n".join(lines)
        garbled = bytearray(data)
        for _ in range(draw.randrange(1, 6)):
            garbled[draw.randrange(len(garbled))] = draw.choice(b'"{}[],:;|<>/\0\xff e-0')
        yield bytes(garbled)


def read_or_refused(name: str, data: bytes) -> int:
    """Read what became of a file in a format, whatever its content says; return how many were read, not refused."""
    count = 0
    for each in mangled(data):
        source = Source("x", None, each)
        recognised(source)
        with suppress(UserError):
            read(source, name)
            count += 1
    return count
