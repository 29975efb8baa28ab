"""oha's JSON and its rows (CSV).

oha's success rate counts every response, the error rate here counts those of status 400 and more as failed. Times of
JSON are of all responses, failed ones too.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator

import msgspec

from gate.formats.parts import requests as load
from gate.formats.parts.output import OutputError, shown
from gate.formats.parts.result import Failed, Format, Result
from gate.formats.parts.source import Source

FORMAT = Format(title="oha (`--output-format json` or csv)", again="process")
_HEADER = ("request-start", "request-duration", "status")
_OTHERS = {"connect": "DNS+dialup", "latency": "Response-delay", "bytes": "bytes"}
"""Further metrics of a request, and their columns."""
_ABORTED = "aborted due to deadline"
"""oha's word for requests that were under way when the time was over, which nothing failed."""


class _Numbers(msgspec.Struct):
    fastest: float | None = None
    slowest: float | None = None
    average: float | None = None
    requestsPerSec: float | None = None  # noqa: N815  # oha's name


class _Document(msgspec.Struct):
    summary: _Numbers
    latencyPercentiles: dict[str, float | None] = {}  # noqa: N815  # oha's name
    statusCodeDistribution: dict[str, int] = {}  # noqa: N815  # oha's name
    errorDistribution: dict[str, int] = {}  # noqa: N815  # oha's name


def recognises(source: Source) -> bool:
    """Return whether it is JSON with oha's keys, or begins with its header line."""
    found = source.head.json
    if isinstance(found, dict):
        return isinstance(found.get("summary"), dict) and "successRate" in found["summary"]
    return set(_HEADER) <= set(source.head.first.split(","))


def read(source: Source) -> Iterator[Result]:
    """Yield a process of requests, or aggregates."""
    if source.head.text.lstrip().startswith("{"):
        found = source.document(_Document, "oha's JSON")
        numbers = found.summary
        times = {"mean": numbers.average, "min": numbers.fastest, "max": numbers.slowest}
        times |= {
            load.percentile(name[1:]): value
            for name, value in found.latencyPercentiles.items()
            if (name.startswith("p") and name[1:].replace(".", "", 1).isdecimal())
        }
        why = "no times in the file" if load.are_no_times(times) else ""
        rate = numbers.requestsPerSec
        yield from _all(found.statusCodeDistribution, found.errorDistribution, times, rate, why)
    else:
        yield from _rows(source)


def _rows(source: Source) -> Iterator[Result]:
    reader = csv.reader(source.raw_lines())
    names = load.header(reader)
    if not set(_HEADER) <= set(names):
        raise OutputError(f"line 1: lacks a column of {', '.join(_HEADER)}")
    others = {name: column for name, column in _OTHERS.items() if column in names}
    requests = load.Table[str](tuple(others))[""]

    for cells in filter(None, reader):
        if len(cells) != len(names):
            raise OutputError(f"line {reader.line_num}: {len(cells)} cells instead of {len(names)}")
        row = dict(zip(names, cells, strict=True))
        try:
            took, began = float(row["request-duration"]), float(row["request-start"])
            requests.lasted(began, began + took)
            if load.succeeded(row["status"]) is True:
                found = {name: float(row[column]) for name, column in others.items()}
                requests.times.append(took)
                for name, value in found.items():
                    requests.others[name].append(value)
            else:
                requests.failed += 1
        except OutputError as error:
            raise OutputError(f"line {reader.line_num}: {error}") from None
        except ValueError:
            said = shown(",".join(cells).encode())
            raise OutputError(f"line {reader.line_num}: {said} is no row of times") from None
    if requests.times or requests.failed:
        yield load.measured(load.UNNAMED, requests)


def _all(
    statuses: dict[str, int], errors: dict[str, int], times: dict[str, float | None], rate: float | None, why: str
) -> Iterator[Result]:  # fmt: skip
    """Yield the aggregates of a run, and why it has failed, if it has."""
    answered = sum(statuses.values())
    good = sum(count for status, count in statuses.items() if status.startswith(("2", "3")))
    total = answered + sum(count for error, count in errors.items() if error != _ABORTED)
    if total and not good:
        yield Failed(benchmark=load.UNNAMED, status=load.all_failed(total))
        return
    if why:
        yield Failed(benchmark=load.UNNAMED, status=why)
    yield from load.aggregates(load.UNNAMED, "time", times, count=answered)
    yield from load.error_rate(load.UNNAMED, total - good, total)
    yield from load.aggregates(load.UNNAMED, "throughput", {"value": rate}, unit="1/s", better="higher")
