"""Next steps that need a real project: what they say is typed, and the check then has a verdict."""

import fcntl
import threading
from pathlib import Path

import pytest

from gate.decide.next_steps import next_step
from gate.model import Report
from gate.report.json import read
from gate.writing.sentences import CommandLine, Options
from tests.support.project import SHELL_CONFIG, Project, quick, repository

pytestmark = pytest.mark.endtoend


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Head is a third slower than base."""
    made = repository(tmp_path / "project", {"perfgate.toml": SHELL_CONFIG, **quick(1.0)})
    made.quick(1.3)
    return made


def report(project: Project) -> Report:
    return read((project.top / ".perfgate/report.json").read_text(encoding="utf-8"))


def test_a_machine_that_another_program_holds(project: Project) -> None:
    with Path(project.own()["PERFGATE_LOCK"]).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert project.perfgate("check", "--wait", "0").returncode == 4
        step = next_step(report(project))
        assert step is not None and step.kind == "run-later"
        (way,) = step.ways
        assert isinstance(way, Options)
        threading.Timer(0.5, fcntl.flock, (lock, fcntl.LOCK_UN)).start()
        done = project.perfgate("check", *way.argv)
    assert done.returncode == 1, done.stdout


def test_before_anything_is_measured(project: Project) -> None:
    (project.top / "m.jsonl").write_text("")
    assert project.perfgate("decide", "m.jsonl", "--json", "r.json").returncode == 4
    step = next_step(read((project.top / "r.json").read_text(encoding="utf-8")))
    assert step is not None and step.kind == "measure-first"
    (way,) = step.ways
    assert isinstance(way, CommandLine)
    assert project.perfgate(*way.text.split()[1:]).returncode == 1


def test_sides_of_other_output(project: Project) -> None:
    table = '[[benchmark]]\nname = "other"\ncommand = "cat bench.sh"\n'
    config = SHELL_CONFIG.partition("[[benchmark]]")[0] + table
    project.quick(1.0, **{"perfgate.toml": f"{config}same_output = true\n"})
    project.commit()
    project.quick(1.3)
    assert project.perfgate("check").returncode == 4
    step = next_step(report(project))
    assert step is not None and step.kind == "fix-output"
    assert "remove `same_output`" in step.text
    project.write("perfgate.toml", config)
    assert project.perfgate("check").returncode in (0, 1)


def test_a_build_that_needs_git(project: Project) -> None:
    build = '[build]\ncommand = "git rev-parse HEAD > id"\n'
    told = "set git = "
    for git, warned in (("", True), ('git = "on"\n', False)):
        project.write("perfgate.toml", SHELL_CONFIG.replace("[[benchmark]]", f"{build}{git}[[benchmark]]"))
        assert project.perfgate("check").returncode == 1
        assert any(told in each.sentence() for each in report(project).warnings) is warned
