"""The tree that Rust's divan prints -> values. Format: src/tree_painter.rs of divan 0.1.21."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from gate.adapters.suites import times
from gate.adapters.values import Series, number, refuse_cut_off

_BRANCH = re.compile(r"(?P<lead>[│ ]*)[├╰]─ (?P<rest>.*)")
# a name ends where the first column begins, and may hold single spaces itself
_GAP = re.compile(r"\s{2,}")
_TIME = re.compile(r"([\d.]+) (ps|ns|µs|us|ms|s)", re.ASCII)
_SECONDS = {"ps": 1e-12, "ns": 1e-9, "µs": 1e-6, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_INDENT = 3
_COLUMNS = ("min", "max", "median", "mean")


class Row(NamedTuple):
    """A benchmark of the tree."""

    name: str
    """Its path: "sort::100"."""
    seconds: dict[str, float]
    """Its fastest, slowest, median and mean time of an iteration, as "min", "max", "median" and "mean"."""
    samples: int | None


def parse(data: bytes, units: Mapping[str, str | None]) -> dict[str, Series]:  # noqa: ARG001 - as all formats
    """Read the mean time of each benchmark, in seconds, named by its path in the tree ("sort::100").

    Raises:
        OutputError: there is no benchmark, two have one name, a mean is no number, or the last line has no newline.
    """
    read = times(_means(data.decode("utf-8", "replace")), "the tree that divan prints is expected")
    refuse_cut_off(data, "the output")
    return read


def _means(text: str) -> Iterator[tuple[str, float]]:
    return ((row.name, row.seconds["mean"]) for row in rows(text.splitlines()) if "mean" in row.seconds)


def rows(lines: Iterable[str]) -> Iterator[Row]:
    """Read the benchmarks of all trees; other lines are passed over.

    Raises:
        OutputError: a time is no number.
    """
    above: list[str] = []
    for line in lines:
        branch = _BRANCH.match(line)
        if branch is None:
            continue
        first, *columns = branch["rest"].split(" │ ")
        name, *fastest = _GAP.split(first, maxsplit=1)
        depth = len(branch["lead"]) // _INDENT
        above[depth:] = [name.strip()]
        cells = [cell.strip() for cell in ("".join(fastest), *columns)]
        times = {key: time for key, cell in zip(_COLUMNS, cells, strict=False) if (time := _TIME.fullmatch(cell))}
        seconds = {key: number(time[1].encode()) * _SECONDS[time[2]] for key, time in times.items()}
        if seconds:
            samples = cells[len(_COLUMNS)] if len(cells) > len(_COLUMNS) else ""
            yield Row("::".join(above), seconds, int(samples) if samples.isdecimal() and len(samples) < 10 else None)


FORMAT = parse
