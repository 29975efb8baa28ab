"""Locust's `--json` output and its `_stats.csv`."""

from __future__ import annotations

import csv
import itertools
import random
from array import array
from collections.abc import Iterator
from contextlib import closing

import msgspec

from gate.adapters.hdr import MAX_VALUES
from gate.adapters.values import OutputError
from gate.model import Metric
from gate.model.visible import visible
from gate.results import checking
from gate.results.parts.requests import UNNAMED, aggregates, all_failed, error_rate, float_of, percentile
from gate.results.result import Failed, Format, Result
from gate.results.source import Source

FORMAT = Format(
    title="Locust (`--json`, `--json-file`, or `_stats.csv` of `--csv`)",
    execution="the file",
    iteration="one request of a name and method of the JSON, in a fixed random order; none of the CSV",
    trap=(
        "Locust keeps response times to two digits (1 ms below 100 ms, 10 ms below 1 s), and failed requests among "
        "them: of a name that has failures the times are aggregates and only the error rate is a value; the row "
        "Aggregated mixes all requests; `_stats_history.csv` holds running figures, not values"
    ),
)
_STATS = ({"Request Count", "Failure Count"}, {"# requests", "# failures"})
_MEANT = {
    "median response time": "median", "average response time": "mean", "min response time": "min",
    "max response time": "max",
}  # fmt: skip
_QUANTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99.9": 0.999}
_JSON = {"num_requests", "num_failures", "response_times", "name"}
_AGGREGATED = "Aggregated"


class _Entry(msgspec.Struct):
    name: str
    num_requests: int
    num_failures: int
    response_times: dict[str, int]
    method: str | None = None
    start_time: float | None = None
    last_request_timestamp: float | None = None
    total_response_time: float | None = None
    min_response_time: float | None = None
    max_response_time: float | None = None


def recognises(source: Source) -> bool:
    """Return whether it is JSON of Locust's entries, or one of the files of `--csv`."""
    found = source.head.json
    if isinstance(found, list):
        return bool(found) and isinstance(found[0], dict) and found[0].keys() >= _JSON
    return _kind(_header(source)) is not None


def _header(source: Source) -> list[str]:
    lines = source.head.lines
    try:
        return [cell.strip() for cell in next(csv.reader(lines[:1]), [])]
    except csv.Error:
        return []


def _kind(header: list[str]) -> str | None:
    names = set(header)
    if "Name" in names and any(names >= known for known in _STATS):
        return "stats"
    if {"Timestamp", "User Count", "Name"} <= names or {"User count", "Total Request Count"} <= names:
        return "history"
    if {"Method", "Name", "Error", "Occurrences"} <= names:
        return "failures"
    return "exceptions" if {"Count", "Message", "Traceback", "Nodes"} <= names else None


def is_aside(source: Source) -> bool:
    """Return whether it is a file that Locust writes beside its results."""
    return not isinstance(source.head.json, list) and _kind(_header(source)) not in (None, "stats")


def read(source: Source) -> Iterator[Result]:
    """Yield a process for each name and method of the JSON, or the aggregates of the CSV's rows."""
    if source.head.text.lstrip().startswith("["):
        for entry in source.document(list[_Entry], "Locust's JSON"):
            yield from _entry(entry)
        return
    kind = _kind(_header(source))
    if kind != "stats":
        other = source.name.replace(f"_{kind}", "_stats") if kind != "history" else ""
        right = other or source.name.replace("_stats_history", "_stats")
        right = right if right != source.name else "the file of the same run whose name ends with _stats.csv"
        raise OutputError(f"Locust's {kind}, which holds no response times by request: read {right}")
    yield from _stats(source)


def _name(method: str | None, name: str) -> str:
    return visible(f"{method or ''} {name}".strip()) or UNNAMED


