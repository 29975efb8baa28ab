"""The other commands and events of the action, and what stands around its steps."""

import io
import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest

from tests.support.forge.server import FakeGitHub
from tests.support.nights import pretend
from tests.support.project import Project, Step, committed, environment, inside
from tests.support.runner_log import commands
from tests.support.workflow_job import (
    BENCH,
    CONFIG,
    Job,
    changed,
    pull_job,
    pull_payload,
    pulled,
)

TWO = CONFIG + '[[benchmark]]\nname = "other"\ncommand = "sh bench.sh {output}"\ninstrument = "values"\n'


def test_the_plan_is_an_output_and_measures_nothing(tmp_path: Path, forge: FakeGitHub) -> None:
    done = pulled(tmp_path, forge, config=TWO).run(command="plan", shard="2@0/2")
    matrix = json.loads(done.steps["prepare"].outputs["matrix"])
    assert [(each["shard"], each["session"]) for each in matrix["include"]] == [
        ("1/2", 0), ("2/2", 0), ("1/2", 1), ("2/2", 1),
    ]  # fmt: skip
    assert (done.code, done.outputs["verdict"], forge.comments) == (0, "", [])


def test_a_part_is_measured_and_only_its_data_leaves(tmp_path: Path, forge: FakeGitHub) -> None:
    given = {"command": "measure", "shard": "2/2@1/2", "set": "plan.executions=1"}
    done = pulled(tmp_path, forge, head=0.2, config=TWO).run(**given)
    decided = done.steps["decide"].outputs
    assert decided["artifact"] == "perfgate-perfgate-data-shard2of2-session1"
    assert decided["report"] == ""
    first, *rest = Path(decided["data"], "measurements.jsonl").read_text().splitlines()
    assert json.loads(first)["shard"] == "2/2"
    assert {record["benchmark"] for record in map(json.loads, rest) if record["type"] == "execution"} == {"other"}
    assert (done.code, done.outputs["verdict"], forge.comments) == (0, "", [])


def test_a_commit_does_not_say_which_folder_is_judged(tmp_path: Path, forge: FakeGitHub) -> None:
    """Base has no project where the link leads: nothing to compare yet, and green."""
    bench = BENCH.replace("SPEED", "0.1")
    project = committed(
        tmp_path / "repository",
        Step("main", "base", (("sub/perfgate.toml", CONFIG), ("sub/bench.sh", bench))),
        Step("topic", "moved", (("real/perfgate.toml", CONFIG), ("real/bench.sh", bench.replace("0.1", "0.3")))),
    )
    project.git("rm", "-q", "-r", "sub")
    (project.top / "sub").symlink_to("real")
    project.git("add", "-A")
    project.commit("a link")
    done = pull_job(tmp_path, project, forge).run(**{"working-directory": "sub"})
    assert (done.code, "measure" in done.steps) == (2, False)
    said = "input working-directory leads through sub, a link that git tracks (to real): name the folder itself"
    assert said in done.log


EVENTS = [
    "issue_comment", "pull_request_target", "workflow_run", "release", "repository_dispatch", "check_run", "deployment",
    "check_suite", "issues", "discussion", "registry_package", "page_build",
]  # fmt: skip


@pytest.mark.parametrize("event", EVENTS)
def test_events_with_rights_of_the_repository_measure_nothing(tmp_path: Path, forge: FakeGitHub, event: str) -> None:
    """Neither by the action nor by a command in a step of one's own, whatever the inputs."""
    project = changed(tmp_path / "repository", base=0.1, head=0.3)
    payload = pull_payload(project, project.sha("main")) | {"issue": {"number": 7, "pull_request": {}}}
    if event == "workflow_run":
        payload["workflow_run"] = {"id": 1, "head_sha": project.sha(), "event": "pull_request"}
    job = Job(project, tmp_path / "job", event, payload, api=forge.url, token=forge.token)
    job.more["RUNNER_ENVIRONMENT"] = "github-hosted"
    both = {"base": project.sha("main"), "head": project.sha(), "forks": "measure"}
    for command in ("check", "measure"):
        done = job.run(command=command, **both)
        assert (done.code, "measure" in done.steps) == (4, False)
        assert f"not measured: {event} runs with the repository's secrets and write token" in done.log
    alone = inside(("check",), project.top, {**job.environment({}), "PERFGATE_FORKS": "measure"})
    assert alone.returncode == 4 and f"not measured: {event} runs with" in alone.stderr
    assert forge.comments == []


@pytest.mark.skipif(sys.platform != "linux", reason="dumpable is Linux's")
def test_git_hands_on_no_token(job: Job, tmp_path: Path, forge: FakeGitHub, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/git").write_text(f'#!/bin/sh\nenv >>{tmp_path}/seen\nexec {shutil.which("git")} "$@"\n')
    (tmp_path / "bin/git").chmod(0o755)
    job.more["PATH"] = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    hidden: list[str] = []
    monkeypatch.setattr("harness.sandbox.enter.hide", lambda: hidden.append("hidden"))
    prepared = job.step("prepare")
    seen = (tmp_path / "seen").read_text()
    assert "GIT_DIR=" in seen
    assert forge.token not in seen
    for step in ("decide", "publish"):
        job.step(step, request=prepared.outputs["request"])
    assert hidden == ["hidden"] * 3


def push(project: Project, *, default: str = "main") -> dict[str, object]:
    before = project.git("rev-parse", "HEAD~1")
    return {"before": before, "repository": {"full_name": "acme/widget", "default_branch": default}}


def test_a_push_says_it_in_the_summary_alone(tmp_path: Path, forge: FakeGitHub) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.15)
    project.git("switch", "-q", "-C", "main")
    job = Job(project, tmp_path / "job", "push", push(project), api=forge.url, token=forge.token)
    done = job.run(set="plan.executions=1")
    assert done.code == 1
    assert "❌ **perfgate: Regression**" in done.summary
    assert forge.requests == []


