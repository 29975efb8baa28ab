"""A record as bytes: what comes back, in how many digits, and what is refused; and its name, which says order and identity."""

import json
import re

import msgspec
import pytest

from gate.store.history_records import LARGEST, RecordError, decode, encode, is_name, is_sha, name_of
from tests.gate.store.records import change, measured, record, sha


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
