"""Result files of other tools, and what is read from them."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate.formats.parts.reading import Reading, read
from gate.formats.parts.result import Aggregate, Measured
from gate.formats.parts.source import Source
from gate.model import UserError

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
