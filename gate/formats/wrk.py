"""What wrk and wrk2 print.

wrk's latencies are those of a closed loop, which leaves out the waiting that a slow server causes (coordinated
omission). wrk2 corrects for it, and its second table, of uncorrected latencies, is the metric uncorrected.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from gate.formats.hgrm import Spectrum
from gate.formats.parts.output import shown
from gate.formats.parts.requests import aggregates, all_failed, error_rate, float_of, percentile, place_of, seconds
from gate.formats.parts.result import Failed, Format, Result
from gate.formats.parts.source import Source

FORMAT = Format(title="wrk and wrk2 (what they print)", again="process")
_RUN = re.compile(r"Running \S+ test @ (\S+)")
_LOAD = re.compile(r"(\d+) threads? and (\d+) connections?")
_THREADS = re.compile(r"(Latency|Req/Sec)\s+(\S+)\s+(\S+)\s+(\S+)\s+\S+%")
_PERCENTILE = re.compile(r"([\d.]+)%\s+(\S+)")
_TOTAL = re.compile(r"(\d+) requests in [^,]+, .* read")
_SOCKET = re.compile(r"(connect|read|write|timeout) (\d+)")
_FIGURE = re.compile(r"(Requests/sec|Transfer/sec):\s*(\S+)")
_FIGURES = ("Latency ", "Req/Sec ", "Requests/sec:", "Transfer/sec:")
_REFUSED = re.compile(r"Non-2xx or 3xx responses: (\d+)")
_NUMBER = re.compile(r"([\d.]+)([kMGT]?)(i?B)?")
_THOUSANDS = {"": 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4}
_SIZE = re.compile(r"([\d.]+)([KMGTP]?)B")


@dataclass(slots=True)
class _Run:
    url: str
    labels: dict[str, str] = field(default_factory=dict)
    tables: dict[str, dict[str, float | None]] = field(default_factory=dict)
    spectra: dict[str, Spectrum] = field(default_factory=dict)
    sd: float | None = None
    thread_rate: tuple[float | None, float | None, float | None] | None = None
    requests: int | None = None
    unanswered: int = 0
    refused: int = 0
    figures: dict[str, str] = field(default_factory=dict)
    at: str = "time"
    unread: str = ""
    """The first of its lines that is not whole, and why."""


def recognises(source: Source) -> bool:
    """Return whether a run begins in it, and threads are counted."""
    lines = [line.strip() for line in source.head.lines]
    return any(_RUN.match(line) for line in lines) and any(
        _LOAD.fullmatch(line) or line.startswith("Thread Stats") for line in lines
    )


def read(source: Source) -> Iterator[Result]:
    """Yield the aggregates of each run."""
    run: _Run | None = None
    for place, line in enumerate(source.lines(), 1):
        if begins := _RUN.search(line):
            if run is not None:
                yield from _results(run)
            path, host = place_of(begins[1])
            run = _Run(path, {"host": host})
        elif run is not None:
            _take(run, line.strip())
            if not run.unread and _is_torn(line.strip()):
                run.unread = f"line {place} cannot be read: {shown(line.strip().encode())}"
    if run is not None:
        # the rate is not the last that is printed
        if source.unended and "Transfer/sec" not in run.figures:
            run.unread = run.unread or "its output is cut off"
        yield from _results(run)


def _take(run: _Run, line: str) -> None:
    if match := _LOAD.fullmatch(line):
        run.labels |= {"threads": match[1], "connections": match[2]}
    elif match := _THREADS.fullmatch(line):
        if match[1] == "Latency":
            run.tables.setdefault("time", {}).update({"mean": seconds(match[2]), "max": seconds(match[4])})
            run.sd = seconds(match[3])
        else:
            run.thread_rate = _number(match[2]), _number(match[3]), _number(match[4])
    elif line.startswith("Latency Distribution"):
        run.at = "uncorrected" if "Uncorrected" in line else "time"
    elif match := _PERCENTILE.fullmatch(line):
        run.tables.setdefault(run.at, {})[percentile(match[1])] = seconds(match[2])
    elif match := _TOTAL.fullmatch(line):
        run.requests = int(match[1])
    elif line.startswith("Socket errors:"):
        run.unanswered = sum(int(count) for _, count in _SOCKET.findall(line))
    elif match := _REFUSED.fullmatch(line):
        run.refused = int(match[1])
    elif match := _FIGURE.fullmatch(line):
        run.figures[match[1]] = match[2]
    else:
        run.spectra.setdefault(run.at, Spectrum()).take(line)


def _is_torn(line: str) -> bool:
    """Return whether a line begins as one with a figure does, and is not whole, or holds no number."""
    if threads := _THREADS.fullmatch(line):
        of = seconds if threads[1] == "Latency" else _number
        return of(threads[2]) is None
    if figure := _FIGURE.fullmatch(line):
        return (float_of if figure[1] == "Requests/sec" else _size)(figure[2]) is None
    if share := _PERCENTILE.fullmatch(line):
        return seconds(share[2]) is None
    return line.startswith(_FIGURES) and not line.startswith("Latency Distribution")


def _number(text: str) -> float | None:
    match = _NUMBER.fullmatch(text)
    number = float_of(match[1]) if match else None
    return None if match is None or number is None else number * 1000.0 ** _THOUSANDS[match[2]]


def _size(text: str) -> float | None:
    match = _SIZE.fullmatch(text)
    number = float_of(match[1]) if match else None
    return None if match is None or number is None else number * 1024.0 ** " KMGTP".index(match[2] or " ")


def _results(run: _Run) -> Iterator[Result]:
    bad = run.refused + run.unanswered
    total = None if run.requests is None else run.requests + run.unanswered
    if total is not None and bad >= total:
        why = all_failed(total) if total else "no request was answered"
        yield Failed(benchmark=run.url, status=why, labels=run.labels)
        return
    if run.unread or run.requests is None:
        why = run.unread or "no requests are counted: was its output cut off?"
        yield Failed(benchmark=run.url, status=why, labels=run.labels)
    for metric, table in _tables(run).items():
        yield from aggregates(
            run.url, metric, table, count=run.requests if metric == "time" else None,
            labels=run.labels, sd=run.sd if metric == "time" else None,
        )  # fmt: skip
    rate = {"value": float_of(run.figures.get("Requests/sec", ""))}
    yield from aggregates(run.url, "throughput", rate, unit="1/s", better="higher", labels=run.labels)
    transfer = {"value": _size(run.figures.get("Transfer/sec", ""))}
    yield from aggregates(run.url, "transfer", transfer, unit="B/s", better="higher", labels=run.labels)
    if run.thread_rate is not None:
        mean, sd, most = run.thread_rate
        yield from aggregates(
            run.url, "thread_throughput", {"mean": mean, "max": most}, unit="1/s", better="higher", sd=sd,
            labels=run.labels,
        )  # fmt: skip
    if total is not None:
        yield from error_rate(run.url, bad, total, run.labels)


def _tables(run: _Run) -> dict[str, dict[str, float | None]]:
    """Fill up the printed percentiles from the detailed spectrum, which is in milliseconds."""
    tables = {metric: dict(table) for metric, table in run.tables.items()}
    for metric, detailed in run.spectra.items():
        if detailed.rows:
            table = tables.setdefault(metric, {})
            for statistic, value in detailed.found.items():
                if value is not None:
                    table.setdefault(statistic, value * 1e-3)
    return tables
