"""perfgate calibrate as a user runs it, and what the next check makes of it."""

from pathlib import Path

import pytest

from gate.store.memory import Sessions
from tests.support.project import CONFIG as SHORT
from tests.support.project import Project, repository, speed

# What is learned of executions takes two of them.
CONFIG = SHORT.replace("executions = 1", "executions = 2")

pytestmark = pytest.mark.endtoend


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Two commits on a path with spaces, of which the second changes nothing."""
    base = {"perfgate.toml": CONFIG, **speed(1.0)}
    return repository(tmp_path / "a project, ünïcode", base, {"README": "only words"})


def test_a_calibration_is_used_by_the_next_check(project: Project, tmp_path: Path) -> None:
    state = tmp_path / "state"
    done = project.process("calibrate", "--set", "plan.builds=10", PERFGATE_HISTORY="", XDG_STATE_HOME=str(state))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Calibrated: the noise of 1 benchmark on this host, from 10 rounds\n")
    assert (state / "perfgate/history").exists()
    assert project.git("status", "--porcelain") == ""
    # where both sides are laid out alike, what a calibration has found tells only plans
    done = project.perfgate("check", PERFGATE_HISTORY="", XDG_STATE_HOME=str(state))
    assert done.returncode == 0, done.stdout + done.stderr
    assert project.report()["findings"][0]["memory"] is None
    assert project.report()["run"]["memory"]["checks"] == 0
    told = project.perfgate("report", "--all").stdout
    assert "used for plans; intervals use it after 5 checks of the default branch, 0 so far" in " ".join(told.split())
    own = ("--set", "build.layouts=independent")
    done = project.perfgate("check", *own, PERFGATE_HISTORY="", XDG_STATE_HOME=str(state))
    assert done.returncode == 0, done.stdout + done.stderr
    report = project.report()
    (finding,) = report["findings"]
    assert finding["memory"]["sessions"] == 1
    assert report["run"]["memory"]["sessions"] == 2
    if finding["memory"]["used"]:  # one run of ten is too noisy for its memory, by chance
        assert finding["ratio"]["method"] == "fieller-moderated"
    # a check of the default branch is remembered too
    entries = Sessions(state / "perfgate/history").of_host(report["run"]["host"]["fingerprint"])
    kinds = [session.kind for session, _ in entries]
    assert sorted(kinds) == ["calibration", "check", "check"]


@pytest.mark.parametrize(
    ("arguments", "plan"),
    [
        # the file's own plan, 5 builds in 15 minutes, is meant for checks
        ([], "1 benchmark x 20 builds x 2 starts x 4 values of each, at most 1 h 00 min"),
        (["--set", "plan.builds=4"], "x 4 builds x"),
        (["--set", "plan.builds={min=4, max=6}"], "x 6 builds x"),
        (["--set", "plan.budget=7m"], "at most 7 min"),
    ],
)
def test_what_the_command_line_says_of_the_plan_counts(project: Project, arguments: list[str], plan: str) -> None:
    done = project.perfgate("calibrate", "--dry-run", *arguments)
    assert done.returncode == 0, done.stderr
    assert plan in done.stdout


def test_the_rules_of_ci_do_not_stand_in_the_way(project: Project, tmp_path: Path) -> None:
    # in CI the rules are base's; here base is head
    done = project.perfgate("calibrate", "--set", "plan.builds=2", "--history", str(tmp_path / "h"), CI="true")
    assert done.returncode == 0, done.stderr
    assert (project.top / ".perfgate/calibration/measurements.jsonl").exists()
