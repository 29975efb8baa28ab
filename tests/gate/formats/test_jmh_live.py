import json
from pathlib import Path
from typing import Any

import pytest

from gate.directions import direction
from gate.formats import jmh
from gate.formats.jmh import failed
from gate.formats.parts.live import suite as live
from gate.formats.parts.output import Series, Suite

DATA = Path(__file__).parents[2] / "data" / "jmh"
FOLD = 'tiny.Tiny.fold:{size=10,text="q"; 🐢}'


def captured(name: str) -> Any:
    return json.loads((DATA / name).read_bytes())


def read(name: str) -> Suite:
    return live(jmh, (DATA / name).read_bytes())


def assert_series(found: Series, unit: str, values: list[float], better: str = "lower") -> None:
    assert (found.unit, direction("", found.unit)) == (unit, better)
    assert found.values == pytest.approx(values)


def entry(**changes: Any) -> dict[str, Any]:
    metric = {"scoreUnit": "us/op", "rawData": [[1.0, 2.0]]}
    return {"benchmark": "a.B.c", "mode": "avgt", "primaryMetric": metric, "secondaryMetrics": {}} | changes


def made(*entries: dict[str, Any]) -> Suite:
    return live(jmh, json.dumps(entries).encode())


def test_parameters_and_modes_tell_names_apart() -> None:
    suite = read("1.37.json")
    assert set(suite.benchmarks) == {
        f"{FOLD}:thrpt",
        f"{FOLD}:avgt",
        "tiny.Tiny.Others.sampled:sample",
        "tiny.Tiny.Others.shot:ss",
    }
    assert suite.errors == {}


@pytest.mark.parametrize("text", ["x", "1_0", "١"])
def test_a_value_that_is_no_number(text: str) -> None:
    assert made(entry(primaryMetric={"scoreUnit": "us/op", "rawData": [[text]]})).errors == {
        "a.B.c:avgt": f"{text!r} among its values is not a number"
    }
    sampled = {"scoreUnit": "us/op", "rawDataHistogram": [[[["x", 1]]]]}
    assert made(entry(primaryMetric=sampled)).errors == {"a.B.c:avgt": "'x' among its values is not a number"}


@pytest.mark.parametrize(("name", "prefix"), [("1.37.json", ""), ("1.21.json", "·")])
def test_secondary_metrics_have_their_own_names(name: str, prefix: str) -> None:
    found = next(each for name, each in read(name).benchmarks.items() if name.endswith(":avgt"))
    assert {
        metric: (each.unit, direction(metric, each.unit)) for metric, each in found.items() if metric != "time"
    } == {
        f"{prefix}gc.alloc.rate": ("MB/sec", None),
        f"{prefix}gc.alloc.rate.norm": ("B", "lower"),
        f"{prefix}gc.count": ("", "lower"),
    }


def test_parts_of_groups_and_counters_go_the_way_of_their_unit() -> None:
    found = read("1.37.parts.json").benchmarks
    pair, aux = found["tiny.Tiny.pair:{size=10,text=a}:thrpt"], found["tiny.Tiny.aux:{size=10,text=a}:thrpt"]
    assert {name: (each.unit, direction(name, each.unit)) for name, each in pair.items()} == {
        "throughput": ("1/s", "higher"),
        "left": ("1/s", "higher"),
        "right": ("1/s", "higher"),
    }
    assert (aux["hits"].unit, direction("hits", aux["hits"].unit)) == ("1/s", "higher")


def test_a_failed_benchmark_is_only_in_the_text() -> None:
    assert list(read("1.37.failed.json").benchmarks) == ["tiny.Tiny.Others.shot:ss"]
    assert failed((DATA / "1.37.failed.txt").read_text()) == "tiny.Tiny.Others.fails"
    assert failed("# Benchmark: a.B.c\nIteration   1: 5.0 ms/op\n") is None
    assert failed("Iteration   1: <failure>\n") == ""


def test_a_secondary_metric_that_is_not_whole_is_left_out() -> None:
    secondary = {
        "short": {"scoreUnit": "ms", "rawData": [[1.0]]},
        "nan": {"scoreUnit": "B/op", "rawData": [[1.0, "NaN"]]},
        "negative": {"scoreUnit": "B/op", "rawData": [[1.0, -1.0]]},
        "none": {"scoreUnit": "ms"},
        "time": {"scoreUnit": "#", "rawData": [[1.0, 2.0]]},
        "a\nb": {"scoreUnit": "#", "rawData": [[1.0, 2.0]]},
    }
    found = made(entry(secondaryMetrics=secondary)).benchmarks["a.B.c:avgt"]
    assert list(found) == ["time", ":time", "a\\nb"]
    assert found["time"].values == pytest.approx([1e-6, 2e-6])


@pytest.mark.parametrize(
    ("metric", "why"),
    [
        ({"scoreUnit": "ops/s", "rawData": [["+INF"]]}, "inf in 'throughput' is not a finite number"),
        ({"scoreUnit": "us/op", "rawData": [[]]}, "time, mean: no value"),
        (
            {"scoreUnit": "us/op", "rawDataHistogram": [[[]]]},
            "an iteration has no samples: make iterations longer (-r)",
        ),
    ],
)
def test_values_that_cannot_be_used(metric: dict[str, Any], why: str) -> None:
    suite = made(entry(primaryMetric=metric), entry(mode="ss"))
    assert suite.errors == {"a.B.c:avgt": why}
    assert list(suite.benchmarks) == ["a.B.c:ss"]


def test_an_entry_that_is_not_whole_fails_alone() -> None:
    found = live(jmh, json.dumps([{"benchmark": "a"}, entry()]).encode())
    assert (list(found.benchmarks), found.errors) == (
        ["a.B.c:avgt"], {"a": "result 1: Object missing required field mode"}
    )  # fmt: skip


def test_the_order_of_parameters_is_that_of_their_names() -> None:
    assert list(made(entry(params={"b": "2", "a": "1"})).benchmarks) == ["a.B.c:{a=1,b=2}:avgt"]
