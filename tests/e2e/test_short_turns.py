"""Turns of suites and values, by real processes: as many values as planned, in executions as short as starting allows."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.loop.schedule import ExecutionStep, Pair
from harness.loop.turns import Lengths
from harness.process.budget import Budget
from tests.support.project import Project, repository

pytestmark = pytest.mark.endtoend

VALUES = """\
for n in $(seq "$PERFGATE_ITERATIONS"); do
    from=$(date +%s%N); sleep 0.01; until=$(date +%s%N)
    echo "{\\"metric\\": \\"time\\", \\"value\\": $((until - from)), \\"unit\\": \\"ns\\"}"
done > "$1"
"""
QUICK = 'seq -f "%g.$PERFGATE_SEED" "$PERFGATE_ITERATIONS" > "$1"\n'
PLAN = "[plan]\nsandbox = 'off'\nbuilds = 1\nexecutions = 1\niterations = 4\n"
SCRIPTS = """\
[[benchmark]]
name = "waits"
command = "sh waits.sh {output}"
instrument = "values"
[[benchmark]]
name = "quick"
command = "sh quick.sh {output}"
instrument = "values"
"""


def checked(top: Path, files: dict[str, str]) -> tuple[Project, str]:
    project = repository(top, files)
    done = project.perfgate("check", "--base", "HEAD")
    assert done.returncode == 0, done.stdout + done.stderr
    return project, done.stdout + done.stderr


def values(project: Project, benchmark: str) -> dict[str, list[int]]:
    own = [e for e in project.records("execution") if e["benchmark"] == benchmark]
    return {side: [len(e["metrics"]["time"]["values"]) for e in own if e["side"] == side] for side in ("base", "head")}


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let executions take what they do where nothing disturbs: starting 10 ms, and a value that waits 0.8 s."""
    real, takes = Lengths._cost, {"waits": 0.8, "quick": 1e-5, "go": 0.8}

    def cost(self: Lengths, pair: Pair, begin: Callable[[ExecutionStep], Path], budget: Budget) -> Any:
        return real(self, pair, begin, budget) and (0.01, takes[pair["base"].benchmark])

    monkeypatch.setattr(Lengths, "_cost", cost)


@pytest.mark.usefixtures("told")
def test_values_of_a_script_that_waits(tmp_path: Path) -> None:
    project, said = checked(
        tmp_path / "project", {"perfgate.toml": PLAN + SCRIPTS, "waits.sh": VALUES, "quick.sh": QUICK}
    )
    (turn,) = project.records("turn")
    assert turn["benchmark"] == "waits"
    assert turn["executions"] * turn["iterations"] == 4
    assert turn["iterations"] < 4
    assert turn["starting"] <= 0.1
    assert set(map(tuple, values(project, "waits").values())) == {(turn["iterations"],) * turn["executions"]}
    # starting takes all of its time
    assert values(project, "quick") == {"base": [4], "head": [4]}
    assert f"waits: by turns of {turn['iterations']} value" in said
    assert project.report()["run"]["turns"] == [{key: turn[key] for key in turn if key != "type"}]
    # what was measured so is as many executions and values as were wanted
    decided = project.perfgate("decide", ".perfgate/measurements.jsonl")
    assert decided.returncode == 0, decided.stdout + decided.stderr
    assert {"executions-short", "values-short"} & {each["kind"] for each in project.report()["warnings"]} == set()
