"""Several jobs, legs and runs of one pull request: each keeps its comment, status, check and artifact."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.forge.server import FakeGitHub
from tests.support.workflow_job import Ended, Job, folder_of, gate_job, measured


@pytest.fixture
def job(tmp_path: Path, forge: FakeGitHub) -> Job:
    return gate_job(tmp_path, forge)


def decided(job: Job, tmp_path: Path, name: str, head: float = 1.0, **inputs: Any) -> Ended:
    """Run a job that decides over measurements of its own."""
    own = replace(job, directory=tmp_path / f"job-{name}")
    folder = tmp_path / f"runs-{name}" / "one"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "measurements.jsonl").write_text(measured("bench", head=head))
    matrix = json.dumps(inputs.pop("matrix", None))
    given = {"status": "true", "comment": "always", **inputs}
    return own.run(command="publish", runs=str(folder), matrix=matrix, **given)


def shown(forge: FakeGitHub) -> dict[str, str]:
    """What the newest status of each context says."""
    return {each["context"]: each["state"] for each in forge.statuses}


def first_lines(forge: FakeGitHub) -> list[str]:
    return [each["body"].split("\n")[1] for each in forge.comments]


def test_legs_without_an_id_keep_their_results(job: Job, forge: FakeGitHub, tmp_path: Path) -> None:
    red = decided(job, tmp_path, "mac", head=1.5, matrix={"os": "mac", "python": "3.12"})
    green = decided(job, tmp_path, "linux", matrix={"os": "linux", "python": "3.12"})
    assert (red.code, green.code) == (1, 0)
    assert shown(forge) == {"perfgate/mac_3.12": "failure", "perfgate/linux_3.12": "success"}
    assert [line.partition(":")[0] for line in first_lines(forge)] == [
        "❌ **perfgate mac_3.12",
        "✅ **perfgate linux_3.12",
    ]
    names = [done.steps["decide"].outputs["artifact"] for done in (red, green)]
    assert names == ["perfgate-mac_3.12-data", "perfgate-linux_3.12-data"]
    reports = [Path(done.steps["decide"].outputs["report"]).name for done in (red, green)]
    assert reports == ["perfgate-mac_3.12-1.html", "perfgate-linux_3.12-1.html"]


def test_legs_with_one_id_are_refused_but_for_the_first(job: Job, forge: FakeGitHub, tmp_path: Path) -> None:
    red = decided(job, tmp_path, "mac", head=1.5, matrix={"os": "mac"}, id="mine")
    before = json.dumps([forge.comments, forge.statuses])
    cases: list[tuple[str, dict[str, Any]]] = [
        ("all", {}),
        ("comment", {"status": "false"}),
    ]
    for name, inputs in cases:
        green = decided(job, tmp_path, name, matrix={"os": "linux"}, id="mine", **inputs)
        assert (green.code, green.outputs["verdict"]) == (2, "error"), name
        [error] = green.said("error")
        assert "it belongs to the job perfgate.yml/bench/mac of run 1000" in error and "set the input `id`" in error
        assert json.dumps([forge.comments, forge.statuses]) == before, name
    assert red.code == 1 and shown(forge) == {"perfgate/mine": "failure"}


@pytest.mark.parametrize("second", [{"job": "other"}, {"workflow": "nightly.yml", "run_id": 1007}, {}])
def test_two_jobs_under_one_name(job: Job, forge: FakeGitHub, tmp_path: Path, second: dict[str, Any]) -> None:
    assert decided(job, tmp_path, "one", head=1.5).code == 1
    done = decided(replace(job, **second), tmp_path, "two")
    assert (done.code, len(done.said("error"))) == (2, 1)
    assert "`id`" in done.said("error")[0]
    assert shown(forge) == {"perfgate": "failure"}
    [comment] = forge.comments
    assert "❌ **perfgate: Regression**" in comment["body"]


def test_an_older_run_that_ends_late_replaces_nothing(job: Job, forge: FakeGitHub, tmp_path: Path) -> None:
    decided(replace(job, run_id=1001), tmp_path, "newer", head=1.5)
    for attempt in (1, 2):
        late = decided(replace(job, attempt=attempt), tmp_path, f"late-{attempt}")
        assert late.code == 0
        assert "stays as it is: it is of the newer run 1001" in late.said("warning")[0]
    assert shown(forge) == {"perfgate": "failure"}
    assert "run=1001 " in forge.comments[0]["body"]
    # a new attempt of the newer run is newer still
    assert decided(replace(job, run_id=1001, attempt=2), tmp_path, "again").code == 0
    assert shown(forge) == {"perfgate": "success"}
    assert len(forge.comments) == 1 and "✅ **perfgate: Pass**" in forge.comments[0]["body"]


def test_a_part_that_was_not_kept_fails_its_job(job: Job, forge: FakeGitHub) -> None:
    request = job.step("prepare", command="measure", shard="1/2", set="plan.executions=1").outputs["request"]
    (folder_of(request) / "run").mkdir()
    (folder_of(request) / "run" / "measurements.jsonl").write_text(measured("bench"))
    (folder_of(request) / "status.json").write_text('{"code":0,"lines":[]}')
    job.step("decide", request=request)
    done = job.step("publish", request=request, uploads="skipped failure")
    assert done.outputs["exit-code"] == "2"
    assert "perfgate-perfgate-data-shard1of2-session0 was not uploaded" in done.said("error")[0]


# --- when a comment is made -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("comment", "head", "made"),
    [
        ("changed", 1.0, False), ("changed", 1.5, True), ("changed", 0.5, True), ("regression", 1.0, False),
        ("regression", 0.5, False), ("regression", 1.5, True), ("always", 1.0, True), ("true", 1.0, True),
        ("false", 1.5, False),
    ],
)  # fmt: skip
def test_when_a_comment_is_made(
    job: Job, forge: FakeGitHub, tmp_path: Path, comment: str, head: float, made: bool
) -> None:
    done = decided(job, tmp_path, "one", head=head, comment=comment, status="false")
    assert bool(forge.comments) == made == bool(done.outputs["comment-url"])


@pytest.mark.parametrize("comment", ["changed", "regression"])
def test_what_could_not_run_is_told_in_any_case(job: Job, forge: FakeGitHub, comment: str) -> None:
    assert job.run(command="publish", runs="nowhere", comment=comment).code == 4
    assert "### perfgate could not run" in forge.comments[0]["body"]


# --- closed -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["", "check", "measure", "plan", "publish"])
def test_a_closed_pull_request_is_left_alone(job: Job, forge: FakeGitHub, tmp_path: Path, command: str) -> None:
    job.payload["action"] = "closed"
    # nothing has to be checked out for it
    job.more["GITHUB_WORKSPACE"] = str(tmp_path)
    runs = {"measuring": "success"} if command == "publish" else {}
    done = job.run(command=command, status="true", **runs)
    assert "measure" not in done.steps
    assert (done.code, done.outputs["exit-code"], done.outputs["verdict"]) == (0, "0", "")
    assert done.said("error") == done.said("warning") == []
    assert "#7 was closed: nothing is measured" in done.log and "7 was closed" in done.summary
    assert forge.requests == []
    if command == "plan":
        assert len(json.loads(done.steps["prepare"].outputs["matrix"])["include"]) == 1
