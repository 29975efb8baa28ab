"""What benchmark.js prints and vitest writes, of each of its versions."""

import json

from tests.support.foreign import aggregates, of, of_text

# --- benchmark.js -----------------------------------------------------------------------------------------------------


def test_benchmark_js_prints_rates() -> None:
    # lines of others are passed over
    text = "hello x 3 ops\n> a x b x 81.61 ops/sec ±1.70% (1 run sampled)\nFastest is a\n"
    assert [(a.benchmark, a.value, a.count) for a in of_text(text).aggregates] == [("> a x b", 81.61, 1)]


# --- vitest -----------------------------------------------------------------------------------------------------------

SORT = "b/tiny.bench.mjs > sort"


def test_vitest_has_statistics_and_a_rate() -> None:
    own = {"name": "a", "hz": 500, "mean": 2, "samples": [1.0, 3.0]}
    text = json.dumps({"files": [{"filepath": "/a", "groups": [{"fullName": "g", "benchmarks": [own]}]}]})
    assert of(of_text(text), "g > a") == [0.001, 0.003]
    assert not of_text(text).aggregates


def test_vitest_5_and_its_reporter() -> None:
    task = {"name": "small", "latency": {"mean": 2.0, "moe": 0.5, "samplesCount": 9}, "throughput": {"mean": 500.0}}
    test = {"ancestorTitles": ["sort"], "title": "sizes", "benchmarks": [{"name": "b", "tasks": [task]}]}
    results = [{"name": "/src/b/x.bench.ts", "assertionResults": [test]}]
    found = of_text(json.dumps({"numTotalTests": 1, "testResults": results}))
    mean = aggregates(found, "x.bench.ts > sort > sizes > small")["mean"]
    assert (mean.value, mean.low, mean.high, mean.count) == (0.002, 0.0015, 0.0025, 9)
    assert aggregates(found, mean.benchmark, "throughput")["mean"].better == "higher"
