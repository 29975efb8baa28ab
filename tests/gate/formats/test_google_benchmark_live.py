import json
from pathlib import Path

from gate.formats import google_benchmark
from gate.formats.parts.live import suite
from gate.formats.parts.output import Series, Suite

DATA = Path(__file__).parents[2] / "data/google-benchmark"
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
    suite = live((DATA / "1.7.1.json").read_bytes())
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


def row(name: str, **values: object) -> dict[str, object]:
    return {"name": name, "run_type": "iteration", "real_time": 1, "cpu_time": 1, "time_unit": "s", **values}


def test_a_counter_of_some_repetitions_only_is_left_out() -> None:
    rows = [row("a", x=1, y=2, time=9), row("a", x=2)]
    suite = live(json.dumps({"benchmarks": rows}).encode())
    assert suite.errors == {}
    one, cpu = Series("s", [1.0, 1.0]), Series("s", [1.0, 1.0], view_of="time", sharp=True)
    assert suite.benchmarks == {"a": {"time": one, "cpu_time": cpu, "x": Series("", [1.0, 2.0])}}


def test_cpu_time_is_sharp_unless_the_name_says_that_another_time_counts() -> None:
    waits = row("Fetch/8/process_time/real_time/threads:2"), row("real_time_of/8"), row("Spawn/process_time")
    made = live(json.dumps({"benchmarks": waits}).encode()).benchmarks
    assert [each["cpu_time"].sharp for each in made.values()] == [False, True, True]
