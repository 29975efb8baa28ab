"""k6's points (`--out json`) and its summaries (`--summary-export`, handleSummary).

Which way is better of a rate or trend of one's own is read from its thresholds ("rate>0.9": higher); --summary-export
does not say which trends are times.
"""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from gate.directions import direction
from gate.formats.parts import requests as load
from gate.formats.parts.output import OutputError, shown
from gate.formats.parts.result import Aggregate, Failed, Format, Measured, Result
from gate.formats.parts.source import Source
from gate.model import Better, Metric

FORMAT = Format(title="k6 (`--out json`; `--summary-export`, handleSummary's JSON)")
_DURATION = "http_req_duration"
_FAILED = "http_req_failed"
_PARTS = {
    f"http_req_{part}": part for part in ("blocked", "connecting", "tls_handshaking", "sending", "waiting", "receiving")
}
"""The parts of a request's time, and what they are called as metrics of it."""
_LEFT_OUT = frozenset({"vus", "vus_max", "http_reqs", "data_sent", "data_received", _FAILED})
"""What is no measurement of its own: the load that was set, and counts that requests have anyway."""
_ITERATION = "iteration_duration"
TIMES = frozenset({
    _DURATION, *_PARTS, _ITERATION, "group_duration", "ws_connecting", "ws_session_duration", "ws_ping",
    "grpc_req_duration", "browser_web_vital_fcp", "browser_web_vital_fid", "browser_web_vital_inp",
    "browser_web_vital_lcp", "browser_web_vital_ttfb", "browser_http_req_duration",
})  # fmt: skip
"""Metrics whose values are times, in milliseconds."""
_KINDS = {"checks": "rate", "iterations": "counter", "dropped_iterations": "counter"}


class _Kind(NamedTuple):
    kind: str = "trend"
    """trend, rate, counter or gauge."""
    time: bool = False
    """Whether its values are times, in milliseconds."""
    better: Better | None = None


def _kind_of(name: str) -> _Kind:
    """Return what a metric is that the file does not describe."""
    return _Kind(_KINDS.get(name, "trend"), name in TIMES, _better_of(name, None))


def _better_of(name: str, thresholds: object) -> Better | None:
    """Return which direction of a metric is better: its thresholds tell, such as "rate>0.95", or its name."""
    text = " ".join(map(str, thresholds)) if isinstance(thresholds, (list, dict)) else ""
    if (">" in text) != ("<" in text):
        return "higher" if ">" in text else "lower"
    return direction(name, "")


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
    """A point, or what the file says of a metric."""

    type: str
    metric: str
    data: _Data


_NO_TAGS = _Tags()
_NO_LINE = _Line("", "", _Data())
_DECODER = msgspec.json.Decoder(_Line)
_Key = tuple[str, str, str, str]


@dataclass(slots=True)
class _Own:
    values: array[float] = field(default_factory=lambda: array("d"))
    first: str = ""
    last: str = ""


class _Points:
    def __init__(self) -> None:
        self.kinds: dict[str, _Kind] = {}
        self.requests: load.Table[_Key] = load.Table(tuple(_PARTS.values()))
        self.told: dict[_Key, int] = {}
        """Failed requests by http_req_failed, for scripts that leave out the tags."""
        self.stamps: dict[_Key, tuple[str, float, str]] = {}
        """When the first request ended and how long it took, and when the last one ended."""
        self.own: defaultdict[_Key, _Own] = defaultdict(_Own)

    def take(self, metric: str, value: float, when: str, tags: _Tags) -> None:
        """Sort in a value."""
        key = tags.name or tags.url, tags.method, tags.group, tags.scenario
        failed = tags.expected_response == "false"
        if not tags.expected_response:
            failed = bool(tags.status) and not tags.status.startswith(("1", "2", "3"))
        if metric == _DURATION:
            requests, known = self.requests[key], self.stamps.get(key)
            self.stamps[key] = (when, value, when) if known is None else (*known[:2], when)
            if failed:
                requests.failed += 1
            else:
                requests.times.append(value * 1e-3)
        elif metric in _PARTS:
            if not failed:
                self.requests[key].others[_PARTS[metric]].append(value * 1e-3)
        elif metric == _FAILED:
            self.told[key] = self.told.get(key, 0) + bool(value)
        elif metric not in _LEFT_OUT:
            # a check by its own name; requests of other protocols by that of the request
            own = self.own[metric, tags.check or key[0], tags.group, tags.scenario]
            own.first, own.last = own.first or when, when
            own.values.append(value)

    def results(self) -> Iterator[Measured | Failed]:
        """Yield what was measured: requests by method and name, then the other metrics."""
        for key, requests in self.requests.items():
            name, method, group, scenario = key
            path, host = load.place_of(name)
            requests.failed = requests.failed or self.told.get(key, 0)
            first, took, last = self.stamps.get(key, ("", 0.0, ""))
            start, end = _moment(first), _moment(last)
            if start is not None and end is not None:
                requests.lasted(start - took * 1e-3, end)
            if requests.times or requests.failed:
                labels = {"host": host, **_labels(group, scenario)}
                yield load.measured(f"{method} {path or load.UNNAMED}".strip(), requests, labels=labels)
        for (metric, name, group, scenario), own in self.own.items():
            if metric != "iterations":
                labels = _labels(group, scenario) | ({"name": name} if name else {})
                metrics = _metrics(metric, self.kinds.get(metric) or _kind_of(metric), own)
                yield Measured(benchmark=metric, metrics=metrics, labels=labels)


