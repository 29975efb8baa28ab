"""pytest-benchmark's --benchmark-json and the files of --benchmark-save and --benchmark-autosave (2.x to 5.x)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from gate.formats.parts.result import About, FailedResult, Format, ProcessValues, Result, ToolAggregate, entry
from gate.formats.parts.source import Source
from gate.model import Metric

FORMAT = Format(title="pytest-benchmark (`--benchmark-json`, `--benchmark-save`)", again="process")
_CPU_TIMERS = ("process_time", "thread_time")
_HOST = {
    "node": "hostname", "system": "system", "release": "kernel", "machine": "machine",
    "python_implementation": "python_implementation", "python_version": "python_version",
    "python_compiler": "python_compiler",
}  # fmt: skip
_BRANDS = ("brand_raw", "brand")
_AGGREGATES = ("mean", "median", "min", "max")


class _Stats(msgspec.Struct):
    data: list[float | None] | None = None
    mean: float | None = None
    median: float | None = None
    min: float | None = None
    max: float | None = None
    stddev: float | None = None
    rounds: float | None = None


class _Benchmark(msgspec.Struct):
    name: str = ""
    fullname: str = ""
    group: str | None = None
    params: dict[str, Any] | None = None
    param: Any = None
    stats: _Stats | None = None
    options: dict[str, Any] | None = None


class _Report(msgspec.Struct):
    benchmarks: list[Any]
    machine_info: dict[str, Any] | None = None
    commit_info: dict[str, Any] | None = None
    datetime: Any = None
    version: Any = None


def recognises(source: Source) -> bool:
    """Return whether it is a JSON document with pytest-benchmark's top, or its benchmarks."""
    found = source.head.json
    if not isinstance(found, dict) or "context" in found:
        return False
    first = source.head.element("benchmarks")
    if first:
        return "fullname" in first and ("stats" in first or "group" in first or "machine_info" in found)
    # the machine's description may be all that the beginning holds
    return "machine_info" in found and ("commit_info" in found or "benchmarks" in found)


def read(source: Source) -> Iterator[Result]:
    """Yield a process for each benchmark with rounds, and aggregates for one without; named by the node id.

    The metric is "time", or "cpu_time" where the timer was a clock of CPU time.
    """
    report = source.document(_Report, "pytest-benchmark's JSON")
    yield _about(report)
    for place, found in enumerate(report.benchmarks):
        each = entry(found, _Benchmark, f"benchmarks[{place}]", "fullname", "name")
        if isinstance(each, FailedResult):
            yield each
            continue
        name = each.fullname or each.name
        # files of 2.x have no options
        metric = "cpu_time" if (each.options or {}).get("timer") in _CPU_TIMERS else "time"
        labels = {key: _text(value) for key, value in (each.params or {}).items()}
        labels |= {"group": each.group} if each.group is not None else {}
        labels |= {"param": _text(each.param)} if each.param is not None else {}
        stats = each.stats
        if stats is None:
            yield FailedResult(benchmark=name, status="no statistics in the file", labels=labels)
        elif stats.data and None in stats.data:
            lost = f"{stats.data.count(None)} of {len(stats.data)}"
            yield FailedResult(benchmark=name, status=f"{lost} rounds have null for a time", labels=labels)
        elif stats.data:
            metrics = {metric: Metric(unit="s", values=[value for value in stats.data if value is not None])}
            yield ProcessValues(benchmark=name, metrics=metrics, labels=labels)
        else:
            # the rounds were left out
            values = {key: getattr(stats, key) for key in _AGGREGATES if getattr(stats, key) is not None}
            if not values:
                yield FailedResult(benchmark=name, status="no rounds and no statistics in the file", labels=labels)
            for statistic, value in values.items():
                yield ToolAggregate(
                    benchmark=name, metric=metric, statistic=statistic, value=value, unit="s", labels=labels,
                    sd=stats.stddev if statistic == "mean" else None, count=stats.rounds,
                )  # fmt: skip


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _about(report: _Report) -> About:
    machine = report.machine_info or {}
    host = {name: machine[key] for key, name in _HOST.items() if machine.get(key)}
    cpu = machine.get("cpu")
    brands = [cpu.get(key) for key in _BRANDS] if isinstance(cpu, dict) else [cpu]
    brand = next((each for each in (*brands, machine.get("processor")) if isinstance(each, str) and each), None)
    if brand is not None:
        host["cpu"] = brand
    if isinstance(cpu, dict) and isinstance(count := cpu.get("count"), int):
        host["cpu_count"] = count
    commit = (report.commit_info or {}).get("id")
    version = str(report.version) if report.version is not None else ""
    return About(
        host=host,
        commit=commit if isinstance(commit, str) else None,
        dirty=(report.commit_info or {}).get("dirty") is True,
        created=report.datetime if isinstance(report.datetime, str) else None,
        tool=f"pytest-benchmark {version}".rstrip(),
    )
