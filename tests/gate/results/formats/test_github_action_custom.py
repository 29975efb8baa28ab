"""The file of a custom tool of github-action-benchmark."""

import pytest

from tests.support.foreign import aggregates, of_text, reading


def test_units_say_the_direction() -> None:
    found = reading("github_action_custom", "custom.json")
    assert [(a.benchmark, a.metric, a.value, a.unit, a.better) for a in found.aggregates] == [
        ("My load", "value", 50, "Percent", None),
        ("memory", "value", 100e6, "B", "lower"),
        ("requests", "throughput", 1200.5, "1/s", "higher"),
        ("latency", "time", pytest.approx(0.0125), "s", "lower"),
    ]
    requests = aggregates(found, "requests", "throughput")["value"]
    assert (requests.low, requests.high, requests.confidence) == pytest.approx((1140.475, 1260.525, None))


def test_a_name_that_is_there_twice() -> None:
    found = of_text("github_action_custom", '[{"name":"a","unit":"s","value":1},{"name":"a","unit":"s","value":2}]')
    assert [(a.labels, a.value) for a in found.aggregates] == [({}, 1), ({"number": "2"}, 2)]
