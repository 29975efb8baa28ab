"""JMH's JSON and text, and BenchmarkDotNet's JSON."""

import json
from pathlib import Path
from typing import Any

import pytest

from gate.directions import direction
from gate.formats import jmh
from gate.formats.jmh import failed as failed_in_text
from gate.formats.parts.live import suite
from gate.formats.parts.output import Series, Suite
from gate.formats.parts.reading import Reading
from tests.support.foreign import DATA, aggregates, failed, measured, of_file, of_text

# --- JMH --------------------------------------------------------------------------------------------------------------

FOLD = "tiny.Tiny.fold:{size=10,text=a b}"
OTHERS = "tiny.Tiny.Others"
CAPTURED = Path(__file__).parents[2] / "data/jmh"


def result(
    name: str = "a.B.c", *, raw: Any = ((2.0,),), unit: str = "ms/op", metric: Any = None, **own: Any
) -> dict[str, Any]:
    """Write a result; raw: the values of each fork. metric: in place of them."""
    chief = {"score": 2.0, "scoreError": "NaN", "scoreConfidence": ["NaN", "NaN"], "scoreUnit": unit, "rawData": raw}
    return {"benchmark": name, "mode": "avgt", "primaryMetric": metric or chief, "secondaryMetrics": {}, **own}


def of_results(*results: dict[str, Any]) -> Reading:
    return of_text(json.dumps(results), "jmh")


def live(*results: dict[str, Any]) -> Suite:
    return suite(jmh, json.dumps(results).encode())


def test_forks_of_jmh_are_executions_and_iterations_are_theirs() -> None:
    found = of_file("jmh/forks.json")
    own = measured(found, f"{FOLD}:avgt")
    assert [m.execution for m in own] == [0, 1]
    assert [m.labels for m in own] == [{"size": "10", "text": "a b", "mode": "avgt", "threads": "1"}] * 2
    raw = json.loads((DATA / "jmh/forks.json").read_text())
    written = next(r for r in raw if r["benchmark"] == "tiny.Tiny.fold" and r["mode"] == "avgt")["primaryMetric"]
    assert written["scoreUnit"] == "us/op"
    for process, fork in zip(own, written["rawData"], strict=True):
        time = process.metrics["time"]
        assert time.values == pytest.approx([value * 1e-6 for value in fork])
        assert (time.unit, time.better) == ("s", "lower")
    rate = measured(found, f"{OTHERS}.shot:thrpt")[0].metrics["throughput"]
    assert (rate.unit, rate.better) == ("1/s", "higher")
    assert rate.values[0] == pytest.approx(157665.99767475636)
    assert found.about.tool == "JMH 1.37"
    assert (found.about.host["jvm"], found.about.host["vmVersion"]) == ("java", "17.0.15+6-Debian-1deb12u1")


def test_of_samples_of_jmh_the_means_of_iterations() -> None:
    first, second = measured(of_file("jmh/sample.json"), f"{OTHERS}.sampled:sample")
    # computed of the histograms by hand: the sum of value times count, over the sum of the counts
    assert first.metrics["time"].values == pytest.approx([2.4255e-07, 1.37043e-07], rel=1e-4)
    assert second.execution == 1
    assert first.metrics["p0.50"].values == pytest.approx([1.45e-07, 1e-07], rel=1e-4)
    views = {name: (metric.view_of, metric.sharp) for name, metric in first.metrics.items() if metric.view_of}
    assert views == {"p0.50": ("time", True)}


