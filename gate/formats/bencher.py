"""Bencher Metric Format: benchmarks, their measures, and a value with bounds for each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gate.formats.parts.result import About, Failed, Format, Result, aggregate
from gate.formats.parts.source import Source
from gate.model import Better
from gate.model.bounds import number

FORMAT = Format(title="Bencher Metric Format (`--adapter json`)")
_KEYS = {"value", "lower_value", "upper_value"}
_PERCENT = (
    "l1-hit-rate", "ll-hit-rate", "ram-hit-rate", "i1-miss-rate", "lli-miss-rate", "d1-miss-rate", "lld-miss-rate",
    "ll-miss-rate", "compute-jitter", "cache-jitter", "io-jitter", "cpu-steal",
)  # fmt: skip
_BYTES = (
    "file-size", "binary-size", "allocated", "total-bytes", "at-t-gmax-bytes", "at-t-end-bytes", "reads-bytes",
    "writes-bytes", "maximum-bytes", "max-bytes", "final-bytes",
)  # fmt: skip
# https://bencher.dev/docs/explanation/benchmarking/: the built-in measures
_UNITS: dict[str, tuple[str, float]] = {
    "latency": ("s", 1e-9), "throughput": ("1/s", 1.0), "build-time": ("s", 1.0), "sys-cpu-time": ("s", 1e-9),
    **dict.fromkeys(_PERCENT, ("%", 1.0)), **dict.fromkeys(_BYTES, ("B", 1.0)),
}  # fmt: skip
_BETTER: dict[str, Better] = {"total-operations": "higher", "ram-hit-rate": "lower", "cpu-steal": "lower"}
"""Of those whose name and unit do not tell."""


def recognises(source: Source) -> bool:
    """Return whether it is an object of objects of values, with nothing else in them."""
    found = source.head.json
    if not isinstance(found, dict) or not found:
        return False
    own = list(found.values()) if source.head.whole else list(found.values())[:-1]
    measures = [each for benchmark in own if isinstance(benchmark, dict) for each in benchmark.values()]
    return (
        all(isinstance(each, dict) for each in own)
        and all(isinstance(each, dict) and "value" in each and each.keys() <= _KEYS for each in measures)
        and any(number(each["value"]) is not None for each in measures)
    )


def read(source: Source) -> Iterator[Result]:
    """Yield the value of each measure."""
    yield About(tool="Bencher")
    for benchmark, measures in source.document(dict[str, Any], "the Bencher Metric Format").items():
        if not isinstance(measures, dict) or not measures:
            yield Failed(benchmark=benchmark, status="no measures")
            continue
        for measure, metric in measures.items():
            # by its slug or its name: "build-time", "Build Time"
            slug = measure.strip().lower().replace(" ", "-")
            unit, scale = _UNITS.get(slug, ("", 1.0))
            given = metric if isinstance(metric, dict) else {}
            value, low, high = (number(given.get(key)) for key in ("value", "lower_value", "upper_value"))
            if value is None or low is None or high is None or not low <= value <= high:
                # older versions had distances in place of bounds
                low = high = None
            yield aggregate(
                benchmark, measure, "value", value, unit=unit, scale=scale, better=_BETTER.get(slug), low=low, high=high
            )
