"""JMH's JSON and CSV."""

import json
from typing import Any

import pytest

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