def test_secondary_metrics_of_jmh_stand_beside_the_time() -> None:
    metrics = measured(of_file("jmh/profiled.json"), f"{OTHERS}.shot:avgt")[0].metrics
    assert list(metrics) == ["time", "gc.alloc.rate", "gc.alloc.rate.norm", "gc.count"]
    assert (metrics["gc.alloc.rate.norm"].unit, metrics["gc.alloc.rate"].unit) == ("B", "MB/sec")
    assert metrics["gc.alloc.rate.norm"].values == pytest.approx([1041.47265625, 1041.6038441003736])
    # one that is not whole is named: gc.time is only there where the collector ran
    secondary = {
        "gc.time": {"scoreUnit": "ms", "rawData": [[1.0], [1.0, 2.0]]},
        "gc.count": {"scoreUnit": "counts", "rawData": [[1.0, 2.0], [1.0, 2.0]]},
        "odd": {"scoreUnit": "ms", "rawData": [["x", 1.0]]},
        # never named as the primary one
        "time": {"scoreUnit": "#", "rawData": [[1.0, 2.0], [1.0, 2.0]]},
    }
    found = of_results(result(), result("a.B.d", raw=[[1.0, 2.0], [3.0, 4.0]], secondaryMetrics=secondary))
    assert [list(m.metrics) for m in found.measured[1:]] == [["time", "gc.count", ":time"]] * 2
    assert found.left_out == [
        f"result 2: {key} of a.B.d:avgt has no value that can be used in some iterations" for key in ("gc.time", "odd")
    ]


def test_results_of_jmh_without_values_or_there_twice() -> None:
    metric = {"score": 2.0, "scoreConfidence": [1.5, 2.5], "scoreUnit": "ms/op", "rawData": []}
    mean = aggregates(of_results(result(metric=metric)), "a.B.c:avgt")["mean"]
    assert (mean.value, mean.low, mean.high, mean.confidence, mean.unit) == (0.002, 0.0015, 0.0025, 0.999, "s")
    assert [m.execution for m in of_results(result(), result()).measured] == [0, 1]
    found = of_results(result(threads=1), result(threads=2))
    assert [(m.execution, m.labels["threads"]) for m in found.measured] == [(0, "1"), (0, "2")]
    # a fork that gave no values has failed
    found = of_results(result(forks=2, raw=[[1.0, 1.1], []]), result(forks=1))
    assert [(each.execution, each.status) for each in found.failed] == [(1, "1 of 2 forks gave no values")]
    assert [each.execution for each in found.measured] == [0, 2]


def captured(name: str) -> dict[str, dict[str, Series]]:
    found = suite(jmh, (CAPTURED / name).read_bytes())
    assert found.errors == {}
    return found.benchmarks


def ways(found: dict[str, Series]) -> dict[str, tuple[str, str | None]]:
    """Give the unit and the direction of each metric but the time."""
    return {name: (each.unit, direction(name, each.unit)) for name, each in found.items() if name != "time"}


def test_captured_output_of_jmh() -> None:
    quoted = 'tiny.Tiny.fold:{size=10,text="q"; 🐢}'
    found = captured("1.37.json")
    assert set(found) == {f"{quoted}:thrpt", f"{quoted}:avgt", f"{OTHERS}.sampled:sample", f"{OTHERS}.shot:ss"}
    for name, prefix in (("1.37.json", ""), ("1.21.json", "·")):
        own = next(each for benchmark, each in captured(name).items() if benchmark.endswith(":avgt"))
        assert ways(own) == {
            f"{prefix}gc.alloc.rate": ("MB/sec", None),
            f"{prefix}gc.alloc.rate.norm": ("B", "lower"),
            f"{prefix}gc.count": ("", "lower"),
        }
    # parts of groups and counters go the way of their unit
    parts = captured("1.37.parts.json")
    rate = ("1/s", "higher")
    assert ways(parts["tiny.Tiny.pair:{size=10,text=a}:thrpt"]) == dict.fromkeys(("throughput", "left", "right"), rate)
    assert ways(parts["tiny.Tiny.aux:{size=10,text=a}:thrpt"])["hits"] == rate
    # a failed benchmark is only in the text
    assert list(captured("1.37.failed.json")) == [f"{OTHERS}.shot:ss"]
    assert failed_in_text((CAPTURED / "1.37.failed.txt").read_text()) == f"{OTHERS}.fails"
    assert failed_in_text("# Benchmark: a.B.c\nIteration   1: 5.0 ms/op\n") is None
    assert failed_in_text("Iteration   1: <failure>\n") == ""


