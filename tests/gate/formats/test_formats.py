"""Every format: recognised by its content alone, by one adapter only, whatever the file's encoding and line ends."""

import gzip
from pathlib import Path

import msgspec
import pytest

from gate.cli.listing import result_formats
from gate.evidence.foreign.arguments import named
from gate.formats import adapter
from gate.formats.parts.reading import Reading, read, recognised
from gate.formats.parts.source import Source
from gate.model import UserError

DATA = Path(__file__).parents[2] / "data" / "results"
# README.md of a folder names the tool's version and the command; what begins with "_" is read as a part of a folder
FILES = sorted(f for folder in DATA.iterdir() for f in folder.iterdir() if f.name != "README.md")
BINARY = {".bin", ".gz"}


def ids(file: Path) -> str:
    return f"{file.parent.name}-{file.name}"


def said(reading: Reading) -> bytes:
    return msgspec.json.encode([reading.measured, reading.aggregates, reading.failed, reading.about], enc_hook=list)


@pytest.mark.parametrize("file", FILES, ids=ids)
def test_one_adapter_recognises_a_file_by_its_content(file: Path, tmp_path: Path) -> None:
    source = Source("x", file) if file.is_dir() else Source("x", None, file.read_bytes())
    assert [name for name in result_formats() if adapter(name).recognises(source)] == [file.parent.name]


@pytest.mark.parametrize("file", [f for f in FILES if f.is_file() and f.suffix not in BINARY], ids=ids)
def test_encodings_and_line_ends_change_nothing(file: Path, tmp_path: Path) -> None:
    data = file.read_bytes()
    expected = said(read(Source("x", None, data)))
    text = data.decode()
    changes = {
        "gz": gzip.compress(data),
        "bom": b"\xef\xbb\xbf" + data,
        "crlf": text.replace("\n", "\r\n").encode(),
        "utf-16": text.encode("utf-16"),
        "utf-16-be": b"\xfe\xff" + text.encode("utf-16-be"),
    }
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
    "Bencher Metric Format": '{"a": {"latency": {"value": 1.0}}}',
    "BenchmarkDotNet's report": "Method,Job,WarmupCount,Mean,Error,StdDev\nQuick,DefaultJob,1,9.0 ns,0.1 ns,0.1 ns\n",
    "cargo-criterion": '{"reason":"benchmark-complete","id":"sum","iteration_count":[1],"measured_values":[5.0],'
    '"unit":"ns","throughput":[]}\n{"reason":"group-complete","group_name":"sum","benchmarks":["sum"]}\n',
    "critcmp's export": '{"name": "after", "benchmarks": {"a": {"criterion_estimates_v1": {}}}}',
    "Gatling's log": "RUN\ttiny.Tiny\ttiny\t1764094031000\t \t3.9.5\nREQUEST\t\tpage\t1764094031100\t1764094031105\tOK\t \n",
    "ghz": '{"date":"2026-11-25T17:57:11Z","endReason":"normal","options":{"call":"a.B.c"},"count":1,"average":5,'
    '"fastest":5,"slowest":5,"rps":100,"details":[{"timestamp":"2026-11-25T17:57:11Z","latency":5,"status":"OK"}]}',
    "a custom tool of github-action-benchmark": '[{"name": "a", "unit": "ms", "value": 1.5}]',
    "HdrHistogram's percentiles": "       Value     Percentile TotalCount 1/(1-Percentile)\n\n 1.5 0.0 1 1.00\n",
    "hey": "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n1,0,0,0,1,0,200,0",
    "JMH's table": "Benchmark  Mode  Cnt  Score   Error  Units\nA.b        avgt    5  1.234 ± 0.1  us/op\n",
    "JMH's log": "# JMH version: 1.37\n# VM invoker: java\n# Benchmark: a.B.c\n\nIteration   1: 3.2 us/op\n",
    "Locust": '[{"name": "/", "method": "GET", "num_requests": 1, "response_times": {"5": 1}}]',
    "ReBench": "#!rebench -D x.conf\ninvocation\titeration\tvalue\tunit\tcriterion\tbenchmark\n1\t1\t5\tms\ttotal\tSum\n",
    "vegeta's binary results": "\x7f\x03\x01\x01\x06Result\x01\x06Latency\x01BytesOut",
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
    for data in (b"", b"hello\n", b"{}", b"[]", b'{"a": 1}', b"a,b\n1,2\n", b"\0\1\2", b'{"results": []}'):
        assert recognised(Source("x", None, data)) is None
