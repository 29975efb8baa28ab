"""A file of any format read as any other: refused in one line, or nothing is wrong with it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gate.cli.listing import result_formats
from gate.formats import asv, bencher
from gate.formats.parts.reading import read, recognised
from gate.formats.parts.result import Result
from gate.formats.parts.source import Source
from gate.model import UserError
from tests.support.foreign import DATA, files
from tests.support.long_lines import at_once, stretched
from tests.support.mangled import read_or_refuse

FILES = sorted(f for folder in DATA.iterdir() for f in folder.iterdir() if f.is_file() and f.name != "README.md")


@pytest.mark.nightly
@pytest.mark.parametrize("name", result_formats())
def test_files_of_other_formats(name: str) -> None:
    for file in FILES:
        assert "\n" not in refused(Path(file).read_bytes(), name)


def refused(data: bytes, wanted: str | None) -> str:
    """Return why a file is refused; "" where it is read."""
    try:
        read(Source("x", None, data), wanted)
    except UserError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("rounds", [2, pytest.param(40, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", result_formats())
def test_a_mangled_file_is_read_or_refused_in_one_line(name: str, rounds: int) -> None:
    assert read_or_refuse(name, rounds)


@pytest.mark.nightly
@pytest.mark.parametrize(("of", "rounds"), [(1, 1), pytest.param(3, 6, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", result_formats())
def test_a_very_long_line_is_read_or_refused_at_once(name: str, of: int, rounds: int) -> None:
    small = sorted((file for file in files(name) if file.is_file()), key=lambda file: file.stat().st_size)[:of]
    for file in small:
        for number, data in enumerate(stretched(file.read_bytes(), 1, rounds)):
            for wanted in (name, None):
                with at_once(f"{file.name}, stretch {number}, as {wanted}"):
                    assert "\n" not in refused(data, wanted)


def data_js(keys: str) -> str:
    """Make a data.js with one benchmark of one commit."""
    return (
        'window.BENCHMARK_DATA = {"lastUpdate":1,"repoUrl":"","entries":{"s":[{"benches":'
        f'[{{"name":"a","value":1,{keys}}}]}}]}}}}'
    )


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        ("libtest", '{"log":"' + r"test a ... ok\n" * 40_000 + ' bench: nothing"}\n'),
        ("vegeta", "Bucket         #  %  Histogram\n[4ms," + " " * 200_000 + "x\n"),
        ("github_action_benchmark", data_js('"unit":"s","range":"1' + " " * 200_000 + 'x"')),
        ("github_action_benchmark", data_js('"unit":"s","range":"' + "1" * 200_000 + 'x"')),
        ("github_action_benchmark", data_js('"unit":"' + "1 " * 100_000 + "a" + " " * 200_000 + 'x"')),
    ],
    ids=["quoted log", "bucket", "range, spaces", "range, digits", "unit"],
)
def test_a_long_run_where_a_value_is_expected(wanted: str, text: str) -> None:
    for name in (wanted, None):
        with at_once(text[:40]):
            assert "\n" not in refused(text.encode(), name)


def test_what_no_reader_expects_is_one_line() -> None:
    with pytest.raises(
        UserError, match=r"^x: hyperfine: line 2: something in it is not as the tool writes it: field larger"
    ):
        read(
            Source("x", None, b"command,mean,stddev,median,user,system,min,max\n" + b"a" * 140_000 + b",1\n"),
            "hyperfine",
        )


@pytest.mark.parametrize(
    ("file", "why"),
    [
        ("hyperfine/sleep.json", "hyperfine's JSON is cut off: copy the file again, or measure again"),
        ("critcmp/after.json", "critcmp's JSON is cut off"),
        ("nanobench/full.json", "nanobench's JSON is cut off"),
        ("google_benchmark/repetitions.json", "Google Benchmark's JSON is cut off"),
        ("github_action_benchmark/data.js", "which the action writes as JSON, is cut off"),
        ("k6/points.jsonl", "is no point of k6"),
        ("k6/points.csv", "is no point of k6"),
        ("vegeta/encoded.jsonl", "is no result of vegeta"),
        ("jmeter/plain.csv", "cells instead of"),
        ("oha/rows.csv", "cells instead of"),
        ("hlog/tags.hlog", "a damaged histogram"),
    ],
)
def test_a_file_that_is_cut_off_is_refused(file: str, why: str) -> None:
    data = (DATA / file).read_bytes().rstrip()
    assert why in refused(data[:-60], None)


@pytest.mark.parametrize("error", [TypeError, KeyError, AttributeError, RecursionError, OverflowError, AssertionError])
def test_whatever_a_reader_stumbles_over_names_the_file_and_the_line(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def stumbles(source: Source) -> Iterator[Result]:
        for line in source.lines():
            if line == "b":
                raise error("of\nwhat")
        yield from ()

    monkeypatch.setattr(bencher, "read", stumbles)
    with pytest.raises(UserError) as caught:
        read(Source("x.txt", None, b"a\nb\n"), "bencher")
    assert str(caught.value).startswith(
        "x.txt: Bencher Metric Format: line 2: something in it is not as the tool writes it: "
    )
    assert str(caught.value).isprintable()


def test_what_recognition_stumbles_over_is_no_file_of_the_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    def stumbles(_source: Source) -> bool:
        raise TypeError

    monkeypatch.setattr(asv, "recognises", stumbles)
    assert recognised(Source("x", None, b"BenchmarkA 1 2 ns/op\n")) == "go_bench"


def test_a_lack_of_memory_says_nothing_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacks(_source: Source) -> Iterator[Result]:
        raise MemoryError

    monkeypatch.setattr(bencher, "read", lacks)
    with pytest.raises(MemoryError):
        read(Source("x", None, b"{}"), "bencher")


LARGE = "1" + "0" * 400


@pytest.mark.parametrize(
    ("name", "text", "status"),
    [
        ("hyperfine", '{"results":[{"command":"c","measurements":[{"time_wall_clock":{"unit":"second"}}]}]}', "1 of 1 runs have no"),
        ("hyperfine", '{"results":[{"command":"c","measurements":[{"time_wall_clock":[1]}]}]}', "results[0]: Expected object"),
        ("nanobench", '[{"name":"c","median(elapsed)":1,"measurements":[{"elapsed":' + LARGE + "}]}]", "inf in 'time' is not"),
        ("google_benchmark", '{"context":{},"benchmarks":[{"name":"c","real_time":' + LARGE + ',"cpu_time":1}]}', "its real_time is 1000"),
    ],
)  # fmt: skip
def test_a_value_that_is_none_fails_its_benchmark_alone(name: str, text: str, status: str) -> None:
    (failed,) = read(Source("x", None, text.encode()), name).failed
    assert (failed.benchmark or "").endswith("c")
    assert failed.status.startswith(status)


def test_halves_of_surrogate_pairs_and_what_does_not_print_are_written_out() -> None:
    text = '{"version":"1.0","metadata":{"name":"\\ud800\\u202e","cpu_model_name":"\\udc00"},"benchmarks":[{"runs":[{"values":[1.0]}]}]}'
    found = read(Source("x", None, text.encode()), "pyperf")
    assert [measured.benchmark for measured in found.measured] == ["\\ud800\\u202e"]
    assert found.about.host == {"cpu": "\\udc00"}


@pytest.mark.parametrize(
    "file", ["oha/summary.txt", "wrk/two-runs.txt", "divan/tree.txt", "vegeta/report.txt", "callgrind/plain.txt"]
)
def test_what_is_printed_again_is_of_another_process(file: str) -> None:
    text = f"{(DATA / file).read_text().rstrip()}\n"
    once, twice = (read(Source("x", None, own.encode())).results for own in (text, text + text))
    assert {each.execution for each in once} == {0}
    assert sorted(each.execution for each in twice) == [0] * len(once) + [1] * len(once)
