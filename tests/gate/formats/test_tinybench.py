"""tinybench's tasks, results and table."""

import json

import pytest

from gate.formats import tinybench
from gate.formats.parts.source import Source
from tests.support.foreign import aggregates, measured, of_text, reading


@pytest.mark.parametrize(
    ("file", "first"),
    [("results-2.json", 0.0006609999999795946), ("results-3.json", 0.0007010000000207128), ("results-5.json", 0.00036)],
)
def test_samples_in_ms_are_iterations(file: str, first: float) -> None:
    found = reading("tinybench", file)
    (fast,) = measured(found, "fast")
    time = fast.metrics["time"]
    assert (time.unit, time.better, len(time.values)) == ("s", "lower", 8)
    assert time.values[0] == pytest.approx(first * 1e-3)
    assert [(f.benchmark, f.status) for f in found.failed] == [("throws", "it threw an error")]
    assert not found.aggregates


def test_the_runtime_is_what_a_result_says() -> None:
    assert reading("tinybench", "results-3.json").about.host == {"runtime": "node", "version": "20.20.2"}
    assert reading("tinybench", "results-2.json").about.host == {}


def test_version_6_keeps_no_samples() -> None:
    found = reading("tinybench", "results-6.json")
    mean = aggregates(found, "fast", "time")["mean"]
    assert (mean.value, mean.count, mean.confidence) == pytest.approx((3.89424999999477e-6, 8, 0.95))
    rate = aggregates(found, "fast", "throughput")["mean"]
    assert (rate.unit, rate.better) == ("1/s", "higher")
    assert rate.low is not None
    assert [f.benchmark for f in found.failed] == ["throws"]


def test_the_table() -> None:
    found = reading("tinybench", "table-6.json")
    times = aggregates(found, "fast", "time")
    assert (times["mean"].value, times["mean"].high) == pytest.approx((3894.2e-9, 3894.2e-9 * 2.6577))
    # 331.00 beside the median is a deviation, no interval
    assert (times["p50"].value, times["p50"].low) == pytest.approx((726e-9, None))
    assert aggregates(found, "fast", "throughput")["mean"].value == 1421263
    assert [(f.benchmark, f.status) for f in found.failed] == [("throws", "it threw: as asked")]


def test_a_table_that_users_scaled() -> None:
    rows = [{"Task name": "a", "Latency avg (µs)": "2.5 ± 1%"}, {"Task name": "b", "Throughput avg (ops/s)": "N/A"}]
    found = of_text("tinybench", json.dumps(rows))
    assert aggregates(found, "a", "time")["mean"].value == pytest.approx(2.5e-6)
    assert [f.benchmark for f in found.failed] == ["b"]


def test_other_shapes_that_users_write() -> None:
    result = {"totalTime": 6.0, "hz": 500, "period": 2.0, "samples": [1.0, 3.0], "mean": 2.0, "p995": 3.0}
    shapes = [[result], {"tasks": [{"name": "a", "result": result}]}, [{"name": "a", **result}]]
    for shape, name in zip(shapes, ["task 1", "a", "a"], strict=True):
        text = json.dumps(shape)
        assert tinybench.recognises(Source("x", None, text.encode())), text
        assert list(measured(of_text("tinybench", text), name)[0].metrics["time"].values) == [0.001, 0.003]
    bench = {"bench": {"name": "suite"}, "name": "a", "result": result}
    assert of_text("tinybench", json.dumps([bench])).measured[0].labels == {"bench": "suite"}


def test_a_file_whose_first_samples_are_longer_than_its_beginning() -> None:
    result = {"totalTime": 6.0, "min": 1, "max": 1, "hz": 500, "period": 2.0, "samples": [0.1234] * 60000, "mean": 2.0}
    source = Source("x", None, json.dumps([{"name": "a", "result": result}]).encode())
    assert tinybench.recognises(source)
