"""Google Benchmark's files: repetitions, aggregates alone, errors, counters, CSV, a crash in the middle."""

import json
from array import array
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gate.formats import google_benchmark
from gate.formats.parts.live import suite
from gate.formats.parts.output import Series, Suite
from gate.formats.parts.reading import Reading, read
from gate.formats.parts.source import Source
from tests.support.foreign import reading

of = partial(reading, "google_benchmark")


def made(*rows: dict[str, Any], **context: Any) -> Reading:
    return read(Source("x", None, json.dumps({"context": context, "benchmarks": rows}).encode()))


def row(name: str, real_time: float, **more: Any) -> dict[str, Any]:
    return {"name": name, "iterations": 10, "real_time": real_time, "cpu_time": 1, "time_unit": "ns"} | more


def test_repetitions_are_iterations_of_one_process() -> None:
    found = of("repetitions.json")
    copy, counters, undefined, *twice = found.measured
    assert (copy.benchmark, copy.execution, copy.labels) == ("Copy/1024", 0, {})
    assert copy.metrics["time"].values == pytest.approx([10.841881189900693e-9, 10.832270740856487e-9], rel=1e-12)
    assert copy.metrics["cpu_time"].values == pytest.approx([10.841408894136167e-9, 10.833774104683199e-9], rel=1e-12)
    views = {name: (metric.view_of, metric.sharp) for name, metric in copy.metrics.items() if metric.view_of}
    assert views == {"cpu_time": ("time", True)}
    (manual,) = made(row("Read/manual_time", 5)).measured
    assert (manual.metrics["cpu_time"].view_of, manual.metrics["cpu_time"].sharp) == ("time", False)
    rate = copy.metrics["bytes_per_second"]
    assert (rate.unit, rate.better, list(rate.values)) == ("B/s", "higher", [94452668467.64305, 94519231258.23232])
    items = copy.metrics["items_per_second"]
    assert (items.unit, items.better, items.values[0]) == ("1/s", "higher", 92238934.05043267)
    # in milliseconds
    assert counters.metrics["time"].values[0] == pytest.approx(2.031949450802502e-10, rel=1e-12)
    assert counters.metrics["depth"].values == array("d", [-6, -6])
    # its counter is NaN, which no JSON has
    assert list(undefined.metrics) == ["time", "cpu_time"]
    assert [(each.benchmark, each.labels["family_index"]) for each in twice] == [
        ("Twice/iterations:10", "5"),
        ("Twice/iterations:10", "6"),
    ]
    assert [(each.benchmark, each.status) for each in found.failed] == [("Broken", 'no such file:\\n"data"')]


def test_what_a_file_says_of_itself() -> None:
    about = of("repetitions.json").about
    assert about.created == "2026-11-25T17:46:02+00:00"
    assert about.host == {
        "hostname": "host", "num_cpus": 2, "mhz_per_cpu": 2596, "cpu_scaling_enabled": False,
        "library_build_type": "debug",
        "caches": "L1 Data 32 KiB, L1 Instruction 32 KiB, L2 Unified 1024 KiB, L3 Unified 32768 KiB",
    }  # fmt: skip
    assert of("1.9.5.json").about.tool == "Google Benchmark 1.9.5"
    printed = {key: value for key, value in about.host.items() if key != "hostname"} | {"mhz_per_cpu": 2596.15}
    assert of("aborted.csv").about.host == printed


def test_aggregates_are_read_where_there_is_nothing_else() -> None:
    found = of("aggregates.json")
    assert not found.measured
    # fitted complexities and coefficients of variation are no measurements
    assert {(each.benchmark, each.statistic) for each in found.aggregates} == {
        (name, statistic) for name in ("Copy/1024", "Linear/64", "Linear/512") for statistic in ("mean", "median")
    }
    mean = found.aggregates[0]
    assert (mean.metric, mean.unit, mean.count) == ("time", "s", 3)
    assert (mean.value, mean.sd) == pytest.approx((21.71680597044319e-9, 17.907603552823733e-9), rel=1e-12)
    assert [each.benchmark for each in of("repetitions.json").aggregates] == ["Summary/repeats:2"] * 4


def test_csv() -> None:
    found = of("aborted.csv")
    assert [each.benchmark for each in found.measured] == ["Copy/1024", "Copy/4096"]
    assert found.measured[0].metrics["time"].values == pytest.approx([47.5565e-9, 28.4092e-9, 12.8043e-9])
    assert found.measured[1].metrics["bytes_per_second"].better == "higher"
    mean, *_ = of("aggregates.csv").aggregates
    assert (mean.benchmark, mean.statistic) == ("Copy/1024", "mean")
    assert (mean.value, mean.sd) == pytest.approx((11.8963e-9, 0.64091e-9))


def test_the_printed_table() -> None:
    found = of("table.txt")
    assert {each.benchmark: each.metrics["time"].values for each in found.measured} == {
        "Copy/1024": pytest.approx([627e-9, 10.9e-9]),
        "Linear/64": pytest.approx([7.85e-9, 30.9e-9]),
        "Linear/512": pytest.approx([65.3e-9, 66.2e-9]),
    }
    assert found.measured[0].metrics["cpu_time"].values == pytest.approx([12.1e-9, 10.9e-9])
    assert {each.benchmark for each in found.aggregates} == {"Summary/repeats:2"}
    assert [(each.benchmark, each.status) for each in found.failed] == [
        ("Counters/threads:2", "its time is printed as 0.000 ms"), ("Broken", "no such file:")
    ]  # fmt: skip


