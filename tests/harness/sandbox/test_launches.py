"""Both sides of one launch, each in its sandbox, its home and its tree at one path."""

import os
import sys
from collections.abc import Iterator

import pytest

from gate.config.types import Benchmark
from gate.model import SIDES
from harness.instruments.spawn import LAUNCHER, RESULT, Spawn, Starts, launched
from harness.process.execute import ProcessExecutor
from harness.process.forkserver import Launch, LaunchSide, LaunchStart
from harness.sandbox.sandbox import Landlocked
from tests.harness.sandbox.conftest import LIBRARY, Arena


@pytest.fixture(params=["forked", "by itself"])
def executor(request: pytest.FixtureRequest, arena: Arena) -> Iterator[ProcessExecutor]:
    if request.param == "by itself":
        arena.executor._servers[LAUNCHER] = None
    yield arena.executor
    arena.executor.close()


def by_turns(arena: Arena, sandbox: Landlocked, executor: ProcessExecutor, *argv: str) -> Starts:
    """Start a command of both sides by turns, at one path and without a network."""
    place = arena.work / "tree"
    confined = {side: sandbox.confined(side, arena.tree(side), building=False, network=False) for side in SIDES}
    with sandbox.taking_turns():
        sides = tuple(
            LaunchSide(
                argv,
                {**arena.environment, **sandbox.environment(side)},
                place,
                confined[side],
                {arena.tree(side): place, **sandbox.standing(side)},
            )
            for side in SIDES
        )
        starts = [LaunchStart(each) for each in (0, 1, 1, 0)]
        launch = Launch(LAUNCHER, arena.work / RESULT, sides, starts, timeout=20.0)
        done = executor.run(launched(launch, 60.0))
    return Spawn().starts([Benchmark(name="b", command=["x"], instrument="spawn", warmup=0)] * 2, launch, done)


def test_each_side_has_its_tree_its_home_and_all_metrics(
    arena: Arena, sandbox: Landlocked, executor: ProcessExecutor
) -> None:
    for side in SIDES:
        name = arena.tree(side) / "name"
        name.write_text(side)
        sandbox.own(name)
    found = by_turns(arena, sandbox, executor, "sh", "-c", 'cat name >> all; cp name "$HOME/name"; (sleep 60 &)')
    assert found.failed is None, found
    assert [start.side for start in found.made] == [0, 1, 1, 0]
    assert all({"time", "active", "user", "system"} <= start.metrics.keys() for start in found.made)
    assert all(start.own is not None and start.outlived for start in found.made)
    for side in SIDES:
        assert (arena.tree(side) / "all").read_text() == side * 2
        assert (arena.work / f"home-{side}" / "name").read_text() == side
    if os.geteuid() == 0:
        assert {(arena.tree(side) / "all").stat().st_uid for side in SIDES} == {65534}


@pytest.mark.endtoend
def test_neither_side_gets_what_the_other_one_enters(
    arena: Arena, sandbox: Landlocked, executor: ProcessExecutor
) -> None:
    script = f'{sys.executable} -I -S {LIBRARY} descriptors 2> said; test "$(cat said)" = "[]"'
    found = by_turns(arena, sandbox, executor, "sh", "-c", script)
    assert (found.failed, len(found.made)) == (None, 4)
