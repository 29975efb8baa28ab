"""The points of k6's JSON lines and CSV -> requests by name, and what scripts measure of their own."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from gate.directions import direction
from gate.formats.parts import checking
from gate.formats.parts.requests import UNNAMED, Requests, Table, measured, place_of
from gate.formats.parts.result import Failed, Measured
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
