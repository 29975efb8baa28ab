"""Head's build leaves a file that takes longer to read than the budget is (S10)."""

from __future__ import annotations

from tests.hostile.conftest import PLAN, Stage


def test_nothing_is_proved_and_the_run_ends(stage: Stage) -> None:
    config = PLAN.replace("[plan]", '[plan]\nbudget = "8s"')
    build = "[build]\ncommand = '[ -e head ] && truncate -s 2T big; true'\n"
    stage.commit(f"{config}{build}[[benchmark]]\nname = 'b'\ncommand = 'cat x'\n", {"x": "1"}, {"head": "2"})
    stage.check(seconds=200)
    assert stage.verdict("b") != "identical", stage.shown


def test_a_benchmark_makes_a_tracked_file_endless(stage: Stage) -> None:
    """perfgate compares what git tracks with the commit after each round."""
    command = "[ -e head ] && truncate -s 2T x; true"
    stage.commit(f"{PLAN}[[benchmark]]\nname = 'b'\ncommand = '{command}'\n", {"x": "1"}, {"head": "2"})
    stage.check(seconds=200)
    assert stage.code == 4, stage.shown
    assert "files of head changed" in stage.shown
