"""k6's points (`--out json` and csv) and its summaries (`--summary-export`, handleSummary)."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any

import msgspec

from gate.formats.parts.k6_points import Kind, Point, Points, better_of
from gate.formats.parts.k6_summary import is_summary, results
from gate.formats.parts.output import OutputError, shown
from gate.formats.parts.requests import float_of, header
from gate.formats.parts.result import Format, Result
from gate.formats.parts.source import Source

FORMAT = Format(
    title="k6 (`--out json` or csv; `--summary-export`, handleSummary's JSON)",
    execution="the file",
    iteration="one request of a method and name; one value of a trend; none of a summary",
    trap=(
        "requests whose URLs differ need one `name` tag, or each is a benchmark of its own; times are of requests with "
        "expected_response=true (in a summary without it, of all); which way is better of a rate or trend of one's own "
        'is read from its thresholds ("rate>0.9": higher); CSV has none, nor says what a metric is, so rates and '
        "counters of one's own are plain values there, and --summary-export not which trends are times"
    ),
)
_COLUMNS = {"metric_name", "timestamp", "metric_value"}


class _Tags(msgspec.Struct):
    name: str = ""
    url: str = ""
    method: str = ""
    group: str = ""
    scenario: str = ""
    expected_response: str = ""
    status: str = ""
    check: str = ""


class _Data(msgspec.Struct):
    value: float | None = None
    time: str = ""
    tags: _Tags | None = None
    type: str = ""
    contains: str = ""
    thresholds: Any = None


class _Line(msgspec.Struct):
    type: str
    metric: str
    data: _Data


_SEARCHED = 100
_NO_TAGS = _Tags()
_DECODER = msgspec.json.Decoder(_Line)


def recognises(source: Source) -> bool:
    """Return whether it has k6's points, its header line, or the metrics of a summary."""
    if _has_points(source):
        return True
    found = source.head.json
    return is_summary(found) if isinstance(found, dict) else set(source.head.first.split(",")) >= _COLUMNS


def _has_points(source: Source) -> bool:
    # with --out json=- the script's own words are among them
    first = next((line for line in source.head.lines[:_SEARCHED] if line.startswith("{")), "")
    try:
        return _DECODER.decode(first).type in ("Metric", "Point")
    except (msgspec.DecodeError, RecursionError):
        return False


def read(source: Source) -> Iterator[Result]:
    """Yield a process for each method and name and each metric of the script, or the aggregates of a summary."""
    if _has_points(source):
        points, torn = Points(), ""
        for number, line in enumerate(source.bytes_lines(), 1):
            if torn:
                raise OutputError(torn)
            if line[:1] != b"{":
                continue
            try:
                found = _DECODER.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                found = None
            if found is None or (found.type == "Point" and found.data.value is None):
                # the last line may be cut off
                torn = f"line {number}: {shown(line)} is no point of k6"
                continue
            _take(points, found)
        yield from points.results()
    elif source.head.text.lstrip().startswith("{"):
        yield from results(source.document(dict[str, Any], "k6's summary"))
    else:
        yield from _csv(source)


def _take(points: Points, line: _Line) -> None:
    data = line.data
    if line.type == "Metric":
        points.kinds[line.metric] = Kind(
            data.type or "trend", time=data.contains == "time", better=better_of(line.metric, data.thresholds)
        )
    elif data.value is not None:
        tags = data.tags or _NO_TAGS
        points.take(
            Point(
                line.metric, data.value, data.time, tags.name or tags.url, tags.method, tags.group, tags.scenario,
                tags.expected_response, tags.status, tags.check,
            )
        )  # fmt: skip


def _csv(source: Source) -> Iterator[Result]:
    points, torn = Points(), ""
    reader = csv.reader(source.raw_lines())
    names = header(reader)
    places = [names.index(name) if name in names else None for name in _ORDER]
    for row in reader:
        if torn:
            raise OutputError(torn)
        if len(row) == len(names) and (value := float_of(row[places[1] or 0])) is not None:
            cells = ["" if at is None else row[at] for at in places]
            name = cells[3] or cells[10]
            points.take(Point(cells[0], value, cells[2], name, *cells[4:10]))
        elif row:
            torn = f"line {reader.line_num}: {shown(','.join(row).encode())} is no point of k6"
    yield from points.results()


_ORDER = (
    "metric_name", "metric_value", "timestamp", "name", "method", "group", "scenario", "expected_response", "status",
    "check", "url",
)  # fmt: skip
