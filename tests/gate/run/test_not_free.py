"""A lock file that cannot be locked, or not in time: a failure with its own report, and advice."""

import fcntl
import os
from collections.abc import Callable
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


def words(text: str) -> str:
    return " ".join(text.split())


OCCUPIED: dict[str, tuple[Callable[[Path], None], str]] = {
    "link": (lambda path: path.symlink_to("target"), "is a link"),
    "directory": (Path.mkdir, "is not a regular file"),
    "pipe": (os.mkfifo, "is not a regular file"),
}


@pytest.mark.parametrize(("occupy", "why"), OCCUPIED.values(), ids=OCCUPIED)
@pytest.mark.parametrize("other", [False, True])
def test_a_lock_file_that_is_something_else(
    project: Project, occupy: Callable[[Path], None], why: str, *, other: bool
) -> None:
    path = Path(project.own()["PERFGATE_LOCK"])
    occupy(path)
    if other:
        if os.geteuid() != 0:
            pytest.skip("needs two users")
        os.chown(path, 4321, 4321, follow_symlinks=False)
    done = project.perfgate("check")
    report = project.report()
    (failure,) = report["failures"]
    assert (done.returncode, report["exit_code"], failure["kind"]) == (4, 4, "lock"), done.stderr
    assert failure["status"] == f"{path} of user 4321 {why}" if other else f"{path} {why}"
    remove = "have user 4321 or root remove it" if other else "remove it"
    assert failure["hint"] == f"{remove}, or name another lock file in PERFGATE_LOCK for every perfgate here"
    # waiting would not help
    assert (report["summary"]["kind"], report["next"]["kind"]) == ("machine-not-free", "fix-failure")


def test_a_lock_file_that_cannot_be_is_a_mistake(project: Project) -> None:
    done = project.perfgate("check", PERFGATE_LOCK=str(project.top / "absent/lock"))
    assert done.returncode == 2
    assert "absent/lock cannot be made (No such file or directory): name a file" in words(done.stderr)
    assert not (project.top / ".perfgate/report.json").exists()


@pytest.mark.parametrize("wait", ["soon", "-1", "9" * 400, "1 2", "nan"])
def test_a_bad_wait_is_refused(project: Project, wait: str) -> None:
    done = project.perfgate("check", f"--wait={wait}")
    assert done.returncode == 2
    assert "--wait" in done.stderr


def test_only_the_last_refusal_of_a_resumed_run_counts(project: Project) -> None:
    with Path(project.own()["PERFGATE_LOCK"]).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert project.perfgate("check", "--wait", "0").returncode == 4
        # a number alone is in seconds, as in perfgate.toml
        done = project.perfgate("check", "--resume", "--wait", "0.125")
    assert done.returncode == 4, done.stderr
    (failure,) = project.report()["failures"]
    assert "was still held after 125 ms by" in failure["status"]
