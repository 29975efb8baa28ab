"""The budget, which ends a process with all that it started; and the time limit on what perfgate does itself."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest

from harness.process.budget import BoundedExecutor, Budget, BudgetEndedError, DeadlineError, deadline
from harness.process.execute import Command, ProcessExecutor
from harness.source.git import git_of
from tests.support.fakes import Clock, taking


def command(directory: Path, timeout: float, *argv: str) -> Command:
    return Command(argv or ("x",), directory, dict(os.environ), timeout)


def test_what_is_left_and_what_is_allowed_beyond_the_limit(tmp_path: Path) -> None:
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
    # more is left until it is no longer allowed
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


def test_what_is_timed_inside_something_else_counts_once_and_an_error_says_which_part_it_was(tmp_path: Path) -> None:
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
    clock = Clock()
    budget = Budget(3.0, clock)
    clock.now = 1.0
    with pytest.raises(BudgetEndedError) as ended, budget.phase("build", setup=1.0):
        BoundedExecutor(taking(5.0, clock), budget).run(command(tmp_path, 9.0))
    assert (ended.value.phase, ended.value.seconds, ended.value.setup) == ("build", 2.0, 1.0)


def test_the_shorter_of_budget_and_time_out_counts_and_nothing_starts_without_any(tmp_path: Path) -> None:
    for takes, timeout in ((5, 20), (15, 8), (10, 20)):
        clock = Clock()
        executor = BoundedExecutor(taking(takes, clock), Budget(10.0, clock))
        assert executor.run(command(tmp_path, timeout)).timed_out == (takes > timeout)
        assert clock.now == min(takes, timeout)
    clock = Clock()
    inner = taking(15, clock)
    executor = BoundedExecutor(inner, Budget(10.0, clock))
    with pytest.raises(BudgetEndedError):
        executor.run(command(tmp_path, 20))
    assert (clock.now, len(inner.commands)) == (10.0, 1)
    with pytest.raises(BudgetEndedError):
        executor.run(command(tmp_path, 20))
    with pytest.raises(BudgetEndedError):
        executor.start(command(tmp_path, 20), tmp_path / "log")
    assert (clock.now, len(inner.commands), inner.background) == (10.0, 1, [])


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


LONG = 20
"""Seconds that nothing here takes, unless the limit fails."""


def lost_once(went_on: list[str]) -> None:
    """CPython 3.11.2 replaces it by the ValueError whose message it formats; here it is swallowed."""
    with suppress(DeadlineError):
        time.sleep(LONG)
    went_on.append("a little")
    time.sleep(LONG)
    went_on.append("for long")


class Finalised:
    """Waits in its finaliser, out of which no exception comes."""

    def __del__(self) -> None:
        time.sleep(0.02)


def finalises(_: list[str]) -> None:
    Finalised()
    time.sleep(LONG)


def cleans_up(went_on: list[str]) -> None:
    try:
        time.sleep(LONG)
    finally:
        time.sleep(0.02)
        went_on.append("cleaned up")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(("work", "done"), [(lost_once, ["a little"]), (finalises, []), (cleans_up, ["cleaned up"])])
def test_an_error_that_is_lost_comes_again_and_cleaning_up_is_not_interrupted(
    work: Callable[[list[str]], None], done: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if work is cleans_up:
        monkeypatch.setattr("harness.process.budget._AGAIN", 0.001)

    def limited() -> None:
        with deadline(0.01):
            work(went_on)

    went_on: list[str] = []
    with pytest.raises(DeadlineError):
        limited()
    assert went_on == done


@pytest.mark.parametrize("seconds", [0.01, LONG])
def test_no_alarm_outlives_the_block(seconds: float) -> None:
    before = signal.getsignal(signal.SIGALRM)
    with suppress(DeadlineError), deadline(seconds), suppress(DeadlineError):
        time.sleep(0.02)
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    assert signal.getsignal(signal.SIGALRM) is before


def test_another_thread_has_no_limit() -> None:
    done = []

    def work() -> None:
        with deadline(0.001):
            time.sleep(0.01)
            done.append(True)

    thread = Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]
