"""Result files of other tools, cut off and garbled: they are read, or refused in one line, and never a traceback."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

from gate.model import UserError
from gate.results.reading import Reading, read, recognised
from gate.results.source import Source

NUMBERS = re.compile(rb"-?\d+(\.\d+)?([eE][+-]?\d+)?")
STRANGE = (
    b"-1", b"NaN", b"1e999", b"-Infinity", b"null", b'"x"', b"[]", b"{}", b"0", b"true", b"9" * 40, b"",
    b"\0", b"\xff", b'"', b"\n", b"\t", b": ",
)  # fmt: skip


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


def read_or_refused(name: str, data: bytes, rounds: int = 30) -> int:
    """Read what became of a file in a format, whatever its content says; return how many were read, not refused."""
    count = 0
    for each in mangled(data, rounds):
        source = Source("x", None, each)
        reading = _read(source, name)
        if isinstance(reading, UserError):
            assert "\n" not in str(reading)
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


def survive(folder: Path, rounds: int = 30) -> None:
    """Read the files of a folder of tests/data/results, mangled in many ways, as its format."""
    for file in sorted(folder.iterdir()):
        if file.name != "README.md" and file.is_file():
            read_or_refused(folder.name, file.read_bytes(), rounds)
