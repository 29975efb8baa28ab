"""js/stats.json of a report of Gatling: statistics of each request and group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gate.formats.parts.checking import aggregate
from gate.formats.parts.result import About, Failed, Result
from gate.formats.parts.source import Source
from gate.model.bounds import number

_MS = 1e-3
_STATISTICS = {
    "meanResponseTime": "mean", "minResponseTime": "min", "maxResponseTime": "max", "percentiles1": "p50",
    "percentiles2": "p75", "percentiles3": "p95", "percentiles4": "p99",
}  # fmt: skip
_DEEPEST = 50


def recognises(found: Any) -> bool:
    """Return whether a JSON document is the tree of a report's statistics."""
    if not isinstance(found, dict):
        return False
    if _is_global(found):
        return True
    return "pathFormatted" in found and isinstance(found.get("stats"), dict) and "numberOfRequests" in found["stats"]


def _is_global(found: Mapping[str, Any]) -> bool:
    """Return whether it is js/global_stats.json: all requests in one."""
    return {"numberOfRequests", "minResponseTime", "percentiles1"} <= found.keys()


def read(source: Source) -> Iterator[Result]:
    """Yield the statistics of the successful requests."""
    yield About(tool="Gatling")
    document = source.document(dict[str, Any], "js/stats.json")
    if _is_global(document):
        yield from _results("All Requests", document, {"type": "request"})
    else:
        yield from _node(document, [], 0)


def _node(node: Mapping[str, Any], groups: list[str], depth: int) -> Iterator[Result]:
    statistics = node.get("stats")
    name = str(node.get("name", ""))
    is_group = node.get("type") == "GROUP"
    if depth:
        statistics = statistics if isinstance(statistics, dict) else {}
        if is_group:
            yield from _results(" / ".join([*groups, name]), statistics, {"type": "group"})
        else:
            labels = {"type": "request", **({"group": " / ".join(groups)} if groups else {})}
            yield from _results(name, statistics, labels)
    contents = node.get("contents", {})
    if not isinstance(contents, dict):
        yield Failed(benchmark=name, status="its contents are no object")
    elif depth < _DEEPEST:
        for key, own in contents.items():
            inside = own if isinstance(own, dict) else {"name": key}
            yield from _node(inside, [*groups, name] if depth else [], depth + 1)


def _results(name: str, statistics: Mapping[str, Any], labels: dict[str, str]) -> Iterator[Result]:
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
