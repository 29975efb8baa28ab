"""perfgate init runs perfgate try on what it writes, mends it, and is green only if every benchmark gave values."""

from pathlib import Path

import pytest

from gate.commands.try_ import try_
from tests.support.project import Project

# Two gates never measure at once on one machine: on one worker they do not wait for each other.
pytestmark = [pytest.mark.endtoend, pytest.mark.xdist_group("measures")]


@pytest.fixture(autouse=True)
def fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(try_, "examine", list)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A script that succeeds, and nothing committed."""
    made = Project(tmp_path / "project")
    made.write("benchmarks/bench_sum.py", "sum(range(10_000))\n")
    return made


def test_what_init_writes_is_tried(project: Project) -> None:
    project.commit()
    alone = project.perfgate("init", "--no-try")
    assert (alone.returncode, alone.stderr, "trying it" in alone.stdout) == (0, "", False)
    assert "\nnext:\n  perfgate try  " in alone.stdout
    done = project.perfgate("init", "--force")
    assert done.returncode == 0, done.stderr
    written, _, rest = done.stdout.partition("\ntrying it (--no-try skips this, and so does Ctrl-C):\n")
    assert written.startswith("detected: ")
    assert "with uncommitted changes: the benchmark gave values\n" in rest
    # one of both: what the trial asks for is written, not advised
    said, _, _ = rest.partition("\nalso:\n  git add perfgate.toml && git commit ")
    assert ("\nnext: " in said) != ("\nwrote perfgate.toml again, as its trial asks: " in said)
    assert "put this into the file" not in said


def test_a_project_in_a_folder_is_tried_there(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    for name in ("one", "two"):
        project.write(f"{name}/setup.py", "")
        project.write(f"{name}/bench.py", f"open('{name}.txt').close()\n")
        project.write(f"{name}/{name}.txt", "x")
    project.commit()
    asked = project.perfgate("init")
    assert (asked.returncode, "`--project one`, `--project two`" in asked.stderr) == (2, True)
    done = project.perfgate("init", "--project", "two")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (project.top / "two/perfgate.toml").is_file()
    assert "\nalso:\n  cd two  " in done.stdout


def test_what_fails_is_not_green_and_the_file_stays(project: Project) -> None:
    project.write("benchmarks/bench_sum.py", "import sys\nsys.exit(3)\n")
    project.commit()
    done = project.perfgate("init")
    assert done.returncode == 4
    assert "failed on head: exit 3" in done.stdout and "\nmissing: bench_sum: exit 3\n" in done.stdout
    assert (project.top / "perfgate.toml").is_file()


def test_what_the_failure_tells_is_mended(project: Project) -> None:
    project.write("benchmarks/bench_sum.py", "print(len(open('words.txt').read()))\n")
    project.write("benchmarks/words.txt", "a b c")
    project.commit()
    done = project.perfgate("init")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "attempt 1: bench_sum: FileNotFoundError" in done.stdout
    assert "  mended: in benchmarks/, where words.txt is\n" in done.stdout
    assert "cd benchmarks && " in (project.top / "perfgate.toml").read_text(encoding="utf-8")


def test_what_cannot_be_tried_is_not_green(project: Project) -> None:
    done = project.perfgate("init")
    assert (done.returncode, done.stderr) == (4, "")
    assert "not tried: nothing is committed yet" in done.stdout and "trying it" not in done.stdout
    project.commit()
    done = project.perfgate("init", "--force", GITHUB_ACTIONS="true", GITHUB_EVENT_NAME="pull_request_target")
    assert (done.returncode, done.stderr.count("\n")) == (4, 1)
    assert done.stderr.startswith("perfgate try: ")
    assert (project.top / "perfgate.toml").is_file()
