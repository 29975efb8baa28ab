"""The deciding and the publishing step of the action, where measured code, other jobs or perfgate itself fail."""

from __future__ import annotations

import json
from pathlib import Path
from unittest import mock

import pytest

from tests.support.forge.server import FakeGitHub
from tests.support.workflow_job import Job, gate_job, measured

HOSTILE = (
    "::error::x", "a%0A::error::y", "a\n::set-output name=verdict::pass", "##[error]z", "a]]>b", "::stop-commands::t",
    "a\r::add-mask::e", "<!-- perfgate:perfgate head=0 run=1 attempt=1 -->", "@everyone", "a\x1b[31m", "$(id)", "`id`",
    "x" * 500,
)  # fmt: skip


@pytest.fixture
def job(tmp_path: Path, forge: FakeGitHub) -> Job:
    made = gate_job(tmp_path, forge)
    made.more["PERFGATE_TRACEBACK"] = ""
    return made


def downloaded(tmp_path: Path, lines: str, part: str = ".") -> str:
    """The folder of what one job measured, or of one part of it."""
    folder = tmp_path / "downloads" / part
    folder.mkdir(parents=True)
    (folder / "measurements.jsonl").write_text(lines)
    (folder / "status.json").write_text('{"code":0,"lines":[]}')
    return str(tmp_path / "downloads")


def decided(job: Job, runs: str) -> str:
    """Decide over these; returns the request."""
    request = job.step("prepare", command="publish", runs=runs).outputs["request"]
    assert job.step("decide", request=request).code == 0
    return request


def test_hostile_names_are_only_names(tmp_path: Path, job: Job, forge: FakeGitHub) -> None:
    done = job.run(command="publish", runs=downloaded(tmp_path, measured(*HOSTILE, head=1.5)))
    assert done.code == 1
    found = done.steps["decide"].commands + done.steps["publish"].commands
    assert {command.name for command in found} == {"error"}
    assert len(found) == 10, "at most ten, of which the last stands for the rest"
    assert "and 4 more" in found[-1].data
    assert all("\n" not in command.data and "\r" not in command.data for command in found)
    assert set(done.outputs) == {"exit-code", "verdict", "report", "json", "comment-url"}
    assert forge.comments[0]["body"].count("<!-- perfgate:") == 1
    assert len(forge.comments[0]["body"]) < 65_536


def test_the_gate_of_a_matrix_merges_what_was_downloaded(tmp_path: Path, job: Job) -> None:
    for part, name in (("one", "a"), ("two", "b")):
        downloaded(tmp_path, measured(name), f"perfgate-data-{part}")
    done = job.run(command="publish", runs=str(tmp_path / "downloads"))
    assert (done.code, done.outputs["verdict"]) == (0, "pass")
    findings = json.loads(Path(done.outputs["json"]).read_text())["findings"]
    assert [finding["benchmark"] for finding in findings] == ["a", "b"]
    merged = Path(done.steps["decide"].outputs["data"], "measurements.jsonl").read_text()
    assert [json.loads(line)["benchmark"] for line in merged.splitlines()] == ["a"] * 12 + ["b"] * 12


@pytest.mark.parametrize("text", ["", "{}", '{"code":0,"verdict":"error","notices":[],"report":false}', "not json"])
def test_a_broken_outcome_is_never_a_pass(job: Job, text: str) -> None:
    request = job.step("prepare").outputs["request"]
    Path(json.loads(request)["folder"], "outcome.json").write_text(text)
    published = job.step("publish", request=request)
    assert (published.outputs["exit-code"], published.outputs["verdict"]) == ("4", "error")
    assert published.said("error")


def test_an_outcome_that_measured_code_left_does_not_stand(
    tmp_path: Path, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = decided(job, downloaded(tmp_path, measured("a")))
    assert job.step("publish", request=request).outputs["exit-code"] == "0"
    # a green outcome lies there, and this time nothing is decided
    monkeypatch.setattr("gate.commands.action.decide.conclude", mock.Mock(side_effect=RuntimeError("a fault")))
    assert job.step("decide", request=request).code == 4
    assert job.step("publish", request=request).outputs["exit-code"] == "4"


def test_a_fault_of_perfgate_while_publishing_comes_after_the_exit_code(
    tmp_path: Path, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("gate.report.formats.markdown.summary", "gate.github.publishing.publish.annotated"):
        monkeypatch.setattr(name, mock.Mock(side_effect=RuntimeError("a fault")))
    done = job.run(command="publish", runs=downloaded(tmp_path, measured("a", head=1.5)))
    assert (done.code, done.outputs["verdict"]) == (1, "regression")
    assert any("RuntimeError" in message for message in done.said("error") + done.said("warning"))


@pytest.mark.parametrize("uploads", ["failure failure", "skipped skipped", "failure success"])
def test_without_its_upload_the_report_is_not_said_to_be_an_artifact(
    tmp_path: Path, job: Job, forge: FakeGitHub, uploads: str
) -> None:
    request = decided(job, downloaded(tmp_path, measured("a", head=1.5)))
    published = job.step("publish", request=request, uploads=uploads)
    assert any("an artifact was not uploaded" in said for said in published.said("warning")) == ("failure" in uploads)
    assert "❌ **perfgate: Regression**" in forge.comments[0]["body"]
    assert "among the artifacts" not in forge.comments[0]["body"]


def test_more_than_can_be_read_is_refused(tmp_path: Path, job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gate.github.publishing.conclusion.LARGEST", 1000)
    done = job.run(command="publish", runs=downloaded(tmp_path, measured("a")))
    assert (done.code, done.outputs["verdict"]) == (2, "error")
    assert "measurements.jsonl: is larger than " in done.said("error")[0]
