"""The file of pytest-benchmark's --benchmark-json (3.x to 5.x) -> values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from gate.formats.live.suites import Suite, add, read_json
from gate.formats.live.values import Series

_ONE_TASK = 0.95
"""The share of the CPU time from which one thread did the work."""


class _Stats(msgspec.Struct):
    data: list[float] = []


class _Clock(msgspec.Struct):
    """What the clock of harness/instruments/pytest_clocks.py saw."""

    active: list[float]
    own: float


class _Benchmark(msgspec.Struct):
    fullname: str
    stats: _Stats
    options: dict[str, Any] | None = None
    perfgate: _Clock | None = None


class _Report(msgspec.Struct):
    benchmarks: list[_Benchmark]


def parse(data: bytes) -> Suite:
    """Read the rounds of each benchmark, named by its node id ("tests/test_x.py::test_y[1]").

    A value is a round's time divided by its iterations, as pytest-benchmark already gives it, in seconds. Its metric is
    "time", or "cpu_time" where the timer was a clock of CPU time. "active" is its view without what the thread
    waited for a processor, sharp where one thread did the work.

    Raises:
        OutputError: not such a file.
    """
    suite = Suite({}, {})
    for each in read_json(data, _Report, "pytest-benchmark's JSON").benchmarks:
        metric, clock = metric_of(each.options), each.perfgate
        series = {metric: Series("s", each.stats.data)}
        if clock is not None and min(clock.active, default=0.0) > 0:
            series["active"] = Series("s", clock.active, view_of=metric, sharp=clock.own >= _ONE_TASK)
        add(suite, each.fullname, series)
    return suite


def metric_of(options: Mapping[str, Any] | None) -> str:
    """Name what was measured by the "timer" among the options of a benchmark; files of 2.x have none."""
    return "cpu_time" if (options or {}).get("timer") in ("process_time", "thread_time") else "time"
