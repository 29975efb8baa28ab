"""What benchmark.js, mitata, tinybench and vitest print and write, of each of their versions."""

import json

import pytest

from gate.formats import tinybench
from gate.formats.parts.source import Source
from tests.support.foreign import aggregates, failed, measured, of, of_file, of_text

# --- benchmark.js -----------------------------------------------------------------------------------------------------


def test_benchmark_js_prints_rates() -> None:
    found = of_file("benchmark_js/suite.txt")
    assert [a.benchmark for a in found.aggregates] == ["regex#test", "a x b", "slow"]
    rate = aggregates(found, "regex#test", "throughput")["mean"]
    assert (rate.value, rate.unit, rate.better, rate.count, rate.confidence) == (32013450, "1/s", "higher", 7, 0.95)
    assert (rate.low, rate.high) == pytest.approx((32013450 * 0.7401, 32013450 * 1.2599))
    # lines of others are passed over
    text = "hello x 3 ops\n> a x b x 81.61 ops/sec ±1.70% (1 run sampled)\nFastest is a\n"
    assert [(a.benchmark, a.value, a.count) for a in of_text(text).aggregates] == [("> a x b", 81.61, 1)]


# --- mitata -----------------------------------------------------------------------------------------------------------


def test_mitata_has_samples_in_ns_with_arguments_as_labels() -> None:
    found = of_file("mitata/mitata-1.json")
    (small,) = measured(found, "fill(8)")
    time = small.metrics["time"]
    assert (time.unit, time.better, time.values[0]) == pytest.approx(("s", "lower", 39.83447265625e-9))
    assert [(m.benchmark, m.labels) for m in found.measured] == [
        ("sort", {}),
        ("fill(8)", {"n": "8"}),
        ("fill(64)", {"n": "64"}),
        ("inner", {"group": "g"}),
    ]
    assert found.about.host == {"cpu": "AMD EPYC", "arch": "x64-linux", "runtime": "node", "version": "20.20.2"}
    # memory stands beside it without values
    heap = aggregates(found, "sort", "heap")
    assert (heap["mean"].unit, heap["mean"].value) == pytest.approx(("B", 943.7026339285715))
    assert [(*pair, f.labels) for pair, f in zip(failed(found), found.failed, strict=True)] == [
        ("throws", "it threw: as asked", {"group": "g"})
    ]


def test_mitata_without_samples_has_statistics() -> None:
    stats = {
        "kind": "fn",
        "samples": None,
        "avg": 20.0,
        "p50": 10.0,
        "p999": 90.0,
        "counters": {"cycles": {"avg": 5.0}},
    }
    run = {"name": "a", "args": {}, "stats": stats}
    found = of_text(json.dumps({"benchmarks": [{"alias": "a", "kind": "static", "group": 0, "runs": [run]}]}), "mitata")
    values = {name: each.value for name, each in aggregates(found, "a").items()}
    assert values == pytest.approx({"mean": 2e-8, "p50": 1e-8, "p99.9": 9e-8})
    assert aggregates(found, "a", "cycles")["mean"].value == 5


# --- tinybench --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "first", "host"),
    [
        ("results-2.json", 0.0006609999999795946, {}),
        ("results-3.json", 0.0007010000000207128, {"runtime": "node", "version": "20.20.2"}),
        ("results-5.json", 0.00036, {"runtime": "node", "version": "20.20.2"}),
    ],
)
def test_tinybench_has_samples_in_ms(file: str, first: float, host: dict[str, str]) -> None:
    found = of_file(f"tinybench/{file}")
    (fast,) = measured(found, "fast")
    time = fast.metrics["time"]
    assert (time.unit, time.better, len(time.values)) == ("s", "lower", 8)
    assert time.values[0] == pytest.approx(first * 1e-3)
    assert (failed(found), found.aggregates) == ([("throws", "it threw an error")], [])
    assert found.about.host == host


def test_tinybench_6_keeps_no_samples() -> None:
    found = of_file("tinybench/results-6.json")
    mean, rate = aggregates(found, "fast")["mean"], aggregates(found, "fast", "throughput")["mean"]
    assert (mean.value, mean.count, mean.confidence) == pytest.approx((3.89424999999477e-6, 8, 0.95))
    assert (rate.unit, rate.better, rate.low is None) == ("1/s", "higher", False)
    assert [f.benchmark for f in found.failed] == ["throws"]


