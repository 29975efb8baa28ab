import errno
import os
import re
from pathlib import Path
from typing import Any

import pytest

from gate.evidence.lines import RecordError
from gate.evidence.records import Appender, cut_incomplete, cut_torn, read
from gate.model import Build, Execution, Failure, HostState, Look, Run
from tests.support.lines import execution, text

GOOD = text([execution("base", [1, 2.5])])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "m.jsonl"


def test_every_type_of_line() -> None:
    data = (
        '\ufeff{"type":"run","schema":1,"id":"x","base":{"sha":"a"},"later":[1]}\n'
        '{"type":"build","side":"base","build":0,"artifacts":{"a":"sha256:1"}}\n'
        "\n"
        + GOOD
        + '{"type":"failure","kind":"execution","benchmark":"b","side":"head","build":1,"execution":0,"status":"exit 1"}\n'
        '{"type":"look","look":3,"settled":["a"],"stop":null}\n'
        '{"type":"host","when":"end","state":{"load":1.5}}\n'
    )
    reading = read("m.jsonl", data.encode())
    assert [type(r.record) for r in reading.records] == [Run, Build, Execution, Failure, Look, HostState]
    assert [r.line for r in reading.records] == [1, 2, 4, 5, 6, 7]
    assert not reading.torn


@pytest.mark.parametrize(
    "line",
    [
        '{"type":"run","warnings":[{"kind":"duet-on-one-processor","benchmarks":["w"]},{"kind":"said","text":"x"}]}',
        '{"type":"host","when":"end","unproved":{"w":{"kind":"duet","path":null,"seconds":null}}}',
        '{"type":"run","warnings":[{"kind":"unfit-host","problem":{"kind":"on-battery"}}]}',
    ],
)
def test_what_an_older_perfgate_wrote_is_read(line: str) -> None:
    assert len(read("m.jsonl", f"{line}\n{GOOD}".encode()).records) == 2


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{}", 'no "type"'),
        ('{"type":"sample"}', 'unknown type "sample"'),
        ('{"type":"run","schema":2,"base":[1]}', "schema 2 is newer than this perfgate reads (1); use a newer perfgate"),
        ('{"type":"run","schema":0}', "schema: expected a whole number of 1 or more, got 0"),
        ('{"type":"run","shard":"a"}', 'm.jsonl:2: shard: "a" is not one part of several, such as 1/3'),
        ('{"type":"execution","benchmark":"b","side":"left","build":0,"execution":0,"metrics":{}}', 'side: "left" is not one of "base", "head"'),
        ('{"type":"execution","benchmark":"b","side":"base","build":-1,"execution":0,"metrics":{}}', "build: expected a whole number of 0 or more, got -1"),
        ('{"type":"execution","benchmark":"b","side":"base","execution":0,"metrics":{}}', "m.jsonl:2: needs the key build"),
        ('{"type":"execution","benchmark":"b","side":"base","build":0,"execution":0,"metrics":{"t":{"values":[1,"2"]}}}', 'metrics.t.values[1]: expected a number, got "2"'),
        ('{"type":"execution","benchmark":"b","side":"base","build":0,"execution":0,"metrics":{"t":{"values":[NaN]}}}', "not valid JSON"),
        ('{"type":"execution","benchmark":"b","side":"base","build":0,"execution":0,"metrics":{"t":{"values":[1e999]}}}', "out of range"),
        ("[1]", "is not a JSON object, so not a line of measurements"),
        ('{"type":"execution","benchmark":"b","side":"base","build":0,"execution":0,"order":1' + "0" * 30 + ',"metrics":{}}', "order: "),
        ('{"type":"execution","benchmark":"b","side":"base","build":9007199254740993,"execution":0,"metrics":{}}', "or less, got 9007199254740993"),
        ('{"type":"execution","\udcff":1,"build":-1}', "not valid JSON: byte 22 is not UTF-8"),
        ('{"type":"execution","benchmark":"b","side":"base","build":0,"execution":0,"metrics":{"t":{"values":[1,1e200]}}}', "t holds 1e+200, which is neither 0 nor of a size from 1e-60 to 1e+60"),
        ('{"type":"execution","benchmark":"b","side":"base","build":0,"execution":0,"metrics":{"t":{"values":[1],"dropped":[1e-61]}}}', "t holds 1e-61"),
        ("not json", "not valid JSON"),
        pytest.param("[" * 100_000, "nested too deeply", id="deep"),
        ('{"type":"host","when":"end","state":{"cpu_idle":1' + "0" * 130 + "}}", "m.jsonl:2: state.cpu_idle is 1e+130, which no value of ours is"),
        ('{"type":"run","config":{"gate":{"min_builds":1' + "0" * 400 + "}}}", "config.gate.min_builds is inf"),
        ('{"type":"build","side":"base","build":0,"checked":-1e308}', "checked is -1e+308"),
        pytest.param('{"type":"run","host":{"a":' + "[" * 200 + "]" * 200 + "}}", "nested more than 100 deep", id="host"),
        ('{"type":5}', "unknown type 5: a line of measurements has one of run, build, execution"),
        ('{"type":"execution","benchmark":"b","side":"base","build":0,"execution":0,"metrics":[]}', "metrics: expected an object, got []"),
        ('{"type":"run","base":[1]}', "base: expected an object, got [1]"),
        ('{"type":"run","base":{"dirty":"no"}}', 'base.dirty: expected true or false, got "no"'),
        ('{"type":"run","warnings":[3]}', "warnings[0]: "),
        ('{"type":"run","memory":{}}', "memory: needs the key "),
    ],
)  # fmt: skip
def test_a_bad_line_is_named(line: str, why: str) -> None:
    data = GOOD.encode() + line.encode(errors="surrogateescape") + b"\n" + GOOD.encode()
    with pytest.raises(RecordError) as caught:
        read("m.jsonl", data)
    assert str(caught.value).startswith("m.jsonl:2: ")
    assert why.lower() in str(caught.value).lower()
    # msgspec's own words
    assert not re.search("Expected|Invalid|required field|malformed|truncated|array|str\\b|int\\b", str(caught.value))


