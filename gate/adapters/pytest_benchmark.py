"""The file of pytest-benchmark's --benchmark-json (3.x to 5.x) -> values."""

from __future__ import annotations

import msgspec

from gate.adapters.suites import Suite, add, read_json
from gate.adapters.values import Series


class _Stats(msgspec.Struct):
    data: list[float] = []


class _Benchmark(msgspec.Struct):
    fullname: str
    stats: _Stats


class _Report(msgspec.Struct):
    benchmarks: list[_Benchmark]


def parse(data: bytes) -> Suite:
    """Read the rounds of each benchmark, named by its node id ("tests/test_x.py::test_y[1]").

    A value is a round's time divided by its iterations, as pytest-benchmark already gives it, in seconds.

    Raises:
        OutputError: not such a file.
    """
    suite = Suite({}, {})
    for each in read_json(data, _Report, "pytest-benchmark's JSON").benchmarks:
        add(suite, each.fullname, {"time": Series("s", each.stats.data)})
    return suite
