"""JMH's JSON and text, and BenchmarkDotNet's JSON."""

import json
from typing import Any

import pytest

from gate.formats import jmh
from gate.formats.parts.live import suite
from gate.formats.parts.output import Series, Suite
from gate.formats.parts.reading import Reading
from tests.support.foreign import aggregates, failed, of_text

# --- JMH --------------------------------------------------------------------------------------------------------------


def result(
    name: str = "a.B.c", *, raw: Any = ((2.0,),), unit: str = "ms/op", metric: Any = None, **own: Any
) -> dict[str, Any]:
    """Write a result; raw: the values of each fork. metric: in place of them."""
    chief = {"score": 2.0, "scoreError": "NaN", "scoreConfidence": ["NaN", "NaN"], "scoreUnit": unit, "rawData": raw}
    return {"benchmark": name, "mode": "avgt", "primaryMetric": metric or chief, "secondaryMetrics": {}, **own}


def of_results(*results: dict[str, Any]) -> Reading:
    return of_text(json.dumps(results), "jmh")


def live(*results: dict[str, Any]) -> Suite:
    return suite(jmh, json.dumps(results).encode())


def test_secondary_metrics_of_jmh_stand_beside_the_time() -> None:
    # one that is not whole is named: gc.time is only there where the collector ran
    secondary = {
        "gc.time": {"scoreUnit": "ms", "rawData": [[1.0], [1.0, 2.0]]},
        "gc.count": {"scoreUnit": "counts", "rawData": [[1.0, 2.0], [1.0, 2.0]]},
        "odd": {"scoreUnit": "ms", "rawData": [["x", 1.0]]},
        # never named as the primary one
        "time": {"scoreUnit": "#", "rawData": [[1.0, 2.0], [1.0, 2.0]]},
    }
    found = of_results(result(), result("a.B.d", raw=[[1.0, 2.0], [3.0, 4.0]], secondaryMetrics=secondary))
    assert [list(m.metrics) for m in found.measured[1:]] == [["time", "gc.count", ":time"]] * 2
    assert found.left_out == [
        f"result 2: {key} of a.B.d:avgt has no value that can be used in some iterations" for key in ("gc.time", "odd")
    ]


def test_results_of_jmh_without_values_or_there_twice() -> None:
    metric = {"score": 2.0, "scoreConfidence": [1.5, 2.5], "scoreUnit": "ms/op", "rawData": []}
    mean = aggregates(of_results(result(metric=metric)), "a.B.c:avgt")["mean"]
    assert (mean.value, mean.low, mean.high, mean.confidence, mean.unit) == (0.002, 0.0015, 0.0025, 0.999, "s")
    assert [m.execution for m in of_results(result(), result()).measured] == [0, 1]
    found = of_results(result(threads=1), result(threads=2))
    assert [(m.execution, m.labels["threads"]) for m in found.measured] == [(0, "1"), (0, "2")]
    # a fork that gave no values has failed
    found = of_results(result(forks=2, raw=[[1.0, 1.1], []]), result(forks=1))
    assert [(each.execution, each.status) for each in found.failed] == [(1, "1 of 2 forks gave no values")]
    assert [each.execution for each in found.measured] == [0, 2]


@pytest.mark.parametrize(
    ("metric", "why"),
    [
        *[
            ({"scoreUnit": "us/op", "rawData": [[t]]}, f"{t!r} among its values is not a number")
            for t in ("x", "1_0", "١")
        ],
        ({"scoreUnit": "us/op", "rawDataHistogram": [[[["x", 1]]]]}, "'x' among its values is not a number"),
        ({"scoreUnit": "us/op", "rawData": [[1.0, "NaN"]]}, "nan in 'time' is not a finite number"),
        ({"scoreUnit": "us/op", "rawData": [[1.0, "-Infinity"]]}, "-inf in 'time' is not a finite number"),
        ({"scoreUnit": "us/op", "rawData": [[1.0, -1.0]]}, "-1e-06 in 'time' is below 0"),
        (
            {"scoreUnit": "s/op", "rawData": [[1e300]]},
            "1e+300 in 'time' is neither 0 nor of a size from 1e-60 to 1e+60",
        ),
        ({"scoreUnit": "ops/s", "rawData": [["+INF"]]}, "inf in 'throughput' is not a finite number"),
        ({"scoreUnit": "us/op", "rawData": [[]]}, "time, mean: no value"),
        (
            {"scoreUnit": "us/op", "rawDataHistogram": [[[]]]},
            "an iteration has no samples: make iterations longer (-r)",
        ),
    ],
)
def test_values_of_jmh_that_cannot_be_used_fail_their_benchmark_only(metric: dict[str, Any], why: str) -> None:
    bad, good = result(metric=metric), result(mode="ss")
    assert live(bad, good) == Suite({"a.B.c:ss": {"time": Series("s", [0.002])}}, {"a.B.c:avgt": why})
    assert failed(of_results(bad, good)) == [("a.B.c:avgt", why)]


def test_a_result_of_jmh_that_is_not_whole_fails_alone() -> None:
    found = live({"benchmark": "a"}, result())
    assert list(found.benchmarks) == ["a.B.c:avgt"]
    assert found.errors == {"a": "result 1: Object missing required field mode"}


# --- BenchmarkDotNet --------------------------------------------------------------------------------------------------
