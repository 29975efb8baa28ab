"""A budget that ended before enough was measured has a headline of its own, and a next step with what it costs."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gate.cli.main import main
from tests.support import lines
from tests.support.project import CONFIG, Project

EARLY = {"builds": {"min": 4, "max": 12}, "budget": "3m"}


def run(*argv: str) -> tuple[int, str]:
    out, err = io.StringIO(), io.StringIO()
    code = main(argv, out, err)
    assert not err.getvalue()
    return code, out.getvalue()


def written(
    folder: Path, rounds: int, plan: dict[str, Any], gate: dict[str, Any] | None = None, *, stop: str = "budget"
) -> str:
    """A run in which a round takes a minute of building and as long for executions, the second round 30 s more."""
    rng = np.random.default_rng(2)
    found: list[dict[str, Any]] = [{"type": "run", "config": {"plan": plan, "gate": gate or {}}}]
    for build in range(rounds):
        for side in ("base", "head"):
            found.append({"type": "build", "side": side, "build": build, "seconds": 30.0, "artifacts": {}})
            value = rng.normal(1, 0.3, 3).tolist()
            seconds = 30.0 + 15.0 * (build == 1)
            found.append(lines.execution(side, value, build=build, seconds=seconds))
    found.append({"type": "host", "when": "end", "time": "2026-11-20T09:09:00Z", "state": {}, "stop": stop})
    (folder / "measurements.jsonl").write_text(lines.text(found))
    return str(folder)


def headline(text: str) -> str:
    return " ".join(text.partition("\n\n")[0].split())


@pytest.mark.parametrize("plan", [{"builds": 5, "budget": "3m"}, EARLY], ids=["fixed", "range"])
def test_one_build(tmp_path: Path, plan: dict[str, Any]) -> None:
    folder = written(tmp_path, 1, plan)
    code, text = run("decide", folder)
    assert (code, headline(text)) == (0, "◆ Not enough measured: 1 of 5 builds")
    said = " ".join(text.split())
    step = "Run the same check again with `--set plan.budget=11m`: a round takes about 2 min and 5 are needed"
    assert f"next {step}" in said
    for form, head in (("markdown", "⚠️ **"), ("summary", "⚠️ **"), ("html", "</span> ")):
        _, written_as = run("report", folder, "--format", form)
        assert f"{head}Not enough measured: 1 of 5 builds" in written_as
        assert "plan.budget=11m" in written_as
    report = json.loads(run("decide", folder, "--json", "-")[1])
    assert (report["verdict"], report["stopped"]) == ("inconclusive", "budget")
    assert (report["summary"]["kind"], report["summary"]["builds"], report["summary"]["needed"]) == (
        "not-enough-measured", 1, 5,
    )  # fmt: skip
    assert report["run"]["rounds"] == {"done": 1, "planned": report["run"]["rounds"]["planned"]}
    assert report["summary"]["round"] == 120.0


def test_it_fails_where_inconclusive_does(tmp_path: Path) -> None:
    code, text = run("decide", written(tmp_path, 1, EARLY, {"inconclusive": "fail"}))
    assert (code, headline(text)) == (3, "◆ Not enough measured: 1 of 5 builds")


def test_the_slowest_round_says_what_another_costs(tmp_path: Path) -> None:
    _, text = run("decide", written(tmp_path, 3, {"builds": 12, "budget": "8m"}, {"min_builds": 10}))
    assert headline(text) == "◆ Not enough measured: 3 of 10 builds"
    assert "a round takes about 2 min 30 s and 10 are needed" in " ".join(text.split())
    assert "plan.budget=28m" in text


def test_a_cold_first_build_is_paid_once(tmp_path: Path) -> None:
    folder = written(tmp_path, 3, {"builds": 12, "budget": "15m"}, {"min_builds": 10})
    file = Path(folder, "measurements.jsonl")
    # ten minutes longer than the builds after it
    file.write_text(file.read_text().replace('"build": 0, "seconds": 30.0', '"build": 0, "seconds": 630.0', 1))
    text = " ".join(run("decide", folder)[1].split())
    assert "a round takes about 2 min 30 s and 10 are needed" in text
    # 10% more than 10 min and ten rounds as long as the slowest of the later ones
    assert "plan.budget=39m" in text


def test_a_plan_of_fewer_builds_needs_no_more(tmp_path: Path) -> None:
    assert headline(run("decide", written(tmp_path, 1, {"builds": 3}))[1]) == "◆ Not enough measured: 1 of 3 builds"


@pytest.mark.parametrize(
    ("rounds", "plan", "stop"),
    [(5, {"builds": 12}, "budget"), (3, {"builds": 3}, "finished")],
    ids=["enough builds", "not the budget"],
)
def test_otherwise_it_is_inconclusive(tmp_path: Path, rounds: int, plan: dict[str, Any], stop: str) -> None:
    _, text = run("decide", written(tmp_path, rounds, plan, stop=stop))
    assert headline(text).startswith("◆ Inconclusive: ")
    assert "plan.budget=" not in text


def test_of_files_without_times_no_cost_is_known(tmp_path: Path) -> None:
    folder = written(tmp_path, 1, EARLY)
    file = Path(folder, "measurements.jsonl")
    file.write_text(file.read_text().replace('"seconds": 30.0, ', "").replace(', "seconds": 30.0', ""))
    text = " ".join(run("decide", folder)[1].split())
    assert "next Run the same check again with a larger budget (`--set plan.budget=...`): 5 builds are needed" in text


@pytest.mark.parametrize(
    ("done", "phase", "said"),
    [
        (
            [], "build",
            ("Raise the budget, for example `--set plan.budget=3m`: 5 rounds take at least 1 min 20 s; how much more is "
             "not known, because no execution was complete"),
        ),
        (
            ["build", "execution"], "execution",
            ("Raise the budget, for example `--set plan.budget=86m`: judging by what was done, 5 rounds take at least "
             "43 min"),
        ),
    ],
    ids=["a build that never ended", "one execution"],
)  # fmt: skip
def test_what_a_round_takes_is_not_known_before_an_execution(
    tmp_path: Path, done: list[str], phase: str, said: str
) -> None:
    found: list[dict[str, Any]] = [
        {
            "type": "run",
            "config": {"plan": {"builds": 5, "budget": "10s"}},
            "benchmarks": {"base": ["b"], "head": ["b"]},
        }
    ]
    if "build" in done:
        found.append({"type": "build", "side": "base", "build": 0, "seconds": 8.0, "artifacts": {}})
    if "execution" in done:
        found.append(lines.execution("base", [1.0], benchmark="b", seconds=50.0))
    cut = {"phase": phase, "side": "base", "benchmark": "b", "build": 0, "execution": 1, "seconds": 8.0}
    found.append({"type": "host", "when": "end", "state": {}, "stop": "budget", "rounds": 0, "cut": cut})
    (tmp_path / "measurements.jsonl").write_text(lines.text(found))
    code, text = run("decide", str(tmp_path))
    assert code == 4
    assert f"next {said} " in " ".join(text.split()) + " "


@pytest.mark.endtoend
def test_a_check_whose_budget_ends(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    # the first builds of both sides are made at once or not: a round takes 2 s or 4 s, a second one 4 s more
    project.write("perfgate.toml", f'{CONFIG}[build]\ncommand = "sleep 2"\n')
    project.bench(1.0)
    project.commit()
    project.bench(1.3)
    done = project.perfgate("check", "--set", "plan.budget=5.9s")
    assert done.returncode == 0
    assert headline(done.stdout) == "◆ Not enough measured: 1 of 5 builds"
    assert "Run the same check again with `--set plan.budget=" in " ".join(done.stdout.split())
    code = project.perfgate("decide", ".perfgate", "--set", "gate.inconclusive=fail").returncode
    assert code == 3
