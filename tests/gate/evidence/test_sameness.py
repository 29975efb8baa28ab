"""Which proofs hold: of one session, of several, beside values and failures."""

from typing import Any

import pytest

from gate.evidence.runs import EvidenceError
from gate.model import Evidence
from gate.model.warnings.measured import ProvedInPart, RoundsShort, SameCommit
from tests.gate.evidence.test_runs import both, gathered, run_line, statuses
from tests.support.lines import execution

A_FAILURE = {"type": "failure", "kind": "execution", "benchmark": "x", "side": "head", "status": "exit 1"}


Line = dict[str, Any]


def same(name: str, session: int = 0) -> Line:
    hashes = {"base": "sha256:a", "head": "sha256:b"}
    return {
        "type": "same", "benchmark": name, "session": session, "differ": ["README.md"], "differ_count": 1, "read_count": 9,
        "hash": hashes,
    }  # fmt: skip


def proved(evidence: Evidence) -> list[str]:
    return [each.benchmark for each in evidence.identical]


def test_what_is_proved_is_complete() -> None:
    evidence = gathered([run_line("xyz"), same("x"), same("z"), *both("y")])
    assert proved(evidence) == ["x", "z"]
    assert not evidence.failures and not evidence.new and not evidence.warnings
    assert [case.benchmark for case in evidence.cases] == ["y"]


def test_nothing_is_short_where_all_is_proved() -> None:
    evidence = gathered([run_line("xy"), same("x"), same("y")])
    assert proved(evidence) == ["x", "y"]
    assert not evidence.failures
    assert not any(isinstance(each, RoundsShort) for each in evidence.warnings)
    assert (evidence.rounds.done, evidence.rounds.planned) == (0, None)


def test_what_has_neither_values_nor_a_proof_is_missing() -> None:
    evidence = gathered([run_line("xy"), same("x")])
    assert proved(evidence) == ["x"]
    assert statuses(evidence) == [("y", "gave no values")]


def test_a_proof_and_values_of_one_session_are_a_contradiction() -> None:
    with pytest.raises(EvidenceError, match=r"a:2 and a:3: x is said to be the same on both sides"):
        gathered([run_line("x"), same("x"), *both("x")])


def test_a_proof_of_a_suite_and_values_of_its_lines_are_a_contradiction() -> None:
    line = execution("base", [1.0], benchmark="x/one", suite="x")
    with pytest.raises(EvidenceError, match=r"a:2 and a:3: x is said to be the same"):
        gathered([run_line("x"), same("x"), line])


def test_what_failed_is_not_proved() -> None:
    evidence = gathered([run_line("x"), same("x"), A_FAILURE])
    assert proved(evidence) == []
    assert statuses(evidence) == [("x", "exit 1")]


def test_an_a_a_run_proves_nothing() -> None:
    one = {"base": {"sha": "a"}, "head": {"sha": "a"}}
    evidence = gathered([run_line("x", **one), same("x")])
    assert proved(evidence) == []
    assert statuses(evidence) == [("x", "gave no values")]
    assert SameCommit() in evidence.warnings
    assert SameCommit() in gathered([run_line("x", **one), *both("x")]).warnings


@pytest.mark.parametrize("tree", [None, "c"])
def test_one_commit_with_changes_is_no_a_a_run(tree: str | None) -> None:
    evidence = gathered([run_line("x", base={"sha": "a"}, head={"sha": "a", "dirty": True, "tree": tree}), same("x")])
    assert proved(evidence) == ["x"]
    assert SameCommit() not in evidence.warnings


# --- several sessions and shards --------------------------------------------------------------------------------------


def job(expected: str, session: int, *, shard: str = "1/1", measures: str = "", proves: str = "") -> list[Line]:
    """Make the file of one job; all names are of one letter."""
    values = [line for name in measures for line in both(name, session)]
    return [
        run_line(expected, shard=shard, session=session, sessions=2),
        *(same(name, session) for name in proves),
        *values,
    ]


def test_a_shard_without_anything_to_measure() -> None:
    nothing = [job("x", session, shard="1/2", proves="x") for session in (0, 1)]
    something = [job("y", session, shard="2/2", measures="y") for session in (0, 1)]
    evidence = gathered(*nothing, *something)
    assert proved(evidence) == ["x"]
    assert not evidence.failures
    assert [case.benchmark for case in evidence.cases] == ["y"]


def test_values_of_one_session_win_over_the_proof_of_another() -> None:
    evidence = gathered(job("x", 0, proves="x"), job("x", 1, measures="x"))
    assert (proved(evidence), evidence.failures) == ([], [])
    assert [case.benchmark for case in evidence.cases] == ["x"]
    assert ProvedInPart(("x",)) in evidence.warnings


def test_a_session_without_proof_or_values_is_told() -> None:
    """Otherwise one machine's proof would stand for another, which lost the benchmark."""
    evidence = gathered(job("xy", 0, proves="x", measures="y"), job("xy", 1, measures="y"))
    assert proved(evidence) == []
    assert set(statuses(evidence)) == {("x", "gave no values in session 1")}


def test_a_session_that_was_broken_off_after_its_proofs_is_told() -> None:
    evidence = gathered(job("xy", 0, proves="x", measures="y"), job("xy", 1, proves="x"))
    assert statuses(evidence) == [(None, "session 1 of 2 gave no values: b ends before the first start")]