@pytest.mark.parametrize(
    ("metric", "why"),
    [
        *[
            ({"scoreUnit": "us/op", "rawData": [[t]]}, f"{t!r} among its values is not a number")
            for t in ("x", "1_0", "١")
        ],
        ({"scoreUnit": "us/op", "rawDataHistogram": [[[["x", 1]]]]}, "'x' among its values is not a number"),
        ({"scoreUnit": "us/op", "rawData": [[1.0, "NaN"]]}, "nan in 'time' is not a finite number"),
        ({"scoreUnit": "us/op", "rawData": [[1.0, "-Infinity"]]}, "-inf in 'time' is not a finite number"),
        ({"scoreUnit": "us/op", "rawData": [[1.0, -1.0]]}, "-1e-06 in 'time' is below 0"),
        (
            {"scoreUnit": "s/op", "rawData": [[1e300]]},
            "1e+300 in 'time' is neither 0 nor of a size from 1e-60 to 1e+60",
        ),
        ({"scoreUnit": "ops/s", "rawData": [["+INF"]]}, "inf in 'throughput' is not a finite number"),
        ({"scoreUnit": "us/op", "rawData": [[]]}, "time, mean: no value"),
        (
            {"scoreUnit": "us/op", "rawDataHistogram": [[[]]]},
            "an iteration has no samples: make iterations longer (-r)",
        ),
    ],
)
def test_values_of_jmh_that_cannot_be_used_fail_their_benchmark_only(metric: dict[str, Any], why: str) -> None:
    bad, good = result(metric=metric), result(mode="ss")
    assert live(bad, good) == Suite({"a.B.c:ss": {"time": Series("s", [0.002])}}, {"a.B.c:avgt": why})
    assert failed(of_results(bad, good)) == [("a.B.c:avgt", why)]


def test_a_result_of_jmh_that_is_not_whole_fails_alone() -> None:
    found = live({"benchmark": "a"}, result())
    assert list(found.benchmarks) == ["a.B.c:avgt"]
    assert found.errors == {"a": "result 1: Object missing required field mode"}


# --- BenchmarkDotNet --------------------------------------------------------------------------------------------------

QUICK = "Tiny.Benchmarks.Sorts.Quick"


def test_launches_of_benchmarkdotnet_are_executions_and_results_their_iterations() -> None:
    found = of_file("benchmarkdotnet/sorts-report-full.json")
    first, second = measured(found, QUICK, job="MediumRun")
    # of the stages Jitting, Pilot, Warmup and Actual nothing: 1616 ns and 1632 ns of 16 operations, 3248 ns of 32
    assert first.metrics["time"].values == pytest.approx([101e-9, 102e-9])
    assert second.metrics["time"].values == pytest.approx([101.5e-9])
    assert (first.execution, second.execution) == (0, 1)
    assert first.labels == {"n": "8", "text": "a", "job": "MediumRun"}
    assert (first.metrics["memory"].unit, first.metrics["memory"].values) == ("B", [96])
    assert "memory" not in second.metrics
    # without results the actual values
    (other,) = measured(found, QUICK, job="Runtime=.NET 6.0")
    assert other.metrics["time"].values == pytest.approx([99e-9])
    assert failed(found) == [("Tiny.Benchmarks.Sorts.Bad", "no statistics (NA)")]
    assert found.about.tool == "BenchmarkDotNet 0.14.0"
    host = {"cpu": "AMD EPYC 7763", "runtime": ".NET 8.0.8 (8.0.824.36612)", "debugger": False}
    assert {name: found.about.host[name] for name in host} == host


def test_brief_reports_of_benchmarkdotnet_have_values_or_statistics() -> None:
    found = of_file("benchmarkdotnet/sorts-report-brief.json")
    assert measured(found, QUICK, n="8")[0].metrics["time"].values == pytest.approx([101e-9, 102e-9, 101.5e-9])
    mean = aggregates(found, QUICK, n="64")["mean"]
    assert (mean.value, mean.low, mean.high, mean.sd) == pytest.approx((802e-9, 800e-9, 804e-9, 1e-9))
    assert (mean.confidence, mean.count) == (0.999, 3)
    assert aggregates(found, QUICK, "memory", n="64")["value"].value == 96
