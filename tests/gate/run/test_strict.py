"""--strict: what the views that decide need of the host."""

import json
import os
import subprocess
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from harness.process.affinity import before_others
from tests.support.project import Project, repository

LOADED = "load: 9.8 on 2 processors"
ALONE = ["grep", "-c", "x", "perfgate.toml"]
TREE = "grep -c x perfgate.toml; grep -c x perfgate.toml; true"


def configured(project: Project, command: object, more: str = "", plan: str = "iterations = 2") -> None:
    text = f"[plan]\nsandbox = 'off'\nbuilds = 2\nexecutions = 2\n{plan}\n"
    text += f'[[benchmark]]\nname = "grep"\ncommand = {command!r}\n{more}\n'
    project.write("perfgate.toml", text.replace("'", '"'))
    project.commit()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project on a host that is loaded, and has no other fault."""
    monkeypatch.setattr("gate.run.strict.problems", lambda waits=True: [LOADED] if waits else [])
    return Project(tmp_path / "project")


def strict(project: Project) -> CompletedProcess[str]:
    return project.perfgate("check", "--base", "HEAD", "--head", "HEAD", "--strict", "--set", "gate.sameness=off")


def test_active_time_needs_no_quiet_host(project: Project) -> None:
    configured(project, ALONE)
    assert strict(project).returncode == 0


@pytest.mark.parametrize(
    ("command", "more", "plan"),
    [
        (ALONE, "metrics = ['time']", "iterations = 2"),
        ("echo 1 > {output}", "instrument = 'values'", "iterations = 2"),
        (ALONE, "warmup = 'auto'", "iterations = 10"),
    ],
)
def test_wall_time_and_values_need_one(project: Project, command: object, more: str, plan: str) -> None:
    configured(project, command, more, plan)
    done = strict(project)
    assert (done.returncode, done.stdout) == (5, "")
    assert f"unfit to measure on: {LOADED}; " in done.stderr
    assert not (project.top / ".perfgate" / "measurements.jsonl").exists()


def test_several_tasks_are_seen_at_the_first_starts(project: Project) -> None:
    configured(project, TREE)
    done = strict(project)
    assert (done.returncode, done.stdout) == (5, "")
    assert "grep has no active time that could decide, so wall time does, and load: 9.8 on 2" in done.stderr


def test_what_is_measured_goes_before_others_as_far_as_the_user_has_the_right(tmp_path: Path) -> None:
    with before_others():
        given = os.getpriority(os.PRIO_PROCESS, 0)
    text = '[plan]\nbuilds = 1\nexecutions = 1\niterations = 1\nsandbox = "off"\n'
    text += '[[benchmark]]\nname = "nice"\ncommand = "echo $((100 + $(nice))) > {output}"\ninstrument = "values"\n'
    project = repository(tmp_path / "project", {"perfgate.toml": text})
    assert project.perfgate("measure", "--base", "HEAD", "--set", "gate.sameness=off").returncode == 0
    lines = map(json.loads, (project.top / ".perfgate/measurements.jsonl").read_text().splitlines())
    values = {line["benchmark"]: line["metrics"]["time"]["values"] for line in lines if line["type"] == "execution"}
    assert values == {"nice": [100 + given]}
    own = os.getpriority(os.PRIO_PROCESS, 0)
    # root of a container may lack it
    right = not subprocess.run(["nice", "-n", "-20", "true"], check=True, capture_output=True).stderr
    assert given == (-20 if right and own == 0 else own)