def test_shapes_of_tinybench_that_users_write() -> None:
    result = {"totalTime": 6.0, "hz": 500, "period": 2.0, "samples": [1.0, 3.0], "mean": 2.0, "p995": 3.0}
    shapes = [[result], {"tasks": [{"name": "a", "result": result}]}, [{"name": "a", **result}]]
    for shape, name in zip(shapes, ["task 1", "a", "a"], strict=True):
        text = json.dumps(shape)
        assert tinybench.recognises(Source("x", None, text.encode())), text
        assert of(of_text(text, "tinybench"), name) == [0.001, 0.003]
    bench = {"bench": {"name": "suite"}, "name": "a", "result": result}
    assert of_text(json.dumps([bench]), "tinybench").measured[0].labels == {"bench": "suite"}
    # samples that are longer than the beginning by which it is told
    long = {**result, "min": 1, "max": 1, "samples": [0.1234] * 60000}
    assert tinybench.recognises(Source("x", None, json.dumps([{"name": "a", "result": long}]).encode()))


# --- vitest -----------------------------------------------------------------------------------------------------------

SORT = "b/tiny.bench.mjs > sort"


def test_vitest_has_statistics_and_a_rate() -> None:
    found = of_file("vitest/vitest-3.json")
    times = aggregates(found, f"{SORT} > small")
    assert list(times) == ["mean", "p50", "p75", "p99", "p99.5", "p99.9", "min", "max"]
    mean, rate = times["mean"], aggregates(found, f"{SORT} > small", "throughput")["mean"]
    low = (0.0009772499999958957 - 0.0007046197664373738) / 1e3
    assert (mean.value, mean.low, mean.high, mean.sd) == pytest.approx(
        (9.772499999958957e-7, low, 1.6818697664e-6, 1.1089843121188977e-6)
    )
    assert (mean.unit, mean.better, mean.count, mean.confidence) == ("s", "lower", 12, 0.95)
    assert times["p99.5"].value == pytest.approx(3.305e-6)
    assert (rate.value, rate.unit, rate.better) == pytest.approx((1023279.6111580454, "1/s", "higher"))
    assert not found.measured
    for each in (found, of_file("vitest/vitest-1.json")):
        assert [f.benchmark for f in each.failed] == [f"{SORT} > broken > throws"]
        assert {a.benchmark for a in each.aggregates} == {f"{SORT} > {n}" for n in ("small", "large", "broken > fine")}
    own = {"name": "a", "hz": 500, "mean": 2, "samples": [1.0, 3.0]}
    text = json.dumps({"files": [{"filepath": "/a", "groups": [{"fullName": "g", "benchmarks": [own]}]}]})
    assert of(of_text(text), "g > a") == [0.001, 0.003]
    assert not of_text(text).aggregates


def test_vitest_5_and_its_reporter() -> None:
    found = of_file("vitest/vitest-5.json")
    mean = aggregates(found, "a.bench.mjs > sort > sizes > small")["mean"]
    assert (mean.value, mean.sd, mean.count) == pytest.approx((1.50225e-6, 1.3261013e-6, 12))
    assert aggregates(found, mean.benchmark, "throughput")["mean"].value == pytest.approx(1224496.2612104986)
    assert [f.benchmark for f in found.failed] == ["a.bench.mjs > sort > one", "a.bench.mjs > sort > fails"]
    assert all(f.status.startswith("its test failed: ") for f in found.failed)
    task = {"name": "small", "latency": {"mean": 2.0, "moe": 0.5, "samplesCount": 9}, "throughput": {"mean": 500.0}}
    test = {"ancestorTitles": ["sort"], "title": "sizes", "benchmarks": [{"name": "b", "tasks": [task]}]}
    results = [{"name": "/src/b/x.bench.ts", "assertionResults": [test]}]
    found = of_text(json.dumps({"numTotalTests": 1, "testResults": results}))
    mean = aggregates(found, "x.bench.ts > sort > sizes > small")["mean"]
    assert (mean.value, mean.low, mean.high, mean.count) == (0.002, 0.0015, 0.0025, 9)
    assert aggregates(found, mean.benchmark, "throughput")["mean"].better == "higher"
