"""hey's rows (`-o csv`) and its printed summary."""

from __future__ import annotations

from collections.abc import Iterator

from gate.results.parts.printed_load_test import first_figure, printed, summaries
from gate.results.parts.request_csv import Rows, first_line, read_rows
from gate.results.result import Format, Result
from gate.results.source import Source

FORMAT = Format(
    title="hey (`-o csv`, or its printed summary)",
    execution="the file, or each summary in it",
    iteration="one request of the CSV; none of the summary",
    trap=(
        "the file does not name the URL; times of the CSV are rounded to 0.1 ms, and requests without a response have "
        "no row in it, so its error rate is too low; the summary's times are of all responses, failed ones too"
    ),
)
_HEADER = ("response-time", "DNS+dialup")


def recognises(source: Source) -> bool:
    """Return whether it has hey's header line, or a summary that begins as hey's does."""
    return set(_HEADER) <= set(first_line(source).split(",")) or first_figure(source.head.lines) == "Total"


def read(source: Source) -> Iterator[Result]:
    """Yield a process of requests, or the aggregates of each summary."""
    if set(_HEADER) <= set(first_line(source).split(",")):
        yield from read_rows(
            source,
            Rows("response-time", "status-code", 1.0, {"connect": "DNS+dialup", "latency": "Response-delay"}, "offset"),
        )
        return
    for execution, each in enumerate(summaries(source.lines())):
        yield from printed(each, execution)
