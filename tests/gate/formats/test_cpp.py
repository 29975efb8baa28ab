"""Catch2's tables and XML, Google Benchmark's files, nanobench's tables."""

import json
from array import array
from pathlib import Path
from typing import Any

import pytest

from gate.formats import google_benchmark
from gate.formats.parts.live import suite
from gate.formats.parts.output import Series, Suite
from gate.formats.parts.reading import Reading, recognised
from gate.formats.parts.source import Source
from tests.support.foreign import DATA, failed, of_file, of_text, told

# --- Catch2 -----------------------------------------------------------------------------------------------------------

LONG = "sums/in a section/a name that is much longer than the column that the table has for it, so that it is broken"
XML = (DATA / "catch2/3.7.1.xml").read_text()


@pytest.mark.parametrize(
    ("name", "tool", "numbers", "confidence"),
    [
        ("2.13.10.txt", "Catch2 2.13.10", (6.43106e-9, 6.22497e-9, 7.25383e-9, 0.89515e-9), None),
        ("2.13.10.xml", "Catch2", (6.22408e-9, 6.22319e-9, 6.22662e-9, 0.00310281e-9), 0.95),
        ("3.7.1.txt", "Catch2 3.7.1", (4.41885e-9, 4.32866e-9, 4.77926e-9, 0.392461e-9), None),
        ("3.7.1.xml", "Catch2 3.7.1", (4.31662e-9, 4.26385e-9, 4.3303e-9, 0.0573658e-9), 0.95),
        ("3.7.1.no-analysis.txt", "Catch2 3.7.1", (4.33044e-9, None, None, None), None),
    ],
)
def test_means_of_catch2(name: str, tool: str, numbers: tuple[float | None, ...], confidence: float | None) -> None:
    found = of_file(f"catch2/{name}")
    last = ["fails/advanced"] if name.startswith("2") else []
    assert [each.benchmark for each in found.aggregates] == ["sums/short & <fast>", LONG, *last]
    kinds = {(each.metric, each.statistic, each.unit, each.count) for each in found.aggregates}
    assert kinds == {("time", "mean", "s", 20)}
    assert (failed(found), found.about.tool) == ([("fails/throws", "no such file")], tool)
    mean = found.aggregates[0]
    assert (mean.value, mean.low, mean.high, mean.sd) == pytest.approx(numbers, rel=1e-9)
    assert mean.confidence == confidence


def case(inner: str) -> str:
    return f'<Catch name="x"><TestCase name="t">{inner}</TestCase></Catch>'


def test_xml_of_catch2_without_analysis_again_cut_off_and_failed() -> None:
    bare = '<BenchmarkResults name="b" samples="5"><mean value="2" lowerBound="2" upperBound="2" ci="0"/></BenchmarkResults>'
    assert of_file("catch2/3.7.1.no-analysis.txt").aggregates[1].value == pytest.approx(54.1312e-6)
    (found,) = of_text(case(bare)).aggregates
    assert (found.benchmark, found.value, found.low, found.confidence) == ("t/b", 2e-9, None, None)
    # a section that runs again
    part = XML[XML.index("<Section") : XML.index("</Section>") + len("</Section>")]
    again = of_text(XML.replace(part, part + part)).aggregates
    assert [(each.benchmark, each.labels) for each in again[1:]] == [(LONG, {}), (LONG, {"number": "2"})]
    crashed = of_text(XML[: XML.index("</Section>")])
    assert (len(crashed.aggregates), [each.benchmark for each in crashed.failed]) == (2, [None])
    good, bad = (of_text(case(f'{bare}<OverallResult success="{s}"/>')) for s in ("true", "false"))
    assert (failed(good), failed(bad)) == ([], [("t", "the test case failed")])
    assert [each.benchmark for each in bad.aggregates] == ["t/b"]


def table(name: str, mean: str, sd: str) -> str:
    """Write a table of Catch2; mean, sd: each with its interval."""
    return (
        "benchmark name                       samples       iterations    estimated\n"
        "                                     mean          low mean      high mean\n"
        f"                                     std dev       low std dev   high std dev\n{'-' * 79}\n"
        f"{name}                                    10          1        2 m \n"
        f"                                         {mean} \n                                         {sd} \n\n"
    )


