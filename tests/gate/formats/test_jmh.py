"""JMH's JSON and CSV."""

import json
from pathlib import Path
from typing import Any

import pytest

from gate.directions import direction
from gate.formats import jmh
from gate.formats.jmh import failed
from gate.formats.parts.live import suite as live
from gate.formats.parts.output import Series, Suite
from tests.support.foreign import aggregates, files, measured, of_text, reading

FOLD = "tiny.Tiny.fold:{size=10,text=a b}"


def result(**own: Any) -> dict[str, Any]:
    metric = {
        "score": 2.0,
        "scoreError": "NaN",
        "scoreConfidence": ["NaN", "NaN"],
        "scoreUnit": "ms/op",
        "rawData": [[2.0]],
    }
    metric.update(own.pop("metric", {}))
    return {"benchmark": "a.B.c", "mode": "avgt", "primaryMetric": metric, "secondaryMetrics": {}, **own}


def test_forks_are_executions_and_iterations_are_theirs() -> None:
    found = reading("jmh", "forks.json")
    raw = json.loads(next(f for f in files("jmh") if f.name == "forks.json").read_text())
    own = measured(found, f"{FOLD}:avgt")
    assert [m.execution for m in own] == [0, 1]
    assert [m.labels for m in own] == [{"size": "10", "text": "a b", "mode": "avgt", "threads": "1"}] * 2
    written = next(r for r in raw if r["benchmark"] == "tiny.Tiny.fold" and r["mode"] == "avgt")["primaryMetric"]
    assert written["scoreUnit"] == "us/op"
    for process, fork in zip(own, written["rawData"], strict=True):
        assert process.metrics["time"].values == pytest.approx([value * 1e-6 for value in fork])
        assert (process.metrics["time"].unit, process.metrics["time"].better) == ("s", "lower")
    throughput = measured(found, "tiny.Tiny.Others.shot:thrpt")[0].metrics["throughput"]
    assert (throughput.unit, throughput.better) == ("1/s", "higher")
    assert throughput.values[0] == pytest.approx(157665.99767475636)


def test_a_fork_that_gave_no_values_has_failed() -> None:
    two = result(forks=2, metric={"rawData": [[1.0, 1.1], []]})
    found = of_text("jmh", json.dumps([two, result(forks=1, metric={"rawData": [[2.0]]})]))
    assert [(each.execution, each.status) for each in found.failed] == [(1, "1 of 2 forks gave no values")]
    assert [each.execution for each in found.measured] == [0, 2]


def test_it_says_what_machine_it_ran_on() -> None:
    about = reading("jmh", "forks.json").about
    assert about.tool == "JMH 1.37"
    assert about.host["jvm"] == "java"
    assert about.host["vmVersion"] == "17.0.15+6-Debian-1deb12u1"


def test_of_samples_the_means_of_iterations() -> None:
    first, second = measured(reading("jmh", "sample.json"), "tiny.Tiny.Others.sampled:sample")
    # computed of the histograms by hand: the sum of value times count, over the sum of the counts
    assert first.metrics["time"].values == pytest.approx([2.4255e-07, 1.37043e-07], rel=1e-4)
    assert second.execution == 1
    assert first.metrics["p0.50"].values == pytest.approx([1.45e-07, 1e-07], rel=1e-4)
    views = {name: (metric.view_of, metric.sharp) for name, metric in first.metrics.items() if metric.view_of}
    assert views == {"p0.50": ("time", True)}


def test_secondary_metrics_stand_beside_the_time() -> None:
    metrics = measured(reading("jmh", "profiled.json"), "tiny.Tiny.Others.shot:avgt")[0].metrics
    assert list(metrics) == ["time", "gc.alloc.rate", "gc.alloc.rate.norm", "gc.count"]
    assert (metrics["gc.alloc.rate.norm"].unit, metrics["gc.alloc.rate"].unit) == ("B", "MB/sec")
    assert metrics["gc.alloc.rate.norm"].values == pytest.approx([1041.47265625, 1041.6038441003736])


def test_without_values_the_mean_with_the_interval() -> None:
    metric = {"score": 2.0, "scoreConfidence": [1.5, 2.5], "rawData": []}
    found = of_text("jmh", json.dumps([result(metric=metric)]))
    mean = aggregates(found, "a.B.c:avgt", "time")["mean"]
    assert (mean.value, mean.low, mean.high, mean.confidence, mean.unit) == (0.002, 0.0015, 0.0025, 0.999, "s")


