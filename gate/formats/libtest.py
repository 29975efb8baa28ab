"""The lines of Rust's own benches, of bencher and of Criterion's `--output-format bencher`, and their JSON."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import msgspec

from gate.formats.live.libtest import Row, rows
from gate.formats.live.values import OutputError
from gate.formats.parts.result import Aggregate, Failed, Format, LeftOut, Result
from gate.formats.parts.source import Source
from gate.formats.parts.written_units import written
from gate.model import Better
from gate.model.digits import Digits

FORMAT = Format(
    title="Rust's libtest and bencher (`test NAME ... bench:` lines, also of Criterion's `--output-format bencher`)",
    execution="the file; a benchmark that comes again is of another process",
    iteration="none: the median",
    trap="the number after +/- is the range of the samples, or Criterion's standard deviation, and is left out",
)


class _Event(msgspec.Struct):
    type: str
    name: str = ""
    median: float | None = None
    mib_per_second: float | None = None
    event: str = ""


def recognises(source: Source) -> bool:
    """Return whether one of its lines is a benchmark's."""
    lines = source.head.lines
    return any(row.value is not None for row in rows(lines)) or any(map(_is_event, lines))


def _is_event(line: str) -> bool:
    return '"bench"' in line and '"median"' in line and '"deviation"' in line and line.lstrip().startswith("{")


def read(source: Source) -> Iterator[Result]:
    """Yield the median of each benchmark; other lines are passed over."""
    seen: dict[str, int] = {}
    events = any(map(_is_event, source.head.lines))
    for row in chain(rows(source.lines()), _events(source) if events else ()):
        if not row.name:
            yield LeftOut(row.problem)
            continue
        execution = seen[row.name] = seen.get(row.name, -1) + 1
        name, own = row.name, written(row.unit)
        if row.value is None:
            yield Failed(benchmark=name, status=row.problem, execution=execution)
            continue
        # a unit of one's own is a metric of its own
        metric = own.unit if own.metric == "value" else own.metric
        better: Better = "higher" if own.metric == "throughput" else "lower"
        yield Aggregate(
            benchmark=name, metric=metric, statistic="median", value=row.value * own.scale, unit=own.unit,
            better=better, execution=execution,
        )  # fmt: skip
        if row.rate:
            yield Aggregate(
                benchmark=name, metric="throughput", statistic="median", value=row.rate * 1e6, unit="B/s",
                better="higher", execution=execution,
            )  # fmt: skip


def _events(source: Source) -> Iterator[Row]:
    for place, line in enumerate(source.lines(), 1):
        if not _is_event(line) and '"failed"' not in line:
            continue
        event = _event(line, place)
        if event is not None:
            # called MiB, and 1,000,000 bytes
            median = None if event.median is None else Digits.shortest(event.median)
            yield Row(event.name, place, median, "ns", event.mib_per_second, "it failed")


def _event(line: str, place: int) -> _Event | None:
    try:
        event = msgspec.json.decode(line, type=_Event)
    except (msgspec.DecodeError, UnicodeDecodeError, UnicodeEncodeError) as error:
        if not _is_event(line):
            return None
        raise OutputError(f"line {place}: {str(error).replace('`', '')}") from None
    return event if event.type == "bench" or (event.type == "test" and event.event == "failed") else None
