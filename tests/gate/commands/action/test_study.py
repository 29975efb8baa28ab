"""A study under the action: measured without the token, shown in the summary and as a page, and never a verdict."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.forge.server import FakeGitHub
from tests.support.project import Project, Step, committed
from tests.support.workflow_job import CONFIG, Job, pull_job, pull_payload

BENCH = """\
time=1
test "$PERFGATE_FACTOR_LOAD" != busy || time=2
k=0
while test $k -lt "$PERFGATE_ITERATIONS"; do
    echo "0.${time}00$((k % 3 * time))"
    k=$((k + 1))
done >"$1"
"""
STUDY = """\
[study]
replicates = 3
[study.factor]
load = { idle = {}, busy = {} }
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return committed(
        tmp_path / "repository",
        Step("main", "base", (("perfgate.toml", CONFIG), ("bench.sh", BENCH))),
        # the study of the very commit that is studied
        Step("topic", "head", (("perfgate.toml", CONFIG + STUDY),)),
    )


def labeled(tmp_path: Path, project: Project, forge: FakeGitHub) -> Job:
    job = pull_job(tmp_path, project, forge)
    job.payload = pull_payload(project, project.sha("main"), action="labeled")
    return job


def dispatch(tmp_path: Path, project: Project, forge: FakeGitHub) -> Job:
    payload = {"inputs": {}, "repository": {"full_name": "acme/widget", "default_branch": "main"}}
    return Job(project, tmp_path / "job", "workflow_dispatch", payload, api=forge.url, token=forge.token)


@pytest.mark.parametrize("event", [labeled, dispatch])
def test_a_study_is_shown_and_judges_nothing(
    tmp_path: Path, project: Project, forge: FakeGitHub, event: Callable[[Path, Project, FakeGitHub], Job]
) -> None:
    done = event(tmp_path, project, forge).run(command="study", status="true", comment="true")
    assert (done.code, done.outputs["verdict"], done.outputs["json"]) == (0, "", "")
    assert "measure" in done.steps
    assert done.summary.startswith("### perfgate study\n\n```text\n") and "load" in done.summary
    assert "[tables and pictures](https://github.example/report)" in done.summary
    assert forge.comments == forge.statuses == [] and done.said("error") == []
    decided = done.steps["decide"].outputs
    assert Path(decided["report"]).name == "perfgate-perfgate-study-1.html"
    assert Path(decided["report"]).read_text().startswith("<!DOCTYPE html>")
    assert Path(done.outputs["report"]).is_file()
    # under no name that a decision looks for
    assert decided["artifact"] == "perfgate-perfgate-study"
    [response] = json.loads(Path(decided["data"], "study.json").read_text())["responses"]
    assert response["benchmark"] == "bench"


def test_the_budget_is_the_study_s(tmp_path: Path, project: Project, forge: FakeGitHub) -> None:
    done = dispatch(tmp_path, project, forge).run(command="study", budget="1ms")
    assert done.code == 4
    assert "paused: the budget of 1 ms ended" in done.steps["measure"].log


def test_what_fails_in_a_study_fails_its_job(tmp_path: Path, project: Project, forge: FakeGitHub) -> None:
    project.write("bench.sh", BENCH + "if test $time = 2; then echo broken under load >&2; exit 1; fi\n")
    project.commit("broken")
    done = labeled(tmp_path, project, forge).run(command="study")
    assert (done.code, done.outputs["verdict"]) == (4, "error")
    assert forge.comments == forge.statuses == []
    assert any("bench (load=busy) failed on head: exit 1" in error for error in done.said("error"))
    assert "### perfgate study" in done.summary


def test_without_a_study_one_line_says_what_to_add(tmp_path: Path, project: Project, forge: FakeGitHub) -> None:
    project.write("perfgate.toml", CONFIG)
    project.commit("none")
    done = dispatch(tmp_path, project, forge).run(command="study")
    [error] = done.said("error")
    assert done.code == 2 and "[study]" in error


@pytest.mark.parametrize(
    ("name", "action", "this"),
    [
        ("pull_request", "synchronize", "pull_request, synchronize"),
        ("pull_request", "unlabeled", "pull_request, unlabeled"),
        ("push", None, "push"),
        ("schedule", None, "schedule"),
    ],
)
def test_an_event_of_every_change_studies_nothing(
    tmp_path: Path, project: Project, forge: FakeGitHub, name: str, action: str | None, this: str
) -> None:
    job = labeled(tmp_path, project, forge)
    job.event, job.payload["action"] = name, action
    done = job.run(command="study")
    [error] = done.said("error")
    assert done.code == 4 and error.endswith(f"and this is {this}") and "workflow_dispatch" in error
    assert "measure" not in done.steps


def test_a_fork_is_studied_where_it_may_be_measured(tmp_path: Path, project: Project, forge: FakeGitHub) -> None:
    job = labeled(tmp_path, project, forge)
    job.payload = pull_payload(project, project.sha("main"), fork=True, action="labeled")
    refused = job.run(command="study")
    assert refused.code == 4 and "fork on a self-hosted runner" in refused.said("error")[0]
    assert job.run(command="study", forks="measure").code == 0


def test_with_sides_the_base_is_that_of_the_pull_request(tmp_path: Path, project: Project, forge: FakeGitHub) -> None:
    project.write("perfgate.toml", CONFIG + STUDY + 'side = ["base", "head"]\n')
    head = project.commit("sides")
    # the target moved on: the merge is compared with its first parent
    project.git("checkout", "-q", "main")
    project.write("other", "")
    base = project.commit("moved")
    project.git("checkout", "-q", "--detach", "main")
    project.git("merge", "-q", "--no-ff", "-m", "merge", head)
    job = labeled(tmp_path, project, forge)
    job.payload["pull_request"]["head"]["sha"] = head
    done = job.run(command="study")
    assert done.code == 0, done.log
    study = json.loads(Path(done.steps["decide"].outputs["data"], "study.json").read_text())
    assert study["runs"][0]["base"]["sha"] == base