def test_a_benchmark_that_stands_there_twice_has_more_executions() -> None:
    found = of_text("jmh", json.dumps([result(), result()]))
    assert [m.execution for m in found.measured] == [0, 1]
    found = of_text("jmh", json.dumps([result(threads=1), result(threads=2)]))
    assert [(m.execution, m.labels["threads"]) for m in found.measured] == [(0, "1"), (0, "2")]


@pytest.mark.parametrize("value", ["NaN", "-Infinity", -1.0, 1e300])
def test_values_that_cannot_be_used_fail_their_benchmark_only(value: Any) -> None:
    found = of_text("jmh", json.dumps([result(metric={"rawData": [[1.0, value]]}), result(benchmark="a.B.d")]))
    assert [f.benchmark for f in found.failed] == ["a.B.c:avgt"]
    assert [m.benchmark for m in found.measured] == ["a.B.d:avgt"]


def test_a_csv_has_means_with_the_error_of_999() -> None:
    found = reading("jmh", "means.csv")
    mean = aggregates(found, f"{FOLD}:thrpt", "throughput")["mean"]
    assert (mean.unit, mean.better, mean.count, mean.confidence) == ("1/s", "higher", 6, 0.999)
    assert (mean.value, mean.low, mean.high) == pytest.approx((6142524, 6142524 - 13291872, 6142524 + 13291872))
    times = aggregates(found, f"{FOLD}:sample", "time")
    assert list(times) == ["mean", "p0", "p50", "p90", "p95", "p99", "p99.9", "p99.99", "p100"]
    assert times["p99"].value == pytest.approx(1.4868e-06)
    assert not found.measured


def test_numbers_of_another_language() -> None:
    mean = aggregates(reading("jmh", "german.csv"), f"{FOLD}:thrpt", "throughput")["mean"]
    assert mean.value == pytest.approx(12.028331e6)


def test_a_secondary_metric_that_is_not_whole_is_named() -> None:
    # gc.time is only there where the collector ran
    secondary = {
        "gc.time": {"scoreUnit": "ms", "rawData": [[1.0], [1.0, 2.0]]},
        "gc.count": {"scoreUnit": "counts", "rawData": [[1.0, 2.0], [1.0, 2.0]]},
        "odd": {"scoreUnit": "ms", "rawData": [["x", 1.0]]},
    }
    metric = {"rawData": [[1.0, 2.0], [3.0, 4.0]]}
    found = of_text("jmh", json.dumps([result(), result(benchmark="a.B.d", metric=metric, secondaryMetrics=secondary)]))
    assert [list(m.metrics) for m in found.measured[1:]] == [["time", "gc.count"]] * 2
    assert found.left_out == [
        f"result 2: {key} of a.B.d:avgt has no value that can be used in some iterations" for key in ("gc.time", "odd")
    ]


DATA = Path(__file__).parents[2] / "data" / "jmh"
QUOTED = 'tiny.Tiny.fold:{size=10,text="q"; 🐢}'


def captured(name: str) -> Any:
    return json.loads((DATA / name).read_bytes())


def read(name: str) -> Suite:
    return live(jmh, (DATA / name).read_bytes())


def assert_series(found: Series, unit: str, values: list[float], better: str = "lower") -> None:
    assert (found.unit, direction("", found.unit)) == (unit, better)
    assert found.values == pytest.approx(values)


def entry(**changes: Any) -> dict[str, Any]:
    metric = {"scoreUnit": "us/op", "rawData": [[1.0, 2.0]]}
    return {"benchmark": "a.B.c", "mode": "avgt", "primaryMetric": metric, "secondaryMetrics": {}} | changes


def made(*entries: dict[str, Any]) -> Suite:
    return live(jmh, json.dumps(entries).encode())


def test_parameters_and_modes_tell_names_apart() -> None:
    suite = read("1.37.json")
    assert set(suite.benchmarks) == {
        f"{QUOTED}:thrpt",
        f"{QUOTED}:avgt",
        "tiny.Tiny.Others.sampled:sample",
        "tiny.Tiny.Others.shot:ss",
    }
    assert suite.errors == {}


