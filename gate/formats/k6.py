"""k6's points (`--out json`).

Which way is better of a rate or trend of one's own is read from its thresholds ("rate>0.9": higher).
"""

from __future__ import annotations

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
from gate.formats.parts.result import Failed, Format, Measured, Result
from gate.formats.parts.source import Source
from gate.model import Better, Metric

FORMAT = Format(title="k6 (`--out json`)")
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


class _Kind(NamedTuple):
    kind: str = "trend"
    """trend, rate, counter or gauge."""
    time: bool = False
    """Whether its values are times, in milliseconds."""
    better: Better | None = None


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
                metrics = _metrics(metric, self.kinds.get(metric) or _Kind(time=metric in TIMES), own)
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
    """Return whether it has k6's points."""
    first = next((line for line in source.head.lines[:100] if line.startswith("{")), "")
    try:
        return _DECODER.decode(first).type in ("Metric", "Point")
    except (msgspec.DecodeError, RecursionError):
        return False


def read(source: Source) -> Iterator[Result]:
    """Yield a process for each method and name and each metric of the script."""
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
