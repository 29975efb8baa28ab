"""The life of a pull request under the real workflow runner: one comment, kept up to date; the job fails as it must."""

import io
import re
import zipfile

import pytest

from gate.evidence.records import read
from tests.e2e.act.consumer import Consumer, template, workflow
from tests.e2e.act.runner import Act
from tests.support.forge import FakeGitHub

pytestmark = [pytest.mark.xdist_group("act"), pytest.mark.endtoend]

BRANCH = 'zzz";echo${IFS}"hello";#'


def test_one_comment_is_created_updated_accepted_and_edited_to_pass(
    act: Act, consumer: Consumer, github: FakeGitHub
) -> None:
    change = consumer.change(1.3, ref=BRANCH)
    first = act.run(consumer.top, change.event("opened"), template("trusted"))
    assert first.exit == 1, first.log
    gate = first.outputs["gate"]
    assert (gate["verdict"], gate["exit-code"]) == ("regression", "1")
    assert [one["issue"] for one in github.comments] == [12]
    opened = dict(github.comments[0])
    assert gate["comment-url"].endswith(f"#issuecomment-{opened['id']}")
    assert re.search(r"\+(29|30)", opened["body"]) and f"head={change.head} " in opened["body"].splitlines()[0]
    assert [(one.level, bool(re.search("29|30", one.message))) for one in first.annotations] == [("error", True)]
    assert len(first.summaries) == 1 and "❌ **perfgate: Regression**: " in first.summaries[0]
    assert (first.steps["gate.measure"], first.steps["gate.publish"]) == ("success", "failure")
    assert "\nhello\n" not in first.log
    page, data = github.artifacts
    assert page.data.startswith(b"<!doctype html>") or page.data.startswith(b"<!DOCTYPE html>")
    assert f"/artifacts/{page.id}" in opened["body"]
    with zipfile.ZipFile(io.BytesIO(data.data)) as archive:
        lines = archive.read("measurements.jsonl")
    assert read("measurements.jsonl", lines).records

    github.pulls[12].labels = ["perf-accepted"]
    labelled = act.run(consumer.top, change.event(), template("trusted"), run_id=first.id, attempt=2)
    assert labelled.exit == 0, labelled.log
    assert labelled.outputs["gate"]["verdict"] == "pass"
    assert "perf-accepted" in github.comments[0]["body"] and "accepted" in github.comments[0]["body"]

    github.pulls[12].labels = []
    fine = act.run(consumer.top, consumer.change(1.0, ref=BRANCH).event(), template("trusted"))
    assert fine.exit == 0, fine.log
    assert fine.outputs["gate"]["verdict"] == "pass" and not [one for one in fine.annotations if one.level == "error"]
    assert [one["id"] for one in github.comments] == [opened["id"]]
    assert "Regression" not in github.comments[0]["body"]
    assert fine.outputs["gate"]["comment-url"] == gate["comment-url"]
    assert github.violations == []
    assert github.token not in first.log + labelled.log + fine.log


def test_a_fork_is_not_measured_on_a_self_hosted_runner(act: Act, consumer: Consumer, github: FakeGitHub) -> None:
    github.permissions.update(dict.fromkeys(github.permissions, "read"))
    change = consumer.change(
        1.0, owner="mallory/widget", files={"bench.py": "open('measured', 'w')\nraise SystemExit(1)\n"}
    )
    ran = act.run(consumer.top, change.event(), workflow())
    assert ran.exit == 1, ran.log
    assert (ran.outputs["gate"]["verdict"], ran.outputs["gate"]["exit-code"]) == ("error", "4")
    assert "gate.measure" not in ran.steps
    assert "not measured: fork on a self-hosted runner" in ran.summaries[0]
    assert github.violations == []
