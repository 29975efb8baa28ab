import json
from pathlib import Path
from typing import Any

import pytest

from gate.evidence.foreign.records import lines
from gate.evidence.sameness import is_one_commit
from gate.formats import pytest_benchmark
from gate.formats.parts.live import suite as live
from gate.formats.parts.output import Series
from gate.formats.parts.reading import Reading, read
from gate.formats.parts.source import Source
from gate.model import Run

DATA = Path(__file__).parents[2] / "data" / "results" / "pytest_benchmark"


def read_json(document: Any) -> Reading:
    return read(Source("x", None, json.dumps(document).encode()))


def entry(name: str, **stats: Any) -> dict[str, Any]:
    return {"group": None, "name": name, "fullname": f"t.py::{name}", "params": None, "param": None, "stats": stats}


def test_rounds_are_iterations() -> None:
    reading = read(Source("x", DATA / "data.json"))
    assert [m.benchmark for m in reading.measured] == [
        *(f"test_tiny.py::test_sum[{each}]" for each in ("a-10", "a-20", "b-10", "b-20")),
        "test_tiny.py::test_once",
    ]
    first, *_, last = reading.measured
    assert first.metrics["time"].unit == "s"
    assert first.metrics["time"].values == [
        3.3840042306110264e-07, 3.6660057958215473e-07, 1.9419967429712414e-07, 1.7639977158978582e-07
    ]  # fmt: skip
    assert first.labels == {"kind": "a", "size": "10", "group": "sums", "param": "a-10"}
    assert last.labels == {}
    # test_broken failed and is not in the file
    assert not reading.failed
    assert not reading.aggregates


def test_what_it_says_of_itself() -> None:
    about = read(Source("x", DATA / "data.json")).about
    assert about.tool == "pytest-benchmark 5.3.1"
    assert about.commit == "8dfea3e8c01459005cc262167ee16e627d13274a"
    assert about.created == "2026-11-25T17:50:02.538212+00:00"
    assert about.host == {
        "hostname": "host", "cpu": "AMD EPYC", "system": "Linux", "kernel": "6.1.0", "machine": "x86_64",
        "python_implementation": "CPython", "python_version": "3.11.7", "python_compiler": "GCC 12.2.0",
        "cpu_count": 2,
    }  # fmt: skip


def test_a_commit_with_changes_is_not_the_commit() -> None:
    found = json.loads((DATA / "data.json").read_text())
    assert not read(Source("x", DATA / "data.json")).about.dirty
    found["commit_info"]["dirty"] = True
    changed = read(Source("x", None, json.dumps(found).encode()))
    run = next(iter(lines([("base", changed), ("head", changed)])))[0]
    assert isinstance(run, Run) and not is_one_commit(run)


def test_saved_without_data_there_are_aggregates_only() -> None:
    reading = read(Source("x", DATA / "saved.json"))
    assert not reading.measured
    first = {a.statistic: a for a in reading.aggregates if a.benchmark == "test_tiny.py::test_sum[a-10]"}
    assert list(first) == ["mean", "median", "min", "max"]
    assert (first["mean"].value, first["mean"].sd, first["mean"].count) == (
        2.7990026865154503e-07, 1.0838295003836878e-07, 4
    )  # fmt: skip
    assert first["median"].value == 2.8040012693963946e-07
    assert first["median"].sd is None
    assert {(a.metric, a.unit, a.better) for a in reading.aggregates} == {("time", "s", "lower")}


def test_cpu_time_and_wall_time_are_never_one_metric() -> None:
    clock = {"options": {"timer": "process_time"}}
    rounds, means = entry("a", data=[0.25, 0.5]), entry("b", mean=0.5, median=0.25)
    reading = read_json({"machine_info": {}, "benchmarks": [rounds | clock, rounds, means | clock, means]})
    assert [(m.benchmark, list(m.metrics)) for m in reading.measured] == [
        ("t.py::a", ["cpu_time"]), ("t.py::a", ["time"])
    ]  # fmt: skip
    assert [(a.metric, a.statistic) for a in reading.aggregates] == [
        (metric, statistic) for metric in ("cpu_time", "time") for statistic in ("mean", "median")
    ]
    bad = read_json({"machine_info": {}, "benchmarks": [entry("c", mean=-1.0) | clock]})
    assert [f.status for f in bad.failed] == ["mean: -1 in 'cpu_time' is below 0"]


def test_one_bad_benchmark_leaves_the_others() -> None:
    nan = float("nan")
    reading = read_json(
        {
            "machine_info": {},
            "benchmarks": [
                entry("test_nan", data=[1.0, nan]),
                entry("test_negative", mean=-1.0),
                entry("test_nothing"),
                entry("test_good", data=[1.0], iterations=2),
                entry("test_good", data=[2.0]),
            ],
        }
    )
    assert [(f.benchmark, f.status) for f in reading.failed] == [
        ("t.py::test_nan", "nan in 'time' is not a finite number"),
        ("t.py::test_negative", "mean: -1 in 'time' is below 0"),
        ("t.py::test_nothing", "no rounds and no statistics in the file"),
    ]
    # what comes again is another process
    assert [(m.execution, m.metrics["time"].values) for m in reading.measured] == [(0, [1.0]), (1, [2.0])]


def test_rounds_that_somebody_cut_out_leave_the_aggregates() -> None:
    cut = entry("cut", data=[0.25, 0.5, "... left out"], mean=0.3, rounds=900)
    reading = read_json({"machine_info": {}, "benchmarks": [cut, entry("whole", data=[0.25, 1])]})
    assert [m.benchmark for m in reading.measured] == ["t.py::whole"]
    assert [(a.statistic, a.value, a.count) for a in reading.aggregates] == [("mean", 0.3, 900)]


CAPTURED = Path(__file__).parents[2] / "data/pytest-benchmark"


@pytest.mark.parametrize("version", ["3.4.1", "5.3.1"])
def test_captured_output(version: str) -> None:
    suite = live(pytest_benchmark, (CAPTURED / f"{version}.json").read_bytes())
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
