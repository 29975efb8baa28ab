"""What wrk and wrk2 print.

wrk's latencies are those of a closed loop, which leaves out the waiting that a slow server causes (coordinated
omission). wrk2 corrects for it; its second table, of uncorrected latencies, is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from gate.formats.parts.output import shown, usable
from gate.formats.parts.requests import all_failed, float_of, place_of
from gate.formats.parts.result import Aggregate, Failed, Format, Result
from gate.formats.parts.source import Source
from gate.units import to_base

FORMAT = Format(title="wrk and wrk2 (what they print)", again="process")
_RUN = re.compile(r"Running \S+ test @ (\S+)")
_LOAD = re.compile(r"(\d+) threads? and (\d+) connections?")
_LATENCY = re.compile(r"Latency\s+(\S+)\s+(\S+)\s+(\S+)\s+\S+%")
_PERCENTILE = re.compile(r"(\d+(?:\.\d+)?)%\s+(\S+)")
_TOTAL = re.compile(r"(\d+) requests in [^,]+, .* read")
_SOCKET = re.compile(r"(?:connect|read|write|timeout) (\d+)")
_RATE = re.compile(r"Requests/sec:\s*(\S+)")
_REFUSED = re.compile(r"Non-2xx or 3xx responses: (\d+)")
_DURATION = re.compile(r"([\d.]+)(us|ms|s|m|h)")


@dataclass(slots=True)
class _Run:
    url: str
    labels: dict[str, str] = field(default_factory=dict)
    times: dict[str, float | None] = field(default_factory=dict)
    sd: float | None = None
    requests: int | None = None
    unanswered: int = 0
    refused: int = 0
    rate: float | None = None
    corrected: bool = True
    """The percentiles that follow are those that count."""
    unread: str = ""
    """The first of its lines that is not whole, and why."""

    def take(self, line: str) -> bool:
        """Take in a line; return whether it is whole, if it is one with a figure."""
        if match := _LOAD.fullmatch(line):
            self.labels |= {"threads": match[1], "connections": match[2]}
        elif match := _LATENCY.fullmatch(line):
            mean, self.sd, most = map(_seconds, match.groups())
            self.times |= {"mean": mean, "max": most}
            return mean is not None
        elif line.startswith("Latency Distribution"):
            self.corrected = "Uncorrected" not in line
        elif match := _PERCENTILE.fullmatch(line):
            time, of = _seconds(match[2]), float(match[1])
            self.times |= {"max" if of == 100 else f"p{of:.10g}": time} if self.corrected else {}
            return time is not None
        elif match := _TOTAL.fullmatch(line):
            self.requests = int(match[1])
        elif line.startswith("Socket errors:"):
            self.unanswered = sum(map(int, _SOCKET.findall(line)))
        elif match := _REFUSED.fullmatch(line):
            self.refused = int(match[1])
        elif match := _RATE.fullmatch(line):
            self.rate = float_of(match[1])
            return self.rate is not None
        else:
            return not line.startswith(("Latency ", "Requests/sec:"))
        return True


def recognises(source: Source) -> bool:
    """Return whether a run begins in it, and threads are counted."""
    lines = [line.strip() for line in source.head.lines]
    return any(_RUN.match(line) for line in lines) and any(
        _LOAD.fullmatch(line) or line.startswith("Thread Stats") for line in lines
    )


def read(source: Source) -> Iterator[Result]:
    """Yield the aggregates of each run."""
    runs, line = list[_Run](), ""
    for place, line in enumerate(map(str.strip, source.lines()), 1):
        if begins := _RUN.search(line):
            path, host = place_of(begins[1])
            runs.append(_Run(path, {"host": host} if host else {}))
        elif runs and not runs[-1].take(line):
            runs[-1].unread = runs[-1].unread or f"line {place} cannot be read: {shown(line.encode())}"
    # the rate is not the last that is printed
    if runs and source.unended and not line.startswith("Transfer/sec"):
        runs[-1].unread = runs[-1].unread or "its output is cut off"
    for run in runs:
        yield from _results(run)


def _results(run: _Run) -> Iterator[Result]:
    bad = run.refused + run.unanswered
    total = None if run.requests is None else run.requests + run.unanswered
    if total is not None and bad >= total:
        why = all_failed(total) if total else "no request was answered"
        yield Failed(benchmark=run.url, status=why, labels=run.labels)
        return
    if run.unread or total is None:
        why = run.unread or "no requests are counted: was its output cut off?"
        yield Failed(benchmark=run.url, status=why, labels=run.labels)
    figures = [("time", statistic, value, "s") for statistic, value in run.times.items()]
    figures += [("throughput", "value", run.rate, "1/s"), ("error_rate", "value", bad / total if total else None, "")]
    for metric, statistic, value, unit in figures:
        if value is not None and usable([value], unit):
            yield Aggregate(
                benchmark=run.url, metric=metric, statistic=statistic, value=value, unit=unit, labels=run.labels,
                better="higher" if metric == "throughput" else None,
                sd=run.sd if (metric, statistic) == ("time", "mean") else None,
                count=run.requests if metric == "time" else None,
            )  # fmt: skip


def _seconds(text: str) -> float | None:
    """Read a time with its unit, such as "1.04ms"; None: it is none."""
    found = _DURATION.fullmatch(text)
    number = float_of(found[1]) if found else None
    return None if found is None or number is None else number * to_base(found[2])[1]
