"""pyperf's JSON (`-o FILE`, also packed)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from gate.formats.parts.output import OutputError
from gate.formats.parts.result import About, FailedResult, Format, ProcessValues, Result, entry
from gate.formats.parts.source import Source
from gate.model import Metric

FORMAT = Format(title="pyperf (`-o FILE`, `.json` and `.json.gz`), pyperformance")
_HOST = {
    "hostname": "hostname", "cpu_model_name": "cpu", "cpu_count": "cpu_count", "cpu_affinity": "cpu_affinity",
    "cpu_config": "cpu_config", "platform": "platform", "aslr": "aslr", "python_version": "python_version",
    "python_implementation": "python_implementation", "python_compiler": "python_compiler",
    "python_cflags": "python_cflags", "python_config_args": "python_config_args", "timer": "timer",
}  # fmt: skip
# by the unit in the metadata: the metric and its unit
_METRICS = {"second": ("time", "s"), "byte": ("memory", "B"), "integer": ("count", "")}
_VERSION = "1.0"


class _Run(msgspec.Struct):
    values: list[float] = []
    warmups: list[tuple[float, float]] = []
    metadata: dict[str, Any] = {}


class _Benchmark(msgspec.Struct):
    runs: list[_Run] = []
    metadata: dict[str, Any] = {}


class _Suite(msgspec.Struct):
    benchmarks: list[Any]
    version: str | int | float = ""
    metadata: dict[str, Any] = {}


def recognises(source: Source) -> bool:
    """Return whether it is a JSON document of benchmarks with runs of values or warm-ups."""
    runs = source.head.element("benchmarks").get("runs")
    run = runs[0] if isinstance(runs, list) and runs else None
    return isinstance(run, dict) and any(isinstance(run.get(key), list) for key in ("values", "warmups"))


def read(source: Source) -> Iterator[Result]:
    """Yield each worker's values of each benchmark, in seconds ("time"), bytes ("memory") or integers ("count").

    Raises: OutputError: not such a file, or of another version.
    """
    suite = source.document(_Suite, "pyperf's JSON")
    if suite.version != _VERSION:
        raise OutputError(f"pyperf's JSON has version {str(suite.version)!r}; this perfgate reads {_VERSION}")
    about = None
    for place, each in enumerate(suite.benchmarks):
        benchmark = entry(each, _Benchmark, f"benchmarks[{place}]")
        if isinstance(benchmark, FailedResult):
            # its name stands in its metadata
            metadata = each.get("metadata") if isinstance(each, dict) else None
            name = metadata.get("name") if isinstance(metadata, dict) else None
            yield msgspec.structs.replace(benchmark, benchmark=name if isinstance(name, str) else None)
            continue
        # what is common to all runs stands once, in the benchmark or in the file
        first = benchmark.runs[0].metadata if benchmark.runs else {}
        metadata = suite.metadata | benchmark.metadata | first
        if about is None:
            host = {name: metadata[key] for key, name in _HOST.items() if metadata.get(key) not in (None, "")}
            date = metadata.get("date")
            # pyperformance compile writes it
            commit = metadata.get("commit_id")
            about = About(
                host=host,
                commit=commit if isinstance(commit, str) else None,
                created=str(date).replace(" ", "T", 1) if date else None,
                tool=f"pyperf {metadata.get('perf_version', '')}".rstrip(),
            )
            yield about
        # pyperf's own reader calls it so, too
        name = str(metadata.get("name", "<no name>"))
        unit = str(metadata.get("unit", "second"))
        if unit not in _METRICS:
            yield FailedResult(benchmark=name, status=f"its unit is {unit!r}, which this perfgate does not know")
            continue
        metric, base = _METRICS[unit]
        # a run without values found the number of loops
        runs = [run for run in benchmark.runs if run.values]
        if not runs:
            yield FailedResult(benchmark=name, status="only calibration runs: no worker gave values")
        tags = metadata.get("tags")
        labels = {"tags": " ".join(map(str, tags))} if isinstance(tags, list) and tags else {}
        for execution, run in enumerate(runs):
            metrics = {metric: Metric(unit=base, values=run.values, dropped=[value for _, value in run.warmups])}
            yield ProcessValues(benchmark=name, metrics=metrics, execution=execution, labels=labels)
