"""What benchmark.js prints, and its suites as JSON."""

import pytest

from tests.support.foreign import aggregates, measured, of_text, reading


def test_printed_rates() -> None:
    found = reading("benchmark_js", "suite.txt")
    assert [a.benchmark for a in found.aggregates] == ["regex#test", "a x b", "slow"]
    rate = aggregates(found, "regex#test", "throughput")["mean"]
    assert (rate.value, rate.unit, rate.better, rate.count, rate.confidence) == (32013450, "1/s", "higher", 7, 0.95)
    assert (rate.low, rate.high) == pytest.approx((32013450 * 0.7401, 32013450 * 1.2599))


def test_lines_of_others_are_passed_over() -> None:
    found = of_text("benchmark_js", "hello x 3 ops\n> a x b x 81.61 ops/sec ±1.70% (1 run sampled)\nFastest is a\n")
    assert [(a.benchmark, a.value, a.count) for a in found.aggregates] == [("> a x b", 81.61, 1)]


def test_a_suite_as_json_has_samples() -> None:
    found = reading("benchmark_js", "suite.json")
    assert len(measured(found, "regex#test")[0].metrics["time"].values) == 7
    assert measured(found, "slow")[0].metrics["time"].values[0] == 0.0037188640666666667
    assert [f.benchmark for f in found.failed] == ["throws"]
