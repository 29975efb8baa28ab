"""oha's JSON, rows (CSV) and printed summary."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from gate.results.parts.printed_load_test import ABORTED, first_figure, printed, summaries
from gate.results.parts.request_csv import Rows, first_line, read_rows
from gate.results.parts.requests import UNNAMED, aggregates, all_failed, error_rate, percentile
from gate.results.result import Failed, Format, Result
from gate.results.source import Source

FORMAT = Format(
    title="oha (`--output-format json` or csv, or its printed summary)",
    execution="the file, or each summary in it",
    iteration="one request of the CSV; none of JSON and the summary",
    trap=(
        "the file does not name the URL; oha's success rate counts every response, the error rate here counts those of "
        "status 400 and more as failed; requests that the end of the run cut off are no failures; times of JSON and "
        "the summary are of all responses, failed ones too"
    ),
)
_HEADER = ("request-start", "request-duration", "status")


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
    """Return whether it is JSON with oha's keys, its header line, or a summary with oha's success rate."""
    found, lines = source.head.json, source.head.lines
    if isinstance(found, dict):
        return isinstance(found.get("summary"), dict) and "successRate" in found["summary"]
    if lines and set(_HEADER) <= set(lines[0].split(",")):
        return True
    return first_figure(lines) == "Success rate"


def read(source: Source) -> Iterator[Result]:
    """Yield a process of requests, or aggregates."""
    if source.head.text.lstrip().startswith("{"):
        yield from _document(source.document(_Document, "oha's JSON"))
    elif set(_HEADER) <= set(first_line(source).split(",")):
        others = {"connect": "DNS+dialup", "latency": "Response-delay", "bytes": "bytes"}
        yield from read_rows(source, Rows("request-duration", "status", 1.0, others, "request-start"))
    else:
        for execution, each in enumerate(summaries(source.lines())):
            yield from printed(each, execution)


def _document(found: _Document) -> Iterator[Result]:
    statuses = found.statusCodeDistribution
    good = sum(count for status, count in statuses.items() if status.startswith(("2", "3")))
    total = sum(statuses.values()) + sum(count for why, count in found.errorDistribution.items() if why != ABORTED)
    if total and not good:
        yield Failed(benchmark=UNNAMED, status=all_failed(total))
        return
    numbers = found.summary
    times = {"mean": numbers.average, "min": numbers.fastest, "max": numbers.slowest}
    times |= {percentile(name[1:]): value for name, value in found.latencyPercentiles.items() if _is_percentile(name)}
    yield from aggregates(UNNAMED, "time", times, count=sum(statuses.values()))
    yield from error_rate(UNNAMED, total - good, total)
    yield from aggregates(UNNAMED, "throughput", {"value": numbers.requestsPerSec}, unit="1/s", better="higher")


def _is_percentile(name: str) -> bool:
    return name.startswith("p") and name[1:].replace(".", "", 1).isdecimal()
