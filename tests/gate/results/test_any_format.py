"""A file of any format read as any other: refused in one line, or nothing is wrong with it."""

from pathlib import Path

import pytest

from gate.model import UserError
from gate.results.formats import names
from gate.results.reading import read
from gate.results.source import Source
from tests.support.foreign import DATA, files
from tests.support.long_lines import at_once, stretched
from tests.support.mangled import read_or_refuse

FILES = sorted(f for folder in DATA.iterdir() for f in folder.iterdir() if f.is_file() and f.name != "README.md")


@pytest.mark.parametrize("name", names())
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


@pytest.mark.parametrize("name", names())
def test_a_mangled_file_is_read_or_refused_in_one_line(name: str) -> None:
    assert read_or_refuse(name, 4)


@pytest.mark.nightly
@pytest.mark.parametrize("name", names())
def test_a_file_mangled_in_many_ways_is_read_or_refused_in_one_line(name: str) -> None:
    assert read_or_refuse(name, 60)


@pytest.mark.parametrize("name", names())
def test_a_very_long_line_is_read_or_refused_at_once(name: str) -> None:
    _long_lines(name, 1, 1)


@pytest.mark.nightly
@pytest.mark.parametrize("name", names())
def test_very_long_lines_are_read_or_refused_at_once(name: str) -> None:
    _long_lines(name, 3, 6)


def _long_lines(name: str, of: int, rounds: int) -> None:
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
    with pytest.raises(UserError, match=r"^x: hyperfine: something in it is not as the tool writes it: field larger"):
        read(
            Source("x", None, b"command,mean,stddev,median,user,system,min,max\n" + b"a" * 140_000 + b",1\n"),
            "hyperfine",
        )


@pytest.mark.parametrize("text", ['{"results":[{"command":"x","times":[1.0,2.5', '{"results":[{"command":"x","mea'])
def test_json_that_is_cut_off_is_said_to_be(text: str) -> None:
    with pytest.raises(UserError) as raised:
        read(Source("x.json", None, text.encode()), "hyperfine")
    assert str(raised.value) == (
        "x.json: hyperfine: hyperfine's JSON is cut off: copy the file again, or measure again"
    )
