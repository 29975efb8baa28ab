"""Statistics as tinybench computes them, for vitest too: times in ms, rates in operations a second."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gate.formats.parts.checking import aggregate, measured, scaled, times
from gate.formats.parts.result import Failed, Result
from gate.model.bounds import number

CONFIDENCE = 0.95
"""Of the margin of error."""
_MS = 1e-3
_QUANTILES = {
    "p50": "p50", "median": "p50", "p75": "p75", "p99": "p99", "p995": "p99.5", "p999": "p99.9", "min": "min",
    "max": "max",
}  # fmt: skip


def of_times(name: str, statistics: Mapping[str, Any], labels: Mapping[str, str]) -> Iterator[Result]:
    """Yield the samples of a benchmark, or its statistics where there are none."""
    samples = statistics.get("samples")
    if isinstance(samples, list) and samples:
        values = scaled(samples, _MS)
        if values is None:
            yield Failed(benchmark=name, status="not all of its samples are numbers", labels=dict(labels))
        else:
            yield measured(name, {"time": times(values)}, labels=labels)
        return
    mean, margin = number(statistics.get("mean")), number(statistics.get("moe"))
    if mean is None:
        yield Failed(benchmark=name, status="no values: it failed, or did not run", labels=dict(labels))
        return
    yield aggregate(
        name, "time", "mean", mean, unit="s", scale=_MS, low=None if margin is None else mean - margin,
        high=None if margin is None else mean + margin, confidence=CONFIDENCE, sd=number(statistics.get("sd")),
        count=number(statistics.get("samplesCount", statistics.get("sampleCount"))), labels=labels,
    )  # fmt: skip
    known = dict[str, float]()
    for key, statistic in _QUANTILES.items():
        value = number(statistics.get(key))
        if value is not None:
            known.setdefault(statistic, value)
    for statistic, value in known.items():
        yield aggregate(name, "time", statistic, value, unit="s", scale=_MS, labels=labels)


def of_rates(name: str, statistics: Mapping[str, Any], labels: Mapping[str, str]) -> Iterator[Result]:
    """Yield the mean rate of a benchmark without samples."""
    mean, margin = number(statistics.get("mean")), number(statistics.get("moe"))
    if mean is not None:
        yield aggregate(
            name, "throughput", "mean", mean, unit="1/s", better="higher",
            low=None if margin is None else mean - margin, high=None if margin is None else mean + margin,
            confidence=CONFIDENCE, labels=labels,
        )  # fmt: skip
