"""Bencher Metric Format."""

import pytest

from gate.formats import bencher
from gate.formats.parts.source import Source
from tests.support.foreign import of_text, reading


def test_measures_of_bencher_have_units() -> None:
    found = reading("bencher", "report.json")
    assert [(a.benchmark, a.metric, a.value, a.unit, a.better) for a in found.aggregates] == [
        ("a::sort", "latency", pytest.approx(88.5e-9), "s", "lower"),
        ("a::sort", "throughput", 11300000.0, "1/s", "higher"),
        ("build", "build-time", 12.5, "s", "lower"),
        ("build", "file-size", 2048, "B", "lower"),
        ("own", "Temperature", 61.5, "", None),
    ]
    latency, *_, own = found.aggregates
    assert (latency.low, latency.high, latency.confidence) == pytest.approx((87.25e-9, 89e-9, None))
    # distances, as old versions had them, are no interval
    assert (own.low, own.high) == (None, None)


def test_a_measure_of_ones_own_has_no_unit() -> None:
    found = of_text("bencher", '{"a": {"throughput_ops_ms": {"value": 5}, "latency_p50_ns": {"value": 7}}}')
    assert [(a.metric, a.value, a.unit, a.better) for a in found.aggregates] == [
        ("throughput_ops_ms", 5, "", "higher"),
        ("latency_p50_ns", 7, "", "lower"),
    ]


@pytest.mark.parametrize(
    "text",
    ['{"a": {"b": 1}}', '{"a": {"value": 1}}', '{"a": {"b": {"value": "1"}}}', '{"a": {"b": {"value": 1, "unit": "s"}}}',
     '{"a": {"b": {"value": true}}}', '{"a": {}}', '{"a": {"b": {"value": 1}}, "c": 1}'],
)  # fmt: skip
def test_other_json_is_not_recognised(text: str) -> None:
    assert not bencher.recognises(Source("x", None, text.encode()))
