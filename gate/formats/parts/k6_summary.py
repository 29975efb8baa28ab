"""k6's summaries in JSON -> aggregates: of --summary-export, of handleSummary, and the new machine-readable one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from gate.formats.parts.k6_points import DURATION, FAILED, LEFT_OUT, PARTS, better_of, kind_of
from gate.formats.parts.requests import aggregates, error_rate, percentile
from gate.formats.parts.result import Aggregate, Failed

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
    rate = _rate(_numbers(metrics.get(FAILED, {})))
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


def _rate(numbers: dict[str, float]) -> float | None:
    return numbers.get("rate", numbers.get("value"))


def _metric(full: str, each: dict[str, Any], numbers: dict[str, float]) -> Iterator[Aggregate]:
    name, _, tags = full.partition("{")
    labels = dict(tag.strip().split(":", 1) for tag in tags.rstrip("}").split(",") if ":" in tag)
    if name == FAILED:
        if (failed := _rate(numbers)) is not None:
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
        if name == "checks" and (share := _rate(numbers)) is not None:
            yield from error_rate(name, 1 - share, 1, labels)
    elif name == "iterations":
        rate = {"value": numbers.get("rate")}
        yield from aggregates(name, "throughput", rate, unit="1/s", better="higher", labels=labels)
    elif "count" in numbers:
        yield from aggregates(name, "count", {"value": numbers["count"]}, unit="", better=better, labels=labels)
    else:
        is_rate = "passes" in numbers or "matches" in numbers or each.get("type") == "rate"
        value = {"value": _rate(numbers)}
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
