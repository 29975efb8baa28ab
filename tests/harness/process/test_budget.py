"""The budget: what is left of it, and that it ends a process with all that it started."""

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from harness.process.budget import BoundedExecutor, Budget, BudgetEndedError
from harness.process.execute import Command, ProcessExecutor
from harness.source.git import git_of
from tests.support.fakes import Clock, taking


def command(directory: Path, timeout: float, *argv: str) -> Command:
    return Command(argv or ("x",), directory, dict(os.environ), timeout)


def test_what_is_left(tmp_path: Path) -> None:
    clock = Clock(100.0)
    budget = Budget(10.0, clock)
    clock.now = 104.0
    assert (budget.used, budget.left) == (4.0, 6.0)
    budget.resume(5.0)
    assert (budget.used, budget.left) == (9.0, 1.0)
    clock.now = 200.0
    assert budget.left == 0.0
    with pytest.raises(BudgetEndedError):
        budget.require()


def test_what_is_allowed_beyond_the_limit_is_left_until_it_is_no_longer(tmp_path: Path) -> None:
    clock = Clock()
    budget = Budget(10.0, clock)
    executor = BoundedExecutor(taking(12.0, clock), budget)
    budget.allow(5.0)
    assert (budget.left, budget.limit, budget.is_over) == (15.0, 10.0, False)
    executor.run(command(tmp_path, 20.0))
    assert (budget.left, budget.is_over) == (3.0, True)
    budget.allow(0.0)
    assert budget.left == 0.0
    with pytest.raises(BudgetEndedError):
        executor.run(command(tmp_path, 20.0))


def test_what_is_timed_inside_something_else_counts_once() -> None:
    clock = Clock()
    budget = Budget(clock=clock)
    with budget.timed("outside"):
        clock.now += 1.0
        with budget.timed("keep"):
            clock.now += 4.0
        budget.note("again", 2.0)
        clock.now += 2.0
    with budget.timed("keep"):
        clock.now += 0.5
    assert budget.aside == {"outside": 1.0, "keep": 4.5, "again": 2.0}


@pytest.mark.parametrize(
    ("takes", "timeout", "ended"), [(5, 20, False), (15, 8, False), (15, 20, True), (10, 20, False)]
)
def test_the_shorter_of_budget_and_time_out_counts(tmp_path: Path, takes: float, timeout: float, ended: bool) -> None:
    clock = Clock()
    executor = BoundedExecutor(taking(takes, clock), Budget(10.0, clock))
    if ended:
        with pytest.raises(BudgetEndedError):
            executor.run(command(tmp_path, timeout))
    else:
        assert executor.run(command(tmp_path, timeout)).timed_out == (takes > timeout)
    assert clock.now == min(takes, timeout, 10.0)


def test_nothing_starts_when_it_has_ended(tmp_path: Path) -> None:
    clock = Clock()
    inner = taking(1.0, clock)
    executor = BoundedExecutor(inner, Budget(3.0, clock))
    clock.now = 3.0
    with pytest.raises(BudgetEndedError):
        executor.run(command(tmp_path, 9.0))
    with pytest.raises(BudgetEndedError):
        executor.start(command(tmp_path, 9.0), tmp_path / "log")
    assert (inner.commands, inner.background) == ([], [])


def test_the_error_says_which_part_it_was(tmp_path: Path) -> None:
    clock = Clock()
    budget = Budget(3.0, clock)
    clock.now = 1.0
    with pytest.raises(BudgetEndedError) as ended, budget.phase("build", setup=1.0):
        BoundedExecutor(taking(5.0, clock), budget).run(command(tmp_path, 9.0))
    assert (ended.value.phase, ended.value.seconds, ended.value.setup) == ("build", 2.0, 1.0)


def test_a_process_ends_with_all_that_it_started(tmp_path: Path) -> None:
    executor = BoundedExecutor(ProcessExecutor(), Budget(0.5))
    script = "sleep 1234 & echo $! > first; setsid sleep 1234 & echo $! > second; wait"
    with pytest.raises(BudgetEndedError):
        executor.run(command(tmp_path, 1000.0, "sh", "-c", script))
    for name in ("first", "second"):
        assert not Path("/proc", (tmp_path / name).read_text().strip()).exists()


def test_git_keeps_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.source.git._GRACE", 0.1)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    git = replace(git_of(tmp_path), budget=Budget(0.3))
    with pytest.raises(BudgetEndedError):
        git.attempt("-c", "alias.wait=!sleep 1234", "wait")
    assert replace(git, budget=Budget(1e9)).attempt("status").status == 0
