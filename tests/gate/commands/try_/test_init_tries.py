"""perfgate init runs perfgate try on what it writes, unless there is nothing to try or nobody wants it."""

from pathlib import Path

import pytest

from gate.commands.init.found import Found, Measured
from gate.commands.init.init import long_notes
from gate.commands.try_ import plans, try_
from gate.config.parse import parse
from gate.config.source import read_source
from gate.run.trial import TrialTimes
from tests.support.initialized import ask_once
from tests.support.project import Project

# Two gates never measure at once on one machine: on one worker they do not wait for each other.
pytestmark = pytest.mark.xdist_group("measures")

SCRIPT = "import sys\nsum(range(10_000))\nsys.exit({code})\n"


@pytest.fixture(autouse=True)
def fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(try_, "examine", lambda history: [])
    ask_once(monkeypatch)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path / "project")
    made.write("benchmarks/bench_sum.py", SCRIPT.format(code=0))
    made.commit()
    return made


def test_what_init_writes_is_tried(project: Project) -> None:
    done = project.perfgate("init")
    assert done.returncode == 0, done.stderr
    assert (project.top / "perfgate.toml").is_file()
    written, _, rest = done.stdout.partition("\ntrying it (--no-try skips this, and so does Ctrl-C):\n")
    assert written.startswith("detected: ")
    assert "with uncommitted changes: the benchmark gave values\n" in rest
    # where the machine is noisy, the trial asks for more builds
    assert rest.index("\nnext: ") < rest.index("\nalso:\n  git add perfgate.toml && git commit ")


def test_a_plan_of_which_too_little_fits_the_budget_is_written_again(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    # 12 s of the 10 minutes are enough for two rounds of 2 executions of 1 + 5 starts on each side
    monkeypatch.setattr(plans, "ROOM", 0.02)
    project.write("benchmarks/bench_sum.py", "import time\ntime.sleep(0.2)\n")
    project.commit()
    done = project.perfgate("init")
    assert done.returncode == 0, done.stderr
    written = "\nwrote perfgate.toml again, with the leaner plan: executions = "
    assert done.stdout.index("  10 min, leaner ") < done.stdout.index(written)
    plan = parse(read_source((project.top / "perfgate.toml").read_text(encoding="utf-8"), "perfgate.toml")).plan
    assert plan.executions * plan.iterations < 10
    assert float(plan.budget) == 600.0
    # the next check knows what the trial has learned, and takes it for the plan that was written
    project.commit()
    told = project.perfgate("check", "--base", "HEAD~1", "--head", "HEAD", "--dry-run").stdout
    assert " by `perfgate try`, " in told


def test_without_a_trial_init_says_how_to_make_one(project: Project) -> None:
    done = project.perfgate("init", "--no-try")
    assert (done.returncode, done.stderr) == (0, "")
    assert "trying it" not in done.stdout
    assert "\nnext:\n  perfgate try  " in done.stdout


def test_what_fails_is_said_and_the_file_stays(project: Project) -> None:
    project.write("benchmarks/bench_sum.py", SCRIPT.format(code=3))
    project.commit()
    done = project.perfgate("init")
    assert done.returncode == 0, done.stderr
    assert "failed on head: exit 3" in done.stdout
    assert (project.top / "perfgate.toml").is_file()


def test_what_cannot_be_tried_is_one_line(project: Project) -> None:
    project.write(".gitignore", "perfgate.toml\n")
    project.commit()
    done = project.perfgate("init")
    assert (done.returncode, done.stderr) == (0, "")
    assert "note: git ignores perfgate.toml: `git add --force perfgate.toml`" in done.stdout
    assert "trying it" not in done.stdout


def test_nothing_is_committed_yet(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    project.write("benchmarks/bench_sum.py", SCRIPT.format(code=0))
    done = project.perfgate("init")
    assert (done.returncode, done.stderr) == (0, "")
    assert "note: nothing is committed yet" in done.stdout
    assert "trying it" not in done.stdout


def test_a_workflow_that_must_not_run_code_ends_the_trial_alone(project: Project) -> None:
    done = project.perfgate("init", GITHUB_ACTIONS="true", GITHUB_EVENT_NAME="pull_request_target")
    assert done.returncode == 0
    assert done.stderr.startswith("perfgate try: ")
    assert done.stderr.count("\n") == 1
    assert (project.top / "perfgate.toml").is_file()


def test_a_run_that_takes_long_is_named_with_what_to_do() -> None:
    measured = [Measured(name, ["x"], [], instrument=kind) for name, kind in (("a", "spawn"), ("b", "values"))]
    found = Found("python", "here", measured[0], more=[*measured[1:], Measured("c", ["x"], [])])
    times = TrialTimes({}, 0.0, {}, 5, {"a": 13.44, "b": 20.0, "c": 4.9})
    (_, note) = long_notes(found, times, "perfgate.toml")
    assert note.startswith("note: a takes 13.4 s a run: choose a part of it, or let it write its own times")
    assert long_notes(found, None, "perfgate.toml") == []
