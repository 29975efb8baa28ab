"""BenchmarkDotNet's JSON, full with the measurements or brief with statistics."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec

from gate.formats.parts.checking import aggregate, entry, measured, scaled, times
from gate.formats.parts.result import About, Failed, Format, Measured, Result
from gate.formats.parts.source import Source
from gate.model import Better, Metric
from gate.model.bounds import number
from gate.units import to_base

FORMAT = Format(
    title="BenchmarkDotNet (`--exporters json`: `*-report-full.json`, `-brief.json`)",
    execution="a launch",
    iteration="an iteration of the stage Result: without overhead and, by default, without upper outliers",
    trap=(
        "the default is one launch, so one execution; brief JSON holds statistics alone, with an interval of 99.9%; a "
        "benchmark without statistics (NA) has failed; the CSV of a report or of measurements is not read"
    ),
    again="number",
)
_NS = 1e-9
_JOB = re.compile(r"[^:]*: (?P<id>[^(\[]*+)(?:\((?P<rest>[^\[]*)\))?\s*+(?:\[.*\])?", re.DOTALL)
_PARAMETER = re.compile(r"&(?=[^&=]+=)")
_HOST = {
    "ProcessorName": "cpu", "OsVersion": "os", "RuntimeVersion": "runtime", "ClrVersion": "runtime",
    "Architecture": "arch", "DotNetCliVersion": "sdk", "Configuration": "configuration",
    "HasAttachedDebugger": "debugger",
    "PhysicalCoreCount": "cores", "LogicalCoreCount": "threads",
}  # fmt: skip
_STATISTICS = {"Median": "p50", "Min": "min", "Max": "max", "Q1": "p25", "Q3": "p75"}
_UNITS = {"Count": ""}
_BETTER: dict[bool | None, Better] = {True: "higher", False: "lower"}
_ALLOCATED = ("Allocated Memory", "Allocated")


class _Measurement(msgspec.Struct):
    IterationMode: str = ""
    IterationStage: str | None = None
    LaunchIndex: float = 1
    Operations: float = 0
    Nanoseconds: float = 0


class _Descriptor(msgspec.Struct):
    Id: str = ""
    Unit: str | None = None
    TheGreaterTheBetter: bool | None = None


class _Metric(msgspec.Struct):
    Value: float | None = None
    Descriptor: _Descriptor = msgspec.field(default_factory=_Descriptor)


class _Memory(msgspec.Struct):
    BytesAllocatedPerOperation: float | None = None


class _Benchmark(msgspec.Struct):
    DisplayInfo: str = ""
    Namespace: str | None = None
    Type: str = ""
    Method: str = ""
    Parameters: str | None = None
    FullName: str | None = None
    Statistics: dict[str, Any] | None = None
    Memory: _Memory | None = None
    Measurements: list[_Measurement] | None = None
    Metrics: list[_Metric] | None = None


EXPORTS = (
    "-report-full.json", "-report-full-compressed.json", "-report-brief.json", "-report-brief-compressed.json",
)  # fmt: skip
"""Ends of the names of the files that one run leaves, of which the first hold most."""


def recognises(source: Source) -> bool:
    """Return whether it is JSON with an environment and benchmarks."""
    found = source.head.json
    return isinstance(found, dict) and {"HostEnvironmentInfo", "Benchmarks"} <= found.keys()


def read(source: Source) -> Iterator[Result]:
    """Yield a process for each launch, and statistics where the measurements are left out."""
    found = source.head.json
    yield _about(found.get("HostEnvironmentInfo") if isinstance(found, dict) else None)
    before: Counter[str] = Counter()
    for place, each in enumerate(source.items("Benchmarks", "BenchmarkDotNet's JSON")):
        benchmark = entry(each, _Benchmark, f"Benchmarks[{place}]", "FullName", "Method", "DisplayInfo")
        if isinstance(benchmark, Failed):
            yield benchmark
            continue
        # files of several calls put together have a benchmark twice
        key = f"{benchmark.Namespace}.{benchmark.Type}.{benchmark.Method} {benchmark.DisplayInfo}"
        own = list(_benchmark(benchmark, before[key]))
        before[key] += sum(isinstance(each, Measured) for each in own)
        yield from own


def _about(environment: Any) -> About:
    found = environment if isinstance(environment, dict) else {}
    host = dict[str, Any]()
    for key, name in _HOST.items():
        value = found.get(key)
        # 0.9 wrote a lazy value
        value = value.get("Value") if isinstance(value, dict) else value
        if isinstance(value, (str, int, float)) and value != "":
            host[name] = value
    version = found.get("BenchmarkDotNetVersion")
    return About(host=host, tool=f"BenchmarkDotNet {version}" if isinstance(version, str) else "BenchmarkDotNet")


def _benchmark(benchmark: _Benchmark, first: int) -> Iterator[Result]:
    name = ".".join(part for part in (benchmark.Namespace, benchmark.Type, benchmark.Method) if part)
    name = name or (benchmark.FullName or "").partition("(")[0] or benchmark.DisplayInfo
    labels = {**parameters(benchmark.Parameters or ""), **_job(benchmark.DisplayInfo)}
    memory = benchmark.Memory.BytesAllocatedPerOperation if benchmark.Memory else None
    # the times an operation took by launch: those that BenchmarkDotNet took for its result, else the actual
    results, actual = dict[float, list[float]](), dict[float, list[float]]()
    for each in benchmark.Measurements or ():
        into = {"result": results, "actual": actual}.get(_stage(each.IterationMode, each.IterationStage))
        if into is not None and each.Operations > 0:
            into.setdefault(each.LaunchIndex, []).append(each.Nanoseconds / each.Operations * _NS)
    # a process that crashed leaves actual times behind, and no statistics
    launches = results or (actual if benchmark.Statistics is not None else {})
    if launches:
        for execution, (_, values) in enumerate(sorted(launches.items())):
            metrics = {"time": Metric(unit="s", values=values)}
            if memory is not None and not execution:
                metrics["memory"] = Metric(unit="B", values=[memory])
            yield measured(name, metrics, execution=first + execution, labels=labels)
    elif benchmark.Statistics is None:
        yield Failed(benchmark=name, status="no statistics (NA)", labels=labels)
    else:
        yield from _statistics(name, benchmark.Statistics, labels, first)
        if memory is not None:
            yield aggregate(name, "memory", "value", memory, unit="B", labels=labels)
    for metric in benchmark.Metrics or ():
        if metric.Value is not None and metric.Descriptor.Id and metric.Descriptor.Id not in _ALLOCATED:
            base, scale = to_base(_UNITS.get(metric.Descriptor.Unit or "", metric.Descriptor.Unit or ""))
            yield aggregate(
                name, metric.Descriptor.Id, "value", metric.Value, unit=base, scale=scale,
                better=_BETTER.get(metric.Descriptor.TheGreaterTheBetter), labels=labels,
            )  # fmt: skip


def parameters(text: str) -> dict[str, str]:
    """Read parameters as BenchmarkDotNet prints them: "n=8&text=a"."""
    parts = (part.partition("=") for part in _PARAMETER.split(text) if "=" in part)
    return {name: value for name, _, value in parts}


def _job(display: str) -> dict[str, str]:
    """Name the job that a benchmark ran in; an id such as Job-ABCDEF says less than what makes it."""
    match = _JOB.fullmatch(display)
    if match is None:
        return {}
    own = match["id"].strip()
    job = match["rest"] if match["rest"] and own.startswith("Job-") else own
    return {"job": job} if job else {}


def _stage(mode: str, stage: str | None) -> str:
    """Say what a measurement is for: "result", "actual", or "" where it is not of the benchmark itself.

    Before 0.11.2 the mode said it all: "Result" and "MainTarget".
    """
    if stage is None:
        return {"Result": "result", "MainTarget": "actual"}.get(mode, "")
    return {"Result": "result", "Actual": "actual"}.get(stage, "") if mode in ("Workload", "Result") else ""


def _statistics(name: str, statistics: dict[str, Any], labels: dict[str, str], first: int) -> Iterator[Result]:
    original = statistics.get("OriginalValues")
    values = scaled(original, _NS) if isinstance(original, list) and original else None
    if values is not None:
        yield measured(name, {"time": times(values)}, execution=first, labels=labels)
        return
    found = statistics.get("ConfidenceInterval")
    interval = found if isinstance(found, dict) else {}
    yield aggregate(
        name, "time", "mean", number(statistics.get("Mean")), unit="s", scale=_NS, low=number(interval.get("Lower")),
        high=number(interval.get("Upper")), confidence=0.999 if interval.get("Level") in (12, "L999") else None,
        sd=number(statistics.get("StandardDeviation")), count=number(statistics.get("N")), labels=labels,
    )  # fmt: skip
    quantiles = statistics.get("Percentiles")
    own = quantiles if isinstance(quantiles, dict) else {}
    known = {_STATISTICS[key]: value for key, value in statistics.items() if key in _STATISTICS}
    known.update({f"p{key[1:]}": value for key, value in own.items() if re.fullmatch(r"P\d{1,3}", str(key))})
    for statistic, value in known.items():
        if statistic not in ("p0", "p100") and number(value) is not None:
            yield aggregate(name, "time", statistic, number(value), unit="s", scale=_NS, labels=labels)
