"""Whatever GitHub does while a verdict is published, the verdict stands: each failure once, and each one for good."""

import contextlib
import io
import os
import re
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import pytest

from gate.commands.publish import command
from tests.support.forge import FakeGitHub
from tests.support.forge.clock import HurriedClock
from tests.support.project import Project
from tests.support.runner_log import commands
from tests.support.workflow_job import Job, changed, measured, pull_payload

# what passes when it is asked again, and what does not
PASSING = [429, "secondary", 500, 502, 503, "cut", "cut-after", "cut-half"]
REFUSALS = [401, 403, 404, 422, "garbage"]
# the default of the input, for each of two: one reads the pull request, one writes
PATIENCE = 2 * 600


class Told(NamedTuple):
    """What publishing came to."""

    code: int
    warnings: list[str]
    summary: str


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return changed(tmp_path_factory.mktemp("faults") / "repository", base=1, head=1)


@pytest.fixture
def github(github: FakeGitHub, project: Project) -> FakeGitHub:
    github.add_pull(7, head_sha=project.sha(), base_sha=project.sha("main"))
    return github


def publish_regression(project: Project, github: FakeGitHub, folder: Path, **more: str) -> Told:
    """Decide and publish, as a job does that has the measurements."""
    payload = pull_payload(project, project.sha("main"))
    job = Job(project, folder / "job", "pull_request", payload, github.url, github.token)
    run = folder / "run"
    run.mkdir(exist_ok=True)
    (run / "measurements.jsonl").write_text(measured("bench", head=1.5))
    options = command.Options((str(run),), status=True)
    out = io.StringIO()
    given = job.environment({}) | {"GITHUB_TOKEN": job.token} | more
    with mock.patch.dict(os.environ, given, clear=True), contextlib.chdir(project.top):
        code = command.COMMAND.run(options, out, io.StringIO())
    warnings = [one.data for one in commands(out.getvalue()) if one.name == "warning"]
    summary = (job.directory / "summary.md").read_text()
    assert github.token not in out.getvalue() + summary
    return Told(code, warnings, summary)


@pytest.mark.parametrize(
    ("what", "path"),
    [
        *((what, "/comments") for what in PASSING),
        *((what, path) for what in (503, "cut") for path in ("/pulls/7$", "/statuses/")),
        *((what, path) for what in (429, "secondary") for path in ("/pulls/7$", "/statuses/", "/statuses$")),
    ],
)
def test_what_passes_is_not_told(project: Project, github: FakeGitHub, tmp_path: Path, what: Any, path: str) -> None:
    # as long as GitHub asks for when there were too many writes
    github.fail("*", path, what, headers={"Retry-After": "60"} if what in (429, "secondary") else None)
    told = publish_regression(project, github, tmp_path)
    assert (told.code, told.warnings) == (1, [])
    assert len(github.comments) == 1 and {one["state"] for one in github.statuses} == {"failure"}
    assert not any(one.times for one in github.faults), "nothing failed: the test proves nothing"


@pytest.mark.parametrize(
    ("what", "method"),
    [
        *((what, "*") for what in (*PASSING, "primary", *REFUSALS)),
        *((what, "POST") for what in (403, 503)),
    ],
)
def test_what_does_not_pass_changes_no_verdict(
    project: Project, github: FakeGitHub, clock: HurriedClock, tmp_path: Path, what: Any, method: str
) -> None:
    github.fail(method, "", what, times=None)
    told = publish_regression(project, github, tmp_path)
    assert told.code == 1 and "❌ **perfgate: Regression**" in told.summary
    assert len(github.comments) <= 1
    assert 1 <= len(told.warnings) <= 4
    assert all(re.search(r"^[^\n]{10,600}$", one) for one in told.warnings)
    # a permission is named where that is the cause, and nowhere else
    assert any("`permissions:`" in one for one in told.warnings) == (what == 403) or what == 404
    assert clock.monotonic() <= PATIENCE


def test_one_that_asks_for_too_much_time_stops_no_other(project: Project, github: FakeGitHub, tmp_path: Path) -> None:
    github.fail("*", "/statuses", 429, times=None, headers={"Retry-After": "3600"})
    told = publish_regression(project, github, tmp_path)
    assert (told.code, len(told.warnings)) == (1, 1)
    assert "no commit status was set" in told.warnings[0] and "GitHub allows a retry in 1h" in told.warnings[0]
    assert len(github.comments) == 1
