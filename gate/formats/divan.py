"""The trees that Rust's divan prints. Format: src/tree_painter.rs of divan 0.1.21."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gate.formats.parts.live import printed
from gate.formats.parts.result import FailedResult, Format, Result, ToolAggregate
from gate.formats.parts.source import Source
from gate.formats.values import number
from gate.model.bounds import Digits
from gate.writing.units import to_base

FORMAT = Format(title="divan (standard output of `cargo bench`)", again="process")
_BRANCH = re.compile(r"(?P<lead>[│ ]*)[├╰]─ (?P<rest>.*)")
# a name ends where the first column begins, and may hold single spaces itself
_GAP = re.compile(r"\s{2,}")
# what a benchmark printed may stand before its fastest time
_TIME = re.compile(r"(?:.*\s)?([\d.]+) (ps|ns|µs|us|ms|s|m|h|d)", re.ASCII)
_DAY = 86400.0
_INDENT = 3
_COLUMNS = ("min", "max", "median", "mean")


def recognises(source: Source) -> bool:
    """Return whether it holds the header of a tree."""
    headers = ([column.strip() for column in line.split("│")] for line in source.head.lines)
    return any(
        len(columns) >= 6 and columns[0].endswith("fastest") and columns[1:4] == ["slowest", "median", "mean"]
        for columns in headers
    )


def read(source: Source) -> Iterator[Result]:
    """Yield the mean, the median and the minimum of each benchmark, named by its path ("sort::100")."""
    above: list[str] = []
    begun: FailedResult | None = None
    for place, line in enumerate(source.lines(), 1):
        branch = _BRANCH.match(line)
        if branch is None:
            # behind what the benchmark printed
            found = _times(begun.benchmark or "", line.split("│"), place) if begun else []
            if found and not isinstance(found[0], FailedResult):
                yield from found
                begun = None
            continue
        first, *columns = branch["rest"].split("│")
        name, *fastest = _GAP.split(first, maxsplit=1)
        depth = len(branch["lead"]) // _INDENT
        if begun is not None and depth < len(above):
            yield begun
        above[depth:] = [name.strip()]
        path = "::".join(above)
        # a group has columns, too, but for that of old versions, which has branches below it
        begun = None if columns else FailedResult(benchmark=path, status=f"line {place}: it began, and has no times")
        if columns:
            yield from _times(path, ["".join(fastest), *columns], place)
    if begun is not None:
        yield begun


def _times(name: str, columns: list[str], place: int) -> list[ToolAggregate | FailedResult]:
    """Read the columns of a benchmark; empty: they are those of a group, or of what was ignored."""
    cells = [cell.strip() for cell in columns]
    times = {key: time for key, cell in zip(_COLUMNS, cells, strict=False) if (time := _TIME.fullmatch(cell))}
    seconds = dict[str, float]()
    for key, time in times.items():
        seconds[key] = number(time[1].encode(), Digits) * (_DAY if time[2] == "d" else to_base(time[2])[1])
    if not any(cells) or (not seconds and cells[0] == "(ignored)"):
        return []
    # samples come behind the mean: without them a unit may be cut off, "m" of "ms"
    if "mean" not in seconds or len(cells) <= len(_COLUMNS):
        return [FailedResult(benchmark=name, status=f"line {place}: its times cannot be read")]
    samples = cells[len(_COLUMNS)]
    count = int(samples) if samples.isdecimal() and len(samples) < 10 else None
    return [
        ToolAggregate(benchmark=name, metric="time", statistic=own, value=seconds[own], unit="s", count=count)
        for own in ("mean", "median", "min")
        if own in seconds
    ]


LIVE = printed(read, "the tree that divan prints is expected")
