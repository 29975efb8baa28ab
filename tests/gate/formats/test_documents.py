"""JSON behind the lines of a tool or a build, several documents in one file, and numbers that JSON does not have."""

import json
import textwrap
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from gate.formats.parts.json_text import parse_json
from gate.formats.parts.reading import Reading, read, recognised
from gate.formats.parts.result import ProcessValues, ToolAggregate
from gate.formats.parts.source import Source
from gate.model import UserError
from tests.gate.formats.test_any_format import FILES, ids, said
from tests.support.foreign import of_text

PREAMBLE = (
    "2026-11-25T17:57:11+00:00\nRunning ./bench\n[ 50%] Building CXX object a.o\n[INFO] {level: info}\n"
    '{"level":"info","msg":"it\'s a line of a log"}\n[1] 4711\n***WARNING*** CPU scaling is enabled.\n'
)
TRAILER = 'make[1]: Leaving directory \'/src\'\n{"level":"info","msg":"done"}\n'


def is_document(file: Path) -> bool:
    if not file.is_file() or file.suffix == ".gz":
        return False
    text = file.read_text(errors="replace")
    try:
        return text.lstrip().startswith(("{", "[")) and isinstance(json.loads(text), (dict, list))
    except ValueError:
        return False


DOCUMENTS = [file for file in FILES if is_document(file) and not file.name.startswith("by-hand")]


@cache
def read_alone(file: Path) -> Reading:
    """Read a document with nothing around it."""
    return of_text(file.read_text())


def row(name: str, **keys: object) -> str:
    """Write a document of Google Benchmark with one benchmark, as the tool formats it."""
    own = {"name": name, "run_type": "iteration", "iterations": 1000, "real_time": 10.0, "cpu_time": 9.0}
    benchmark = own | {"time_unit": "ns"} | keys
    return json.dumps({"context": {"num_cpus": 2, "host_name": "h"}, "benchmarks": [benchmark]}, indent=1)


def test_each_reader_of_json_is_among_them() -> None:
    names = "asv benchmarkdotnet github_action_benchmark google_benchmark hyperfine jmh pyperf pytest_benchmark vitest"
    assert {file.parent.name for file in DOCUMENTS} == {*names.split()}


@pytest.mark.parametrize("file", DOCUMENTS, ids=ids)
def test_lines_around_a_document_change_nothing(file: Path) -> None:
    text = file.read_text()
    expected = said(read_alone(file))
    around = f"{PREAMBLE}{text.rstrip()}\n{TRAILER}"
    assert recognised(Source("x", None, around.encode())) == file.parent.name
    assert said(of_text(around)) == said(of_text(around, file.parent.name)) == expected
    windows = b"\xef\xbb\xbf" + around.replace("\n", "\r\n").encode()
    assert said(read(Source("x", None, windows))) == expected


@pytest.mark.parametrize("file", DOCUMENTS, ids=ids)
def test_a_document_without_a_newline_at_its_end(file: Path) -> None:
    text = file.read_text()
    assert said(of_text(f"{text.rstrip()}{TRAILER}")) == said(read_alone(file))


@pytest.mark.parametrize("file", DOCUMENTS, ids=ids)
@pytest.mark.parametrize("between", ["", f"\n{PREAMBLE}"], ids=["without newline", "with lines"])
def test_documents_behind_each_other_are_processes(file: Path, between: str) -> None:
    text = file.read_text().rstrip()
    once, twice = read_alone(file), of_text(f"{text}{between}{text}\n")
    pairs: list[tuple[Sequence[ProcessValues | ToolAggregate], Sequence[ProcessValues | ToolAggregate]]]
    pairs = [(once.measured, twice.measured), (once.aggregates, twice.aggregates)]
    for alone, both in pairs:
        assert len(both) == 2 * len(alone)
        for first, again in zip(alone, both[len(alone) :], strict=True):
            assert again.benchmark == first.benchmark
            assert again.execution > first.execution


def test_documents_that_are_indented_or_behind_each_other() -> None:
    found = of_text("Results:\n" + textwrap.indent(row("BM_A"), "    ") + "\nDone.\n")
    assert [m.benchmark for m in found.measured] == ["BM_A"]
    rows = [row("BM_A/8"), row("BM_B/8")]
    # over several lines, and one line each
    for text in ("\n".join(rows), "\n".join(json.dumps(json.loads(each)) for each in rows)):
        found = of_text(text)
        assert [(m.benchmark, m.execution) for m in found.measured] == [("BM_A/8", 0), ("BM_B/8", 1)]
        assert found.name == "x"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            row("BM_A") + "\n" + row("BM_B")[:-90],
            "x: line 17: the JSON that begins here is cut off",
        ),
        (
            row("BM_A") + '\n{\n "results": [{"command": "a", "mean": 1.0}]\n}\n',
            "x: line 17: a result of hyperfine, beside those of Google Benchmark: give each tool a file of its own",
        ),
        (
            row("BM_A") + '\n{\n "seed": 4\n}\n',
            "x: line 17: the JSON that begins here is no result of Google Benchmark: take it out",
        ),
        (
            "Running\n" + row("BM_A").replace('"iterations": 1000,', '"iterations" 1000,'),
            "x: line 11: Expecting ':' delimiter in the JSON that begins at line 2",
        ),
    ],
    ids=["cut off", "of another tool", "of no tool", "not valid"],
)
def test_what_cannot_be_read_is_named_by_its_line(text: str, message: str) -> None:
    with pytest.raises(UserError) as raised:
        of_text(text)
    assert str(raised.value) == message


@pytest.mark.parametrize(
    "number", ["nan", "inf", "-inf", "NaN", "Infinity", "-Infinity", "-nan(ind)", "1.#INF", "1.#QNAN"]
)
def test_a_counter_that_json_does_not_have(number: str) -> None:
    text = row("BM_A", ratio="here", note='nan "inf" \\').replace('"here"', number)
    (found,) = of_text(text).measured
    assert set(found.metrics) == {"time", "cpu_time"}
    assert list(found.metrics["time"].values) == [1e-8]


@pytest.mark.parametrize("number", ["nan", "-inf", "null", '"fast"'])
def test_a_time_that_is_none_fails_its_benchmark(number: str) -> None:
    found = of_text(row("BM_A").replace("10.0", number) + "\n" + row("BM_B"))
    assert [m.benchmark for m in found.measured] == ["BM_B"]
    assert [f.benchmark for f in found.failed] == ["BM_A"]


def test_strings_keep_what_looks_like_a_number() -> None:
    assert parse_json('{"nan": "inf, nan", "a\\"nan": nan, "b": [-Infinity, inf]}').keys() == {"nan", 'a"nan', "b"}
    assert parse_json('["nan", "x inf"]') == ["nan", "x inf"]
