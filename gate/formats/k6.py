"""k6's points (`--out json` and csv) and its summaries (`--summary-export`, handleSummary)."""

from __future__ import annotations

import csv
import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec

from gate.directions import direction
from gate.formats.parts import checking
from gate.formats.parts.output import OutputError, shown
from gate.formats.parts.requests import (
    UNNAMED,
    Requests,
    Table,
    aggregates,
    error_rate,
    float_of,
    header,
    measured,
    percentile,
    place_of,
)
from gate.formats.parts.result import Aggregate, Failed, Format, Measured, Result
from gate.formats.parts.source import Source
from gate.model import Better, Metric

DURATION = "http_req_duration"
FAILED = "http_req_failed"
PARTS = {
    f"http_req_{part}": part for part in ("blocked", "connecting", "tls_handshaking", "sending", "waiting", "receiving")
}
"""The parts of a request's time, and what they are called as metrics of it."""
LEFT_OUT = frozenset({"vus", "vus_max", "http_reqs", "data_sent", "data_received", FAILED})
"""What is no measurement of its own: the load that was set, and counts that requests have anyway."""
_ITERATION = "iteration_duration"
_TIMES = frozenset({
    _ITERATION, "group_duration", "ws_connecting", "ws_session_duration", "ws_ping", "grpc_req_duration",
    "browser_web_vital_fcp", "browser_web_vital_fid", "browser_web_vital_inp", "browser_web_vital_lcp",
    "browser_web_vital_ttfb", "browser_http_req_duration",
})  # fmt: skip
_TICKS = {13: 1e-3, 16: 1e-6, 19: 1e-9}
"""Seconds of a time stamp's unit by its digits."""
_KINDS = {"checks": "rate", "iterations": "counter", "dropped_iterations": "counter"}


@dataclass(frozen=True, slots=True)
class Kind:
    """What a metric of k6 is."""

    kind: str = "trend"
    """trend, rate, counter or gauge."""
    time: bool = False
    """Whether its values are times, in milliseconds."""
    better: Better | None = None


def kind_of(name: str) -> Kind:
    """Return what a metric is that the file does not describe."""
    return Kind(_KINDS.get(name, "trend"), time=name in _TIMES, better=better_of(name, None))


def better_of(name: str, thresholds: object) -> Better | None:
    """Return which direction of a metric is better: its thresholds tell, such as "rate>0.95", or its name."""
    text = " ".join(map(str, thresholds)) if isinstance(thresholds, (list, dict)) else ""
    if (">" in text) != ("<" in text):
        return "higher" if ">" in text else "lower"
    return direction(name, "")


@dataclass(slots=True)
class Point:
    """One value, and the tags by which it is sorted."""

    metric: str
    value: float
    when: str = ""
    name: str = ""
    method: str = ""
    group: str = ""
    scenario: str = ""
    expected: str = ""
    status: str = ""
    check: str = ""

    def failed(self) -> bool:
        """Return whether it is of a request that failed."""
        if self.expected:
            return self.expected == "false"
        return bool(self.status) and not self.status.startswith(("1", "2", "3"))


_Key = tuple[str, str, str, str]


@dataclass(slots=True)
class _Own:
    """Values of a metric that is not of HTTP requests."""

    values: array[float] = field(default_factory=lambda: array("d"))
    first: str = ""
    last: str = ""


