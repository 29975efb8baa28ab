"""Gatling: the text of simulation.log (3.0 to 3.11), js/stats.json of a report, and the folder of both.

Throughput is of successful requests over the whole run. The percentiles of js/stats.json are taken to be the default
50, 75, 95 and 99.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gate.formats.parts import requests as load
from gate.formats.parts.output import OutputError
from gate.formats.parts.result import About, Failed, Format, Result, aggregate
from gate.formats.parts.source import Source
from gate.model.bounds import number

FORMAT = Format(title="Gatling (`simulation.log` 3.0 to 3.11, `js/stats.json`, or the folder of a report)")
_MS = 1e-3
_GROUP_SEPARATOR = b","
"""Between the groups of a path; names have none."""
_GLOBAL = {"numberOfRequests", "minResponseTime", "percentiles1"}
"""Of js/global_stats.json: all requests in one."""
_STATISTICS = {
    "meanResponseTime": "mean", "minResponseTime": "min", "maxResponseTime": "max", "percentiles1": "p50",
    "percentiles2": "p75", "percentiles3": "p95", "percentiles4": "p99",
}  # fmt: skip
_DEEPEST = 50


class _Run:
    def __init__(self) -> None:
        self.first, self.last = 1 << 62, 0
        """When the first request began and the last one ended, in ms."""
        self.found = load.Table[tuple[bytes, ...]]()
        """By the path of groups, and the name if it is a request."""

    def take(self, fields: list[bytes]) -> None:
        """Take in a record; a request that never ended has an end before its start, and has failed."""
        is_request = fields[0] == b"REQUEST"
        # before 3.4 the user stands in front
        status = 5 if len(fields) > 5 and fields[5] in (b"OK", b"KO") else 6
        if len(fields) <= status or fields[status] not in (b"OK", b"KO"):
            return
        group, name, *times = fields[status - 4 : status]
        times = times if is_request else [name, *times]
        # a number has at most 64 bits, with its sign
        if not all(re.fullmatch(rb"-?\d{1,19}", time) for time in times):
            return
        start, end, *more = map(int, times)
        requests = self.found[(group, name) if is_request else (group,)]
        if fields[status] != b"OK" or end < start:
            requests.failed += 1
        else:
            requests.times.append((end - start if is_request else more[0]) * _MS)
        if is_request:
            self.first, self.last = min(self.first, start), max(self.last, end)

    def results(self) -> Iterator[Result]:
        """Yield the requests, then the groups."""
        for key, requests in sorted(self.found.items(), key=lambda each: len(each[0]) == 1):
            path = " / ".join(part.decode("utf-8", "replace") for part in key[0].split(_GROUP_SEPARATOR))
            name, labels = path, {"type": "group"}
            if len(key) > 1:
                name, labels = key[1].decode("utf-8", "replace"), {"type": "request", "group": path}
            if self.last > self.first:
                requests.lasted(0.0, (self.last - self.first) * _MS)
            yield load.measured(name, requests, labels=labels)


def recognises(source: Source) -> bool:
    """Return whether it is a log, the statistics of a report, or a folder with one of them."""
    if source.is_folder:
        return source.path is not None and _inside(source.path) is not None
    if _is_statistics(source.head.json):
        return True
    lines = source.head.text.split("\n", 20)
    return lines[0].startswith(("RUN\t", "ASSERTION\t")) and any(line.startswith("RUN\t") for line in lines)


def _inside(folder: Path) -> Path | None:
    for own in (folder / "simulation.log", folder / "js" / "stats.json"):
        if own.is_file() and recognises(Source(str(own), own)):
            return own
    return None


def read(source: Source) -> Iterator[Result]:
    """Yield the response times of each request and group of a run.

    Raises:
        OutputError: a log that is cut off before its first record, or a folder without a file that can be read.
    """
    if source.is_folder:
        own = _inside(source.path) if source.path is not None else None
        if own is None:
            raise OutputError("the folder has neither simulation.log nor js/stats.json")
        yield from read(Source(str(own), own))
    elif _is_statistics(source.head.json):
        yield About(tool="Gatling")
        document = source.document(dict[str, Any], "js/stats.json")
        if document.keys() >= _GLOBAL:
            yield from _of_statistics("All Requests", document, {"type": "request"})
        else:
            yield from _node(document, [], 0)
    else:
        run, version, started = _Run(), "", 0
        for line in source.bytes_lines():
            fields = line.split(b"\t")
            if fields[0] == b"RUN":
                version = fields[-1].decode("utf-8", "replace").strip()
                started = started or next((int(f) for f in fields if f.isdigit() and len(f) == 13), 0)
            elif fields[0] in (b"REQUEST", b"GROUP"):
                run.take(fields)
        created = datetime.fromtimestamp(started / 1000, UTC).isoformat(timespec="seconds") if started else None
        yield About(tool=f"Gatling {version}".strip(), created=created)
        yield from run.results()


def _is_statistics(found: Any) -> bool:
    if not isinstance(found, dict):
        return False
    inner = found.get("stats") if "pathFormatted" in found else None
    return found.keys() >= _GLOBAL or (isinstance(inner, dict) and "numberOfRequests" in inner)


def _node(node: Mapping[str, Any], groups: list[str], depth: int) -> Iterator[Result]:
    found, name = node.get("stats"), str(node.get("name", ""))
    if depth:
        group, labels = " / ".join(groups), {"type": "request"}
        shown = name
        if node.get("type") == "GROUP":
            shown, labels = " / ".join([*groups, name]), {"type": "group"}
        elif group:
            labels["group"] = group
        yield from _of_statistics(shown, found if isinstance(found, dict) else {}, labels)
    contents = node.get("contents", {})
    if not isinstance(contents, dict):
        yield Failed(benchmark=name, status="its contents are no object")
    elif depth < _DEEPEST:
        for key, own in contents.items():
            inside = own if isinstance(own, dict) else {"name": key}
            yield from _node(inside, [*groups, name] if depth else [], depth + 1)


def _of_statistics(name: str, statistics: Mapping[str, Any], labels: dict[str, str]) -> Iterator[Result]:
    total, good = (_number(statistics, "numberOfRequests", which) for which in ("total", "ok"))
    if total is None or good is None or total < 1 or good > total:
        yield Failed(benchmark=name, status="no count of its requests", labels=labels)
        return
    if good < 1:
        yield Failed(benchmark=name, status=load.all_failed(int(total)), labels=labels)
        return
    sd = _number(statistics, "standardDeviation", "ok")
    times = {statistic: _number(statistics, key, "ok") for key, statistic in _STATISTICS.items()}
    if all(value is None for value in times.values()):
        yield Failed(benchmark=name, status="no response times that are numbers", labels=labels)
    for statistic, value in times.items():
        if value is not None:
            yield aggregate(
                name, "time", statistic, value, unit="s", scale=_MS, count=good,
                sd=sd if statistic == "mean" else None, labels=labels,
            )  # fmt: skip
    yield aggregate(name, "error_rate", "value", (total - good) / total, labels=labels)
    rate = _number(statistics, "meanNumberOfRequestsPerSecond", "ok")
    if rate is not None:
        yield aggregate(name, "throughput", "mean", rate, unit="1/s", better="higher", labels=labels)


def _number(statistics: Mapping[str, Any], key: str, which: str) -> float | None:
    own = statistics.get(key)
    return number(own.get(which)) if isinstance(own, dict) else None
