"""Catch2's tables and XML, Google Benchmark's files, nanobench's tables."""

import json
from pathlib import Path
from typing import Any

import pytest

from gate.formats import google_benchmark
from gate.formats.parts.live import suite
from gate.formats.parts.output import Series, Suite
from gate.formats.parts.reading import Reading, recognised
from gate.formats.parts.source import Source
from tests.support.foreign import DATA, failed, of_text, told

# --- Catch2 -----------------------------------------------------------------------------------------------------------

LONG = "sums/in a section/a name that is much longer than the column that the table has for it, so that it is broken"
XML = (DATA / "catch2/3.7.1.xml").read_text()


def case(inner: str) -> str:
    return f'<Catch name="x"><TestCase name="t">{inner}</TestCase></Catch>'


def test_xml_of_catch2_without_analysis_again_cut_off_and_failed() -> None:
    bare = '<BenchmarkResults name="b" samples="5"><mean value="2" lowerBound="2" upperBound="2" ci="0"/></BenchmarkResults>'
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
