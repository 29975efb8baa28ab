"""vegeta's requests (JSON lines) and its reports (JSON).

A report mixes all URLs, and its latencies are of all requests, failed ones too.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from gate.formats.parts import requests as load
from gate.formats.parts.output import OutputError, shown
from gate.formats.parts.result import Failed, Format, Result
from gate.formats.parts.source import Head, Source

FORMAT = Format(title="vegeta (`vegeta encode`, `vegeta report -type json`)", again="process")
_SEARCHED = 200
_OWN = frozenset({"latency", "latencies"})
"""Keys of a request, and of a report."""
_MEANT = {"mean": "mean", "min": "min", "max": "max"}


class _Line(msgspec.Struct):
    latency: float
    code: int = 0
    timestamp: str = ""
    error: str = ""
    attack: str = ""
    method: str = ""
    url: str = ""
    bytes_in: float = 0


class _Report(msgspec.Struct):
    latencies: dict[str, float | None]
    requests: int = 0
    rate: float | None = None
    throughput: float | None = None
    success: float | None = None


T = TypeVar("T")


def recognises(source: Source) -> bool:
    """Return whether it has a request a line, or reports."""
    first = _first(source.head) or {}
    of_line = {"latency", "timestamp", "attack", "bytes_in"} <= first.keys()
    return of_line or (isinstance(first.get("latencies"), dict) and "bytes_in" in first)


def _first(head: Head) -> dict[str, Any] | None:
    """Return the document, or the first of the objects that are a line each, behind what else was said."""
    if head.json is not None:
        return head.json if isinstance(head.json, dict) else None
    objects = map(_object, head.lines[:_SEARCHED])
    return next((found for found in objects if not _OWN.isdisjoint(found)), None)


def _object(line: str | bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(line, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}


def read(source: Source) -> Iterator[Result]:
    """Yield a process for each method and URL, or the aggregates of a report."""
    head = source.head
    first = _first(head)
    if first is not None and "latencies" in first and isinstance(head.json, dict):
        yield from _report(source.document(_Report, "vegeta's report"))
    elif first is not None and "latencies" in first:
        for report in _objects(source, _Report):
            yield from _report(report)
    else:
        yield from _requests(_objects(source, _Line))


def _objects(source: Source, shape: type[T]) -> Iterator[T]:
    decoder = msgspec.json.Decoder(shape)
    for number, line in enumerate(source.bytes_lines(), 1):
        # what was said beside them
        if not line.lstrip().startswith(b"{"):
            continue
        try:
            yield decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            # another object is of a log
            if not (other := _object(line)) or not _OWN.isdisjoint(other):
                raise OutputError(f"line {number}: {shown(line)} is no result of vegeta") from None


def _requests(lines: Iterator[_Line]) -> Iterator[Result]:
    table: load.Table[tuple[str, str, str]] = load.Table(("bytes",))
    for line in lines:
        requests = table[line.attack, line.method, line.url]
        took = line.latency * 1e-9
        with contextlib.suppress(ValueError, OverflowError):
            when = line.timestamp
            start = int(when) * 1e-9 if when.isdecimal() else datetime.fromisoformat(when).timestamp()
            requests.lasted(start, start + took)
        if line.error or not 200 <= line.code < 400:
            requests.failed += 1
        else:
            requests.times.append(took)
            requests.others["bytes"].append(line.bytes_in)
    for (attack, method, url), requests in table.items():
        path, host = load.place_of(url)
        yield load.measured(f"{method} {path}".strip(), requests, labels={"attack": attack, "host": host})


def _report(found: _Report) -> Iterator[Result]:
    times: dict[str, float | None] = {}
    for name, value in found.latencies.items():
        statistic = _MEANT.get(name) or (
            load.percentile(name[:-2]) if name[:-2].replace(".", "", 1).isdecimal() else ""
        )
        if statistic and value is not None:
            times[statistic] = value * 1e-9
    yield from _all(times, found.success, found.requests, found.throughput or found.rate)


def _all(
    times: dict[str, float | None], success: float | None, count: int, throughput: float | None
) -> Iterator[Result]:
    if success == 0 and count:
        yield Failed(benchmark=load.UNNAMED, status=load.all_failed(count))
        return
    if load.are_no_times(times):
        yield Failed(benchmark=load.UNNAMED, status="no latencies in the report")
    yield from load.aggregates(load.UNNAMED, "time", times, count=count or None)
    if success is not None and 0 <= success <= 1:
        yield from load.error_rate(load.UNNAMED, 1 - success, 1)
    rate = {"value": throughput}
    yield from load.aggregates(load.UNNAMED, "throughput", rate, unit="1/s", better="higher")