def _metrics(metric: str, kind: _Kind, own: _Own) -> dict[str, Metric]:
    if kind.kind == "rate":
        share = sum(map(bool, own.values)) / len(own.values)
        if metric == "checks":
            return {"error_rate": Metric(values=[1 - share])}
        return {"rate": Metric(unit="share", better=kind.better, values=[share])}
    if kind.kind in ("counter", "gauge"):
        name = "count" if kind.kind == "counter" else "value"
        value = sum(own.values) if kind.kind == "counter" else own.values[-1]
        return {name: Metric(better=kind.better, values=[value])}
    if not kind.time:
        return {"value": Metric(better=kind.better, values=own.values)}
    metrics = {"time": Metric(unit="s", values=array("d", (value * 1e-3 for value in own.values)))}
    start, end = _moment(own.first), _moment(own.last)
    span = 0.0 if start is None or end is None else end - start + own.values[0] * 1e-3
    if metric == _ITERATION and span:
        metrics["throughput"] = Metric(unit="1/s", better="higher", values=[len(own.values) / span])
    return metrics


def _labels(group: str, scenario: str) -> dict[str, str]:
    labels = {"group": group.removeprefix("::"), "scenario": "" if scenario == "default" else scenario}
    return {key: value for key, value in labels.items() if value}


def _moment(text: str) -> float | None:
    try:
        # whole seconds would make a short run's throughput a guess
        return datetime.fromisoformat(text).timestamp() if "." in text else None
    except (ValueError, OverflowError):
        return None


def recognises(source: Source) -> bool:
    """Return whether it has k6's points, or the metrics of a summary."""
    if _has_points(source):
        return True
    found = source.head.json
    if not isinstance(found, dict):
        return False
    metrics = _metrics_of(found)
    is_k6 = any(
        (name.startswith(("http_req", "iteration", "vus", "data_")) or "values" in each) and _numbers(each)
        for name, each in metrics.items()
    )
    bare = {_DURATION, _HTTP, "iterations", _ITERATION, "vus"} & metrics.keys()
    return is_k6 and bool({"root_group", "state", "results"} & found.keys() or bare)


def _has_points(source: Source) -> bool:
    first = next((line for line in source.head.lines[:100] if line.startswith("{")), "")
    try:
        return _DECODER.decode(first).type in ("Metric", "Point")
    except (msgspec.DecodeError, RecursionError):
        return False


def read(source: Source) -> Iterator[Result]:
    """Yield a process for each method and name and each metric of the script, or the aggregates of a summary."""
    if not _has_points(source) and source.head.text.lstrip().startswith("{"):
        yield from _summary(source.document(dict[str, Any], "k6's summary"))
        return
    points = _Points()
    for number, line in enumerate(source.bytes_lines(), 1):
        # with --out json=- the script's own words are among them
        if line[:1] != b"{":
            continue
        try:
            found = _DECODER.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            found = _NO_LINE
        data = found.data
        if found.type == "Metric":
            better = _better_of(found.metric, data.thresholds)
            points.kinds[found.metric] = _Kind(data.type or "trend", data.contains == "time", better)
        elif data.value is not None:
            points.take(found.metric, data.value, data.time, data.tags or _NO_TAGS)
        elif found.type in ("", "Point"):
            raise OutputError(f"line {number}: {shown(line)} is no point of k6")
    yield from points.results()


