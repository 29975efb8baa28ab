"""The file of pytest-benchmark's --benchmark-json (3.x to 5.x) -> values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from gate.adapters.suites import Suite, add, read_json
from gate.adapters.values import Series


class _Stats(msgspec.Struct):
    data: list[float] = []


class _Benchmark(msgspec.Struct):
    fullname: str
    stats: _Stats
    options: dict[str, Any] | None = None


class _Report(msgspec.Struct):
    benchmarks: list[_Benchmark]


def parse(data: bytes) -> Suite:
    """Read the rounds of each benchmark, named by its node id ("tests/test_x.py::test_y[1]").

    A value is a round's time divided by its iterations, as pytest-benchmark already gives it, in seconds. Its metric is
    "time", or "cpu_time" where the timer was a clock of CPU time.

    Raises:
        OutputError: not such a file.
    """
    suite = Suite({}, {})
    for each in read_json(data, _Report, "pytest-benchmark's JSON").benchmarks:
        add(suite, each.fullname, {metric_of(each.options): Series("s", each.stats.data)})
    return suite


def metric_of(options: Mapping[str, Any] | None) -> str:
    """Name what was measured by the "timer" among the options of a benchmark; files of 2.x have none."""
    return "cpu_time" if (options or {}).get("timer") in ("process_time", "thread_time") else "time"
