"""Every format: recognised by its content alone, whatever its encoding; read as any other, mangled or cut off."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from gate.cli.command import result_formats
from gate.evidence.foreign import named
from gate.formats import adapter, asv, divan
from gate.formats.parts.reading import Reading, read, recognised
from gate.formats.parts.result import Result
from gate.formats.parts.source import Source
from gate.model import UserError
from tests.support.foreign import DATA, files, of_text
from tests.support.long_lines import at_once, stretched
from tests.support.mangled import read_or_refuse

# README.md of a folder names the tool's version and the command; what begins with "_" is read as a part of a folder
FILES = sorted(f for folder in DATA.iterdir() for f in folder.iterdir() if f.name != "README.md")


def ids(file: Path) -> str:
    return f"{file.parent.name}-{file.name}"


def said(reading: Reading) -> bytes:
    return msgspec.json.encode([reading.measured, reading.aggregates, reading.failed, reading.about], enc_hook=list)


def test_one_adapter_recognises_a_file_by_its_content() -> None:
    for file in FILES:
        source = Source("x", file) if file.is_dir() else Source("x", None, file.read_bytes())
        assert [name for name in result_formats() if adapter(name).recognises(source)] == [file.parent.name], file


@pytest.mark.parametrize("file", [f for f in FILES if f.is_file() and f.suffix not in (".bin", ".gz")], ids=ids)
def test_encodings_and_line_ends_change_nothing(file: Path, tmp_path: Path) -> None:
    data = file.read_bytes()
    expected = said(read(Source("x", None, data)))
    text = data.decode()
    changes = {
        "gz": gzip.compress(data), "bom": b"\xef\xbb\xbf" + data, "crlf": text.replace("\n", "\r\n").encode(),
        "utf-16": text.encode("utf-16"), "utf-16-be": b"\xfe\xff" + text.encode("utf-16-be"),
    }  # fmt: skip
    path = tmp_path / "unnamed"
    for change, changed in changes.items():
        path.write_bytes(changed)
        source = Source("x", path)
        assert recognised(source) == file.parent.name, change
        assert said(read(source)) == expected, change


def test_each_format_has_a_real_file() -> None:
    assert {folder.name for folder in DATA.iterdir()} == set(result_formats())
    assert all((folder / "README.md").exists() for folder in DATA.iterdir())


UNREAD = {
    "cargo-criterion": '{"reason":"benchmark-complete","id":"sum","iteration_count":[1],"measured_values":[5.0],'
    '"unit":"ns","throughput":[]}\n{"reason":"group-complete","group_name":"sum","benchmarks":["sum"]}\n',
    "ghz": '{"date":"2026-11-25T17:57:11Z","endReason":"normal","options":{"call":"a.B.c"},"count":1,"average":5,'
    '"fastest":5,"slowest":5,"rps":100,"details":[{"timestamp":"2026-11-25T17:57:11Z","latency":5,"status":"OK"}]}',
    "JMH's table": "Benchmark  Mode  Cnt  Score   Error  Units\nA.b        avgt    5  1.234 ± 0.1  us/op\n",
    "Locust": '[{"name": "/", "method": "GET", "num_requests": 1, "response_times": {"5": 1}}]',
    "k6's points": '{"type":"Point","metric":"http_reqs","data":{"time":"2026-01-01T00:00:00Z","value":1,"tags":{}}}\n',
    "JMeter": "timeStamp,elapsed,label,responseCode,success\n1,10,a,200,true\n",
    "tinybench": '[{"name": "a", "result": {"hz": 5, "period": 2.0, "samples": [1.0, 3.0]}}]',
}
"""What once was read, or might be thought to be."""


@pytest.mark.parametrize("text", UNREAD.values(), ids=list(UNREAD))
def test_other_tools_are_refused_with_the_way_in(text: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as raised:
        read(Source("x", None, text.encode()))
    assert str(raised.value) == (
        "x: is in no format that perfgate knows (`perfgate import --help` lists them; --from names one): write the "
        "values of another tool as JSON lines, see docs/import.md"
    )
    (tmp_path / "x").write_text(text)
    with pytest.raises(UserError, match=r"nor a result file .*: write the values of another tool as JSON lines"):
        named([str(tmp_path)])


def test_nothing_else_is_recognised() -> None:
    # nor what is nearly a table of nanobench
    tables = (b"| req | req/s | total | name\n", b"|  a/op | op/s | b | `x`\n", b"a | b\n")
    for data in (b"", b"hello\n", b"{}", b"[]", b'{"a": 1}', b"a,b\n1,2\n", b"\0\1\2", b'{"results": []}', *tables):
        assert recognised(Source("x", None, data)) is None


@pytest.mark.nightly
@pytest.mark.parametrize("name", result_formats())
def test_files_of_other_formats(name: str) -> None:
    for file in filter(Path.is_file, FILES):
        assert "\n" not in refused(file.read_bytes(), name)


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
        ("github_action_benchmark", data_js('"unit":"' + "1 " * 100_000 + "a" + " " * 200_000 + 'x"')),
    ],
    ids=["quoted log", "unit"],
)
def test_a_long_run_where_a_value_is_expected(wanted: str, text: str) -> None:
    for name in (wanted, None):
        with at_once(text[:40]):
            assert "\n" not in refused(text.encode(), name)


@pytest.mark.parametrize(
    ("file", "why"),
    [
        ("hyperfine/sleep.json", "hyperfine's JSON is cut off: copy the file again, or measure again"),
        ("google_benchmark/repetitions.json", "Google Benchmark's JSON is cut off"),
        ("github_action_benchmark/data.js", "which the action writes as JSON, is cut off"),
    ],
)
def test_a_file_that_is_cut_off_is_refused(file: str, why: str) -> None:
    data = (DATA / file).read_bytes().rstrip()
    assert why in refused(data[:-60], None)


@pytest.mark.parametrize("error", [TypeError, KeyError, AttributeError, RecursionError, OverflowError, AssertionError])
def test_a_fault_of_a_reader_names_file_and_line(monkeypatch: pytest.MonkeyPatch, error: type[Exception]) -> None:
    def stumbles(source: Source) -> Iterator[Result]:
        for line in source.lines():
            if line == "b":
                raise error("of\nwhat")
        yield from ()

    monkeypatch.setattr(divan, "read", stumbles)
    with pytest.raises(UserError) as caught:
        read(Source("x.txt", None, b"a\nb\n"), "divan")
    assert str(caught.value).startswith("x.txt: divan: line 2: something in it is not as the tool writes it: ")
    assert str(caught.value).isprintable()


def test_what_recognition_stumbles_over_and_a_lack_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def stumbles(_source: Source) -> bool:
        raise TypeError

    def lacks(_source: Source) -> Iterator[Result]:
        raise MemoryError

    # it is no file of the tool; memory says nothing of the file
    monkeypatch.setattr(asv, "recognises", stumbles)
    assert recognised(Source("x", None, b"BenchmarkA 1 2 ns/op\n")) == "go_bench"
    monkeypatch.setattr(divan, "read", lacks)
    with pytest.raises(MemoryError):
        of_text("{}", "divan")


LARGE = "1" + "0" * 400


@pytest.mark.parametrize(
    ("name", "text", "status"),
    [
        ("hyperfine", '{"results":[{"command":"c","measurements":[{"time_wall_clock":{"unit":"second"}}]}]}', "1 of 1 runs have no"),
        ("hyperfine", '{"results":[{"command":"c","measurements":[{"time_wall_clock":[1]}]}]}', "results[0]: Expected object"),
        ("google_benchmark", '{"context":{},"benchmarks":[{"name":"c","real_time":' + LARGE + ',"cpu_time":1}]}', "its real_time is 1000"),
    ],
)  # fmt: skip
def test_a_value_that_is_none_fails_its_benchmark_alone(name: str, text: str, status: str) -> None:
    (failed,) = of_text(text, name).failed
    assert (failed.benchmark or "").endswith("c")
    assert failed.status.startswith(status)


def test_halves_of_surrogate_pairs_and_what_does_not_print_are_written_out() -> None:
    own = '"metadata":{"name":"\\ud800\\u202e","cpu_model_name":"\\udc00"}'
    found = of_text(f'{{"version":"1.0",{own},"benchmarks":[{{"runs":[{{"values":[1.0]}}]}}]}}', "pyperf")
    assert [measured.benchmark for measured in found.measured] == ["\\ud800\\u202e"]
    assert found.about.host == {"cpu": "\\udc00"}
