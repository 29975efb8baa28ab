"""A lock file that cannot be locked, or not in time: a failure with its own report, and advice."""

import fcntl
from pathlib import Path

import pytest

from tests.support.project import SHELL_CONFIG as CONFIG
from tests.support.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path / "repo")
    made.quick(1.0, **{"perfgate.toml": CONFIG.replace("builds = 5", "builds = 1")})
    made.commit()
    made.quick(1.0, other="")
    made.commit()
    return made


def test_a_lock_file_that_is_something_else(project: Project) -> None:
    path = Path(project.own()["PERFGATE_LOCK"])
    path.symlink_to("target")
    before = project.top / ".perfgate/report.json"
    before.parent.mkdir()
    before.write_text("{}")
    done = project.perfgate("check")
    # waiting would not help
    assert done.returncode == 4
    said = (
        f"the lock file {path} is a link: remove it, or name another lock file in PERFGATE_LOCK for every perfgate here"
    )
    assert " ".join(done.stderr.split()).endswith(said)
    # nobody takes the report of an earlier run for this one's
    assert not before.exists()
    assert (before.parent / "runs/unknown/report.json").exists()


def test_a_lock_file_that_cannot_be_is_a_mistake(project: Project) -> None:
    done = project.perfgate("check", PERFGATE_LOCK=str(project.top / "absent/lock"))
    assert done.returncode == 2
    assert "absent/lock cannot be made (No such file or directory): name another lock file" in " ".join(
        done.stderr.split()
    )
    assert not (project.top / ".perfgate/report.json").exists()


def test_a_bad_wait_is_refused(project: Project) -> None:
    for wait in ("soon", "-1", "9" * 400, "1 2", "nan"):
        done = project.perfgate("check", f"--wait={wait}")
        assert done.returncode == 2, wait
        assert "--wait" in done.stderr, wait


def test_only_the_last_refusal_of_a_resumed_run_counts(project: Project) -> None:
    with Path(project.own()["PERFGATE_LOCK"]).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert project.perfgate("check", "--wait", "0").returncode == 4
        # a number alone is in seconds, as in perfgate.toml
        done = project.perfgate("check", "--resume", "--wait", "0.125")
    assert done.returncode == 4, done.stderr
    (failure,) = project.report()["failures"]
    assert "was still held after 125 ms by" in failure["status"]
