"""The trees that Rust's divan prints. Format: src/tree_painter.rs of divan 0.1.21."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from gate.formats.parts.live import printed
from gate.formats.parts.output import number
from gate.formats.parts.result import Aggregate, Failed, Format, Result
from gate.formats.parts.source import Source
from gate.units import to_base

FORMAT = Format(title="divan (standard output of `cargo bench`)", again="process")
_BRANCH = re.compile(r"(?P<lead>[│ ]*)[├╰]─ (?P<rest>.*)")
# a name ends where the first column begins, and may hold single spaces itself
_GAP = re.compile(r"\s{2,}")
# what a benchmark printed may stand before its fastest time
_TIME = re.compile(r"(?:.*\s)?([\d.]+) (ps|ns|µs|us|ms|s|m|h|d)", re.ASCII)
_DAY = 86400.0
_INDENT = 3
_COLUMNS = ("min", "max", "median", "mean")


_Row = tuple[str, dict[str, float], int | None, str]
"""A benchmark of the tree: its path ("sort::100"), its times of an iteration by statistic in seconds, its samples, and
why they cannot be read, with the line."""


def recognises(source: Source) -> bool:
    """Return whether it holds the header of a tree."""
    return any(_is_header(line) for line in source.head.lines)


def _is_header(line: str) -> bool:
    columns = [column.strip() for column in line.split("│")]
    return len(columns) >= 6 and columns[0].endswith("fastest") and columns[1:4] == ["slowest", "median", "mean"]


def read(source: Source) -> Iterator[Result]:
    """Yield the mean, the median and the minimum of each benchmark."""
    for name, seconds, samples, problem in _rows(source.lines()):
        if problem:
            yield Failed(benchmark=name, status=problem)
        for statistic in () if problem else ("mean", "median", "min"):
            if statistic in seconds:
                yield Aggregate(
                    benchmark=name, metric="time", statistic=statistic, value=seconds[statistic], unit="s",
                    count=samples,
                )  # fmt: skip


def _rows(lines: Iterable[str]) -> Iterator[_Row]:
    """Read the benchmarks of all trees, and those whose times cannot be read; other lines are passed over."""
    above: list[str] = []
    begun: _Row | None = None
    for place, line in enumerate(lines, 1):
        branch = _BRANCH.match(line)
        if branch is None:
            # behind what the benchmark printed
            row = _row(begun[0], line.split("│"), place) if begun else None
            if row is not None and not row[-1]:
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
        begun = None if columns else ("::".join(above), {}, None, f"line {place}: it began, and has no times")
    if begun is not None:
        yield begun


def _row(name: str, columns: list[str], place: int) -> _Row | None:
    """Read the columns of a benchmark; None: they are those of a group, or of what was ignored."""
    cells = [cell.strip() for cell in columns]
    times = {key: time for key, cell in zip(_COLUMNS, cells, strict=False) if (time := _TIME.fullmatch(cell))}
    seconds = dict[str, float]()
    for key, time in times.items():
        seconds[key] = number(time[1].encode()) * (_DAY if time[2] == "d" else to_base(time[2])[1])
    if not any(cells) or (not seconds and cells[0] == "(ignored)"):
        return None
    samples = cells[len(_COLUMNS)] if len(cells) > len(_COLUMNS) else ""
    count = int(samples) if samples.isdecimal() and len(samples) < 10 else None
    # samples come behind the mean: without them a unit may be cut off, "m" of "ms"
    whole = "mean" in seconds and len(cells) > len(_COLUMNS)
    return name, seconds, count, "" if whole else f"line {place}: its times cannot be read"


LIVE = printed(read, "the tree that divan prints is expected")