def test_outside_a_workflow_it_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    for step in ("prepare", "measure", "decide", "publish"):
        done = inside(("action", step), tmp_path, environment())
        assert done.returncode == 2
        assert done.stderr == ""
        assert len(commands(done.stdout)) == 1


def test_a_fault_in_the_first_step_is_one_error_and_no_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.1)
    job = Job(project, tmp_path / "job", "pull_request", pull_payload(project, project.sha("main")))
    job.more["PERFGATE_TRACEBACK"] = ""
    broken = mock.Mock(side_effect=RuntimeError("a\nfault"))
    monkeypatch.setattr("gate.commands.action.prepare.may_write_history", broken)
    done = job.step("prepare")
    assert (done.code, done.outputs) == (4, {})
    [error] = done.said("error")
    assert "internal error in prepare, RuntimeError: a\\nfault" in error


@pytest.mark.endtoend
def test_a_token_of_githubs_under_another_name_is_left_behind(tmp_path: Path) -> None:
    held = {"MY_PAT": "ghs_0123456789abcdef", "OTHER": "x github_pat_0123456789_abc", "PLAIN": "ghost_story"}
    done = subprocess.run(
        [sys.executable, "-I", "-m", "gate", "action", "measure"],
        env={**os.environ, **held}, cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    # once: the process that began again has neither
    [line] = [line for line in done.stdout.splitlines() if "holds a GitHub token" in line]
    assert "(MY_PAT, OTHER): it was removed" in line
    assert "ghs_0123456789abcdef" not in done.stdout + done.stderr


# --- a creep check: for the default branch alone, with the nights on the runner's disk --------------------------------


CREEP = f'{CONFIG}[creep]\nthreshold = "3%"\n'


def bench(speed: float) -> str:
    return BENCH.replace("SPEED", str(speed))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = committed(
        tmp_path / "repository",
        Step("main", "release", (("perfgate.toml", CREEP), ("bench.sh", bench(1.0)))),
        Step("main", "slower", (("bench.sh", bench(1.06)),)),
    )
    made.git("tag", "v1.0", "HEAD~1")
    return made


def nightly(tmp_path: Path, project: Project, forge: FakeGitHub, event: str = "schedule", run_id: int = 1000) -> Job:
    payload = {"repository": {"full_name": "acme/widget", "default_branch": "main"}}
    return Job(project, tmp_path / "job", event, payload, api=forge.url, token=forge.token, run_id=run_id)


@pytest.mark.endtoend
def test_nights_become_a_regression_that_names_the_pin(tmp_path: Path, project: Project, forge: FakeGitHub) -> None:
    first = nightly(tmp_path, project, forge).run(command="creep")
    assert (first.code, first.outputs["verdict"]) == (0, "inconclusive")
    assert "Creep check against v1.0" in first.summary
    pretend(tmp_path / "job" / "history", 20, change=math.log(1.06))
    second = nightly(tmp_path, project, forge, run_id=1001).run(command="creep")
    assert (second.code, second.outputs["verdict"]) == (1, "regression")
    assert "perfgate bisect --good v1.0 --bad" in second.summary and "[[accept]]" in second.summary
    report = json.loads(Path(second.outputs["json"]).read_text())
    assert report["creep"]["cases"][0]["verdict"] == "crept"
    assert (forge.comments, forge.requests) == ([], [])


def test_right_after_a_release_there_is_nothing_to_do(tmp_path: Path, project: Project, forge: FakeGitHub) -> None:
    project.git("tag", "v1.1")
    done = nightly(tmp_path, project, forge).run(command="creep")
    assert (done.code, done.outputs["verdict"]) == (0, "")
    assert "v1.1 is head itself" in done.summary and "measure" not in done.steps


@pytest.mark.parametrize("event", ["push", "workflow_dispatch"])
def test_another_branch_is_not_compared(tmp_path: Path, project: Project, forge: FakeGitHub, event: str) -> None:
    job = nightly(tmp_path, project, forge, event)
    job.more = {"GITHUB_REF": "refs/heads/topic"}
    done = job.run(command="creep")
    [error] = done.said("error")
    assert done.code == 4 and "command creep compares the default branch" in error
    assert "measure" not in done.steps


def test_a_pull_request_is_not_compared(tmp_path: Path, project: Project, forge: FakeGitHub) -> None:
    project.git("checkout", "-q", "-b", "topic")
    project.commit("proposal")
    done = pull_job(tmp_path, project, forge).run(command="creep")
    assert done.code == 4 and forge.comments == []


@pytest.mark.parametrize(
    ("inputs", "line"),
    [
        ({"command": "creep", "base": "v1.0"}, "input base: does not go with command creep"),
        ({"command": "creep", "set": "creep.tags=w*"}, "[creep]: no tag w* in the history of head"),
    ],
)
def test_what_does_not_go_together_is_one_line(
    tmp_path: Path, project: Project, forge: FakeGitHub, inputs: dict[str, str], line: str
) -> None:
    done = nightly(tmp_path, project, forge).run(**inputs)
    [error] = done.said("error")
    assert done.code == 2 and line in error
