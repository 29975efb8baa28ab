"""ghz's JSON (`-O json` or pretty), rows (`-O csv`) and printed summary."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec

from gate.results.parts.printed_load_test import first_figure, printed, summaries
from gate.results.parts.request_csv import Rows, read_rows
from gate.results.parts.requests import (
    UNNAMED,
    Requests,
    Table,
    aggregates,
    all_failed,
    error_rate,
    measured,
    percentile,
)
from gate.results.result import About, Failed, Format, Result
from gate.results.source import Source

FORMAT = Format(
    title="ghz (`-O json`, pretty or csv, or its printed summary)",
    execution="the file, or each summary in it",
    iteration="one call of `details` or of the CSV; none where there are no details",
    trap=(
        "only the JSON names the call; times of the CSV are rounded to 0.01 ms; calls that were under way when the run "
        "ended are failures (Canceled, Unavailable); output for InfluxDB is not read"
    ),
)
_OK = "OK"
_HEADER = ("duration (ms)", "status", "error")
_JSON = {"count", "average", "fastest", "slowest", "rps"}


class _Options(msgspec.Struct):
    call: str = ""
    concurrency: int | None = None


class _Quantile(msgspec.Struct):
    percentage: float
    latency: float


class _Document(msgspec.Struct):
    count: int = 0
    average: float | None = None
    fastest: float | None = None
    slowest: float | None = None
    rps: float | None = None
    name: str = ""
    date: str | None = None
    options: _Options | None = None
    statusCodeDistribution: dict[str, int] | None = None  # noqa: N815  # ghz's name
    latencyDistribution: list[_Quantile] | None = None  # noqa: N815  # ghz's name


class _Details(msgspec.Struct):
    details: list[Any] | None = None


class _Detail(msgspec.Struct):
    latency: float
    timestamp: str = ""
    error: str = ""
    status: str = ""


def recognises(source: Source) -> bool:
    """Return whether it is JSON with ghz's keys, its header line, or a summary of calls."""
    found, lines = source.head.json, source.head.lines
    if isinstance(found, dict):
        of_options = isinstance(found.get("options"), dict) and "call" in found["options"]
        return (of_options and ("count" in found or "endReason" in found)) or found.keys() >= _JSON
    if not lines:
        return False
    return lines[0].strip() == ",".join(_HEADER) or first_figure(lines) == "Count"


def read(source: Source) -> Iterator[Result]:
    """Yield a process of calls, or aggregates."""
    lines = source.head.lines
    if source.head.text.lstrip().startswith("{"):
        yield from _json(source)
    elif lines and lines[0].strip() == ",".join(_HEADER):
        yield from read_rows(source, Rows("duration (ms)", "status", 1e-3, good=frozenset({_OK}), loose=True))
    else:
        for execution, each in enumerate(summaries(source.lines())):
            yield from printed(each, execution, each.statuses.get(_OK, 0))


def _json(source: Source) -> Iterator[Result]:
    document = source.document(_Document, "ghz's JSON")
    call = document.options.call if document.options else ""
    name = call or document.name or UNNAMED
    labels = {"name": document.name} if call else {}
    yield About(created=document.date, tool="ghz")
    requests = Table[str]()[""]
    if _has_details(source):
        for detail in source.items("details", _Detail, "ghz's JSON"):
            _add(requests, detail)
    if requests.times or requests.failed:
        yield measured(name, requests, labels=labels)
    else:
        yield from _aggregates(document, name, labels)


def _has_details(source: Source) -> bool:
    # a long document is one of details: all the rest is short
    return not source.head.whole or bool(source.document(_Details, "ghz's JSON").details)


def _add(requests: Requests, detail: _Detail) -> None:
    took = detail.latency * 1e-9
    try:
        start = datetime.fromisoformat(detail.timestamp).timestamp()
        requests.lasted(start, start + took)
    except (ValueError, OverflowError):
        pass
    if detail.error or detail.status not in ("", _OK):
        requests.failed += 1
    else:
        requests.times.append(took)


def _aggregates(document: _Document, name: str, labels: dict[str, str]) -> Iterator[Result]:
    statuses = document.statusCodeDistribution or {}
    total = sum(statuses.values()) or document.count
    good = statuses.get(_OK, 0)
    if total and statuses and not good:
        yield Failed(benchmark=name, status=all_failed(total), labels=labels)
        return
    times = {"mean": document.average, "min": document.fastest, "max": document.slowest}
    times |= {percentile(each.percentage): each.latency for each in document.latencyDistribution or ()}
    found = {statistic: None if value is None else value * 1e-9 for statistic, value in times.items()}
    yield from aggregates(name, "time", found, count=document.count, labels=labels)
    if statuses:
        yield from error_rate(name, total - good, total, labels)
    yield from aggregates(name, "throughput", {"value": document.rps}, unit="1/s", better="higher", labels=labels)
