"""Result files of other tools, cut off and mangled: they are read, or refused in one line, and never a traceback."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from gate.model import UserError
from gate.results.formats import adapter
from gate.results.reading import read, recognised
from gate.results.source import Source

_PIECES = (
    b"",
    b"\0",
    b"\xff",
    b"NaN",
    b"-1",
    b"1e999",
    b"null",
    b"[]",
    b"{}",
    b'"',
    b"\n",
    b"\t",
    b": ",
    b"0",
    b"true",
)


def mangled(data: bytes, rounds: int, seed: int = 7) -> Iterator[bytes]:
    """Cut data off, and replace parts of it by what is not expected there."""
    rng = random.Random(seed)
    for _ in range(rounds):
        yield data[: rng.randrange(len(data))]
        changed = data
        for _ in range(rng.randint(1, 4)):
            start = rng.randrange(len(changed) + 1)
            end = start + rng.choice((0, 1, 1, 2, 5, 20))
            changed = changed[:start] + rng.choice(_PIECES) + changed[end:]
        yield changed


def survive(folder: Path, rounds: int = 100) -> None:
    """Read the files of a folder of tests/data/results, mangled in many ways, as its format."""
    refused: list[str] = []
    for file in sorted(folder.iterdir()):
        if file.name == "README.md" or file.is_dir():
            continue
        for data in mangled(file.read_bytes(), rounds):
            try:
                recognised(Source("x", None, data))
                adapter(folder.name).recognises(Source("x", None, data))
                reading = read(Source("x", None, data), folder.name)
            except UserError as error:
                refused.append(str(error))
                continue
            for measured in reading.measured:
                assert measured.metrics
                assert all(len(metric.values) for metric in measured.metrics.values())
    assert not [error for error in refused if "\n" in error]
