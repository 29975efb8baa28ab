"""BenchmarkDotNet's JSON, full with the measurements or brief with statistics."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec

from gate.formats.parts.result import About, FailedResult, Format, ProcessValues, Result, aggregate, entry, sampled
from gate.formats.parts.source import Source
from gate.model import Metric
from gate.model.bounds import number

FORMAT = Format(title="BenchmarkDotNet (`--exporters json`: `*-report-full.json`, `-brief.json`)", again="number")
_NS = 1e-9
_JOB = re.compile(r"[^:]*: (?P<id>[^(\[]*+)(?:\((?P<rest>[^\[]*)\))?\s*+(?:\[.*\])?", re.DOTALL)
_PARAMETER = re.compile(r"&(?=[^&=]+=)")
_HOST = {
    "ProcessorName": "cpu", "OsVersion": "os", "RuntimeVersion": "runtime", "ClrVersion": "runtime",
    "Architecture": "arch", "DotNetCliVersion": "sdk", "Configuration": "configuration",
    "HasAttachedDebugger": "debugger",
    "PhysicalCoreCount": "cores", "LogicalCoreCount": "threads",
}  # fmt: skip


class _Measurement(msgspec.Struct):
    IterationMode: str = ""
    IterationStage: str = ""
    LaunchIndex: float = 1
    Operations: float = 0
    Nanoseconds: float = 0


class _Benchmark(msgspec.Struct):
    DisplayInfo: str = ""
    Namespace: str | None = None
    Type: str = ""
    Method: str = ""
    Parameters: str | None = None
    FullName: str | None = None
    Statistics: dict[str, Any] | None = None
    Memory: dict[str, Any] | None = None
    Measurements: list[_Measurement] | None = None


class _Report(msgspec.Struct):
    Benchmarks: list[Any]
    HostEnvironmentInfo: Any = None


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
    report = source.document(_Report, "BenchmarkDotNet's JSON")
    found = report.HostEnvironmentInfo if isinstance(report.HostEnvironmentInfo, dict) else {}
    host = dict[str, Any]()
    for key, name in _HOST.items():
        value = found.get(key)
        if isinstance(value, (str, int, float)) and value != "":
            # where a file holds NaN, all of its numbers are read as fractions
            host[name] = int(value) if isinstance(value, float) and value.is_integer() else value
    version = found.get("BenchmarkDotNetVersion")
    yield About(host=host, tool=f"BenchmarkDotNet {version}" if isinstance(version, str) else "BenchmarkDotNet")
    before: Counter[str] = Counter()
    for place, each in enumerate(report.Benchmarks):
        benchmark = entry(each, _Benchmark, f"Benchmarks[{place}]", "FullName", "Method", "DisplayInfo")
        if isinstance(benchmark, FailedResult):
            yield benchmark
            continue
        # files of several calls put together have a benchmark twice
        key = f"{benchmark.Namespace}.{benchmark.Type}.{benchmark.Method} {benchmark.DisplayInfo}"
        own = list(_benchmark(benchmark, before[key]))
        before[key] += sum(isinstance(each, ProcessValues) for each in own)
        yield from own


def _benchmark(benchmark: _Benchmark, first: int) -> Iterator[Result]:
    name = ".".join(part for part in (benchmark.Namespace, benchmark.Type, benchmark.Method) if part)
    name = name or (benchmark.FullName or "").partition("(")[0] or benchmark.DisplayInfo
    # parameters are printed as "n=8&text=a"
    parts = (part.partition("=") for part in _PARAMETER.split(benchmark.Parameters or "") if "=" in part)
    labels = {key: value for key, _, value in parts}
    if job := _JOB.fullmatch(benchmark.DisplayInfo):
        # an id such as Job-ABCDEF says less than what makes it
        own = job["id"].strip()
        labels["job"] = job["rest"] if job["rest"] and own.startswith("Job-") else own
    labels = {key: value for key, value in labels.items() if value or key != "job"}
    memory = number((benchmark.Memory or {}).get("BytesAllocatedPerOperation"))
    # a process that crashed leaves actual times behind, and no statistics
    launches = _launches(benchmark, "result") or (benchmark.Statistics and _launches(benchmark, "actual"))
    for execution, (_, values) in enumerate(sorted(launches.items()) if launches else ()):
        metrics = {"time": Metric(unit="s", values=values)}
        if memory is not None and not execution:
            metrics["memory"] = Metric(unit="B", values=[memory])
        yield ProcessValues(benchmark=name, metrics=metrics, execution=first + execution, labels=labels)
    if benchmark.Statistics is None and not launches:
        yield FailedResult(benchmark=name, status="no statistics (NA)", labels=labels)
    elif benchmark.Statistics is not None and not launches:
        yield from _statistics(name, benchmark.Statistics, labels, first)
        if memory is not None:
            yield aggregate(name, "memory", "value", memory, unit="B", labels=labels)


def _launches(benchmark: _Benchmark, wanted: str) -> dict[float, list[float]]:
    """Return the times an operation took by launch; wanted: "result", which the tool chose for its own, or "actual"."""
    found: dict[float, list[float]] = {}
    for each in benchmark.Measurements or ():
        own = each.IterationMode in ("Workload", "Result") and each.IterationStage.lower() == wanted
        if own and each.Operations > 0:
            found.setdefault(each.LaunchIndex, []).append(each.Nanoseconds / each.Operations * _NS)
    return found


def _statistics(name: str, found: dict[str, Any], labels: dict[str, str], first: int) -> Iterator[Result]:
    original = found.get("OriginalValues")
    own = sampled(name, original, _NS, labels, first) if isinstance(original, list) and original else None
    if isinstance(own, ProcessValues):
        yield own
        return
    confidence = found.get("ConfidenceInterval")
    interval = confidence if isinstance(confidence, dict) else {}
    yield aggregate(
        name, "time", "mean", number(found.get("Mean")), unit="s", scale=_NS, low=number(interval.get("Lower")),
        high=number(interval.get("Upper")), confidence=0.999 if interval.get("Level") in (12, "L999") else None,
        sd=number(found.get("StandardDeviation")), count=number(found.get("N")), labels=labels,
    )  # fmt: skip