@dataclass(slots=True)
class Points:
    """What a file holds, sorted."""

    kinds: dict[str, Kind] = field(default_factory=dict)
    requests: Table[_Key] = field(default_factory=lambda: Table(tuple(PARTS.values())))
    told: dict[_Key, int] = field(default_factory=dict)
    """Failed requests by http_req_failed, for scripts that leave out the tags."""
    stamps: dict[_Key, tuple[str, float, str]] = field(default_factory=dict)
    """When the first request ended and how long it took, and when the last one ended."""
    own: dict[_Key, _Own] = field(default_factory=dict)

    def take(self, point: Point) -> None:
        """Sort in a value."""
        key = point.name, point.method, point.group, point.scenario
        if point.metric == DURATION:
            self._request(key, point)
        elif (part := PARTS.get(point.metric)) is not None:
            if not point.failed():
                self.requests[key].others[part].append(point.value * 1e-3)
        elif point.metric == FAILED:
            if point.value:
                self.told[key] = self.told.get(key, 0) + 1
        elif point.metric not in LEFT_OUT:
            self._other(point)

    def _request(self, key: _Key, point: Point) -> None:
        requests = self.requests[key]
        known = self.stamps.get(key)
        self.stamps[key] = (point.when, point.value, point.when) if known is None else (*known[:2], point.when)
        if point.failed():
            requests.failed += 1
        else:
            requests.times.append(point.value * 1e-3)

    def _other(self, point: Point) -> None:
        # a check by its own name; requests of other protocols by that of the request
        key = point.metric, point.check or point.name, point.group, point.scenario
        own = self.own.get(key)
        if own is None:
            own = self.own[key] = _Own(first=point.when)
        kind = self.kinds.get(point.metric) or self.kinds.setdefault(point.metric, kind_of(point.metric))
        own.last = point.when
        if kind.kind == "counter" and own.values:
            own.values[0] += point.value
        elif kind.kind == "gauge" and own.values:
            own.values[0] = point.value
        else:
            own.values.append(point.value)

    def results(self) -> Iterator[Measured | Failed]:
        """Yield what was measured: requests by method and name, then the other metrics."""
        for key, requests in self.requests.items():
            name, method, group, scenario = key
            path, host = place_of(name)
            requests.failed = max(requests.failed, self.told.get(key, 0) if requests.failed == 0 else 0)
            _lasted(requests, *self.stamps.get(key, ("", 0.0, "")))
            if requests.times or requests.failed:
                labels = {"host": host, **_labels(group, scenario)}
                yield measured(f"{method} {path or UNNAMED}".strip(), requests, labels=labels)
        for (metric, name, group, scenario), own in self.own.items():
            labels = _labels(group, scenario) | ({"name": name} if name else {})
            yield from self._own_results(metric, own, labels)

    def _own_results(self, metric: str, own: _Own, labels: dict[str, str]) -> Iterator[Measured | Failed]:
        kind = self.kinds.get(metric) or kind_of(metric)
        if metric == "iterations":
            return
        metrics = {}
        if kind.kind == "rate":
            share = sum(map(bool, own.values)) / len(own.values)
            metrics = _rate(metric, share, kind)
        elif kind.kind in ("counter", "gauge"):
            name = "count" if kind.kind == "counter" else "value"
            metrics = {name: Metric(better=kind.better, values=[own.values[0]])}
        elif kind.time:
            metrics = {"time": Metric(unit="s", values=array("d", (value * 1e-3 for value in own.values)))}
            if metric == _ITERATION:
                start, end = _moment(own.first), _moment(own.last)
                span = None if start is None or end is None else end - start + own.values[0] * 1e-3
                metrics |= (
                    {"throughput": Metric(unit="1/s", better="higher", values=[len(own.values) / span])} if span else {}
                )
        else:
            metrics = {"value": Metric(better=kind.better, values=own.values)}
        yield checking.measured(metric, metrics, labels=labels)


def _rate(metric: str, share: float, kind: Kind) -> dict[str, Metric]:
    if metric == "checks":
        return {"error_rate": Metric(values=[1 - share])}
    return {"rate": Metric(unit="share", better=kind.better, values=[share])}


def _labels(group: str, scenario: str) -> dict[str, str]:
    labels = {"group": group.removeprefix("::"), "scenario": "" if scenario == "default" else scenario}
    return {key: value for key, value in labels.items() if value}


def _lasted(requests: Requests, first: str, took: float, last: str) -> None:
    start, end = _moment(first), _moment(last)
    if start is not None and end is not None:
        requests.lasted(start - took * 1e-3, end)


def _moment(text: str) -> float | None:
    if text.isdecimal():
        return int(text) * _TICKS[len(text)] if len(text) in _TICKS else None
    try:
        # whole seconds would make a short run's throughput a guess
        return datetime.fromisoformat(text).timestamp() if "." in text else None
    except (ValueError, OverflowError):
        return None


FORMAT = Format(
    title="k6 (`--out json` or csv; `--summary-export`, handleSummary's JSON)",
    execution="the file",
    iteration="one request of a method and name; one value of a trend; none of a summary",
    trap=(
        "requests whose URLs differ need one `name` tag, or each is a benchmark of its own; times are of requests with "
        "expected_response=true (in a summary without it, of all); which way is better of a rate or trend of one's own "
        'is read from its thresholds ("rate>0.9": higher); CSV has none, nor says what a metric is, so rates and '
        "counters of one's own are plain values there, and --summary-export not which trends are times"
    ),
)
_COLUMNS = {"metric_name", "timestamp", "metric_value"}


