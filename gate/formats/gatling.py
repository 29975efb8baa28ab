"""Gatling: the text of simulation.log (up to 3.11), js/stats.json of a report, and the folder of both."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gate.formats.parts.output import OutputError
from gate.formats.parts.result import About, Failed, Format, Measured, Result, aggregate
from gate.formats.parts.source import Source
from gate.model import Metric
from gate.model.bounds import number

FORMAT = Format(
    title="Gatling (`simulation.log` up to 3.11, `js/stats.json`, or the folder of a report)",
    execution="the run",
    iteration="a successful request; of a group one pass, as the sum of its requests",
    trap=(
        "KO requests are in the error rate and never a time; throughput is of successful requests over the whole run; "
        "requests of one run depend on each other; from 3.12 on the log is binary, which is not read: js/stats.json "
        "has whole ms, and its percentiles are taken to be the default 50, 75, 95 and 99"
    ),
)
_MS = 1e-3
# where the name stands, by where the status does: 3.4 and later, 3.0 with the user, 2.x with the scenario, 2.1 and
# before with four times
_NAME_AT = {5: 2, 6: 3, 7: 4, 9: 4}
_GROUP_TIMES = {5: 1, 6: 2, 7: 3, 9: 3}
_LONGEST = 20
"""Digits of a number of 64 bits, with its sign."""
_GROUP_SEPARATOR = b","
"""Between the groups of a path; names have none."""
_STATES = (b"OK", b"KO")
_FIRST = ("RUN\t", "ASSERTION\t")
_STATISTICS = {
    "meanResponseTime": "mean", "minResponseTime": "min", "maxResponseTime": "max", "percentiles1": "p50",
    "percentiles2": "p75", "percentiles3": "p95", "percentiles4": "p99",
}  # fmt: skip
_DEEPEST = 50


@dataclass(slots=True)
class _Requests:
    """The requests of one name in one group, or the passes of a group."""

    times: array[float] = field(default_factory=lambda: array("d"))
    """Of the successful ones, in s."""
    failed: int = 0
    """How many failed."""


@dataclass(slots=True)
class _Run:
    """A run of one simulation."""

    version: str = ""
    """Of Gatling."""
    start: int = 0
    """In ms since 1970."""
    first: int = 1 << 62
    """When the first request began, in ms."""
    last: int = 0
    """When the last request ended, in ms."""
    requests: dict[tuple[bytes, bytes], _Requests] = field(default_factory=dict)
    """By the path of groups and the name."""
    groups: dict[bytes, _Requests] = field(default_factory=dict)
    """By the path."""

    def request(self, key: tuple[bytes, bytes], start: int, end: int, *, ok: bool) -> None:
        """Add a request; one that never ended has an end before its start, and has failed."""
        own = self.requests.get(key)
        if own is None:
            own = self.requests[key] = _Requests()
        if ok and end >= start:
            own.times.append((end - start) * _MS)
        else:
            own.failed += 1
        if start < self.first:
            self.first = start
        if end > self.last:
            self.last = end

    def group(self, path: bytes, start: int, end: int, cumulated: int, *, ok: bool) -> None:
        """Add a pass of a group, with the sum of its requests' times."""
        own = self.groups.get(path)
        if own is None:
            own = self.groups[path] = _Requests()
        if ok and end >= start:
            own.times.append(cumulated * _MS)
        else:
            own.failed += 1


def recognises(source: Source) -> bool:
    """Return whether it is a log, the statistics of a report, or a folder with one of them."""
    if source.is_folder:
        return source.path is not None and _inside(source.path) is not None
    if _is_statistics(source.head.json):
        return True
    lines = source.head.text.split("\n", 20)
    if lines[0].startswith(_FIRST) and any(line.startswith("RUN\t") for line in lines):
        return True
    # 2.0 wrote the kind of a record behind the simulation
    fields = lines[0].split("\t")
    return len(fields) >= 5 and fields[2] == "RUN"


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
        yield from read(source.inside(own))
    elif _is_statistics(source.head.json):
        yield from _statistics(source)
    else:
        run = _Run()
        for line in source.bytes_lines():
            fields = line.split(b"\t")
            kind = fields[0]
            if kind == b"REQUEST":
                _request(run, fields)
            elif kind == b"GROUP":
                _group(run, fields)
            elif kind == b"RUN":
                _begin(run, fields[1:])
            elif len(fields) > 3 and fields[2] in (b"REQUEST", b"GROUP", b"RUN"):
                _old(run, fields)
        try:
            created = datetime.fromtimestamp(run.start / 1000, UTC).isoformat(timespec="seconds") if run.start else None
        except (ValueError, OverflowError, OSError):
            created = None
        yield About(tool=f"Gatling {run.version}".strip(), created=created)
        yield from _results(run)


