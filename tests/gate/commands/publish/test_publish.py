"""perfgate publish, and what the action publishes of a fork: in a workflow, against the fake forge."""

import contextlib
import io
import json
import os
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from gate.commands.publish import command
from gate.commands.publish.command import Options
from gate.model import UserError
from tests.support.forge.server import FakeGitHub
from tests.support.lines import builds, text
from tests.support.project import Project, environment
from tests.support.runner_log import commands
from tests.support.workflow_job import CONFIG, Done, Job, changed, pull_payload

HEAD, BASE = "c" * 40, "d" * 40
OPTIONS = Options()


@pytest.fixture
def job(tmp_path: Path, forge: FakeGitHub) -> Job:
    project = changed(tmp_path / "repository", base=1, head=1)
    base, head = project.sha("main"), project.sha()
    forge.add_pull(7, head_sha=head, base_sha=base)
    return Job(project, tmp_path / "job", "pull_request", pull_payload(project, base), forge.url, forge.token)


def measured(*, head: float = 1.0, name: str = "bench") -> str:
    """Write measurements with a run line that names both commits."""
    lines: list[Any] = [
        {"type": "run", "schema": 1, "base": {"ref": "main", "sha": BASE}, "head": {"ref": "topic", "sha": HEAD}}
    ]
    for side, scale in (("base", 0.1), ("head", 0.1 * head)):
        values = [[[scale * (1 + 0.001 * ((7 * build + i) % 5)) for i in range(4)]] * 2 for build in range(5)]
        lines += builds(side, values, benchmark=name)
    return text(lines)


def folder(path: Path, content: str) -> Path:
    path.mkdir(parents=True)
    (path / "measurements.jsonl").write_text(content)
    return path


def run(job: Job, *runs: Path, token: str | None = None, **options: Any) -> Done:
    given = job.environment({}) | {"GITHUB_TOKEN": job.token if token is None else token}
    asked = replace(OPTIONS, runs=tuple(map(str, runs)), **options)
    out, err = io.StringIO(), io.StringIO()
    with mock.patch.dict(os.environ, given, clear=True), contextlib.chdir(job.project.top):
        code = command.COMMAND.run(asked, out, err)
    assert err.getvalue() == ""
    return Done(code, out.getvalue(), {})


def test_a_folder_is_decided_and_published(tmp_path: Path, job: Job, forge: FakeGitHub) -> None:
    done = run(job, folder(tmp_path / "run", measured(head=1.5)), status=True, id="parser")
    assert done.code == 1
    [comment] = forge.comments
    assert comment["body"].startswith("<!-- perfgate:parser head=") and comment["issue"] == 7
    assert [status["context"] for status in forge.statuses] == ["perfgate/parser"]
    assert "❌ **perfgate parser: Regression**" in (job.directory / "summary.md").read_text()
    assert [command.name for command in done.commands] == ["error"]


def test_nothing_to_publish_is_an_error(tmp_path: Path, job: Job, forge: FakeGitHub) -> None:
    done = run(job, tmp_path / "none")
    assert (done.code, "no measurements in" in done.said("error")[0]) == (4, True)
    assert "### perfgate could not run" in forge.comments[0]["body"]
    # what cannot be read is told in one line
    done = run(job, folder(tmp_path / "run", "::error::nonsense\n"))
    assert (done.code, [command.name for command in done.commands]) == (2, ["error"])


def test_without_a_token_it_is_the_summary_and_one_warning(tmp_path: Path, job: Job, forge: FakeGitHub) -> None:
    done = run(job, folder(tmp_path / "run", measured()), token="")
    [warning] = done.said("warning")
    assert (done.code, "this step has no token" in warning, forge.requests) == (0, True, [])
    assert "✅ **perfgate: Pass**" in (job.directory / "summary.md").read_text()


def test_a_closed_pull_request_is_left_alone(tmp_path: Path, job: Job, forge: FakeGitHub) -> None:
    job.payload["action"] = "closed"
    done = run(job, tmp_path / "none")
    assert (done.code, done.said("error"), forge.requests) == (0, [], [])
    assert "#7 was closed" in done.log


def test_outside_of_a_workflow_it_is_one_line(tmp_path: Path) -> None:
    with mock.patch.dict(os.environ, environment(), clear=True), pytest.raises(UserError, match="workflow"):
        command.COMMAND.run(OPTIONS, io.StringIO(), io.StringIO())


# --- of a fork --------------------------------------------------------------------------------------------------------


def packed(content: str, name: str = "measurements.jsonl") -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
        if name == "measurements.jsonl":
            archive.writestr("comment.md", "@everyone look here")
    return data.getvalue()


@pytest.fixture
def foreign(tmp_path: Path, forge: FakeGitHub) -> Job:
    """Make the job of a workflow_run workflow, in which nothing is checked out."""
    project = Project(tmp_path / "repository")
    project.commit("of the default branch")
    forge.add_pull(7, head_sha=HEAD, base_sha=BASE, head_repository="someone/widget")
    forge.add_run(500, head_sha=HEAD)
    forge.files["main", "perfgate.toml"] = CONFIG
    payload = {
        "action": "completed",
        "repository": {"full_name": "acme/widget", "default_branch": "main"},
        "workflow_run": {
            "id": 500, "run_attempt": 2, "head_sha": HEAD, "head_branch": "topic", "event": "pull_request",
            "head_repository": {"full_name": "someone/widget"}, "conclusion": "failure", "name": "perfgate",
            "path": ".github/workflows/perfgate.yml",
        },
    }  # fmt: skip
    return Job(project, tmp_path / "job", "workflow_run", payload, forge.url, forge.token)