def test_colours_minutes_and_names_of_catch2_that_end_in_a_number() -> None:
    text = table("\x1b[0msort 1000", "1.5 m         60 s          2 m", "100 ms        10 ms       200 ms")
    # within a list of Markdown
    (mean,) = of_text("".join(f"    {line}\n" for line in text.splitlines())).aggregates
    assert (mean.benchmark, mean.value, mean.low, mean.high, mean.sd) == ("sort 1000", 90, 60, 120, 0.1)


HEADING = "-" * 79 + "\nparse\n" + "-" * 79 + "\na.cpp:5\n" + "." * 79 + "\n\n"


@pytest.mark.parametrize(("place", "heading"), [("a.cpp:7", HEADING), ("a.cpp(7)", HEADING), ("a.cpp:7", "")])
def test_a_test_case_of_catch2_that_fails_beside_its_benchmarks(place: str, heading: str) -> None:
    rows = table("fast", "1.000 us      1.000 us      1.000 us", "1.000 ns      1.000 ns      1.000 ns")
    text = f"{heading}{rows}{place}: FAILED:\n  REQUIRE( x )\n\n{place}: FAILED:\n  CHECK( y )\n\n{'=' * 79}\n"
    assert failed(of_text(text)) == [("parse" if heading else None, "the test case failed")]
    assert [each.value for each in of_text(text).aggregates] == [pytest.approx(1e-6)]


# --- Google Benchmark -------------------------------------------------------------------------------------------------


def made(*rows: dict[str, Any]) -> Reading:
    return of_text(json.dumps({"context": {}, "benchmarks": rows}))


def row(name: str, real_time: float, **more: Any) -> dict[str, Any]:
    return {"name": name, "iterations": 10, "real_time": real_time, "cpu_time": 1, "time_unit": "ns"} | more


def test_repetitions_of_google_benchmark_are_iterations_of_one_process() -> None:
    found = of_file("google_benchmark/repetitions.json")
    copy, counters, undefined, *twice = found.measured
    assert (copy.benchmark, copy.execution, copy.labels) == ("Copy/1024", 0, {})
    assert copy.metrics["time"].values == pytest.approx([10.841881189900693e-9, 10.832270740856487e-9], rel=1e-12)
    cpu, rate, items = (copy.metrics[name] for name in ("cpu_time", "bytes_per_second", "items_per_second"))
    assert cpu.values == pytest.approx([10.841408894136167e-9, 10.833774104683199e-9], rel=1e-12)
    assert [name for name, metric in copy.metrics.items() if metric.view_of] == ["cpu_time"]
    assert (cpu.view_of, cpu.sharp) == ("time", True)
    assert (rate.unit, rate.better, list(rate.values)) == ("B/s", "higher", [94452668467.64305, 94519231258.23232])
    assert (items.unit, items.better, items.values[0]) == ("1/s", "higher", 92238934.05043267)
    # in milliseconds
    assert counters.metrics["time"].values[0] == pytest.approx(2.031949450802502e-10, rel=1e-12)
    assert counters.metrics["depth"].values == array("d", [-6, -6])
    # its counter is NaN, which no JSON has
    assert list(undefined.metrics) == ["time", "cpu_time"]
    assert [(each.benchmark, each.labels["family_index"]) for each in twice] == [
        ("Twice/iterations:10", "5"),
        ("Twice/iterations:10", "6"),
    ]
    assert failed(found) == [("Broken", 'no such file:\\n"data"')]
    assert [each.benchmark for each in found.aggregates] == ["Summary/repeats:2"] * 4


def test_aggregates_of_google_benchmark_are_read_where_there_is_nothing_else() -> None:
    found = of_file("google_benchmark/aggregates.json")
    assert not found.measured
    # fitted complexities and coefficients of variation are no measurements
    assert {(each.benchmark, each.statistic) for each in found.aggregates} == {
        (name, statistic) for name in ("Copy/1024", "Linear/64", "Linear/512") for statistic in ("mean", "median")
    }
    mean = found.aggregates[0]
    assert (mean.metric, mean.unit, mean.count) == ("time", "s", 3)
    assert (mean.value, mean.sd) == pytest.approx((21.71680597044319e-9, 17.907603552823733e-9), rel=1e-12)


