"""Requests of a load test -> times of those that succeeded, the share of the others, and how many came a second.

A request that failed is no time: a server that refuses everything is fast.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Generic, TypeVar

from gate.formats.parts.output import OutputError, shown
from gate.formats.parts.result import Failed, Measured
from gate.model import Metric
from gate.units import plural

UNNAMED = "requests"
"""What requests are called that their file does not name."""
MOST_NAMES = 100_000
"""Different requests of one file: more are one URL a request, which nobody compares."""
K = TypeVar("K")


@dataclass(slots=True)
class Requests:
    """All requests of one name in one process."""

    times: array[float] = field(default_factory=lambda: array("d"))
    """Of those that succeeded, in seconds."""
    others: dict[str, array[float]] = field(default_factory=dict)
    """Further values of these requests by the metric's name, in seconds, or bytes for "bytes"."""
    failed: int = 0
    tells: bool = True
    """Whether the file tells failed requests from others."""
    start: float | None = None
    """When the first of them began, in seconds."""
    end: float | None = None
    """When the last one ended."""

    def lasted(self, start: float, end: float) -> None:
        """Take in when a request began and ended."""
        if self.start is None or start < self.start:
            self.start = start
        if self.end is None or end > self.end:
            self.end = end


class Table(dict[K, Requests], Generic[K]):
    """The requests of a file by what tells them apart; new ones are made when they are asked for."""

    def __init__(self, others: tuple[str, ...] = (), *, tells: bool = True) -> None:
        super().__init__()
        self._others = others
        self._tells = tells

    def __missing__(self, key: K) -> Requests:
        if len(self) >= MOST_NAMES:
            why = f"more than {MOST_NAMES:,} different names of requests"
            raise OutputError(f"{why}: give those that are alike one name in the load test")
        made = self[key] = Requests(others={name: array("d") for name in self._others}, tells=self._tells)
        return made


def measured(
    benchmark: str, requests: Requests, *, execution: int = 0, labels: Mapping[str, str] | None = None
) -> Measured | Failed:
    """Give what was measured of the requests of one name in one process."""
    name, own = benchmark or UNNAMED, {key: value for key, value in (labels or {}).items() if value}
    count = len(requests.times)
    if not count:
        return Failed(benchmark=name, status=all_failed(requests.failed), execution=execution, labels=own)
    metrics = {"time": Metric(unit="s", values=requests.times)}
    for other, found in requests.others.items():
        if len(found) == count:
            metrics[other] = Metric(unit="B" if other == "bytes" else "s", values=found)
    if requests.tells:
        metrics["error_rate"] = Metric(values=[requests.failed / (requests.failed + count)])
    span = None if requests.start is None or requests.end is None else requests.end - requests.start
    if span is not None and span > 0:
        metrics["throughput"] = Metric(unit="1/s", better="higher", values=[count / span])
    return Measured(benchmark=name, metrics=metrics, execution=execution, labels=own)


def all_failed(count: int) -> str:
    """Say that all requests failed."""
    return f"all {plural(count, 'request')} failed" if count > 1 else "its one request failed"


def place_of(url: str) -> tuple[str, str]:
    """Take a URL apart: its path with the query (what is no URL is its own), and its host, which may differ by side."""
    scheme, mark, rest = url.partition("://")
    if not mark or not scheme.isalnum():
        return url, ""
    host, _, path = rest.partition("/")
    return f"/{path}", host.rpartition("@")[2]


def float_of(text: str) -> float | None:
    """Read a number; None: it is none."""
    try:
        return float(text)
    except ValueError:
        return None


_SUCCESSES = frozenset({"true", "t", "yes", "y", "1", "ok", "success", "succeeded", "pass", "passed"})
_NO_RESPONSE = "non http response code"
"""How JMeter's responseCode begins where no response came."""
_FAILURES = frozenset({"false", "f", "no", "n", "0", "ko", "fail", "failed", "failure", "error"})


@lru_cache(maxsize=256)
def succeeded(cell: str) -> bool | None:
    """Read whether a request succeeded from a word or an HTTP status (below 400); None of a blank cell.

    Raises:
        OutputError: it is neither.
    """
    word = cell.strip().casefold()
    if word in _SUCCESSES:
        return True
    if word in _FAILURES or word.startswith(_NO_RESPONSE):
        return False
    if not word:
        return None
    if len(word) == 3 and word.isascii() and word.isdigit() and "100" <= word <= "599":
        return word < "400"
    raise OutputError(f"{shown(cell.encode('utf-8', 'replace'))} is neither true or false nor an HTTP status")
