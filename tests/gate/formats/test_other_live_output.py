"""What a tool that perfgate starts writes instead of its results: an error of one line."""

from typing import Any

import pytest

from gate.formats import google_benchmark, jmh, pyperf, pytest_benchmark
from gate.formats.parts.live import suite
from gate.formats.parts.output import OutputError

DEEP = b"[" * 99_999
OTHER = "the output is not of Google Benchmark"
ROUNDS = "pytest-benchmark's JSON is not as expected: .+"
JMH = "JMH's JSON is (?:not as expected: |cut off: ).+"


@pytest.mark.parametrize(
    ("reader", "data", "why"),
    [
        (google_benchmark, b"", OTHER),
        (google_benchmark, b"[]", OTHER),
        (google_benchmark, b'{"benchmarks": [1]}', r"benchmarks\[0\] has no name"),
        (google_benchmark, b'{"benchmarks": [{"run_type": "iteration"}]}', r"benchmarks\[0\] has no name"),
        (google_benchmark, b'{"benchmarks": [{"name": "a', OTHER),
        (
            google_benchmark,
            b'{"context": {}, "benchmarks": [{"name": "a", "real_time": 1, "cpu_time": 1}, {"na',
            "Google Benchmark's JSON is cut off: .+",
        ),
        (pytest_benchmark, b"", ROUNDS),
        (pytest_benchmark, b"[]", ROUNDS),
        (pytest_benchmark, b"\xff\n", ROUNDS),
        (pytest_benchmark, DEEP, ROUNDS),
        (pytest_benchmark, b'{"benchmarks": [{"stats": {}}]}', "no rounds and no statistics in the file"),
        (pytest_benchmark, b'{"benchmarks": [', "pytest-benchmark's JSON is cut off: .+"),
        (pyperf, b"", "pyperf's JSON is not as expected: Input data was truncated.*"),
        (pyperf, b'{"benchmarks": 1}', "pyperf's JSON is not as expected: Expected array.*"),
        (pyperf, b'{"version": "2.0", "benchmarks": []}', "pyperf's JSON has version '2.0'; this perfgate reads 1.0.*"),
        (jmh, b"", JMH),
        (jmh, b"{}", JMH),
        (jmh, b"Benchmark,Mode\n", JMH),
        (jmh, DEEP, JMH),
    ],
)
def test_other_output_is_an_error_of_one_line(reader: Any, data: bytes, why: str) -> None:
    with pytest.raises(OutputError, match=rf"\A{why}\Z") as caught:
        suite(reader, data)
    assert str(caught.value).isprintable()
