"""vegeta's requests (JSON lines or CSV) and its reports (JSON, text, histogram).

A report mixes all URLs, and its latencies are of all requests, failed ones too.
"""

from __future__ import annotations

import contextlib
import csv
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from gate.formats.parts import requests as load
from gate.formats.parts.output import OutputError, shown
from gate.formats.parts.result import Failed, Format, Result
from gate.formats.parts.source import Head, Source

FORMAT = Format(title="vegeta (`vegeta encode`, as JSON or CSV; `vegeta report`: JSON, text, hist)", again="process")
_CSV = re.compile(r"\d{16,20},\d{1,3},\d+,\d+,\d+,")
_SEARCHED = 200
_OWN = frozenset({"latency", "latencies"})
"""Keys of a request, and of a report."""
_WIDTHS = range(8, 13)
_TEXT = re.compile(r"(Requests|Duration|Latencies|Success|Bytes In|Bytes Out)\s+\[([^\]]*)\]\s+(.*)")
_TORN = re.compile(r"\s*(?:Requests|Latencies|Success)\s+\[")
_BUCKET = re.compile(r"\[([^,\]]+),\s++([^\]]+)\]\s+(\d+)\s+[\d.]+%.*")
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
    """Return whether it is a vegeta file of some kind."""
    head = source.head
    first = _first(head)
    if first is not None:
        of_line = {"latency", "timestamp", "attack", "bytes_in"} <= first.keys()
        return of_line or (isinstance(first.get("latencies"), dict) and "bytes_in" in first)
    if not head.lines:
        return False
    found = {match[1] for line in head.lines[:_SEARCHED] if (match := _TEXT.match(line.strip()))}
    return bool(_CSV.match(head.text.lstrip()) or {"Requests", "Latencies"} <= found or _is_histogram(head.lines))


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


def _is_histogram(lines: list[str]) -> bool:
    return len(lines) > 1 and lines[0].split() == ["Bucket", "#", "%", "Histogram"] and bool(_BUCKET.match(lines[1]))


def read(source: Source) -> Iterator[Result]:
    """Yield a process for each method and URL, or the aggregates of a report."""
    head = source.head
    first = _first(head)
    if first is not None and "latencies" in first and isinstance(head.json, dict):
        yield from _report(source.document(_Report, "vegeta's report"))
    elif first is not None and "latencies" in first:
        for report in _objects(source, _Report):
            yield from _report(report)
    elif first is not None or head.text.lstrip().startswith("{"):
        yield from _requests(_objects(source, _Line))
    elif _CSV.match(head.text.lstrip()):
        yield from _requests(_rows(source))
    elif _is_histogram(head.lines):
        # the share of requests below each bound, which is all that a histogram says
        buckets = [match for line in source.lines() if (match := _BUCKET.fullmatch(line.strip()))]
        total, below = sum(int(bucket[3]) for bucket in buckets), 0
        for bucket in buckets:
            below += int(bucket[3])
            if total and load.seconds(bucket[2]) is not None:
                yield from load.aggregates(
                    load.UNNAMED, f"below {bucket[2].strip()}", {"value": below / total}, unit="", better="higher",
                    count=total,
                )  # fmt: skip
    else:
        yield from _text(source.lines())


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


def _rows(source: Source) -> Iterator[_Line]:
    reader = csv.reader(source.raw_lines())
    for row in filter(None, reader):
        try:
            if len(row) not in _WIDTHS:
                raise ValueError
            method, url = (row[9], row[10]) if len(row) > 10 else ("", "")
            yield _Line(
                latency=float(row[2]), code=int(row[1]), timestamp=str(int(row[0])), error=row[5], attack=row[7],
                method=method, url=url, bytes_in=float(row[4]),
            )  # fmt: skip
        except ValueError:
            why = f"line {reader.line_num}: {shown(','.join(row).encode())} is no result of vegeta"
            raise OutputError(why) from None


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


def _text(lines: Iterator[str]) -> Iterator[Result]:
    reports: list[dict[str, dict[str, str]]] = []
    for place, line in enumerate(lines, 1):
        if match := _TEXT.fullmatch(line.strip()):
            if match[1] == "Requests" or not reports:
                reports.append({})
            names = [name.strip() for name in match[2].split(",")]
            reports[-1][match[1]] = dict(zip(names, (cell.strip() for cell in match[3].split(",")), strict=False))
        elif _TORN.match(line):
            why = f"line {place}: it cannot be read: {shown(line.strip().encode())}"
            yield Failed(benchmark=load.UNNAMED, status=why)
    for found in reports:
        times = {
            _MEANT.get(name) or load.percentile(name): load.seconds(value)
            for name, value in found.get("Latencies", {}).items()
            if name in _MEANT or load.float_of(name) is not None
        }
        if None in times.values() or "mean" not in times:
            why = "latencies cannot be read: was its output cut off?"
            yield Failed(benchmark=load.UNNAMED, status=why)
        share = load.float_of(found.get("Success", {}).get("ratio", "").rstrip("%"))
        requests = {name: load.float_of(value) for name, value in found.get("Requests", {}).items()}
        total = requests.get("total")
        yield from _all(
            times, None if share is None else share / 100, int(total) if total is not None and 0 <= total < 1e18 else 0,
            requests.get("throughput") or requests.get("rate"),
        )  # fmt: skip


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
