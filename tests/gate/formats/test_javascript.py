"""What benchmark.js prints and vitest writes, of each of its versions."""

import json

import pytest

from tests.support.foreign import aggregates, of, of_file, of_text

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
