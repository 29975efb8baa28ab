"""The JSON of pyperf (format 1.0, and 6 of its predecessor perf) -> values."""

from __future__ import annotations

from typing import Any

import msgspec

from gate.formats.live.suites import Suite, add, read_json
from gate.formats.live.values import OutputError, Series
from gate.model.visible import visible

# by the unit in pyperf's metadata: the metric and its unit
METRICS = {"second": ("time", "s"), "byte": ("memory", "B"), "integer": ("count", "")}
VERSIONS = ("1.0", 6)


class _Run(msgspec.Struct):
    values: list[float] = []
    metadata: dict[str, Any] = {}


class _Benchmark(msgspec.Struct):
    runs: list[_Run]
    metadata: dict[str, Any] = {}


class _File(msgspec.Struct):
    benchmarks: list[_Benchmark]
    version: str | int | float = ""
    metadata: dict[str, Any] = {}


def parse(data: bytes) -> Suite:
    """Read the values of each benchmark, worker after worker, without pyperf's own warm-ups and calibration runs.

    Values are per loop, as pyperf gives them: seconds ("time"), bytes ("memory") or integers ("count").

    Raises:
        OutputError: not such a file, another version of it, or a benchmark without a name.
    """
    file = read_json(data, _File, "pyperf's JSON")
    if file.version not in VERSIONS:
        shown = visible(str(file.version))
        raise OutputError(f"pyperf's JSON has version {shown!r}; this perfgate reads {VERSIONS[0]}")
    suite = Suite({}, {})
    for benchmark in file.benchmarks:
        # what is common to all runs stands once, in the benchmark or in the file
        first = benchmark.runs[0].metadata if benchmark.runs else {}
        metadata = file.metadata | benchmark.metadata | first
        name, unit = metadata.get("name"), str(metadata.get("unit", "second"))
        if not isinstance(name, str):
            raise OutputError("pyperf's JSON holds a benchmark without a name")
        if unit not in METRICS:
            suite.errors[visible(name)] = f"its unit is {visible(unit)!r}, which this perfgate does not know"
            continue
        metric, base = METRICS[unit]
        values = [value for run in benchmark.runs for value in run.values]
        add(suite, name, {metric: Series(base, values)})
    return suite
