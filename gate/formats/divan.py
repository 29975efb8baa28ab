"""The trees that Rust's divan prints."""

from __future__ import annotations

from collections.abc import Iterator

from gate.formats.live import divan
from gate.formats.parts.result import Aggregate, Failed, Format, Result
from gate.formats.parts.source import Source

FORMAT = Format(
    title="divan (standard output of `cargo bench`)",
    execution="one tree, which a process prints; a benchmark that comes again is of another process",
    iteration="none: fastest, median and mean",
    trap="trees of several bench targets in one file may have benchmarks of one name: keep them in files of their own",
)


def recognises(source: Source) -> bool:
    """Return whether it holds the header of a tree."""
    return any(_is_header(line) for line in source.head.lines)


def _is_header(line: str) -> bool:
    columns = [column.strip() for column in line.split("│")]
    return len(columns) >= 6 and columns[0].endswith("fastest") and columns[1:4] == ["slowest", "median", "mean"]


def read(source: Source) -> Iterator[Result]:
    """Yield the mean, the median and the minimum of each benchmark."""
    seen: dict[str, int] = {}
    for row in divan.rows(source.lines()):
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