class _Tags(msgspec.Struct):
    name: str = ""
    url: str = ""
    method: str = ""
    group: str = ""
    scenario: str = ""
    expected_response: str = ""
    status: str = ""
    check: str = ""


class _Data(msgspec.Struct):
    value: float | None = None
    time: str = ""
    tags: _Tags | None = None
    type: str = ""
    contains: str = ""
    thresholds: Any = None


class _Line(msgspec.Struct):
    type: str
    metric: str
    data: _Data


_SEARCHED = 100
_NO_TAGS = _Tags()
_DECODER = msgspec.json.Decoder(_Line)


def recognises(source: Source) -> bool:
    """Return whether it has k6's points, its header line, or the metrics of a summary."""
    if _has_points(source):
        return True
    found = source.head.json
    return is_summary(found) if isinstance(found, dict) else set(source.head.first.split(",")) >= _COLUMNS


def _has_points(source: Source) -> bool:
    # with --out json=- the script's own words are among them
    first = next((line for line in source.head.lines[:_SEARCHED] if line.startswith("{")), "")
    try:
        return _DECODER.decode(first).type in ("Metric", "Point")
    except (msgspec.DecodeError, RecursionError):
        return False


def read(source: Source) -> Iterator[Result]:
    """Yield a process for each method and name and each metric of the script, or the aggregates of a summary."""
    if _has_points(source):
        points, torn = Points(), ""
        for number, line in enumerate(source.bytes_lines(), 1):
            if torn:
                raise OutputError(torn)
            if line[:1] != b"{":
                continue
            try:
                found = _DECODER.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                found = None
            if found is None or (found.type == "Point" and found.data.value is None):
                # the last line may be cut off
                torn = f"line {number}: {shown(line)} is no point of k6"
                continue
            _take(points, found)
        yield from points.results()
    elif source.head.text.lstrip().startswith("{"):
        yield from results(source.document(dict[str, Any], "k6's summary"))
    else:
        yield from _csv(source)


def _take(points: Points, line: _Line) -> None:
    data = line.data
    if line.type == "Metric":
        points.kinds[line.metric] = Kind(
            data.type or "trend", time=data.contains == "time", better=better_of(line.metric, data.thresholds)
        )
    elif data.value is not None:
        tags = data.tags or _NO_TAGS
        points.take(
            Point(
                line.metric, data.value, data.time, tags.name or tags.url, tags.method, tags.group, tags.scenario,
                tags.expected_response, tags.status, tags.check,
            )
        )  # fmt: skip


def _csv(source: Source) -> Iterator[Result]:
    points, torn = Points(), ""
    reader = csv.reader(source.raw_lines())
    names = header(reader)
    places = [names.index(name) if name in names else None for name in _ORDER]
    for row in reader:
        if torn:
            raise OutputError(torn)
        if len(row) == len(names) and (value := float_of(row[places[1] or 0])) is not None:
            cells = ["" if at is None else row[at] for at in places]
            name = cells[3] or cells[10]
            points.take(Point(cells[0], value, cells[2], name, *cells[4:10]))
        elif row:
            torn = f"line {reader.line_num}: {shown(','.join(row).encode())} is no point of k6"
    yield from points.results()


_ORDER = (
    "metric_name", "metric_value", "timestamp", "name", "method", "group", "scenario", "expected_response", "status",
    "check", "url",
)  # fmt: skip


_HTTP = "http_reqs"
"""What requests are called together, which is all that a summary knows of them."""
_GOOD = "{expected_response:true}"
_STATISTIC = re.compile(r"p\(?([\d.]+)\)?")
_MEANT = {"avg": "mean", "med": "median", "min": "min", "max": "max"}
_TREND = _MEANT.keys() | {"p(90)", "p(95)", "p90", "p95", "p99"}
Metrics = dict[str, dict[str, Any]]
"""By name, with tags in braces: what k6 says of each."""


def is_summary(found: dict[str, Any]) -> bool:
    """Return whether a JSON document is one."""
    return any(
        (name.startswith(("http_req", "iteration", "vus", "data_")) or "values" in each) and _numbers(each)
        for name, each in metrics_of(found).items()
    ) and ("root_group" in found or "state" in found or "results" in found or _is_bare(found))  # fmt: skip


def _is_bare(found: dict[str, Any]) -> bool:
    return bool({DURATION, "http_reqs", "iterations", "iteration_duration", "vus"} & metrics_of(found).keys())


