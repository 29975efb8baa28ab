"""Result files of other tools, cut off and garbled: they are read, or refused in one line, and never a traceback."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from gate.model import UserError
from gate.results.reading import Reading, read, recognised
from gate.results.source import Source
from tests.support.foreign import files

NUMBERS = re.compile(rb"-?\d+(\.\d+)?([eE][+-]?\d+)?")
STRANGE = (
    b"-1", b"NaN", b"1e999", b"-Infinity", b"null", b'"x"', b"[]", b"{}", b"0", b"true", b"9" * 40, b"1" + b"0" * 400,
    b"", b"\0", b"\xff", b'"', b"{", b"\n", b"\t", b": ",
)  # fmt: skip


def mangled(data: bytes, rounds: int, seed: int = 1) -> Iterator[bytes]:
    """Yield a file cut off, with strange numbers and parts, without some lines, and with bytes replaced."""
    draw = random.Random(seed)
    for _ in range(rounds):
        yield data[: draw.randrange(len(data))]
        numbers = list(NUMBERS.finditer(data))
        if numbers:
            number = draw.choice(numbers)
            yield data[: number.start()] + draw.choice(STRANGE) + data[number.end() :]
        start = draw.randrange(len(data))
        end = min(len(data), start + draw.choice((1, 2, 10, 100)))
        yield data[:start] + draw.choice((*STRANGE, data[start:end] * 2)) + data[end:]
        lines = data.split(b"\n")
        del lines[draw.randrange(len(lines))]
        yield b"\n".join(lines)
        garbled = bytearray(data)
        for _ in range(draw.randrange(1, 6)):
            garbled[draw.randrange(len(garbled))] = draw.choice(b'"{}[],:;|<>/\0\xff e-0')
        yield bytes(garbled)


def read_or_refuse(name: str, rounds: int) -> int:
    """Read what becomes of a format's files, whatever their content says; return how many were read, not refused."""
    count = 0
    for file in files(name):
        for each in mangled(file.read_bytes(), rounds) if file.is_file() else ():
            reading = _read(Source("x", None, each), name)
            if isinstance(reading, UserError):
                assert "\n" not in str(reading)
                assert len(str(reading)) < 700
                continue
            count += 1
            for measured in reading.measured:
                assert measured.metrics
                assert all(len(metric.values) for metric in measured.metrics.values())
    return count


def _read(source: Source, name: str) -> Reading | UserError:
    try:
        recognised(source)
        return read(source, name)
    except UserError as error:
        return error