@pytest.mark.parametrize("text", ["x", "1_0", "١"])
def test_a_value_that_is_no_number(text: str) -> None:
    assert made(entry(primaryMetric={"scoreUnit": "us/op", "rawData": [[text]]})).errors == {
        "a.B.c:avgt": f"{text!r} among its values is not a number"
    }
    sampled = {"scoreUnit": "us/op", "rawDataHistogram": [[[["x", 1]]]]}
    assert made(entry(primaryMetric=sampled)).errors == {"a.B.c:avgt": "'x' among its values is not a number"}


@pytest.mark.parametrize(("name", "prefix"), [("1.37.json", ""), ("1.21.json", "·")])
def test_secondary_metrics_have_their_own_names(name: str, prefix: str) -> None:
    found = next(each for name, each in read(name).benchmarks.items() if name.endswith(":avgt"))
    assert {
        metric: (each.unit, direction(metric, each.unit)) for metric, each in found.items() if metric != "time"
    } == {
        f"{prefix}gc.alloc.rate": ("MB/sec", None),
        f"{prefix}gc.alloc.rate.norm": ("B", "lower"),
        f"{prefix}gc.count": ("", "lower"),
    }


def test_parts_of_groups_and_counters_go_the_way_of_their_unit() -> None:
    found = read("1.37.parts.json").benchmarks
    pair, aux = found["tiny.Tiny.pair:{size=10,text=a}:thrpt"], found["tiny.Tiny.aux:{size=10,text=a}:thrpt"]
    assert {name: (each.unit, direction(name, each.unit)) for name, each in pair.items()} == {
        "throughput": ("1/s", "higher"),
        "left": ("1/s", "higher"),
        "right": ("1/s", "higher"),
    }
    assert (aux["hits"].unit, direction("hits", aux["hits"].unit)) == ("1/s", "higher")


def test_a_failed_benchmark_is_only_in_the_text() -> None:
    assert list(read("1.37.failed.json").benchmarks) == ["tiny.Tiny.Others.shot:ss"]
    assert failed((DATA / "1.37.failed.txt").read_text()) == "tiny.Tiny.Others.fails"
    assert failed("# Benchmark: a.B.c\nIteration   1: 5.0 ms/op\n") is None
    assert failed("Iteration   1: <failure>\n") == ""


def test_a_secondary_metric_that_is_not_whole_is_left_out() -> None:
    secondary = {
        "short": {"scoreUnit": "ms", "rawData": [[1.0]]},
        "nan": {"scoreUnit": "B/op", "rawData": [[1.0, "NaN"]]},
        "negative": {"scoreUnit": "B/op", "rawData": [[1.0, -1.0]]},
        "none": {"scoreUnit": "ms"},
        "time": {"scoreUnit": "#", "rawData": [[1.0, 2.0]]},
        "a\nb": {"scoreUnit": "#", "rawData": [[1.0, 2.0]]},
    }
    found = made(entry(secondaryMetrics=secondary)).benchmarks["a.B.c:avgt"]
    assert list(found) == ["time", ":time", "a\\nb"]
    assert found["time"].values == pytest.approx([1e-6, 2e-6])


@pytest.mark.parametrize(
    ("metric", "why"),
    [
        ({"scoreUnit": "ops/s", "rawData": [["+INF"]]}, "inf in 'throughput' is not a finite number"),
        ({"scoreUnit": "us/op", "rawData": [[]]}, "time, mean: no value"),
        (
            {"scoreUnit": "us/op", "rawDataHistogram": [[[]]]},
            "an iteration has no samples: make iterations longer (-r)",
        ),
    ],
)
def test_values_that_cannot_be_used(metric: dict[str, Any], why: str) -> None:
    suite = made(entry(primaryMetric=metric), entry(mode="ss"))
    assert suite.errors == {"a.B.c:avgt": why}
    assert list(suite.benchmarks) == ["a.B.c:ss"]


def test_an_entry_that_is_not_whole_fails_alone() -> None:
    found = live(jmh, json.dumps([{"benchmark": "a"}, entry()]).encode())
    assert (list(found.benchmarks), found.errors) == (
        ["a.B.c:avgt"], {"a": "result 1: Object missing required field mode"}
    )  # fmt: skip


def test_the_order_of_parameters_is_that_of_their_names() -> None:
    assert list(made(entry(params={"b": "2", "a": "1"})).benchmarks) == ["a.B.c:{a=1,b=2}:avgt"]
