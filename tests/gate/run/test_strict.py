"""--strict: what the views that decide need of the host."""

from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.support.project import Project

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
