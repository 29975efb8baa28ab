"""The history in a folder, and what it has in common with one in a ref."""

import json
import os
import re
import subprocess
from pathlib import Path

import msgspec
import pytest

from gate.checkout import is_sha
from gate.model import UserError
from gate.store.history_records import LARGEST, FolderStore, RecordError, decode, encode, is_name, name_of
from gate.store.ref import RefStore
from harness.source.git import Git
from tests.gate.store.records import change, measured, race, record, sha
from tests.support.project import environment


@pytest.fixture(params=["folder", "ref"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> FolderStore | RefStore:
    if request.param == "folder":
        return FolderStore(tmp_path / "new" / "history")
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path)], check=True, env=environment())
    return RefStore(Git(tmp_path, {"GIT_DIR": str(tmp_path)}), "refs/perfgate/history")


def test_keeps_records_in_the_order_of_their_commits(store: FolderStore | RefStore) -> None:
    for number in (40_000, 1, 2):
        assert not store.add(record(number)).known
    reading = store.read()
    assert reading.records == [record(1), record(2), record(40_000)]
    assert not reading.problems


def test_adds_a_run_once_and_never_changes_it(store: FolderStore | RefStore) -> None:
    store.add(record(1))
    # another perfgate may estimate otherwise from the same measurements
    again = msgspec.structs.replace(record(1), changes=[change(0, 0.5)], committed=None)
    assert store.add(again).known
    with pytest.raises(UserError, match="other measurements of run run-1"):
        store.add(record(1, raw="other"))
    assert store.read().records == [record(1)]


@pytest.mark.endtoend
def test_writers_at_one_time_lose_nothing(store: FolderStore | RefStore) -> None:
    # each pair of neighbours also adds one and the same record
    race([lambda each: store.add(each)] * 4, [range(own, own + 4) for own in (0, 3, 6, 9)])
    assert store.read().records == [record(number) for number in range(13)]


def test_names_what_cannot_be_read_and_reads_the_rest(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    for number in range(3):
        store.add(record(number))
    place = tmp_path / name_of(record(1))
    place.write_bytes(place.read_bytes()[:100])
    # what a killed writer left, and a pipe, are no records
    place.with_name(".tmp-1").write_text("{")
    os.mkfifo(place.with_name(Path(name_of(record(4))).name))
    reading = store.read()
    assert reading.records == [record(0), record(2)]
    [problem] = reading.problems
    assert str(place) in problem


def test_refuses_a_folder_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such folder"):
        FolderStore(tmp_path / "none").read()
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be written"):
        FolderStore(tmp_path / "file").add(record(1))


# --- a record as bytes, and its name -----------------------------------------------------------------------------------


def test_keeps_what_is_known_of_a_number_and_counts_whole() -> None:
    instructions = msgspec.structs.replace(change(0, 1 / 3), head=measured(1_234_567_890_123), base=measured(1 / 7))
    read = decode(encode(msgspec.structs.replace(record(1), changes=[instructions]))).changes[0]
    assert read.head is not None
    assert read.base is not None
    assert read.head.value == 1_234_567_890_123
    assert read.log_ratio == pytest.approx(1 / 3, rel=1e-8)
    assert read.log_ratio != 1 / 3
    assert read.base.value == pytest.approx(1 / 7, rel=1e-8)


def test_is_written_a_line_a_case() -> None:
    lines = encode(record(1, cases=5)).decode().splitlines()
    assert len(lines) == 1 + 5
    assert json.loads("".join(lines))["commit"] == record(1).commit


def test_refuses_what_is_newer_damaged_or_too_large() -> None:
    good = encode(record(1))
    with pytest.raises(RecordError, match="schema 99 is newer"):
        decode(good.replace(b'"schema":1', b'"schema":99'))
    for damaged in (good[: len(good) // 2], b"", b"[]", b"\xff"):
        with pytest.raises(RecordError, match="damaged"):
            decode(damaged)
    # what no run can give would be an error of whoever reckons with it
    for name, value in (("log_ratio", "1e300"), ("log_ratio", '"x"'), ("variance", "-1"), ("df", "0")):
        damaged = re.sub(rf'"{name}":[-0-9.e]+', f'"{name}":{value}', good.decode(), count=1).encode()
        assert damaged != good
        with pytest.raises(RecordError, match=f"damaged .*{name}"):
            decode(damaged)
    with pytest.raises(RecordError, match="larger"):
        decode(b" " * (LARGEST + 1))


def test_no_text_of_a_run_leaves_the_folder() -> None:
    for run in ("../../../etc/passwd", "", "a b\n", "x" * 500):
        name = name_of(msgspec.structs.replace(record(1), run=run))
        assert is_name(name) and name.count("/") == 1


def test_knows_a_whole_sha() -> None:
    assert is_sha(sha(1))
    assert is_sha("0" * 64)
    for other in (None, "", "main", sha(1)[:12], sha(1).upper()):
        assert not is_sha(other)
    assert not is_name("README.md")