def _old(run: _Run, fields: list[bytes]) -> None:
    """Read a record of 2.0: the scenario and the user stand before its kind."""
    own = [fields[2], fields[0], fields[1], *fields[3:]]
    if own[0] == b"REQUEST":
        _request(run, own)
    elif own[0] == b"GROUP":
        _group(run, own)
    else:
        _begin(run, fields[3:])


def _begin(run: _Run, fields: list[bytes]) -> None:
    start = next((int(field) for field in fields if field.isdigit() and len(field) == 13), 0)
    run.start = run.start or start
    version = fields[-1].decode("utf-8", "replace").strip() if fields else ""
    # 2.x wrote the version of the format
    run.version = version if version not in ("2.0", "") else "2"


def _request(run: _Run, fields: list[bytes]) -> None:
    for at, name in _NAME_AT.items():
        if len(fields) > at and fields[at] in _STATES:
            try:
                start, end = _time(fields[name + 1]), _time(fields[at - 1])
            except ValueError:
                continue
            run.request((fields[name - 1], fields[name]), start, end, ok=fields[at] == b"OK")
            return


def _time(field: bytes) -> int:
    if len(field) > _LONGEST:
        raise ValueError
    return int(field)


def _group(run: _Run, fields: list[bytes]) -> None:
    for at, name in _GROUP_TIMES.items():
        if len(fields) > at and fields[at] in _STATES:
            try:
                start, end, cumulated = map(_time, fields[name + 1 : name + 4])
            except ValueError:
                continue
            run.group(fields[name], start, end, cumulated, ok=fields[at] == b"OK")
            return


def _results(run: _Run) -> Iterator[Result]:
    seconds = (run.last - run.first) * _MS if run.last > run.first else None
    for (group, name), requests in run.requests.items():
        labels = {"type": "request"}
        if group:
            labels["group"] = _path(group)
        yield _measured(_shown(name), labels, requests.times, requests.failed, seconds)
    for group, passes in run.groups.items():
        labels = {"type": "group"}
        yield _measured(_path(group), labels, passes.times, passes.failed, seconds)


def _measured(name: str, labels: dict[str, str], times: array[float], failed: int, seconds: float | None) -> Result:
    count = len(times) + failed
    if not times:
        what = "requests" if labels["type"] == "request" else "passes"
        return Failed(benchmark=name, status=f"{failed} of {count} {what} failed", labels=labels)
    metrics = {"time": Metric(unit="s", values=times), "error_rate": Metric(values=[failed / count])}
    if seconds is not None:
        metrics["throughput"] = Metric(unit="1/s", better="higher", values=[len(times) / seconds])
    return Measured(benchmark=name, metrics=metrics, labels=labels)


def _path(group: bytes) -> str:
    return " / ".join(_shown(part) for part in group.split(_GROUP_SEPARATOR))


def _shown(name: bytes) -> str:
    return name.decode("utf-8", "replace")


def _is_statistics(found: Any) -> bool:
    """Return whether a JSON document is the tree of a report's statistics."""
    if not isinstance(found, dict):
        return False
    if _is_global(found):
        return True
    return "pathFormatted" in found and isinstance(found.get("stats"), dict) and "numberOfRequests" in found["stats"]


def _is_global(found: Mapping[str, Any]) -> bool:
    """Return whether it is js/global_stats.json: all requests in one."""
    return {"numberOfRequests", "minResponseTime", "percentiles1"} <= found.keys()


def _statistics(source: Source) -> Iterator[Result]:
    """Yield the statistics of the successful requests."""
    yield About(tool="Gatling")
    document = source.document(dict[str, Any], "js/stats.json")
    if _is_global(document):
        yield from _of_statistics("All Requests", document, {"type": "request"})
    else:
        yield from _node(document, [], 0)


def _node(node: Mapping[str, Any], groups: list[str], depth: int) -> Iterator[Result]:
    statistics = node.get("stats")
    name = str(node.get("name", ""))
    is_group = node.get("type") == "GROUP"
    if depth:
        statistics = statistics if isinstance(statistics, dict) else {}
        if is_group:
            yield from _of_statistics(" / ".join([*groups, name]), statistics, {"type": "group"})
        else:
            labels = {"type": "request", **({"group": " / ".join(groups)} if groups else {})}
            yield from _of_statistics(name, statistics, labels)
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
        status = f"{total:.0f} of {total:.0f} requests failed"
        yield Failed(benchmark=name, status=status, labels=labels)
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
    """Read a number, which versions before 3 wrote as text; "-" where there is none."""
    own = statistics.get(key)
    value = own.get(which) if isinstance(own, dict) else None
    if isinstance(value, str):
        try:
            return float(value) if value.isascii() and "_" not in value else None
        except ValueError:
            return None
    return number(value)