def metrics_of(found: dict[str, Any]) -> Metrics:
    """Return what a document says of each metric."""
    results = found.get("results")
    if isinstance(results, dict) and isinstance(results.get("metrics"), list):
        listed = [each for each in results["metrics"] if isinstance(each, dict)]
        return {str(each["name"]): each for each in listed if "name" in each}
    metrics = found.get("metrics")
    metrics = metrics if isinstance(metrics, dict) else {}
    # one that is no object has no values
    return {name: each if isinstance(each, dict) else {} for name, each in metrics.items()}


def _numbers(each: dict[str, Any]) -> dict[str, float]:
    values = each.get("values", each)
    values = values if isinstance(values, dict) else {}
    return {
        name: float(value)
        for name, value in values.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300
    }


def results(found: dict[str, Any]) -> Iterator[Aggregate | Failed]:
    """Yield the aggregates of each metric; times of requests are of those that succeeded, where k6 has them apart."""
    metrics = metrics_of(found)
    rate = _share(_numbers(metrics.get(FAILED, {})))
    if rate == 1:
        yield Failed(benchmark=_HTTP, status="all requests failed")
        metrics = {name: each for name, each in metrics.items() if not name.startswith("http_req")}
    elif f"{DURATION}{_GOOD}" in metrics:
        metrics = {name: each for name, each in metrics.items() if name != DURATION}
    for name, each in metrics.items():
        own = list(_metric(name.replace(_GOOD, ""), each, _numbers(each)))
        yield from own
        base = name.partition("{")[0]
        if not own and base not in LEFT_OUT - {FAILED, _HTTP} and not base.startswith("checks_"):
            yield Failed(benchmark=name, status="no value in the summary that is a number")


def _share(numbers: dict[str, float]) -> float | None:
    return numbers.get("rate", numbers.get("value"))


def _metric(full: str, each: dict[str, Any], numbers: dict[str, float]) -> Iterator[Aggregate]:
    name, _, tags = full.partition("{")
    labels = dict(tag.strip().split(":", 1) for tag in tags.rstrip("}").split(",") if ":" in tag)
    if name == FAILED:
        if (failed := _share(numbers)) is not None:
            yield from error_rate(_HTTP, failed, 1, labels)
    elif name == _HTTP:
        rate = {"value": numbers.get("rate")}
        yield from aggregates(_HTTP, "throughput", rate, unit="1/s", better="higher", labels=labels)
    elif name == DURATION or name in PARTS:
        metric = "time" if name == DURATION else PARTS[name]
        yield from _trend(_HTTP, metric, numbers, labels, time=True, better=None)
    elif name not in LEFT_OUT:
        yield from _own(name, each, numbers, labels)


def _own(name: str, each: dict[str, Any], numbers: dict[str, float], labels: dict[str, str]) -> Iterator[Aggregate]:
    better = better_of(name, each.get("thresholds"))
    if numbers.keys() >= _TREND or {"avg", "med"} & numbers.keys() or each.get("type") == "trend":
        time = each.get("contains") == "time" or ("contains" not in each and kind_of(name).time)
        yield from _trend(name, "time" if time else "value", numbers, labels, time=time, better=better)
    elif name.startswith("checks"):
        if name == "checks" and (share := _share(numbers)) is not None:
            yield from error_rate(name, 1 - share, 1, labels)
    elif name == "iterations":
        rate = {"value": numbers.get("rate")}
        yield from aggregates(name, "throughput", rate, unit="1/s", better="higher", labels=labels)
    elif "count" in numbers:
        yield from aggregates(name, "count", {"value": numbers["count"]}, unit="", better=better, labels=labels)
    else:
        is_rate = "passes" in numbers or "matches" in numbers or each.get("type") == "rate"
        value = {"value": _share(numbers)}
        yield from aggregates(
            name, "rate" if is_rate else "value", value, unit="share" if is_rate else "", better=better, labels=labels
        )


def _trend(
    name: str, metric: str, numbers: dict[str, float], labels: dict[str, str], *, time: bool, better: Any
) -> Iterator[Aggregate]:
    found: dict[str, float | None] = {}
    for said, value in numbers.items():
        match = _STATISTIC.fullmatch(said)
        statistic = _MEANT.get(said) or (percentile(match[1]) if match and match[1].count(".") < 2 else None)
        if statistic:
            found[statistic] = value * 1e-3 if time else value
    yield from aggregates(
        name, metric, found, unit="s" if time else "", better=better, labels=labels,
        count=numbers.get("count"),
    )  # fmt: skip
