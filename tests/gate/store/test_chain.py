from __future__ import annotations

import random

from gate.model.history import HistoryRecord
from gate.store.chain import chained
from tests.support.histories import change, record, sha


def rec(number: int, parent: int | None = None, run: str = "") -> HistoryRecord:
    return record(number, [change("a", 0.0, 0.0, 1e-4, 5)], parent=parent, run=run)


def steps(records: list[HistoryRecord]) -> list[tuple[str, str, int]]:
    return [(link.parent[:4], link.commit[:4], len(link.records)) for link in chained(records).links]


def test_commits_follow_their_parents_whatever_the_order_of_records() -> None:
    records = [rec(n) for n in range(1, 8)]
    random.Random(1).shuffle(records)
    assert steps(records) == [(f"{n - 1:04d}", f"{n:04d}", 1) for n in range(1, 8)]


def test_a_clock_that_goes_wrong_does_not_break_the_chain() -> None:
    import msgspec

    late = msgspec.structs.replace(rec(2), committed="2029-01-01T00:00:00Z")
    assert [c for _, c, _ in steps([rec(1), late, rec(3)])] == ["0001", "0002", "0003"]


def test_a_base_that_nothing_links_makes_a_gap() -> None:
    assert steps([rec(1), rec(2), rec(7), rec(8)]) == [
        ("0000", "0001", 1), ("0001", "0002", 1), ("0002", "0006", 0), ("0006", "0007", 1), ("0007", "0008", 1),
    ]  # fmt: skip


def test_several_runs_of_one_commit_are_one_step() -> None:
    assert steps([rec(1), rec(2), rec(2, run="again"), rec(3)]) == [
        ("0000", "0001", 1), ("0001", "0002", 2), ("0002", "0003", 1),
    ]  # fmt: skip


def test_a_pinned_base_is_no_parent() -> None:
    found = chained([rec(1), rec(2), rec(3), rec(3, parent=1, run="creep"), rec(4)])
    assert [link.commit[:4] for link in found.links] == ["0001", "0002", "0003", "0004"]
    assert [each.run for each in found.pinned] == ["creep"]


def test_another_branch_stands_aside() -> None:
    found = chained([rec(1), rec(2), rec(3, parent=1, run="branch"), rec(4, parent=2), rec(5)])
    assert [link.commit[:4] for link in found.links] == ["0001", "0002", "0004", "0005"]
    assert [each.run for each in found.aside] == ["branch"]


def test_controls_are_no_steps() -> None:
    found = chained([rec(1), rec(1, parent=1, run="control"), rec(2)])
    assert [each.run for each in found.controls] == ["control"]
    assert len(found.links) == 2


def test_between_names_the_steps_after_one_commit_up_to_another() -> None:
    chain = chained([rec(n) for n in range(1, 8)])
    assert [link.commit for link in chain.between(sha(2), sha(4))] == [sha(3), sha(4)]
