"""A creep check under the action: for the default branch alone, with the nights on the runner's disk."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from tests.support.forge.server import FakeGitHub
from tests.support.nights import pretend
from tests.support.project import Project, Step, committed
from tests.support.workflow_job import BENCH, CONFIG, Job, pull_job

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


def test_nights_become_a_regression_that_names_the_pin_and_the_search(
    tmp_path: Path, project: Project, forge: FakeGitHub
) -> None:
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