_HTTP = "http_reqs"
"""What requests are called together, which is all that a summary knows of them."""
_GOOD = "{expected_response:true}"
_STATISTIC = re.compile(r"p\(?([\d.]+)\)?")
_MEANT = {"avg": "mean", "med": "median", "min": "min", "max": "max"}


def _metrics_of(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
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


def _summary(found: dict[str, Any]) -> Iterator[Aggregate | Failed]:
    """Yield the aggregates of each metric; times of requests are of those that succeeded, where k6 has them apart."""
    metrics = _metrics_of(found)
    rate = _share(_numbers(metrics.get(_FAILED, {})))
    if rate == 1:
        yield Failed(benchmark=_HTTP, status="all requests failed")
        metrics = {name: each for name, each in metrics.items() if not name.startswith("http_req")}
    elif f"{_DURATION}{_GOOD}" in metrics:
        metrics = {name: each for name, each in metrics.items() if name != _DURATION}
    for name, each in metrics.items():
        own = list(_metric(name.replace(_GOOD, ""), each, _numbers(each)))
        yield from own
        base = name.partition("{")[0]
        if not own and base not in _LEFT_OUT - {_FAILED, _HTTP} and not base.startswith("checks_"):
            yield Failed(benchmark=name, status="its summary has no number")


def _share(numbers: dict[str, float]) -> float | None:
    return numbers.get("rate", numbers.get("value"))


def _metric(full: str, each: dict[str, Any], numbers: dict[str, float]) -> Iterator[Aggregate]:
    name, _, tags = full.partition("{")
    labels = dict(tag.strip().split(":", 1) for tag in tags.rstrip("}").split(",") if ":" in tag)
    better, share = _better_of(name, each.get("thresholds")), _share(numbers)
    if name == _FAILED:
        yield from load.error_rate(_HTTP, share or 0.0, 1 if share is not None else 0, labels)
    elif name == _HTTP or (name == "iterations" and not _is_trend(each, numbers)):
        rate = {"value": numbers.get("rate")}
        yield from load.aggregates(name, "throughput", rate, unit="1/s", better="higher", labels=labels)
    elif name == _DURATION or name in _PARTS:
        yield from _trend(_HTTP, _PARTS.get(name, "time"), numbers, labels, time=True, better=None)
    elif name in _LEFT_OUT:
        return
    elif _is_trend(each, numbers):
        time = each.get("contains") == "time" or ("contains" not in each and _kind_of(name).time)
        yield from _trend(name, "time" if time else "value", numbers, labels, time=time, better=better)
    elif name.startswith("checks"):
        if name == "checks" and share is not None:
            yield from load.error_rate(name, 1 - share, 1, labels)
    elif "count" in numbers:
        yield from load.aggregates(name, "count", {"value": numbers["count"]}, unit="", better=better, labels=labels)
    else:
        is_rate = "passes" in numbers or "matches" in numbers or each.get("type") == "rate"
        metric, unit = ("rate", "share") if is_rate else ("value", "")
        yield from load.aggregates(name, metric, {"value": share}, unit=unit, better=better, labels=labels)


def _is_trend(each: dict[str, Any], numbers: dict[str, float]) -> bool:
    return bool({"avg", "med"} & numbers.keys()) or each.get("type") == "trend"


def _trend(
    name: str, metric: str, numbers: dict[str, float], labels: dict[str, str], *, time: bool, better: Any
) -> Iterator[Aggregate]:
    found: dict[str, float | None] = {}
    for said, value in numbers.items():
        match = _STATISTIC.fullmatch(said)
        statistic = _MEANT.get(said) or (load.percentile(match[1]) if match and match[1].count(".") < 2 else None)
        if statistic:
            found[statistic] = value * 1e-3 if time else value
    yield from load.aggregates(
        name, metric, found, unit="s" if time else "", better=better, labels=labels,
        count=numbers.get("count"),
    )  # fmt: skip
