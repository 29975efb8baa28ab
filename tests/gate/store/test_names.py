"""What a record is called: order and identity by the name alone."""

import msgspec

from gate.store.history_records import is_sha, name_at, name_of
from tests.gate.store.records import record, sha


def test_is_the_same_record_whatever_date_is_known() -> None:
    told = record(3)
    undated = msgspec.structs.replace(told, committed=None, measured=None)
    assert name_of(undated) != name_of(told)
    assert name_of(undated).key == name_of(told).key


def test_no_text_of_a_run_leaves_the_folder() -> None:
    for run in ("../../../etc/passwd", "", "a b\n", "x" * 500):
        name = name_of(msgspec.structs.replace(record(1), run=run))
        assert name_at(name.path) == name
        assert name.path.count("/") == 1


def test_knows_a_whole_sha() -> None:
    assert is_sha(sha(1))
    assert is_sha("0" * 64)
    for other in (None, "", "main", sha(1)[:12], sha(1).upper()):
        assert not is_sha(other)
    assert name_at("README.md") is None