def test_a_line_of_an_older_form_is_called_older_in_a_file_of_ours() -> None:
    bad = '{"type":"build","side":"base","build":0,"full":"x"}\n'
    for run, older in (('{"type":"run","perfgate":"0.9"}\n', True), ('{"type":"run"}\n', False)):
        with pytest.raises(RecordError, match='full: expected an object, got "x"') as caught:
            read("x", (run + bad).encode())
        assert ("an older perfgate" in str(caught.value)) is older
    with pytest.raises(RecordError, match="an older perfgate"):
        read("x", b'{"type":"run","perfgate":"0.9","schema":"1"}\n')


def test_a_torn_last_line_is_left_out_at_whatever_byte_it_was_cut() -> None:
    whole = (GOOD + GOOD.replace('"execution": 0', '"execution": 1')).encode()
    first = len(GOOD.encode())
    for end in range(first + 1, len(whole)):
        reading = read("m.jsonl", whole[:end])
        assert (len(reading.records), reading.torn) == (1, True), end
    assert len(read("m.jsonl", whole).records) == 2


def test_appending_after_a_torn_line_cuts_it_off(file: Path) -> None:
    file.write_bytes(GOOD.encode() + b'{"type":"exec')
    with Appender(file) as append:
        append(Look(look=1))
    assert [type(r.record) for r in read("m", file.read_bytes()).records] == [Execution, Look]
    assert not cut_torn(file)
    assert not cut_torn(file.with_name("absent.jsonl"))


def of_suite(names: str, lines: int, **more: Any) -> list[dict[str, Any]]:
    return [execution("base", [1], benchmark=f"s/{n}", suite="s", lines=lines, **more) for n in names]


SUITES = [*of_suite("x", 1), *of_suite("xyz", 3, build=1)]


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        (text(SUITES[:2]) + "\n", 1),
        (text(SUITES[:3]) + "\n", 1),
        (text(SUITES) + "\n", 4),
        # executions of two treatments are not one execution
        (text([*of_suite("xy", 2, factors={"a": 1}), *of_suite("x", 2, factors={"a": 2})]) + "\n", 2),
        # other lines are never cut
        ("", 0),
        (GOOD, 1),
        (GOOD + '{"type":"look","look":3}\n', 2),
    ],
)
def test_a_resumed_run_cuts_off_a_half_written_execution(file: Path, written: str, kept: int) -> None:
    file.write_text(written)
    before = len(read("m", written.encode()).records)
    assert cut_incomplete(file) is (kept < before)
    assert len(read("m", file.read_bytes()).records) == kept
    assert kept < before or file.read_text() == written
    assert not cut_incomplete(file)


def test_appended_lines_are_read_at_once_and_flushed(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    with Appender(file) as append:
        monkeypatch.setattr(os, "fsync", lambda _: synced.append(file.read_bytes().count(b"\n")))
        append(Look(look=1))
        assert file.read_bytes().endswith(b"\n")
        append(Look(look=2), Look(look=3))
        assert synced[0] == 1
    assert synced == [1, 3]


def test_what_is_held_goes_before_the_next_records_and_is_not_written_without_them(file: Path) -> None:
    for following in ([], [Look(look=2)], [Look(look=3)]):
        with Appender(file) as append:
            append.held = (HostState(when="begin"),)
            append(*following)
            append(*following)
    kinds = [type(each.record) for each in read("m", file.read_bytes()).records]
    assert kinds == [HostState, Look, Look] * 2


@pytest.mark.parametrize("last", [True, False])
def test_a_flush_that_fails_takes_back_what_it_was_for(file: Path, monkeypatch: pytest.MonkeyPatch, last: bool) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    append = Appender(file)
    append(Look(look=1))
    append._flushed()
    monkeypatch.setattr(os, "fsync", full)
    append(Look(look=2))
    with pytest.raises(OSError, match="No space"):
        append.close() if last else append(Look(look=3))
    append.close()
    assert [r.record for r in read("m", file.read_bytes()).records] == [Look(look=1)]


@pytest.mark.parametrize("data", [b"[" * 1000, b"\xff\xfe{\x00", b"benchmark,value", b"\x7fELF"])
def test_what_begins_like_no_line_of_ours_is_no_torn_write(data: bytes) -> None:
    with pytest.raises(RecordError, match="not a JSON object"):
        read("m.jsonl", data)
    assert read("m.jsonl", b'{"type":"exec').torn
    assert read("m.jsonl", b"\0\0\0").torn
