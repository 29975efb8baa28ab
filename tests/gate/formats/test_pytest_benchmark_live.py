import json
from pathlib import Path

import pytest

from gate.formats import pytest_benchmark
from gate.formats.parts.live import suite as live
from gate.formats.parts.output import Series

DATA = Path(__file__).parents[2] / "data/pytest-benchmark"


@pytest.mark.parametrize("version", ["3.4.1", "5.3.1"])
def test_captured_output(version: str) -> None:
    suite = live(pytest_benchmark, (DATA / f"{version}.json").read_bytes())
    assert suite.errors == {}
    assert {name: len(each["time"].values) for name, each in suite.benchmarks.items()} == {
        "test_suite.py::test_upper[a b/'c'\"d\"]": 4,
        "test_suite.py::test_upper[\\n\\t\\x01]": 4,
        "test_suite.py::test_upper[\\U0001f422 \\xe9]": 4,
        "test_suite.py::test_upper[x]]": 4,
        "test_suite.py::TestSum::test_upper": 4,
        "test_suite.py::test_pedantic": 2,
        "test_suite.py::test_marked": 3,
    }


@pytest.mark.parametrize(
    ("timer", "metric"),
    [("perf_counter", "time"), ("process_time", "cpu_time"), ("thread_time", "cpu_time"), ("my_clock", "time")],
)
def test_the_timer_says_what_was_measured(timer: str, metric: str) -> None:
    """As pytest-benchmark 5.3.1 writes it with --benchmark-timer=time.process_time."""
    options = {"disable_gc": False, "timer": timer, "min_rounds": 2, "max_time": 0.0, "min_time": 0.01, "warmup": False}
    each = {"fullname": "t.py::test_a", "options": options, "stats": {"data": [0.5, 0.25]}}
    suite = live(pytest_benchmark, json.dumps({"benchmarks": [each]}).encode())
    assert suite.benchmarks == {"t.py::test_a": {metric: Series("s", [0.5, 0.25])}}


@pytest.mark.parametrize(("own", "sharp"), [(1.0, True), (0.95, True), (0.94, False)])
def test_active_time_is_a_view_and_sharp_where_one_thread_did_the_work(own: float, sharp: bool) -> None:
    each = {"fullname": "a", "stats": {"data": [0.5, 0.25]}, "perfgate": {"active": [0.25, 0.125], "own": own}}
    suite = live(pytest_benchmark, json.dumps({"benchmarks": [each]}).encode())
    active = Series("s", [0.25, 0.125], view_of="time", sharp=sharp)
    assert suite.benchmarks["a"] == {"time": Series("s", [0.5, 0.25]), "active": active}
    each["perfgate"] = {"active": [0.25, 0.0], "own": own}
    assert list(live(pytest_benchmark, json.dumps({"benchmarks": [each]}).encode()).benchmarks["a"]) == ["time"]
