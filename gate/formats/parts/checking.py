"""What an adapter has read -> results that can be used: values of a size to compute with, and what is better."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from gate.directions import told_or_known
from gate.formats.parts.result import About, Aggregate, Failed, LeftOut, Measured, Result
from gate.model import Better, Metric
from gate.model.bounds import number, out_of_bounds, why_out_of_bounds
from gate.model.digits import Digits
from gate.writing.plain import visible

T = TypeVar("T")
F = TypeVar("F", Failed, About)
MOST = 2**53
"""The largest whole number that every reader of JSON keeps."""
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


def usable(measured: Measured) -> Measured | Failed:
    """Leave out the metrics whose values cannot be computed with: none, too large or small, not finite, or below 0.

    Where it is the one that the benchmark is about, all of it has failed. All text becomes printable.
    """
    labels, benchmark = _visible(measured.labels), visible(measured.benchmark)
    faults = {name: why for name, metric in measured.metrics.items() if (why := fault(metric.values, metric.unit))}
    chief = "time" if "time" in measured.metrics else next(iter(measured.metrics), "")
    if chief in faults or not measured.metrics:
        status = f"{visible(chief)}: {faults[chief]}" if measured.metrics else "no values"
        return Failed(
            benchmark=benchmark, status=status, execution=measured.execution, labels=labels,
            otherwise=measured.otherwise,
        )  # fmt: skip
    metrics = {visible(name): _directed(name, m) for name, m in measured.metrics.items() if name not in faults}
    return msgspec.structs.replace(measured, benchmark=benchmark, metrics=metrics, labels=labels)


def checked(found: Aggregate) -> Aggregate | Failed:
    """Give an aggregate without an interval or deviation that is none, or a failure where its value is none.

    All text becomes printable.
    """
    labels, benchmark = _visible(found.labels), visible(found.benchmark)
    metric, statistic = visible(found.metric), visible(found.statistic)
    why = fault([found.value], found.unit)
    if why is not None:
        status = f"{metric}, {statistic}: {why}"
        return Failed(benchmark=benchmark, status=status, execution=found.execution, labels=labels)
    low, high, sd = (None if each is None else float(each) for each in (found.low, found.high, found.sd))
    # a file may give one limit alone
    limits = [limit for limit in (low, high) if limit is not None]
    is_interval = bool(limits) and all(map(math.isfinite, limits)) and limits == sorted(limits)
    return msgspec.structs.replace(
        found, benchmark=benchmark, metric=metric, statistic=statistic, unit=visible(found.unit), labels=labels,
        value=float(found.value), step=found.value.step if isinstance(found.value, Digits) else found.step,
        better=told_or_known(found.better, found.metric, found.unit),
        low=low if is_interval else None, high=high if is_interval else None,
        confidence=found.confidence if is_interval else None,
        sd=sd if sd is not None and math.isfinite(sd) and sd >= 0 else None,
        count=found.count if found.count is not None and 1 <= found.count <= MOST else None,
    )  # fmt: skip


def _directed(name: str, metric: Metric) -> Metric:
    better, unit = told_or_known(metric.better, name, metric.unit), visible(metric.unit)
    alike = better == metric.better and unit == metric.unit
    return metric if alike else msgspec.structs.replace(metric, better=better, unit=unit)


def printable(found: F) -> F:
    """Give a failure, or what a file says of itself, in text that prints and numbers that JSON has."""
    own = {name: _printable(getattr(found, name)) for name in found.__struct_fields__ if name != "otherwise"}
    return msgspec.structs.replace(found, **own)


def _printable(value: Any) -> Any:
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible(str(key)): _printable(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_printable(each) for each in value]
    return number(value) if isinstance(value, int) and abs(value) > MOST else value


def measured(
    benchmark: str, metrics: Mapping[str, Metric], *, execution: int = 0, labels: Mapping[str, str] | None = None
) -> Measured:
    """Give the values of a benchmark in one process."""
    return Measured(benchmark=benchmark, metrics=dict(metrics), execution=execution, labels=dict(labels or {}))


def aggregate(
    benchmark: str, metric: str, statistic: str, value: float | None, *,
    unit: str = "", scale: float = 1.0, better: Better | None = None, low: float | None = None,
    high: float | None = None, confidence: float | None = None, sd: float | None = None, count: float | None = None,
    execution: int = 0, labels: Mapping[str, str] | None = None,
) -> Aggregate | Failed:  # fmt: skip
    """Give a statistic of a benchmark, or say that it failed where it has no value.

    A value whose text is gone is taken to be written with no more digits than it needs.

    Args:
        scale: takes value, low, high and sd to the unit.
    """
    own = dict(labels or {})
    if value is None:
        status = f"{visible(metric)}, {visible(statistic)}: no value"
        return Failed(benchmark=visible(benchmark), status=status, execution=execution, labels=own)
    low, high, sd = (None if each is None else each * scale for each in (low, high, sd))
    written = value if isinstance(value, Digits) else Digits.shortest(value)
    return Aggregate(
        benchmark=benchmark, metric=metric, statistic=statistic, value=written * scale, unit=unit, better=better,
        low=low, high=high, confidence=confidence, sd=sd, count=count, execution=execution, labels=own,
    )  # fmt: skip


def entry(found: object, shape: type[T], place: str, *names: str) -> T | Failed:
    """Read a benchmark of a JSON document; one that is not of the shape has failed, and says what is wrong where.

    Args:
        place: where it stands in the document, such as "results[3]".
        names: the keys that may hold its name, the best one first.
    """
    try:
        return msgspec.convert(found, shape, strict=False)
    except msgspec.ValidationError as error:
        own = found if isinstance(found, dict) else {}
        name = next((visible(own[key]) for key in names if isinstance(own.get(key), str) and own[key]), None)
        return Failed(benchmark=name, status=f"{place}: {visible(str(error)).replace('`', '')}")


def told_apart(results: Iterable[Result], again: str) -> Iterator[Result]:
    """Say of what a file has again under one name and labels what it is, as `Format.again` has it."""
    return {"number": numbered, "process": _continued, "rounds": _joined}.get(again, iter)(results)


def numbered(results: Iterable[Result]) -> Iterator[Result]:
    """Tell what a file has twice under one name and the same labels apart: by a label "number", from "2" on."""
    seen: Counter[Any] = Counter()
    for result in results:
        if isinstance(result, (About, LeftOut)):
            yield result
            continue
        what = (result.metric, result.statistic) if isinstance(result, Aggregate) else ()
        key = (type(result), result.benchmark, what, result.execution, tuple(result.labels.items()))
        seen[key] += 1
        again = seen[key] > 1
        yield msgspec.structs.replace(result, labels={**result.labels, "number": str(seen[key])}) if again else result


def _continued(results: Iterable[Result]) -> Iterator[Result]:
    """Let the processes of what comes again follow those before."""
    begins: Counter[Any] = Counter()
    ends: Counter[Any] = Counter()
    for result in results:
        if not isinstance(result, (Measured, Failed)):
            yield result
            continue
        key = result.benchmark, tuple(result.labels.items())
        if begins[key] + result.execution < ends[key]:
            begins[key] = ends[key]
        ends[key] = begins[key] + result.execution + 1
        yield msgspec.structs.replace(result, execution=begins[key] + result.execution) if begins[key] else result


def _joined(results: Iterable[Result]) -> Iterator[Result]:
    """Put the values of what comes again behind those before."""
    whole: dict[Any, dict[str, list[float]]] = {}
    found: dict[Any, Measured] = {}
    for result in results:
        if not isinstance(result, Measured):
            yield result
            continue
        key = result.benchmark, tuple(result.labels.items()), tuple(result.metrics)
        found.setdefault(key, result)
        for name, metric in result.metrics.items():
            whole.setdefault(key, {}).setdefault(name, []).extend(metric.values)
    for key, first in found.items():
        metrics = {name: msgspec.structs.replace(first.metrics[name], values=v) for name, v in whole[key].items()}
        yield msgspec.structs.replace(first, metrics=metrics)


def _visible(labels: Mapping[str, str] | None) -> dict[str, str]:
    # all results of a commit share one where nothing must be changed: there are millions
    if isinstance(labels, dict) and all(key.isprintable() and value.isprintable() for key, value in labels.items()):
        return labels
    return {visible(key): visible(value) for key, value in labels.items()} if labels else {}


def scaled(samples: Iterable[Any], scale: float) -> array[float] | None:
    """Scale samples as JSON has them, 8 bytes each; None: one of them is no number."""
    try:
        return array("d", map(scale.__mul__, samples))
    except (TypeError, OverflowError):
        return None


def times(values: Sequence[float]) -> Metric:
    """Make a metric of times in s, without a copy of an array."""
    return Metric(unit="s", values=values)
