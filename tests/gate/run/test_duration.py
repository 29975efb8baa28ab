"""How long a run takes, and whether one round fits the budget, before anything is measured."""

from pathlib import Path
from typing import Any

import pytest

from gate.config.parse import parse
from gate.config.source import read_source
from gate.config.types import Config
from gate.memory.entries import Costs
from gate.model.warnings.setup import RoundBeyondBudget
from gate.run.duration import budget_warnings, schedule_seconds
from harness.loop.schedule import Round, schedule
from tests.support.lines import execution, text

ROUNDS = schedule({"base": ["b"], "head": ["b"]}, 3, 2, seed=1)


def config(budget: float) -> Config:
    written = f'[plan]\nbudget = "{budget}s"\nbuilds = 3\nexecutions = 2\niterations = 5\n'
    return parse(read_source(written + '[[benchmark]]\nname = "b"\ncommand = "x"\n', "perfgate.toml"))


def build(side: str, seconds: float, setup: float | None) -> dict[str, Any]:
    return {"type": "build", "side": side, "build": 0, "seconds": seconds, "setup": setup}


def left(folder: Path, *lines: dict[str, Any]) -> Path:
    (folder / "measurements.jsonl").write_text(text(lines))
    return folder


def warned(rounds: tuple[Round, ...], folder: Path, budget: float, **costs: Costs) -> list[RoundBeyondBudget]:
    return budget_warnings(rounds, folder, config(budget), costs)


def test_set_up_counts_once_a_side(tmp_path: Path) -> None:
    last = [build("base", 1.0, 10.0), build("head", 2.0, 20.0)]
    last += [execution(side, [1.0], benchmark="b", seconds=0.5) for side in ("base", "head")]
    folder = left(tmp_path, *last)
    # 10 + 20 of set-up; a round is 1 + 2 of builds and 4 executions
    assert schedule_seconds(ROUNDS, folder) == pytest.approx(30 + 3 * (3 + 4 * 0.5))
    assert warned(ROUNDS, folder, 35.0) == []
    assert warned(ROUNDS, folder, 34.9) == [RoundBeyondBudget(35.0, 34.9, "last-run")]


def test_a_run_that_only_waited_leaves_the_estimate_to_the_one_before(tmp_path: Path) -> None:
    last = [build(side, 1.0, None) for side in ("base", "head")]
    last += [execution(side, [1.0], benchmark="b", seconds=0.5) for side in ("base", "head")]
    held = {"type": "failure", "kind": "lock", "status": "x"}
    names = ("runs/20260101T000000Z-a", "runs/20260102T000000Z-b", "runs/20260103T000000Z-c", ".")
    for name, lines in zip(names, ([], last, [held], [held]), strict=True):
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
        left(tmp_path / name, *lines)
    assert schedule_seconds(ROUNDS, tmp_path) == pytest.approx(3 * (2 + 4 * 0.5))
    # one that waited, was resumed and measured is the last
    left(tmp_path, held, {"type": "host", "when": "begin"}, build("base", 1.0, None))
    assert schedule_seconds(ROUNDS, tmp_path) is None


def test_without_an_earlier_run_the_memory_tells(tmp_path: Path) -> None:
    costs = Costs(build=3.0, start=0.5, iteration=0.25, warmup=0.25)
    # two builds, and 4 executions of 0.5 + 0.25 + 5 x 0.25
    assert warned(ROUNDS, tmp_path, 14.0, b=costs) == []
    assert warned(ROUNDS, tmp_path, 13.9, b=costs) == [RoundBeyondBudget(14.0, 13.9, "memory")]
    assert warned(ROUNDS, tmp_path, 13.9) == []
    assert warned(ROUNDS, tmp_path, 13.9, other=costs) == []


def test_a_budget_that_ended_the_last_run_is_too_small_again(tmp_path: Path) -> None:
    run = {"type": "run", "schema": 1, "config": {"plan": {"budget": "60s"}}}
    cut = {"phase": "build", "side": "base", "build": 0, "seconds": 50.0}
    end = {"type": "host", "when": "end", "stop": "budget", "rounds": 0, "cut": cut}
    folder = left(tmp_path, run, end)
    assert warned(ROUNDS, folder, 60.0) == [RoundBeyondBudget(60.0, 60.0, "ended")]
    assert warned(ROUNDS, folder, 61.0) == []
