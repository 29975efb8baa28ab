import errno
import os
from pathlib import Path

import pytest

from gate.model import Build, Execution, Failure, Look, Run
from gate.records import Appender, RecordError, cut_torn, read
from tests.support.lines import execution, text

GOOD = text([execution("base", [1, 2.5])])


def test_every_type_of_line() -> None:
    data = (
        '\ufeff{"type":"run","schema":1,"id":"x","base":{"sha":"a"},"later":[1]}\n'
        '{"type":"build","side":"base","build":0,"artifacts":{"a":"sha256:1"}}\n'
        "\n"
        + GOOD
        + '{"type":"failure","kind":"execution","benchmark":"b","side":"head","build":1,"execution":0,"status":"exit 1"}\n'
        '{"type":"look","look":3,"settled":["a"],"stop":null}\n'
    )
    reading = read("m.jsonl", data.encode())
    assert [type(r.record) for r in reading.records] == [Run, Build, Execution, Failure, Look]
    assert [r.line for r in reading.records] == [1, 2, 4, 5, 6]
    assert not reading.torn


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{}", 'no "type"'),
        ('{"type":"sample"}', 'unknown type "sample"'),
        ('{"type":"run","schema":2,"base":[1]}', "schema 2 is newer than this perfgate reads (1)"),
        ('{"type":"run","schema":0}', "schema: Expected int >= 1"),
        ('{"type":"run","shard":"a"}', "shard: "),
        ('{"type":"run","schema":2}', "schema 2 is newer than this perfgate reads (1); use a newer perfgate"),
        ('{"type":"execution","benchmark":"b","side":"left","build":0,"execution":0,"metrics":{}}', "side: Invalid enum value 'left'"),
        ('{"type":"execution","benchmark":"b","side":"base","build":-1,"execution":0,"metrics":{}}', "build: Expected int >= 0"),
        ('{"type":"execution","benchmark":"b","side":"base","execution":0,"metrics":{}}', "missing required field build"),
        ('{"type":"execution","benchmark":"b","side":"base","build":0,"execution":0,"metrics":{"t":{"values":[1,"2"]}}}', "Expected float, got str"),
        ('{"type":"execution","benchmark":"b","side":"base","build":0,"execution":0,"metrics":{"t":{"values":[NaN]}}}', "not valid JSON"),
        ('{"type":"execution","benchmark":"b","side":"base","build":0,"execution":0,"metrics":{"t":{"values":[1e999]}}}', "out of range"),
        ("[1]", "Expected object, got array"),
        ("not json", "not valid JSON"),
        ('{"type":"build","side":"base","build":0', "not valid JSON"),
        ("\udcff", "invalid"),
    ],
)  # fmt: skip
def test_a_bad_line_is_named(line: str, why: str) -> None:
    data = GOOD.encode() + line.encode(errors="surrogateescape") + b"\n" + GOOD.encode()
    with pytest.raises(RecordError) as caught:
        read("m.jsonl", data)
    assert str(caught.value).startswith("m.jsonl:2: ")
    assert why.lower() in str(caught.value).lower()


def test_a_torn_last_line_is_left_out_at_whatever_byte_it_was_cut() -> None:
    whole = (GOOD + GOOD.replace('"execution": 0', '"execution": 1')).encode()
    first = len(GOOD.encode())
    for end in range(first + 1, len(whole)):
        reading = read("m.jsonl", whole[:end])
        assert (len(reading.records), reading.torn) == (1, True), end
    assert len(read("m.jsonl", whole).records) == 2


def test_appending_after_a_torn_line_cuts_it_off(tmp_path: Path) -> None:
    file = tmp_path / "m.jsonl"
    file.write_bytes(GOOD.encode() + b'{"type":"exec')
    with Appender(file) as append:
        append(Look(look=1))
    assert [type(r.record) for r in read("m", file.read_bytes()).records] == [Execution, Look]
    assert not cut_torn(file)
    assert not cut_torn(tmp_path / "absent.jsonl")


def test_what_was_appended_is_on_disk_when_the_call_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    with Appender(tmp_path / "m.jsonl") as append:
        append(Look(look=1))
        assert (tmp_path / "m.jsonl").read_bytes().endswith(b"\n")
        assert len(synced) == 1


def test_a_full_disk_takes_back_the_half_written_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "m.jsonl"

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with Appender(file) as append:
        append(Look(look=1))
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space"):
            append(Look(look=2))
    assert [r.record for r in read("m", file.read_bytes()).records] == [Look(look=1)]
