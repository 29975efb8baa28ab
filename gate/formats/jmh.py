"""JMH's JSON (-rf json)."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from gate.formats.parts.output import OutputError, usable
from gate.formats.parts.result import (
    About,
    FailedResult,
    Format,
    LeftOut,
    ProcessValues,
    Result,
    ToolAggregate,
    aggregate,
    entry,
)
from gate.formats.parts.source import Source
from gate.model import Metric
from gate.writing.plain import visible

FORMAT = Format(title="JMH (`-rf json`)", again="process")
_CONFIDENCE = 0.999
"""Of JMH's errors and intervals."""
_PRIMARY = {"s": "time", "1/s": "throughput"}
"""The primary metric by its base unit."""
# What TimeValue.tuToString writes.
_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "hr": 3600.0, "day": 86400.0}
_COUNTS = ("counts", "#", "#/op")
_FAILURE = re.compile(r"^# Benchmark: (?P<name>.*)|<failure>$", re.MULTILINE)

# JMH writes NaN and infinities as strings
_Number = float | str


class _Scores(msgspec.Struct):
    scoreUnit: str  # noqa: N815  # JMH's name
    score: _Number | None = None
    scoreConfidence: list[_Number] = []  # noqa: N815  # JMH's name
    rawData: list[list[_Number]] = []  # noqa: N815  # JMH's name
    rawDataHistogram: list[list[list[tuple[_Number, float]]]] = []  # noqa: N815  # JMH's name


class _Result(msgspec.Struct):
    """A benchmark in one mode, with one choice of parameters."""

    benchmark: str
    mode: str
    primaryMetric: _Scores  # noqa: N815  # JMH's name
    secondaryMetrics: dict[str, _Scores] = {}  # noqa: N815  # JMH's name
    params: dict[str, str] | None = None
    threads: float | None = None
    forks: float | None = None
    jmhVersion: str | None = None  # noqa: N815  # JMH's name
    jvm: str | None = None
    jvmArgs: list[str] | None = None  # noqa: N815  # JMH's name
    jdkVersion: str | None = None  # noqa: N815  # JMH's name
    vmName: str | None = None  # noqa: N815  # JMH's name
    vmVersion: str | None = None  # noqa: N815  # JMH's name


def recognises(source: Source) -> bool:
    """Return whether it is a list of JMH's results."""
    return isinstance(source.head.json, list) and {"benchmark", "mode", "primaryMetric"} <= source.head.element().keys()


def read(source: Source) -> Iterator[Result]:
    """Yield a process for each fork, and means where the values are not there."""
    about: About | None = None
    for place, each in enumerate(source.document(list[Any], "JMH's JSON"), 1):
        result = entry(each, _Result, f"result {place}", "benchmark")
        if isinstance(result, FailedResult):
            yield result
            continue
        if about is None:
            named = ("jvm", "jdkVersion", "vmName", "vmVersion", "jvmArgs")
            host = {key: value for key in named if (value := getattr(result, key)) or isinstance(value, list)}
            about = About(host=host, tool=f"JMH {result.jmhVersion}" if result.jmhVersion else "JMH")
            yield about
        # named by the parameters, in the order of their names, and the mode
        shown = ",".join(f"{key}={value}" for key, value in sorted((result.params or {}).items()))
        name = f"{result.benchmark}:{{{shown}}}:{result.mode}" if shown else f"{result.benchmark}:{result.mode}"
        labels = {**(result.params or {}), "mode": result.mode}
        if result.threads is not None:
            labels["threads"] = f"{result.threads:g}"
        yield from _benchmark(result, name, labels, f"result {place}")


