"""Both sides at once: where they run, what the launcher gives of each, and what a pair leaves when it fails."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gate.config.types import Benchmark, BuildTable
from gate.model import SIDES, Side
from gate.units import Duration
from harness.build.conditions import Conditions, Recipe
from harness.instruments import duet_launcher
from harness.instruments.spawn import Spawn
from harness.loop.duet import Duets, as_head, places, processors
from harness.loop.execution import Executed, Executions
from harness.loop.steps import ExecutionStep, execution_step
from harness.process.execute import ProcessExecutor

WORK = "sum(i * i for i in range({}))"


def step(side: Side, execution: int = 0, seed: int = 1) -> ExecutionStep:
    return execution_step("work", side, 0, execution, 0, seed, None)


def pair() -> dict[Side, ExecutionStep]:
    return {side: step(side) for side in SIDES}


def made(tmp_path: Path, commands: Mapping[Side, list[str]], iterations: int = 3, **more: Any) -> dict[Side, Executed]:
    scratch = tmp_path / "outputs"
    scratch.mkdir()
    folders: dict[Side, Path] = {side: tmp_path / side for side in SIDES}
    for folder in folders.values():
        folder.mkdir(exist_ok=True)
    recipes = {side: Recipe(BuildTable(perturb=[]), {"PATH": os.environ["PATH"], "MINE": side}) for side in SIDES}
    executor = ProcessExecutor(tmp_path / "running", ())
    conditions = Conditions(executor, recipes, os.environ, scratch)
    executions = Executions(conditions, {"spawn": Spawn(duet=True)}, iterations)
    benchmarks = {side: Benchmark(name="work", command=commands[side], instrument="spawn", **more) for side in SIDES}
    try:
        return Duets(executions).make(benchmarks, pair(), folders)
    finally:
        executor.close()


def python(text: str) -> list[str]:
    return [sys.executable, "-S", "-c", text]


# --- where they run ---------------------------------------------------------------------------------------------------


def test_each_side_has_a_processor_of_its_own_and_they_change() -> None:
    found = places((0, 1), 40, step("base"))
    assert {(base, head) for base, head, _ in found} == {(0, 1), (1, 0)}
    assert {first for _, _, first in found} == {0, 1}
    assert found == places((0, 1), 40, step("head"))
    assert found != places((0, 1), 40, step("base", execution=1))
    assert {base != head for base, head, _ in places((2, 5, 7), 40, step("base"))} == {True}


@pytest.mark.parametrize("available", [(0, 1), (2, 5, 7), (3,)])
@pytest.mark.parametrize("warmup", [0, 1, 2, 3])
def test_both_sides_are_equally_often_at_a_place_and_first(available: tuple[int, ...], warmup: int) -> None:
    measured = places(available, warmup + 6, step("base"))[warmup:]
    for place in available:
        assert [base for base, _, _ in measured].count(place) == [head for _, head, _ in measured].count(place)
    assert [first for _, _, first in measured].count(0) == 3
    for one, other in zip(measured[::2], measured[1::2], strict=True):
        assert other == (one[1], one[0], 1 - one[2])


def test_one_processor_serves_both_and_none_is_the_systems_affair() -> None:
    assert {(base, head) for base, head, _ in places((3,), 9, step("base"))} == {(3, 3)}
    assert {(base, head) for base, head, _ in places((), 9, step("base"))} == {(-1, -1)}


def test_the_processors_of_a_benchmark_count() -> None:
    own = sorted(os.sched_getaffinity(0))
    assert processors() == tuple(own)
    assert processors(f"{own[0]}-{own[-1]}") == tuple(own)
    assert processors(str(own[0])) == (own[0],)


# --- what comes out ---------------------------------------------------------------------------------------------------


def test_both_sides_give_their_own_values(tmp_path: Path) -> None:
    found = made(tmp_path, {"base": python(WORK.format(100_000)), "head": python(WORK.format(1_000_000))})
    values = {}
    for side in SIDES:
        (execution,) = found[side].executions
        assert (execution.side, execution.benchmark, execution.execution) == (side, "work", 0)
        assert {"time", "user", "system", "cpu"} <= execution.metrics.keys()
        cpu = execution.metrics["cpu"].values
        assert len(cpu) == 3
        parts = zip(execution.metrics["user"].values, execution.metrics["system"].values, strict=True)
        assert cpu == pytest.approx([user + system for user, system in parts])
        values[side] = min(cpu)
    assert values["head"] > 2 * values["base"]
    assert found["base"].seconds == found["head"].seconds


def test_they_run_at_the_same_time_in_their_own_directories_and_environments(tmp_path: Path) -> None:
    # each waits until it sees the other's file, which it would never do alone
    meet = (
        "import os, pathlib, time; me = os.environ['MINE']; other = 'head' if me == 'base' else 'base'; "
        "assert pathlib.Path.cwd().name == me == pathlib.Path(os.environ['PWD']).name; "
        "assert os.environ['PERFGATE_SIDE'] == me; pathlib.Path('here').touch(); "
        'exec(\'while not pathlib.Path("..", other, "here").exists(): time.sleep(0.01)\')'
    )
    found = made(tmp_path, dict.fromkeys(SIDES, python(meet)), iterations=1, timeout=Duration(20))
    assert [found[side].failures for side in SIDES] == [[], []]


def test_a_pair_whose_last_iteration_fails_on_one_side_is_lost_as_a_whole(tmp_path: Path) -> None:
    found = made(tmp_path, {"base": python("pass"), "head": python("raise SystemExit(3)")}, iterations=1)
    assert [found[side].executions for side in SIDES] == [[], []]
    assert [f.status for side in SIDES for f in found[side].failures] == [
        "head failed beside it, and a duet measures both or none",
        "exit 3",
    ]


def test_no_side_is_always_started_first(tmp_path: Path) -> None:
    # whoever is forked first has other pages to copy
    told = "import os; print(os.environ['MINE'], os.getpid(), file=open('../order', 'a'))"
    made(tmp_path, dict.fromkeys(SIDES, python(told)), iterations=20)
    pids: dict[str, list[int]] = {side: [] for side in SIDES}
    for line in (tmp_path / "order").read_text().splitlines():
        side, pid = line.split()
        pids[side].append(int(pid))
    first = [base < head for base, head in zip(pids["base"], pids["head"], strict=True)]
    expected = [start == 0 for _, _, start in places(processors(), 20, step("base"))]
    # numbers of processes begin anew at times
    assert sum(one == other for one, other in zip(first, expected, strict=True)) >= 19


def test_what_both_sides_have_alike_is_heads() -> None:
    base = Benchmark(name="work", command="a", warmup=1, cpus="0", priority=3)
    head = Benchmark(name="work", command="b", warmup=2, timeout=Duration(9))
    found = as_head({"base": base, "head": head})
    assert found["head"] == head
    assert found["base"] == Benchmark(name="work", command="a", warmup=2, timeout=Duration(9))


def test_a_side_that_fails_is_a_failure_of_that_side(tmp_path: Path) -> None:
    found = made(tmp_path, {"base": python("pass"), "head": python("raise SystemExit(3)")})
    (failure,) = found["head"].failures
    assert (failure.side, failure.status) == ("head", "exit 3")
    # one iteration was made, of three: nothing that base did, nor printed
    (failure,) = found["base"].failures
    assert (failure.side, failure.stderr, failure.command) == ("base", "", None)
    assert failure.status == "head failed beside it, and a duet measures both or none"


def test_memory_of_a_small_program_is_measured_from_a_large_process(tmp_path: Path) -> None:
    large = bytearray(1 << 27)
    found = made(tmp_path, {side: python("import time; b = bytearray(30 << 20); time.sleep(0.01)") for side in SIDES})
    for side in SIDES:
        (execution,) = found[side].executions
        assert all(30 << 20 < value < 60 << 20 for value in execution.metrics["memory"].values)
    assert len(large) == 1 << 27


@pytest.mark.parametrize("side", SIDES)
def test_what_cannot_be_started_says_so(tmp_path: Path, side: Side) -> None:
    commands: dict[Side, list[str]] = dict.fromkeys(SIDES, python("pass"))
    commands[side] = ["./no-such-program"]
    (failure,) = made(tmp_path, commands)[side].failures
    assert "no-such-program" in failure.status and failure.status.startswith("cannot start")


def test_a_time_out_ends_both(tmp_path: Path) -> None:
    slow = python("import time; time.sleep(60)")
    found = made(tmp_path, {"base": slow, "head": slow}, iterations=1, timeout=Duration(0.3))
    assert all("time-out after 0.3s" in found[side].failures[0].status for side in SIDES)


def test_a_program_that_slows_down_the_launcher_ends_both(tmp_path: Path) -> None:
    nice = python("import os; os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)")
    found = made(tmp_path, {"base": python("pass"), "head": nice}, iterations=4)
    assert all("changed the priority" in found[side].failures[0].status for side in SIDES)
    assert not any(found[side].executions for side in SIDES)


def test_the_launcher_needs_nothing_but_its_specification(tmp_path: Path) -> None:
    sides = [
        {
            "argv": python("pass"),
            "directory": str(tmp_path),
            "environment": {},
            "output": str(tmp_path / side),
            "sandbox": [-1, -1, -1],
        }
        for side in SIDES
    ]
    spec = {"runs": 2, "places": [[-1, -1, 0], [-1, -1, 1]], "known": sorted(os.environ), "sides": sides}
    (tmp_path / "spec").write_text(json.dumps(spec))
    done = subprocess.run([sys.executable, "-I", "-S", duet_launcher.__file__, str(tmp_path / "spec")], check=False)
    assert done.returncode == 0
    for side in SIDES:
        told = json.loads((tmp_path / side).read_text())
        assert (len(told["runs"]), told["code"], told["errno"]) == (2, 0, 0)
