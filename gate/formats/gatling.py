"""Gatling: the text of simulation.log (up to 3.11), js/stats.json of a report, and the folder of both."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from gate.formats.parts import gatling_stats as stats
from gate.formats.parts.checking import measured
from gate.formats.parts.checking import times as times_of
from gate.formats.parts.output import OutputError
from gate.formats.parts.result import About, Failed, Format, Result
from gate.formats.parts.source import Source
from gate.model import Metric

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
    if stats.recognises(source.head.json):
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
    elif stats.recognises(source.head.json):
        yield from stats.read(source)
    else:
        run = _text(source)
        yield _about(run)
        yield from _results(run)


def _about(run: _Run) -> About:
    try:
        created = datetime.fromtimestamp(run.start / 1000, UTC).isoformat(timespec="seconds") if run.start else None
    except (ValueError, OverflowError, OSError):
        created = None
    return About(tool=f"Gatling {run.version}".strip(), created=created)


def _text(source: Source) -> _Run:
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
    return run


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
    metrics = {"time": times_of(times)}
    metrics["error_rate"] = Metric(values=[failed / count])
    if seconds is not None:
        metrics["throughput"] = Metric(unit="1/s", better="higher", values=[len(times) / seconds])
    return measured(name, metrics, labels=labels)


def _path(group: bytes) -> str:
    return " / ".join(_shown(part) for part in group.split(_GROUP_SEPARATOR))


def _shown(name: bytes) -> str:
    return name.decode("utf-8", "replace")