def _benchmark(result: _Result, name: str, labels: dict[str, str], place: str) -> Iterator[Result]:
    unit, scale = _known_unit(result.primaryMetric.scoreUnit)
    metric = _PRIMARY.get(unit, "score")
    try:
        by_fork = [values for values in _forks(result.primaryMetric) if values]
    except OutputError as error:
        yield FailedResult(benchmark=name, status=str(error), labels=labels)
        return
    processes = [{metric: Metric(unit=unit, values=[value * scale for value in values])} for values in by_fork]
    for key, scores in result.secondaryMetrics.items():
        base, factor = _known_unit(scores.scoreUnit)
        forks: list[list[float]] = []
        with contextlib.suppress(OutputError):
            forks = [[value * factor for value in fork] for fork in _forks(scores) if fork]
        if not forks and _number(scores.score) is not None:
            yield _mean(name, _secondary(key), scores, labels)
        elif list(map(len, forks)) == list(map(len, by_fork)) and all(usable(fork, base) for fork in forks):
            view_of = "time" if key.rpartition("·")[2] == "p0.50" and metric == "time" else None
            for metrics, fork in zip(processes, forks, strict=True):
                metrics[_secondary(key)] = Metric(unit=base, values=fork, view_of=view_of, sharp=view_of is not None)
        else:
            # its values would not belong to those of the others
            yield LeftOut(f"{place}: {key} of {name} has no value that can be used in some iterations")
    for execution, metrics in enumerate(processes):
        yield ProcessValues(benchmark=name, metrics=metrics, execution=execution, labels=labels)
    lost = int(result.forks or 0) - len(by_fork)
    if by_fork and lost > 0:
        # JMH goes on without a fork that failed, unless -foe says otherwise
        status = f"{lost} of {result.forks:g} forks gave no values"
        yield FailedResult(benchmark=name, status=status, labels=labels, execution=len(by_fork))
    elif not by_fork:
        yield _mean(name, metric, result.primaryMetric, labels)


def _mean(name: str, metric: str, scores: _Scores, labels: dict[str, str]) -> ToolAggregate | FailedResult:
    unit, scale = _known_unit(scores.scoreUnit)
    low, high = (*map(_number, scores.scoreConfidence[:2]), None, None)[:2]
    return aggregate(
        name, metric, "mean", _number(scores.score), unit=unit, scale=scale, low=low, high=high,
        confidence=_CONFIDENCE, labels=labels,
    )  # fmt: skip


def _number(value: _Number | None) -> float | None:
    with contextlib.suppress(OutputError):
        return None if value is None else _number_of(value)
    return None


def _secondary(name: str) -> str:
    """Name a secondary metric, never as the primary one: as JMH prints it."""
    return f":{name}" if name in _PRIMARY.values() else name


def failed(text: str) -> str | None:
    """Return the benchmark of which JMH's text says that it failed; the JSON leaves it out. "" where it has no name."""
    name = ""
    for found in _FAILURE.finditer(text):
        if found["name"] is None:
            return visible(name)
        name = found["name"]
    return None


def _forks(metric: _Scores) -> list[list[float]]:
    """Return the values of a metric by fork, as JMH scales them; in mode sample the means of the iterations.

    Raises: OutputError: one is no number, or an iteration has no samples.
    """
    if not metric.rawDataHistogram:
        return [[_number_of(value) for value in fork] for fork in metric.rawData]
    found: list[list[float]] = []
    for fork in metric.rawDataHistogram:
        counts = [sum(count for _, count in iteration) for iteration in fork]
        if not all(count > 0 for count in counts):
            raise OutputError("an iteration has no samples: make iterations longer (-r)")
        totals = (sum(_number_of(value) * count for value, count in iteration) for iteration in fork)
        found.append([total / count for total, count in zip(totals, counts, strict=True)])
    return found


def _number_of(value: _Number) -> float:
    """Read a number, which JMH may have written as text. Raises OutputError: it is none."""
    try:
        # float() would take 1_0, and the digits of other scripts
        if isinstance(value, str) and ("_" in value or not value.isascii()):
            raise ValueError
        return float(value)
    except ValueError:
        raise OutputError(f"{visible(repr(value))} among its values is not a number") from None


def _known_unit(unit: str) -> tuple[str, float]:
    above, _, below = unit.partition("/")
    if above == "ops" and below in _SECONDS:
        return "1/s", 1 / _SECONDS[below]
    if above in _SECONDS and below in ("op", ""):
        return "s", _SECONDS[above]
    if unit == "B/op":
        return "B", 1.0
    # the megabytes of "MB/sec" are 2**20 B in some profilers and 10**6 B in others
    return "" if unit in _COUNTS else visible(unit), 1.0