def test_rows_of_google_benchmark_that_are_aggregates_skipped_or_bad() -> None:
    # before 1.5 only names say what is an aggregate
    rows = [row("a", 1), row("a", 3), *(row(f"a_{end}", 2) for end in ("mean", "median", "stddev"))]
    found = made(*rows, row("b_mean", 5), row("b_median", 6), row("b_stddev", 7), row("c_mean", 4))
    assert {each.benchmark: len(each.metrics["time"].values) for each in found.measured} == {"a": 2, "c_mean": 1}
    assert told(found, "b") == {"mean": 5e-9, "median": 6e-9}
    other = made(row("x_y", 1, run_type="aggregate")).aggregates[0]
    assert (other.benchmark, other.statistic) == ("x_y", "value")
    found = made(
        row("skipped", 0, run_type="iteration", skipped=True, skip_message="no GPU"),
        row("negative", -1, run_type="iteration"),
        row("odd", 1, run_type="iteration", time_unit="fortnight"),
        row("good", 1, run_type="iteration"),
    )
    assert [each.benchmark for each in found.measured] == ["good"]
    assert failed(found) == [
        ("negative", "-1e-09 in 'time' is below 0"),
        ("odd", "its real_time is 1 in fortnight, which is not a time"),
    ]


CAPTURED = Path(__file__).parents[2] / "data/google-benchmark"


def live(data: bytes) -> Suite:
    return suite(google_benchmark, data, "it is a summary")


def test_counters_of_some_repetitions_and_cpu_time_where_another_time_counts() -> None:
    def timed(name: str, **values: object) -> dict[str, object]:
        return {"name": name, "run_type": "iteration", "real_time": 1, "cpu_time": 1, "time_unit": "s", **values}

    rows = [timed("a", x=1, y=2, time=9), timed("a", x=2)]
    one, cpu = Series("s", [1.0, 1.0]), Series("s", [1.0, 1.0], view_of="time", sharp=True)
    own = {"time": one, "cpu_time": cpu, "x": Series("", [1.0, 2.0])}
    assert live(json.dumps({"benchmarks": rows}).encode()) == Suite({"a": own}, {})
    # sharp unless the name says so
    names = {"Fetch/8/process_time/real_time/threads:2": False, "real_time_of/8": True, "Spawn/process_time": True}
    names["Read/manual_time"] = False
    made = live(json.dumps({"benchmarks": [timed(name) for name in names]}).encode()).benchmarks
    assert {name: each["cpu_time"].sharp for name, each in made.items()} == names


# --- nanobench --------------------------------------------------------------------------------------------------------

QUOTED = 'sums/short | "quoted"; `ticks`'


def test_medians_of_nanobench() -> None:
    short, long, *_, last = of_file("nanobench/table.md").aggregates
    assert (short.benchmark, long.benchmark, short.labels) == (QUOTED, "sums/long", {"unit": "byte"})
    assert (short.metric, short.statistic, short.unit, short.sd) == ("time", "median", "s", None)
    assert (short.value, long.value) == pytest.approx((3.07411986118066e-10, 5.31569809069212e-08), rel=1e-9)
    # the default title is left out, and warnings hide no row
    assert last.benchmark == "two iterations"
    assert last.value == pytest.approx(15e-9)


def test_slow_benchmarks_of_nanobench_take_the_time_that_has_more_digits() -> None:
    text = (
        "|               ms/op |                op/s |   MdAPE |     total | benchmark\n"
        "|--------------------:|--------------------:|--------:|----------:|:----------\n"
        "|        1,886,656.34 |                0.53 |    0.0% |     20.79 | `fib`\n"
        "|                0.00 |                0.00 |    0.0% |     20.79 | `nothing`\n"
    )
    assert {each.benchmark: each.value for each in of_text(text).aggregates} == pytest.approx({"fib": 1886.65634})
    for other in ("| req | req/s | total | name\n", "|  a/op | op/s | b | `x`\n", "a | b\n"):
        assert recognised(Source("x", None, other.encode())) is None
