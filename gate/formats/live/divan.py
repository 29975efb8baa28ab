"""The tree that Rust's divan prints -> values. Format: src/tree_painter.rs of divan 0.1.21."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from gate.formats.live.suites import times
from gate.formats.live.values import OutputError, Series, number, refuse_cut_off
from gate.units import to_base

_BRANCH = re.compile(r"(?P<lead>[│ ]*)[├╰]─ (?P<rest>.*)")
# a name ends where the first column begins, and may hold single spaces itself
_GAP = re.compile(r"\s{2,}")
# what a benchmark printed may stand before its fastest time
_TIME = re.compile(r"(?:.*\s)?([\d.]+) (ps|ns|µs|us|ms|s|m|h|d)", re.ASCII)
_DAY = 86400.0
_INDENT = 3
_COLUMNS = ("min", "max", "median", "mean")


class Row(NamedTuple):
    """A benchmark of the tree."""

    name: str
    """Its path: "sort::100"."""
    seconds: dict[str, float]
    """Its fastest, slowest, median and mean time of an iteration, as "min", "max", "median" and "mean"."""
    samples: int | None
    problem: str = ""
    """Why they cannot be read, and on which line; "": they can."""


def parse(data: bytes, units: Mapping[str, str | None]) -> dict[str, Series]:  # noqa: ARG001 - as all formats
    """Read the mean time of each benchmark, in seconds, named by its path in the tree ("sort::100"), and its views.

    Raises:
        OutputError: there is no benchmark, two have one name, times cannot be read, or the last line has no newline.
    """
    read = times(_times(data.decode("utf-8", "replace")), "the tree that divan prints is expected")
    refuse_cut_off(data, "the output")
    return read


def _times(text: str) -> Iterator[tuple[str, float, float | None, float | None]]:
    for row in rows(text.splitlines()):
        if row.problem:
            raise OutputError(f"benchmark {row.name!r}: {row.problem}")
        yield row.name, row.seconds["mean"], row.seconds.get("median"), row.seconds.get("min")


def rows(lines: Iterable[str]) -> Iterator[Row]:
    """Read the benchmarks of all trees, and those whose times cannot be read; other lines are passed over.

    Raises:
        OutputError: a time is no number.
    """
    above: list[str] = []
    begun: Row | None = None
    for place, line in enumerate(lines, 1):
        branch = _BRANCH.match(line)
        if branch is None:
            # behind what the benchmark printed
            row = _row(begun.name, line.split("│"), place) if begun else None
            if row is not None and not row.problem:
                yield row
                begun = None
            continue
        first, *columns = branch["rest"].split("│")
        name, *fastest = _GAP.split(first, maxsplit=1)
        depth = len(branch["lead"]) // _INDENT
        if begun is not None and depth < len(above):
            yield begun
        above[depth:] = [name.strip()]
        row = _row("::".join(above), ["".join(fastest), *columns], place)
        if row is not None and columns:
            yield row
        # a group has columns, too, but for that of old versions, which has branches below it
        begun = None if columns else Row("::".join(above), {}, None, f"line {place}: it began, and has no times")
    if begun is not None:
        yield begun


def _row(name: str, columns: list[str], place: int) -> Row | None:
    """Read the columns of a benchmark; None: they are those of a group, or of what was ignored."""
    cells = [cell.strip() for cell in columns]
    times = {key: time for key, cell in zip(_COLUMNS, cells, strict=False) if (time := _TIME.fullmatch(cell))}
    seconds: dict[str, float] = {key: number(time[1].encode()) * _scale(time[2]) for key, time in times.items()}
    if not any(cells) or (not seconds and cells[0] == "(ignored)"):
        return None
    samples = cells[len(_COLUMNS)] if len(cells) > len(_COLUMNS) else ""
    count = int(samples) if samples.isdecimal() and len(samples) < 10 else None
    # samples come behind the mean: without them a unit may be cut off, "m" of "ms"
    whole = "mean" in seconds and len(cells) > len(_COLUMNS)
    return Row(name, seconds, count, "" if whole else f"line {place}: its times cannot be read")


def _scale(unit: str) -> float:
    return _DAY if unit == "d" else to_base(unit)[1]


FORMAT = parse
