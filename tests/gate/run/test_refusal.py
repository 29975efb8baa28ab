"""Whose code a run measures: what a workflow must not run, and what follows for caches and instruments."""

import fcntl
import io
import os
from pathlib import Path
from unittest import mock

import pytest

from gate.cli.main import main
from gate.run.refusal import RefusedError, build_cache, is_foreign, is_proposed, refuse_unsafe
from tests.gate.github.test_event import Told, pull
from tests.support.project import SHELL_CONFIG as CONFIG
from tests.support.project import Project, quick, repository


def workflow(tmp_path: Path, event: str, *, fork: bool = False, hosted: bool = False, **more: str) -> dict[str, str]:
    """Make the environment of a step of a pull request."""
    head = {"full_name": "mallory/widget"} if fork else None
    kind = "github-hosted" if hosted else "self-hosted"
    given = {"GITHUB_ACTIONS": "true", "RUNNER_ENVIRONMENT": kind, **more}
    return Told(tmp_path).environment(event, pull(head), **given)


@pytest.mark.parametrize("command", ["measure", "check", "calibrate"])
@pytest.mark.parametrize(
    ("event", "fork"), [("pull_request_target", True), ("workflow_run", False), ("pull_request", True)]
)
def test_a_command_refuses_before_it_opens_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, event: str, fork: bool
) -> None:
    # no repository: opening it would say so
    monkeypatch.chdir(tmp_path)
    out, err = io.StringIO(), io.StringIO()
    with mock.patch.dict(os.environ, workflow(tmp_path, event, fork=fork), clear=True):
        assert main([command], out, err) == 4
    said = f"{event} runs with" if event != "pull_request" else "fork on a"
    assert err.getvalue().startswith(f"perfgate: not measured: {said}")
    assert err.getvalue().count("\n") == 1


def test_forks_are_measured_where_they_may_be(tmp_path: Path) -> None:
    refuse_unsafe(workflow(tmp_path, "pull_request"))
    refuse_unsafe(workflow(tmp_path, "pull_request", fork=True, hosted=True))
    refuse_unsafe(workflow(tmp_path, "pull_request", fork=True, PERFGATE_FORKS="measure"))
    with pytest.raises(RefusedError, match="PERFGATE_FORKS=measure in its environment"):
        refuse_unsafe(workflow(tmp_path, "pull_request", fork=True, PERFGATE_FORKS="yes"))


@pytest.mark.parametrize("event", ["pull_request_target", "workflow_run"])
def test_nothing_lets_an_event_with_the_repository_s_rights_measure(tmp_path: Path, event: str) -> None:
    given = workflow(tmp_path, event, hosted=True, PERFGATE_FORKS="measure")
    with pytest.raises(RefusedError, match=event):
        refuse_unsafe(given)
    # with an event that cannot be read, too
    Path(given["GITHUB_EVENT_PATH"]).write_text("{")
    with pytest.raises(RefusedError, match=event):
        refuse_unsafe(given)
    del given["GITHUB_EVENT_PATH"]
    with pytest.raises(RefusedError, match=event):
        refuse_unsafe(given)


def test_outside_of_a_workflow_nothing_is_asked(tmp_path: Path) -> None:
    refuse_unsafe({})
    refuse_unsafe(workflow(tmp_path, "pull_request_target", GITHUB_ACTIONS=""))
    refuse_unsafe({"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "pull_request"})


def test_at_home_head_is_the_users_own() -> None:
    assert not is_proposed({}) and not is_foreign({})


def test_what_runs_in_ci_is_a_proposal_unless_it_is_known_to_be_the_default_branch(tmp_path: Path) -> None:
    assert is_proposed({"CI": "true"})
    assert not is_proposed(workflow(tmp_path, "push", CI="true", GITHUB_REF="refs/heads/main"))
    assert is_proposed(workflow(tmp_path, "push", CI="true", GITHUB_REF="refs/heads/topic"))
    assert is_proposed(workflow(tmp_path, "pull_request", CI="true", GITHUB_REF="refs/pull/7/merge"))
    assert is_proposed({"CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "push"}), "an event without a file"


@pytest.mark.parametrize("fork", [False, True])
def test_a_forks_code_is_foreign(tmp_path: Path, fork: bool) -> None:
    assert is_foreign(workflow(tmp_path, "pull_request", fork=fork)) == fork


def test_in_ci_builds_are_kept_in_a_sandbox_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name in ("CI", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)
    at_home = build_cache(sandboxed=False)
    assert at_home is not None and set(at_home.keeps) == {"base", "head"}
    monkeypatch.setenv("CI", "true")
    assert build_cache(sandboxed=False) is None
    in_ci = build_cache(sandboxed=True)
    assert in_ci is not None and set(in_ci.keeps) == {"base"}


# --- a lock file that cannot be locked, or not in time ----------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path) -> Project:
    config = CONFIG.replace("builds = 5", "builds = 1")
    return repository(tmp_path / "repo", {"perfgate.toml": config, **quick(1.0)}, {"other": ""})


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
