"""The trees that Rust's divan prints. Format: src/tree_painter.rs of divan 0.1.21."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gate.formats.parts.live import printed
from gate.formats.parts.output import number
from gate.formats.parts.result import Aggregate, Failed, Format, Result
from gate.formats.parts.source import Source
from gate.units import to_base

FORMAT = Format(
    title="divan (standard output of `cargo bench`)",
    execution="one tree, which a process prints; a benchmark that comes again is of another process",
    iteration="none: fastest, median and mean",
    trap="trees of several bench targets in one file may have benchmarks of one name: keep them in files of their own",
)
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


def recognises(source: Source) -> bool:
    """Return whether it holds the header of a tree."""
    return any(_is_header(line) for line in source.head.lines)


def _is_header(line: str) -> bool:
    columns = [column.strip() for column in line.split("│")]
    return len(columns) >= 6 and columns[0].endswith("fastest") and columns[1:4] == ["slowest", "median", "mean"]


def read(source: Source) -> Iterator[Result]:
    """Yield the mean, the median and the minimum of each benchmark."""
    seen: dict[str, int] = {}
    for row in rows(source.lines()):
        execution = seen[row.name] = seen.get(row.name, -1) + 1
        if row.problem:
            yield Failed(benchmark=row.name, status=row.problem, execution=execution)
            continue
        for statistic in ("mean", "median", "min"):
            if statistic in row.seconds:
                yield Aggregate(
                        benchmark=row.name, metric="time", statistic=statistic, value=row.seconds[statistic], unit="s",
                        count=row.samples, execution=execution,
                    )  # fmt: skip


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


LIVE = printed(read, "the tree that divan prints is expected")