def left(
    forge: FakeGitHub, content: bytes, run: int = 500, name: str = "perfgate-perfgate-data", sha: str = HEAD
) -> None:
    forge.add_artifact(run, name, content, head_sha=sha)


def test_a_fork_s_run_is_published_by_the_action(foreign: Job, forge: FakeGitHub) -> None:
    """Also where the run itself has written of it: a workflow may publish all runs, not only those of forks."""
    of = f"<!-- perfgate:perfgate head={HEAD} run=500 attempt=2 by="
    forge.add_comment(7, f"{of}500.2 job=perfgate.yml/bench use=x -->\nof the run itself", "github-actions[bot]")
    left(forge, packed(measured(head=1.5)))
    done = foreign.run(status="true")
    assert set(done.steps) == {"prepare", "decide", "publish"}
    assert (done.code, done.outputs["verdict"]) == (1, "regression")
    [comment] = forge.comments
    # of the run that measured, so that an older one never replaces it
    assert comment["body"].startswith(f"{of}1000.1 job=perfgate.yml/* use=")
    assert "-->\n❌ **perfgate: Regression**" in comment["body"]
    assert "everyone" not in comment["body"]
    assert [status["sha"] for status in forge.statuses] == [HEAD]


@pytest.mark.parametrize(
    ("head", "labels", "state"),
    [
        (1.0, [], "pending"),
        (1.0, ["perf-accepted"], "success"),
        (1.5, ["perf-accepted"], "success"),
        (1.5, [], "failure"),
    ],
)
def test_no_fork_makes_it_green(foreign: Job, forge: FakeGitHub, head: float, labels: list[str], state: str) -> None:
    """Its machine could write any value: only a maintainer's label confirms them."""
    left(forge, packed(measured(head=head)))
    forge.pulls[7].labels += labels
    foreign.run(status="true")
    [status] = forge.statuses
    assert (status["context"], status["state"]) == ("perfgate", state)
    said = [
        status["description"].startswith("unverified, "),
        "the label perf-accepted confirms it" in status["description"],
    ]
    assert said == [state == "pending"] * 2


@pytest.mark.parametrize(
    ("conclusion", "first"),
    [
        ("cancelled", "measuring was cancelled"),
        pytest.param("timed_out", "measuring was cancelled", marks=pytest.mark.endtoend),
        ("failure", "nothing was measured"),
    ],
)
def test_a_fork_without_measurements_says_so(foreign: Job, forge: FakeGitHub, conclusion: str, first: str) -> None:
    left(forge, packed(measured(head=1.5)))
    foreign.run(status="true")
    new = "e" * 40
    forge.pulls[7].head_sha = new
    forge.add_run(501, head_sha=new)
    if conclusion == "failure":
        # its measuring job said why, in words of its own
        said = packed(json.dumps({"code": 4, "lines": ["everyone look here"]}), "status.json")
        left(forge, said, 501, "perfgate-perfgate-data-shard1of1-session0", new)
    foreign.run_id = 1001
    foreign.payload["workflow_run"] |= {"id": 501, "run_attempt": 1, "head_sha": new, "conclusion": conclusion}
    done = foreign.run(status="true")
    assert (done.code, done.outputs["verdict"]) == (4, "error")
    [comment] = forge.comments
    assert comment["body"].splitlines()[1] == f"### perfgate: {first}" and f" head={new} " in comment["body"]
    assert (forge.statuses[-1]["sha"], forge.statuses[-1]["state"]) == (new, "error")
    assert "everyone" not in comment["body"] + done.log + done.summary


def test_a_pull_request_that_moved_on_is_nothing_wrong(foreign: Job, forge: FakeGitHub) -> None:
    left(forge, packed(measured()))
    # the command does the same as the action
    assert run(foreign, comment="always").code == 0
    [comment] = forge.comments
    assert "run=500 attempt=2" in comment["body"]
    forge.pulls[7].head_sha = "e" * 40
    done = foreign.run()
    assert (done.code, done.outputs["verdict"], "moved on" in done.summary) == (0, "", True)
    assert run(foreign).code == 0
    assert forge.comments == [comment]


def test_a_forged_artifact_is_an_error(foreign: Job, forge: FakeGitHub) -> None:
    left(forge, packed("{}\n"))
    done = foreign.run()
    assert (done.code, done.outputs["verdict"]) == (4, "error")
    assert [command.name for step in done.steps.values() for command in commands(step.log)] == ["error"]
    assert forge.comments == []


def test_what_was_downloaded_by_hand_is_not_taken_there(foreign: Job, forge: FakeGitHub, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="takes its artifact itself"):
        run(foreign, folder(tmp_path / "downloaded", measured()))
    assert forge.comments == []