def _entry(entry: _Entry) -> Iterator[Result]:
    name = _name(entry.method, entry.name)
    total, failed = entry.num_requests, entry.num_failures
    if total <= 0:
        return
    if failed >= total:
        yield Failed(benchmark=name, status=all_failed(total))
        return
    metrics: dict[str, Metric] = {"error_rate": Metric(values=[max(failed, 0) / total])}
    span = (entry.last_request_timestamp or 0) - (entry.start_time or 0)
    if entry.start_time is not None and 0 < span < 1e9:
        metrics["throughput"] = Metric(unit="1/s", better="higher", values=[(total - failed) / span])
    times = _times(name, entry)
    if failed > 0 or sum(count for _, count in times) > MAX_VALUES:
        yield checking.measured(name, metrics)
        yield from _quantiles(name, entry, times)
        return
    yield checking.measured(name, {"time": _values(times), **metrics})


def _times(name: str, entry: _Entry) -> list[tuple[float, int]]:
    times = [(float_of(text), count) for text, count in entry.response_times.items()]
    good = [(value * 1e-3, count) for value, count in times if value is not None and 0 <= value < 1e12 and count >= 0]
    if len(good) < len(times) or not any(count for _, count in good):
        raise OutputError(f"{name!r} has response times that are no times and counts")
    return sorted(good)


def _values(times: list[tuple[float, int]]) -> Metric:
    values = array("d", itertools.chain.from_iterable(itertools.repeat(value, count) for value, count in times))
    random.Random(0).shuffle(values)  # noqa: S311  # an order, no secret
    return Metric(unit="s", values=values)


def _quantiles(name: str, entry: _Entry, times: list[tuple[float, int]]) -> Iterator[Result]:
    """Yield aggregates of times among which those of failed requests are."""
    total, below = sum(count for _, count in times), 0
    found: dict[str, float | None] = {
        "mean": None if entry.total_response_time is None else entry.total_response_time / entry.num_requests * 1e-3,
        "min": None if entry.min_response_time is None else entry.min_response_time * 1e-3,
        "max": None if entry.max_response_time is None else entry.max_response_time * 1e-3,
    }
    for value, count in times:
        below += count
        for statistic, share in _QUANTILES.items():
            if statistic not in found and below >= share * total:
                found[statistic] = value
    yield from aggregates(name, "time", found, count=total)


def _stats(source: Source) -> Iterator[Result]:
    with closing(source.text_file()) as text:
        reader = csv.DictReader(text)
        try:
            for row in reader:
                # the last row may be cut off
                if None not in row.values() and None not in row:
                    yield from _row({name.strip(): cell.strip() for name, cell in row.items()})
        except csv.Error as error:
            raise OutputError(f"line {reader.line_num}: {error}") from None


def _row(row: dict[str, str]) -> Iterator[Result]:
    name = _name(row.get("Type", row.get("Method")), row.get("Name", ""))
    labels = {"kind": "aggregated"} if row.get("Name") in (_AGGREGATED, "Total") and not row.get("Type") else {}
    total = float_of(row.get("Request Count", row.get("# requests", ""))) or 0.0
    failed = float_of(row.get("Failure Count", row.get("# failures", ""))) or 0.0
    if not 0 < total < 1e18:
        return
    if failed >= total:
        yield Failed(benchmark=name, status=all_failed(int(total)), labels=labels)
        return
    found: dict[str, float | None] = {}
    for column, cell in row.items():
        statistic = _MEANT.get(column.lower()) or _percentile(column)
        value = float_of(cell)
        if statistic and value is not None:
            found.setdefault(statistic, value * 1e-3)
    yield from aggregates(name, "time", found, count=int(total), labels=labels)
    yield from error_rate(name, failed, total, labels)
    rate = float_of(row.get("Requests/s", row.get("requests/s", "")))
    yield from aggregates(name, "throughput", {"value": rate}, unit="1/s", better="higher", labels=labels)


def _percentile(column: str) -> str:
    share = float_of(column.removesuffix("%")) if column.endswith("%") else None
    return "" if share is None or not 0 < share <= 100 else percentile(share)
