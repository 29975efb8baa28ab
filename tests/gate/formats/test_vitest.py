"""vitest's benchmarks."""

import json

import pytest

from tests.support.foreign import aggregates, measured, of_text, reading

SMALL = "b/tiny.bench.mjs > sort > small"


def test_statistics_in_seconds_and_the_rate() -> None:
    found = reading("vitest", "vitest-3.json")
    times = aggregates(found, SMALL, "time")
    assert list(times) == ["mean", "p50", "p75", "p99", "p99.5", "p99.9", "min", "max"]
    mean = times["mean"]
    assert (mean.value, mean.low, mean.high) == pytest.approx(
        (9.772499999958957e-7, (0.0009772499999958957 - 0.0007046197664373738) / 1e3, 1.6818697664e-6)
    )
    assert (mean.unit, mean.better, mean.count, mean.confidence) == ("s", "lower", 12, 0.95)
    assert mean.sd == pytest.approx(1.1089843121188977e-6)
    assert times["p99.5"].value == pytest.approx(3.305e-6)
    rate = aggregates(found, SMALL, "throughput")["mean"]
    assert (rate.value, rate.unit, rate.better) == pytest.approx((1023279.6111580454, "1/s", "higher"))
    assert not found.measured


def test_a_benchmark_that_threw_has_failed_and_the_others_are_read() -> None:
    for file in ("vitest-1.json", "vitest-3.json"):
        found = reading("vitest", file)
        assert [f.benchmark for f in found.failed] == ["b/tiny.bench.mjs > sort > broken > throws"]
        assert {a.benchmark for a in found.aggregates} == {
            SMALL, "b/tiny.bench.mjs > sort > large", "b/tiny.bench.mjs > sort > broken > fine",
        }  # fmt: skip


def test_samples_are_iterations_where_they_are_there() -> None:
    own = {"name": "a", "hz": 500, "mean": 2, "samples": [1.0, 3.0]}
    found = of_text(
        "vitest", json.dumps({"files": [{"filepath": "/a", "groups": [{"fullName": "g", "benchmarks": [own]}]}]})
    )
    assert list(measured(found, "g > a")[0].metrics["time"].values) == [0.001, 0.003]
    assert not found.aggregates


def test_a_real_file_of_5() -> None:
    found = reading("vitest", "vitest-5.json")
    mean = aggregates(found, "a.bench.mjs > sort > sizes > small", "time")["mean"]
    assert (mean.value, mean.sd, mean.count) == pytest.approx((1.50225e-6, 1.3261013e-6, 12))
    assert aggregates(found, mean.benchmark, "throughput")["mean"].value == pytest.approx(1224496.2612104986)
    failed = [f.benchmark for f in found.failed]
    assert failed == ["a.bench.mjs > sort > one", "a.bench.mjs > sort > fails"]
    assert all(f.status.startswith("its test failed: ") for f in found.failed)


def test_the_reporter_of_5() -> None:
    task = {"name": "small", "latency": {"mean": 2.0, "moe": 0.5, "samplesCount": 9}, "throughput": {"mean": 500.0}}
    test = {"ancestorTitles": ["sort"], "title": "sizes", "benchmarks": [{"name": "b", "tasks": [task]}]}
    text = json.dumps({"numTotalTests": 1, "testResults": [{"name": "/src/b/x.bench.ts", "assertionResults": [test]}]})
    found = of_text("vitest", text)
    mean = aggregates(found, "x.bench.ts > sort > sizes > small", "time")["mean"]
    assert (mean.value, mean.low, mean.high, mean.count) == (0.002, 0.0015, 0.0025, 9)
    assert aggregates(found, mean.benchmark, "throughput")["mean"].better == "higher"
