"""What an adapter has read -> results that can be used: values of a size to compute with, and no negative times."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from gate.model import Better, Metric
from gate.model.bounds import out_of_bounds, why_out_of_bounds
from gate.model.visible import visible
from gate.results.result import About, Aggregate, Failed, Measured, Result

_NO_NEGATIVES = ("s", "B", "1/s", "B/s")


def fault(values: Sequence[float], unit: str) -> str | None:
    """Say why values of a base unit cannot be used, in a few words; None: they can."""
    if not values:
        return "no values"
    bad = out_of_bounds(values)
    if bad is None:
        bad = next((value for value in values if value < 0), None) if unit in _NO_NEGATIVES else None
        return None if bad is None else f"{bad:g}, which is below 0"
    return why_out_of_bounds(bad) if math.isfinite(bad) else f"{bad:g}, which is not a finite number"


def measured(
    benchmark: str, metrics: Mapping[str, Metric], *, execution: int = 0, labels: Mapping[str, str] | None = None
) -> Measured | Failed:
    """Give the values of a benchmark in one process, or say that it failed where some of them cannot be used."""
    shown, own = visible(benchmark), _visible(labels)
    for name, metric in metrics.items():
        why = fault(metric.values, metric.unit)
        if why is not None:
            return Failed(benchmark=shown, status=f"{visible(name)}: {why}", execution=execution, labels=own)
    if not metrics:
        return Failed(benchmark=shown, status="no values", execution=execution, labels=own)
    return Measured(
        benchmark=shown,
        metrics={visible(name): each for name, each in metrics.items()},
        execution=execution,
        labels=own,
    )


def aggregate(
    benchmark: str, metric: str, statistic: str, value: float | None, *,
    unit: str = "", scale: float = 1.0, better: Better = "lower", low: float | None = None, high: float | None = None,
    confidence: float | None = None, sd: float | None = None, count: int | None = None, execution: int = 0,
    labels: Mapping[str, str] | None = None,
) -> Aggregate | Failed:  # fmt: skip
    """Give a statistic of a benchmark, or say that it failed where it cannot be used; an interval only if it is one.

    Args:
        scale: takes value, low, high and sd to the unit.
    """
    shown, own = visible(benchmark), _visible(labels)
    why = "no value" if value is None else fault([value * scale], unit)
    if value is None or why is not None:
        status = f"{visible(metric)}, {visible(statistic)}: {why}"
        return Failed(benchmark=shown, status=status, execution=execution, labels=own)
    is_interval = low is not None and high is not None and math.isfinite(low) and math.isfinite(high) and low <= high
    return Aggregate(
        benchmark=shown, metric=visible(metric), statistic=visible(statistic), value=value * scale, unit=visible(unit),
        better=better, low=low * scale if is_interval and low is not None else None,
        high=high * scale if is_interval and high is not None else None, confidence=confidence if is_interval else None,
        sd=sd * scale if sd is not None and math.isfinite(sd) and sd >= 0 else None, count=count, execution=execution,
        labels=own,
    )  # fmt: skip


def numbered(results: Iterable[Result]) -> Iterator[Result]:
    """Tell what a file has twice under one name and the same labels apart: by a label "number", from "2" on."""
    seen: Counter[Any] = Counter()
    for result in results:
        if isinstance(result, About):
            yield result
            continue
        what = (result.metric, result.statistic) if isinstance(result, Aggregate) else ()
        key = (type(result), result.benchmark, what, result.execution, tuple(result.labels.items()))
        seen[key] += 1
        again = seen[key] > 1
        yield msgspec.structs.replace(result, labels={**result.labels, "number": str(seen[key])}) if again else result


def _visible(labels: Mapping[str, str] | None) -> dict[str, str]:
    # all results of a commit share one where nothing must be changed: there are millions
    if isinstance(labels, dict) and all(key.isprintable() and value.isprintable() for key, value in labels.items()):
        return labels
    return {visible(key): visible(value) for key, value in labels.items()} if labels else {}


def number(found: object) -> float | None:
    """Return a number of JSON; None where it is none: JavaScript writes NaN as null."""
    if not isinstance(found, (int, float)) or isinstance(found, bool):
        return None
    try:
        return float(found)
    except OverflowError:
        return math.inf


def scaled(samples: Iterable[Any], scale: float) -> array[float] | None:
    """Scale samples as JSON has them, 8 bytes each; None: one of them is no number."""
    try:
        return array("d", map(scale.__mul__, samples))
    except (TypeError, OverflowError):
        return None


def times(values: Sequence[float]) -> Metric:
    """Make a metric of times in s, without a copy of an array."""
    return Metric(unit="s", values=values)
