"""nanobench's JSON, CSV and tables: epochs or medians, batches, names that its templates do not escape."""

import json
from functools import partial
from typing import Any

import pytest

from gate.formats.parts.reading import Reading, read, recognised
from gate.formats.parts.source import Source
from tests.support.foreign import reading

of = partial(reading, "nanobench")
QUOTED = 'sums/short | "quoted"; `ticks`'


def made(*results: dict[str, Any]) -> Reading:
    return read(Source("x", None, json.dumps({"results": results}).encode()))


def test_epochs_are_iterations_and_batches_are_divided() -> None:
    short, long = of("full.json").measured
    assert (short.benchmark, long.benchmark, short.labels) == (QUOTED, "sums/long", {"unit": "byte"})
    assert {name: metric.unit for name, metric in short.metrics.items()} == {"time": "s"}
    # of a byte: the file has the times of 10
    assert short.metrics["time"].values == pytest.approx(
        [3.07411986118066e-10, 3.01511917148017e-10, 3.40922973867415e-10, 3.12305178101262e-10, 3.00492135890957e-10]
    )


@pytest.mark.parametrize("name", ["table.csv", "table.md"])
def test_medians(name: str) -> None:
    short, long, *_ = of(name).aggregates
    assert (short.benchmark, long.benchmark, short.labels) == (QUOTED, "sums/long", {"unit": "byte"})
    assert (short.metric, short.statistic, short.unit, short.sd) == ("time", "median", "s", None)
    assert (short.value, long.value) == pytest.approx((3.07411986118066e-10, 5.31569809069212e-08), rel=1e-9)


def test_a_template_of_ones_own_with_medians_alone() -> None:
    short, long = of("medians.json").aggregates
    # it leaves the batch out
    assert short.benchmark == QUOTED
    assert short.value == pytest.approx(3.07411986118066e-09)
    assert (long.benchmark, long.labels) == ("sums/long", {})


def test_the_default_title_is_left_out_and_warnings_do_not_hide_a_row() -> None:
    last = of("table.md").aggregates[-1]
    assert last.benchmark == "two iterations"
    assert last.value == pytest.approx(15e-9)


def test_slow_benchmarks_take_the_time_that_has_more_digits() -> None:
    table = (
        "|               ms/op |                op/s |   MdAPE |     total | benchmark\n"
        "|--------------------:|--------------------:|--------:|----------:|:----------\n"
        "|        1,886,656.34 |                0.53 |    0.0% |     20.79 | `fib`\n"
        "|                0.00 |                0.00 |    0.0% |     20.79 | `nothing`\n"
    )
    found = read(Source("x", None, table.encode())).aggregates
    assert {each.benchmark: each.value for each in found} == pytest.approx({"fib": 1886.65634})


def test_counters_and_complexities() -> None:
    epoch = {"elapsed": 2e-9, "instructions": 8, "branchmisses": 0}
    found = made(
        {"title": "benchmark", "name": "a", "batch": 2, "complexityN": 10, "measurements": [epoch, epoch]},
        {"title": "benchmark", "name": "a", "batch": 2, "complexityN": 20, "measurements": [epoch, epoch]},
        {"title": "benchmark", "name": "b", "complexityN": -1, "measurements": [{"elapsed": 1}, {}]},
        {"title": "benchmark", "name": "c", "median(elapsed)": -1},
    )
    assert [(each.benchmark, each.labels) for each in found.measured] == [
        ("a", {"complexityN": "10"}), ("a", {"complexityN": "20"})
    ]  # fmt: skip
    assert {name: metric.values for name, metric in found.measured[0].metrics.items()} == {
        "time": [1e-9, 1e-9], "instructions": [4, 4]
    }  # fmt: skip
    assert [(each.benchmark, each.status) for each in found.failed] == [
        ("b", "an epoch has no time"), ("c", "median: -1 in 'time' is below 0")
    ]  # fmt: skip


def test_numbers_as_cpp_writes_them() -> None:
    text = '{"results": [{"title": "t", "name": "a", "median(elapsed)": 1e-9, "x": -nan}]}'
    source = Source("x", None, text.encode())
    assert recognised(source) == "nanobench"
    assert read(source).aggregates[0].value == 1e-9


def test_a_table_of_something_else_is_none() -> None:
    for table in ("| req | req/s | total | name\n", "|  a/op | op/s | b | `x`\n", "a | b\n"):
        assert recognised(Source("x", None, table.encode())) is None
