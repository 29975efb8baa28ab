"""Result files of other tools, read whole, mangled and cut off."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from gate.model import UserError
from gate.results.reading import Reading, read
from gate.results.result import Aggregate, Measured
from gate.results.source import Source

DATA = Path(__file__).parents[1] / "data" / "results"


def files(name: str) -> list[Path]:
    """Return the test files of a format."""
    return sorted(file for file in (DATA / name).iterdir() if file.name != "README.md")


def reading(name: str, file: str) -> Reading:
    """Read a test file of a format."""
    path = DATA / name / file
    return read(Source(file, path), name)


def of_text(name: str, text: str | bytes) -> Reading:
    """Read a text in a format."""
    return read(Source("x", None, text.encode() if isinstance(text, str) else text), name)


def refused(name: str, text: str | bytes) -> str:
    """Return why a text is refused in a format: one line."""
    with pytest.raises(UserError) as caught:
        of_text(name, text)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def measured(found: Reading, benchmark: str, **labels: str) -> list[Measured]:
    """Return the processes of a benchmark that have some labels."""
    return [m for m in found.measured if m.benchmark == benchmark and labels.items() <= m.labels.items()]


def aggregates(found: Reading, benchmark: str, metric: str, **labels: str) -> dict[str, Aggregate]:
    """Return the aggregates of a metric by their statistics."""
    own = [a for a in found.aggregates if (a.benchmark, a.metric) == (benchmark, metric)]
    return {a.statistic: a for a in own if labels.items() <= a.labels.items()}


def mangled(data: bytes, seed: int, rounds: int = 60) -> Iterator[bytes]:
    """Yield a file cut off at some places, and with parts of it changed, left out and doubled."""
    rng = random.Random(seed)
    for _ in range(rounds):
        yield data[: rng.randrange(len(data))]
        start = rng.randrange(len(data))
        end = min(len(data), start + rng.choice((1, 2, 10, 100)))
        new = rng.choice(
            (b"", b"\xff", b"null", b"-1", b"1e999", b"1" + b"0" * 400, b'"', b"[]", b"NaN", b"{", data[start:end] * 2)
        )
        yield data[:start] + new + data[end:]


def survives(name: str, data: bytes, seed: int = 1) -> None:
    """Check that whatever becomes of a file is read, or refused in one line."""
    for each in mangled(data, seed):
        why = ""
        try:
            read(Source("x", None, each), name)
        except UserError as error:
            why = str(error)
        assert "\n" not in why
        assert len(why) < 700