def test_csv_with_columns_before_the_name_and_an_error() -> None:
    text = (
        "engine,name,iterations,real_time,cpu_time,time_unit,label,error_occurred,error_message\n"
        'a,"x, y",10,2,3,us,,,\n'
        'a,"broken",,,,,,true,"no, file"\n'
    )
    found = read(Source("x", None, text.encode()))
    assert [(each.benchmark, list(each.metrics["time"].values)) for each in found.measured] == [("x, y", [2e-6])]
    assert [(each.benchmark, each.status) for each in found.failed] == [("broken", "no, file")]


def test_before_1_5_only_names_say_what_is_an_aggregate() -> None:
    rows = [row("a", 1), row("a", 3), *(row(f"a_{end}", 2) for end in ("mean", "median", "stddev"))]
    alone = [row("b_mean", 5), row("b_median", 6), row("b_stddev", 7), row("c_mean", 4)]
    found = made(*rows, *alone)
    assert {each.benchmark: len(each.metrics["time"].values) for each in found.measured} == {"a": 2, "c_mean": 1}
    assert [(a.benchmark, a.statistic) for a in made(row("x_y", 1, run_type="aggregate")).aggregates][:1] == [
        ("x_y", "value")
    ]
    times = {(each.benchmark, each.statistic): each.value for each in found.aggregates if each.metric == "time"}
    assert times == pytest.approx({("b", "mean"): 5e-9, ("b", "median"): 6e-9})


def test_skipped_ones_are_left_out_and_bad_times_fail() -> None:
    found = made(
        row("skipped", 0, run_type="iteration", skipped=True, skip_message="no GPU"),
        row("negative", -1, run_type="iteration"),
        row("odd", 1, run_type="iteration", time_unit="fortnight"),
        row("good", 1, run_type="iteration"),
    )
    assert [each.benchmark for each in found.measured] == ["good"]
    assert [(each.benchmark, each.status) for each in found.failed] == [
        ("negative", "-1e-09 in 'time' is below 0"),
        ("odd", "its real_time is 1 in fortnight, which is not a time"),
    ]


CAPTURED = Path(__file__).parents[2] / "data/google-benchmark"
UNSAMPLED = "only aggregates were reported: take ReportAggregatesOnly out of its code"


def live(data: bytes) -> Suite:
    return suite(google_benchmark, data, UNSAMPLED)


HOSTILE = "a b/'c'\"\\d\"\\n\\t\\x01/🐢 é/iterations:10"
ERRORS = {
    "Broken": 'no such file:\\n"data"',
    "Twice/iterations:10": "two benchmarks have this name",
    "Summary/repeats:2": "only aggregates were reported: take ReportAggregatesOnly out of its code",
}


def test_captured_output() -> None:
    suite = live((CAPTURED / "1.7.1.json").read_bytes())
    assert suite.errors == ERRORS
    assert {name: sorted(each) for name, each in suite.benchmarks.items()} == {
        "Copy/1024": ["bytes_per_second", "cpu_time", "items_per_second", "time"],
        "Copy/4096": ["bytes_per_second", "cpu_time", "items_per_second", "time"],
        "Counters/threads:2": ["cpu_time", "depth", "hits", "time"],
        # their counter is NaN and -Infinity
        "Undefined": ["cpu_time", "time"],
        "Endless": ["cpu_time", "time"],
        "Manual/iterations:2/manual_time": ["cpu_time", "time"],
        "Linear/64": ["cpu_time", "time"],
        "Linear/512": ["cpu_time", "time"],
        "Few/repeats:2": ["cpu_time", "time"],
        HOSTILE: ["cpu_time", "time"],
    }
    assert all(len(series.values) == 2 for each in suite.benchmarks.values() for series in each.values())


def timed(name: str, **values: object) -> dict[str, object]:
    return {"name": name, "run_type": "iteration", "real_time": 1, "cpu_time": 1, "time_unit": "s", **values}


def test_a_counter_of_some_repetitions_only_is_left_out() -> None:
    rows = [timed("a", x=1, y=2, time=9), timed("a", x=2)]
    suite = live(json.dumps({"benchmarks": rows}).encode())
    assert suite.errors == {}
    one, cpu = Series("s", [1.0, 1.0]), Series("s", [1.0, 1.0], view_of="time", sharp=True)
    assert suite.benchmarks == {"a": {"time": one, "cpu_time": cpu, "x": Series("", [1.0, 2.0])}}


def test_cpu_time_is_sharp_unless_the_name_says_that_another_time_counts() -> None:
    waits = (
        timed("Fetch/8/process_time/real_time/threads:2"),
        timed("real_time_of/8"),
        timed("Spawn/process_time"),
    )
    made = live(json.dumps({"benchmarks": waits}).encode()).benchmarks
    assert [each["cpu_time"].sharp for each in made.values()] == [False, True, True]
