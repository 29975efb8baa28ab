"""--resume in a project, through the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.project import Project, small_project

pytestmark = pytest.mark.xdist_group("measures")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return small_project(tmp_path / "repo")


def shorten(project: Project) -> list[str]:
    """Take the end of a run away, as if it had been killed; return what is left."""
    file = project.top / ".perfgate/measurements.jsonl"
    lines = file.read_text().splitlines(keepends=True)[:4]
    file.write_text("".join(lines))
    return lines


@pytest.mark.parametrize("before", ["nothing in it", "a run in it"])
def test_a_folder_without_its_gitignore_is_no_change_of_the_project(project: Project, before: str) -> None:
    folder = project.top / ".perfgate"
    folder.mkdir()
    if before == "a run in it":
        (folder / "measurements.jsonl").write_text("")
        (folder / "report.json").write_text("{}")
    first = project.perfgate("check", "--seed", "3")
    assert first.returncode == 0, first.stderr
    assert not project.report()["run"]["head"]["dirty"]
    assert project.git("status", "--porcelain") == ""
    kept = shorten(project)
    (folder / ".gitignore").unlink()
    done = project.perfgate("check", "--resume")
    assert done.returncode == 0, done.stderr
    assert (folder / "measurements.jsonl").read_text().startswith("".join(kept))


@pytest.mark.parametrize("there", ["", '{"type":"run","sch'])
def test_with_nothing_to_resume_a_run_starts(project: Project, there: str) -> None:
    """So that `until perfgate check --resume` works, also where the first one is killed before it wrote a line."""
    folder = project.top / "results"
    folder.mkdir()
    file = folder / "measurements.jsonl"
    if there:
        file.write_text(there)
    first = ""
    for _ in range(2):
        done = project.perfgate("check", "--resume", "--out", "results")
        assert done.returncode == 0, done.stderr
        lines = file.read_text().splitlines()
        assert sum('"type":"execution"' in line for line in lines) == 4
        assert lines[0] == first or not first
        first = lines[0]
    # a folder of the user's
    assert not (folder / ".gitignore").exists()


def test_measurements_of_another_program_are_not_resumed(project: Project) -> None:
    (project.top / ".perfgate").mkdir()
    line = {"type": "host", "when": "begin", "time": "2026-01-01T00:00:00Z", "state": {}}
    (project.top / ".perfgate/measurements.jsonl").write_text(json.dumps(line) + "\n")
    done = project.perfgate("check", "--resume")
    assert done.returncode == 2
    assert "does not begin with a run line" in done.stderr
