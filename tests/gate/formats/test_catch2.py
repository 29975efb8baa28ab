"""Catch2's tables and its XML: means with intervals, broken names, sections, failures."""

from functools import partial
from pathlib import Path

import pytest

from gate.formats.parts.reading import read
from gate.formats.parts.source import Source
from tests.support.foreign import of_text, reading

of = partial(reading, "catch2")
made = partial(of_text, "catch2")
DATA = Path(__file__).parents[2] / "data/results/catch2"
LONG = (
    "sums/in a section/a name that is much longer than the column that the table has for it, so that it is broken"
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "tool", "last"),
    [
        ("2.13.10.txt", "Catch2 2.13.10", ["fails/advanced"]),
        ("2.13.10.xml", "Catch2", ["fails/advanced"]),
        ("3.7.1.txt", "Catch2 3.7.1", []),
        ("3.7.1.xml", "Catch2 3.7.1", []),
        ("3.7.1.no-analysis.txt", "Catch2 3.7.1", []),
    ],
)
def test_names_and_failures(name: str, tool: str, last: list[str]) -> None:
    found = of(name)
    assert [each.benchmark for each in found.aggregates] == ["sums/short & <fast>", LONG, *last]
    assert {(each.metric, each.statistic, each.unit, each.count) for each in found.aggregates} == {
        ("time", "mean", "s", 20)
    }
    assert [(each.benchmark, each.status) for each in found.failed] == [("fails/throws", "no such file")]
    assert found.about.tool == tool


@pytest.mark.parametrize(
    ("name", "numbers", "confidence"),
    [
        ("2.13.10.xml", (6.22408e-9, 6.22319e-9, 6.22662e-9, 0.00310281e-9), 0.95),
        ("3.7.1.xml", (4.31662e-9, 4.26385e-9, 4.3303e-9, 0.0573658e-9), 0.95),
        ("2.13.10.txt", (6.43106e-9, 6.22497e-9, 7.25383e-9, 0.89515e-9), None),
        ("3.7.1.txt", (4.41885e-9, 4.32866e-9, 4.77926e-9, 0.392461e-9), None),
    ],
)
def test_a_mean_with_its_interval(name: str, numbers: tuple[float, ...], confidence: float | None) -> None:
    mean = of(name).aggregates[0]
    assert (mean.value, mean.low, mean.high, mean.sd) == pytest.approx(numbers, rel=1e-9)
    assert mean.confidence == confidence


def test_without_analysis_there_is_no_interval() -> None:
    short, long = of("3.7.1.no-analysis.txt").aggregates
    assert (short.value, long.value) == pytest.approx((4.33044e-9, 54.1312e-6))
    assert (short.low, short.high, short.sd, short.confidence) == (None, None, None, None)
    bare = '<Catch name="x"><TestCase name="t"><BenchmarkResults name="b" samples="5"><mean value="2" lowerBound="2" '
    found = made(f'{bare}upperBound="2" ci="0"/></BenchmarkResults></TestCase></Catch>').aggregates[0]
    assert (found.benchmark, found.value, found.low, found.confidence) == ("t/b", 2e-9, None, None)


def test_colours_minutes_and_names_that_end_in_a_number() -> None:
    # within a list of Markdown
    table = (
        "    benchmark name                       samples       iterations    estimated\n"
        "                                     mean          low mean      high mean\n"
        "                                     std dev       low std dev   high std dev\n"
        "    -------------------------------------------------------------------------------\n"
        "\x1b[0msort 1000                              10          1        2 m \n"
        "                                            1.5 m         60 s          2 m \n"
        "                                           100 ms        10 ms       200 ms \n"
    )
    mean = made(table).aggregates[0]
    assert (mean.benchmark, mean.value, mean.low, mean.high, mean.sd) == ("sort 1000", 90, 60, 120, 0.1)


def test_a_section_that_runs_again() -> None:
    data = (DATA / "3.7.1.xml").read_text()
    part = data[data.index("<Section") : data.index("</Section>") + len("</Section>")]
    found = made(data.replace(part, part + part))
    assert [(each.benchmark, each.labels) for each in found.aggregates[1:]] == [(LONG, {}), (LONG, {"number": "2"})]


def test_xml_that_a_crash_cut_off() -> None:
    data = (DATA / "3.7.1.xml").read_text()
    found = made(data[: data.index("</Section>")])
    assert len(found.aggregates) == 2
    assert [each.benchmark for each in found.failed] == [None]


HEADING = "-" * 79 + "\nparse\n" + "-" * 79 + "\na.cpp:5\n" + "." * 79 + "\n\n"
TABLE = (
    "benchmark name                       samples       iterations    est run time\n"
    "                                     mean          low mean      high mean\n"
    "                                     std dev       low std dev   high std dev\n" + "-" * 79 + "\n"
    "fast                                           100          1000    100.0000 ms \n"
    "                                         1.000 us      1.000 us      1.000 us \n"
    "                                         1.000 ns      1.000 ns      1.000 ns \n\n"
)


@pytest.mark.parametrize(("place", "heading"), [("a.cpp:7", HEADING), ("a.cpp(7)", HEADING), ("a.cpp:7", "")])
def test_a_test_case_that_fails_beside_its_benchmarks(place: str, heading: str) -> None:
    text = f"{heading}{TABLE}{place}: FAILED:\n  REQUIRE( x )\n\n{place}: FAILED:\n  CHECK( y )\n\n" + "=" * 79 + "\n"
    found = read(Source("x", None, text.encode()))
    name = "parse" if heading else None
    assert [(each.benchmark, each.status) for each in found.failed] == [(name, "the test case failed")]
    assert [each.value for each in found.aggregates] == [pytest.approx(1e-6)]


def test_a_test_case_of_xml_that_fails() -> None:
    text = (
        '<Catch2TestRun name="b" catch2-version="3.7.1"><TestCase name="parse"><BenchmarkResults name="fast" samples="9">'
        '<mean value="1000" lowerBound="1000" upperBound="1000" ci="0.95"/></BenchmarkResults>'
        '<OverallResult success="{}"/></TestCase></Catch2TestRun>'
    )
    good, bad = (read(Source("x", None, text.format(success).encode())) for success in ("true", "false"))
    assert not good.failed
    assert [(each.benchmark, each.status) for each in bad.failed] == [("parse", "the test case failed")]
    assert [each.benchmark for each in bad.aggregates] == ["parse/fast"]
