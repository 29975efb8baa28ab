"""The lines of Rust's own benches, of bencher and of Criterion's `--output-format bencher`, and their JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from gate.adapters.libtest import RESULT
from gate.adapters.suites import NAME
from gate.adapters.values import OutputError
from gate.model.visible import visible
from gate.results.result import Aggregate, Failed, Format, Result
from gate.results.source import Source

FORMAT = Format(
    title="Rust's libtest and bencher (`test NAME ... bench:` lines, also of Criterion's `--output-format bencher`)",
    execution="the file; a benchmark that comes again is of another process",
    iteration="none: the median",
    trap="the number after +/- is the range of the samples, or Criterion's standard deviation, and is left out",
)
_FAILED = re.compile(rf"^test (?P<name>{NAME})\s++\.\.\. FAILED$")


class _Event(msgspec.Struct):
    type: str
    name: str = ""
    median: float | None = None
    mib_per_second: float | None = None
    event: str = ""


def recognises(source: Source) -> bool:
    """Return whether one of its lines is a benchmark's."""
    return any(_result(line) or _is_event(line) for line in source.head.lines)


def _result(line: str) -> _Event | None:
    found = RESULT.search(line)
    # it may stand behind a log's own words
    name = line[: found.start()].partition("test ")[2] if found else ""
    if found is None or not name.strip() or not name.endswith((" ", "\t")):
        return None
    rate = float(found["rate"]) if found["rate"] else None
    return _Event("bench", name.strip(), float(found["value"].replace(",", "")), rate)


def _is_event(line: str) -> bool:
    return '"bench"' in line and '"median"' in line and '"deviation"' in line and line.lstrip().startswith("{")


def read(source: Source) -> Iterator[Result]:
    """Yield the median of each benchmark; other lines are passed over."""
    seen: dict[str, int] = {}
    for found in _found(source):
        execution = seen[found.name] = seen.get(found.name, -1) + 1
        name = visible(found.name)
        if found.median is None:
            yield Failed(benchmark=name, status="it failed", execution=execution)
            continue
        yield Aggregate(
                benchmark=name, metric="time", statistic="median", value=found.median * 1e-9, unit="s",
                execution=execution,
            )  # fmt: skip
        if found.mib_per_second:
            # called MiB, and 1,000,000 bytes
            yield Aggregate(
                    benchmark=name, metric="throughput", statistic="median", value=found.mib_per_second * 1e6,
                    unit="B/s", better="higher", execution=execution,
                )  # fmt: skip


def _found(source: Source) -> Iterator[_Event]:
    for place, line in enumerate(source.lines(), 1):
        result, failed = _result(line), _FAILED.match(line)
        if result:
            yield result
        elif failed:
            yield _Event("test", failed["name"])
        elif _is_event(line) or '"failed"' in line:
            event = _event(line, place)
            if event is not None:
                yield event


def _event(line: str, place: int) -> _Event | None:
    try:
        event = msgspec.json.decode(line, type=_Event)
    except (msgspec.DecodeError, UnicodeDecodeError, UnicodeEncodeError) as error:
        if not _is_event(line):
            return None
        raise OutputError(f"line {place}: {visible(str(error)).replace('`', '')}") from None
    return event if event.type == "bench" or (event.type == "test" and event.event == "failed") else None
