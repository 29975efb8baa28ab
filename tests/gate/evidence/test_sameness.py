"""Which proofs hold, of one session and of several, beside values and failures; whether layouts were alike."""

from typing import Any

import pytest

from gate.config.types import BuildTable, Config
from gate.evidence.runs import EvidenceError
from gate.evidence.sameness import layouts_of, shuffled
from gate.model import SIDES, Build, Evidence, Layouts
from gate.model.warnings.measured import SAME_COMMIT, RoundsShort
from tests.gate.evidence.test_runs import both, gathered, run_line, statuses
from tests.support.lines import execution

Line = dict[str, Any]
A_FAILURE = {"type": "failure", "kind": "execution", "benchmark": "x", "side": "head", "status": "exit 1"}
ONE = {"base": {"sha": "a"}, "head": {"sha": "a"}}
DIRTY = {"base": {"sha": "a"}, "head": {"sha": "a", "dirty": True, "tree": None}}


def same(name: str, session: int = 0) -> Line:
    found = {"differ": ["README.md"], "differ_count": 1, "read_count": 9}
    return {"type": "same", "benchmark": name, "session": session, "hash": {"base": "a", "head": "b"}, **found}


def job(expected: str, session: int, *, shard: str = "1/1", measures: str = "", proves: str = "") -> list[Line]:
    """Make the file of one job; all names are of one letter."""
    values = [line for name in measures for line in both(name, session)]
    run = run_line(expected, shard=shard, session=session, sessions=2)
    return [run, *(same(name, session) for name in proves), *values]


def proved(evidence: Evidence) -> list[str]:
    return [each.benchmark for each in evidence.identical]


@pytest.mark.parametrize(
    ("files", "proves", "cases", "failures"),
    [
        # what is proved needs no values; what has neither is missing, and what failed is not proved
        ([[run_line("xyz"), same("x"), same("z"), *both("y")]], "xz", "y", []),
        ([[run_line("xy"), same("x"), same("y")]], "xy", "", []),
        ([[run_line("xy"), same("x")]], "x", "", [("y", "gave no values")]),
        ([[run_line("x"), same("x"), A_FAILURE]], "", "", [("x", "exit 1")]),
        # an A/A run proves nothing, and one commit with changes is none
        ([[run_line("x", **ONE), same("x")]], "", "", [("x", "gave no values")]),
        ([[run_line("x", **DIRTY), same("x")]], "x", "", []),
        ([[run_line("x", base={"sha": "a"}, head={"sha": "a", "dirty": True, "tree": "c"}), same("x")]], "x", "", []),
        # a shard without anything to measure
        (
            [
                job(n, s, shard=f"{k}/2", **{do: n})
                for k, n, do in ((1, "x", "proves"), (2, "y", "measures"))
                for s in (0, 1)
            ],
            "x",
            "y",
            [],
        ),
        # values of one session win over the proof of another
        ([job("x", 0, proves="x"), job("x", 1, measures="x")], "", "x", []),
        # otherwise one machine's proof would stand for another, which lost the benchmark, or was broken off
        (
            [job("xy", 0, proves="x", measures="y"), job("xy", 1, measures="y")],
            "",
            "y",
            [("x", "gave no values in session 1")] * 2,
        ),
        (
            [job("xy", 0, proves="x", measures="y"), job("xy", 1, proves="x")],
            "x",
            "y",
            [(None, "session 1 of 2 gave no values: b ends before the first start")],
        ),
    ],
)
def test_what_is_proved(files: list[list[Line]], proves: str, cases: str, failures: list[tuple[str, str]]) -> None:
    evidence = gathered(*files)
    assert proved(evidence) == list(proves)
    assert [case.benchmark for case in evidence.cases] == list(cases)
    assert (statuses(evidence), evidence.new) == (failures, [])


def test_what_is_warned_of() -> None:
    assert gathered([run_line("xyz"), same("x"), same("z"), *both("y")]).warnings == []
    whole = gathered([run_line("xy"), same("x"), same("y")])
    assert not any(isinstance(each, RoundsShort) for each in whole.warnings)
    assert (whole.rounds.done, whole.rounds.planned) == (0, None)
    for lines, told in (([same("x")], True), (both("x"), True)):
        assert (SAME_COMMIT in gathered([run_line("x", **ONE), *lines]).warnings) is told
    assert SAME_COMMIT not in gathered([run_line("x", **DIRTY), same("x")]).warnings


@pytest.mark.parametrize("lines", [both("x"), [execution("base", [1.0], benchmark="x/one", suite="x")]])
def test_a_proof_and_values_of_one_session_are_a_contradiction(lines: list[Line]) -> None:
    with pytest.raises(EvidenceError, match=r"a:2 and a:3: x is said to be the same on both sides"):
        gathered([run_line("x"), same("x"), *lines])


# --- layouts: by the config, and by the order of Go's functions -------------------------------------------------------


def builds(base: str, head: str, **more: Any) -> list[Build]:
    """A build of each side a round, with the layouts that the letters name; "." is unknown."""
    return [
        Build(side=side, build=number, seed=number, layout=None if letter == "." else letter, **more)
        for side, letters in zip(SIDES, (base, head), strict=True)
        for number, letter in enumerate(letters)
    ]


AT = [
    builds(base, head, factors={"flag": flag})
    for base, head, flag in (("aa", "xx", 1), ("bb", "yy", 2), ("cd", "cd", 3))
]


@pytest.mark.parametrize(
    ("found", "order", "layouts"),
    [
        (builds("abc", "abc"), "common", "common"),
        # a function more on one side draws another order; so does a seed for each
        (builds("abc", "xyz"), "independent", "independent"),
        # what is not shuffled says nothing: a Go program whose own -ldflags replace perfgate's
        *(
            (builds(*sides), None, "common")
            for sides in (("aaa", "aaa"), ("aaa", "bbb"), ("a", "b"), ("...", "..."), ("abc", ""))
        ),
        # builds of other settings are no shuffle
        ([*AT[0], *AT[1]], None, "common"),
        ([*AT[0], *AT[1], *AT[2]], "independent", "independent"),
    ],
)
def test_whether_sides_were_laid_out_alike(found: list[Build], order: Layouts | None, layouts: Layouts) -> None:
    assert shuffled(found) == order
    assert layouts_of(Config(), found) == layouts
    assert layouts_of(Config(build=BuildTable(layouts="independent")), found) == "independent"
    assert layouts_of(None, found) is None
