"""Which earlier measurements a label may decide over again: those that a check of its own event could have made."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gate.commands.action.measuring_job import WantedRun, fetch_measured, workflow_path
from gate.evidence.records import read
from gate.github.event import Pull
from gate.github.publishing.request import Before
from gate.model import Run, UserError
from tests.gate.github.publishing.test_forks import BASE, EVENT, HEAD, MERGE, NAMES, OTHER, lines, packed
from tests.support.forge import FakeGitHub
from tests.support.workflow_job import Job, changed, pull_payload

PULL = Pull(number=12, head_sha=HEAD, head_ref="topic", base_sha=BASE, base_ref="main", fork=False)
LABELED = dataclasses.replace(EVENT, name="pull_request", action="labeled", source=None, pull=PULL)
PLAIN = WantedRun("", None, None, "perfgate.yml/bench")
FILE = ".github/workflows/perfgate.yml"
NAME = "perfgate-perfgate-data"


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    with FakeGitHub("acme/widget") as fake:
        fake.add_pull(12, head_sha=HEAD, base_sha=BASE)
        # main is where the pull request left it
        fake.state.merge_bases["main", HEAD] = fake.state.merge_bases[BASE, "main"] = BASE
        yield fake
        assert fake.violations == []


def measured(github: FakeGitHub, folder: Path, asked: WantedRun = PLAIN, pull: Pull = PULL) -> Before | None:
    event = dataclasses.replace(LABELED, pull=pull)
    return fetch_measured(github.client(), event, folder, "perfgate", asked)


def refused(github: FakeGitHub, folder: Path, asked: WantedRun = PLAIN) -> str:
    with pytest.raises(UserError) as caught:
        measured(github, folder, asked)
    assert not (folder / "measurements.jsonl").exists()
    return str(caught.value)


def test_it_is_the_newest_of_the_same_head(github: FakeGitHub, tmp_path: Path) -> None:
    github.add_artifact(60, NAME, packed(lines(slower=1.2)), HEAD)
    github.add_artifact(61, NAME, packed(lines(id="newest")), HEAD)
    github.add_artifact(62, NAME, packed(lines()), OTHER)
    github.add_artifact(63, "perfgate-other-data", packed(lines()), HEAD)
    found = measured(github, tmp_path / "run")
    assert found == Before(run=61, attempt=1)
    records = read("kept", (tmp_path / "run" / "measurements.jsonl").read_bytes()).records
    assert len(records) == len(lines())
    # the rules of the run are its own here
    run = records[0].record
    assert isinstance(run, Run) and run.id == "newest" and run.rules == "base"


def test_without_measurements_there_are_none(github: FakeGitHub, tmp_path: Path) -> None:
    assert measured(github, tmp_path) is None
    github.add_artifact(60, NAME, packed(lines()), HEAD).expired = True
    github.add_artifact(61, f"{NAME}-x", packed(lines()), HEAD)
    assert measured(github, tmp_path) is None


def test_parts_of_two_runs_are_never_put_together(github: FakeGitHub, tmp_path: Path) -> None:
    for run, number in ((60, 1), (60, 2), (61, 1)):
        mine = [line for line in lines() if line.get("benchmark", NAMES[number - 1]) == NAMES[number - 1]]
        mine[0] |= {"shard": f"{number}/2", "id": str(run)}
        github.add_artifact(run, f"{NAME}-shard{number}of2-session0", packed(mine), HEAD)
    found = measured(github, tmp_path)
    assert found is not None
    records = [each.record for each in read("kept", (tmp_path / "measurements.jsonl").read_bytes()).records]
    assert [record.id for record in records if isinstance(record, Run)] == ["61"]


def test_a_fork_is_never_decided_again_by_its_own_event(github: FakeGitHub, tmp_path: Path) -> None:
    github.add_artifact(60, NAME, packed(lines()), HEAD)
    assert measured(github, tmp_path, pull=dataclasses.replace(PULL, fork=True)) is None
    none = dataclasses.replace(LABELED, pull=None)
    assert fetch_measured(github.client(), none, tmp_path, "perfgate", PLAIN) is None
    assert github.requests == []


# --- whose run --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "other",
    [
        {"event": "workflow_dispatch"},
        {"event": "push"},
        {"event": "pull_request_target"},
        {"head_repository": "mallory/widget"},
        {"head_branch": "another"},
        {"path": ".github/workflows/nightly.yml"},
        {"pulls": (8,)},
    ],
    ids=str,
)
def test_the_run_of_something_else_is_passed_over(github: FakeGitHub, tmp_path: Path, other: dict[str, Any]) -> None:
    asked = dataclasses.replace(PLAIN, workflow=FILE)
    github.add_artifact(60, NAME, packed(lines(id="mine")), HEAD)
    github.add_run(61, HEAD, **other)
    github.add_artifact(61, NAME, packed(lines(slower=0.5)), HEAD)
    found = measured(github, tmp_path, asked)
    assert found is not None and found.run == 60


def test_names_are_compared_as_github_has_them(github: FakeGitHub, tmp_path: Path) -> None:
    asked = dataclasses.replace(PLAIN, workflow=FILE)
    github.add_run(60, HEAD, head_repository="Acme/Widget", path=f"{FILE}@refs/heads/main", pulls=())
    github.add_artifact(60, NAME, packed(lines()), HEAD)
    assert measured(github, tmp_path, asked) is not None


def test_a_head_of_two_pull_requests_is_measured_again(github: FakeGitHub, tmp_path: Path) -> None:
    github.add_artifact(60, NAME, packed(lines()), HEAD)
    github.add_pull(8, head_sha=HEAD, base_ref="release")
    assert "#8 and #12 have the same head, so run 60 cannot be assigned to one of them" in refused(github, tmp_path)


@pytest.mark.parametrize(
    ("reference", "path"),
    [
        (f"acme/widget/{FILE}@refs/pull/7/merge", FILE),
        (f"Acme/Widget/{FILE}@refs/heads/a@b", FILE),
        (f"somebody/rules/{FILE}@refs/heads/main", ""),
        ("", ""),
    ],
)
def test_the_path_of_a_workflow(reference: str, path: str) -> None:
    assert workflow_path(reference, "acme/widget") == path


# --- what was measured ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measured_", "why"),
    [
        ({"job": "perfgate.yml/other"}, "has the measurements of another job under this id (perfgate.yml/other)"),
        ({"head": {"sha": OTHER}}, f"run 60 measured another head ({OTHER[:10]}) than the pull request's (aaaaaaaaaa)"),
        # a merge of another head with this one
        ({"head": {"sha": MERGE}}, f"run 60 measured another head ({MERGE[:10]}) than the pull request's (aaaaaaaaaa)"),
        (
            {"base": {"sha": OTHER}},
            "run 60 measured against another base (dddddddddd) than a check of #12 against main has",
        ),
        # no more is taken than of a fork
        ({"session": 64}, "session is not from 0 to 63"),
    ],
)
def test_what_is_not_this_job_s_head_base_or_measuring_is_measured_again(
    github: FakeGitHub, tmp_path: Path, measured_: dict[str, Any], why: str
) -> None:
    github.state.parents[MERGE] = (HEAD, OTHER)
    github.add_artifact(60, NAME, packed(lines(**measured_)), HEAD)
    assert why in refused(github, tmp_path)
    # a newer one of its own is taken
    github.add_artifact(61, NAME, packed(lines(job=PLAIN.job)), HEAD)
    assert measured(github, tmp_path) is not None


def test_other_rules_are_measured_again(github: FakeGitHub, tmp_path: Path) -> None:
    github.add_artifact(60, NAME, packed(lines(whose={"kind": "base", "sets": ["gate.threshold=80%"]})), HEAD)
    why = refused(github, tmp_path)
    assert why == "run 60 measured by the rules 'base with gate.threshold=80%', and this one asks for 'base'"
    loose = dataclasses.replace(PLAIN, sets=("gate.threshold=80%",))
    assert measured(github, tmp_path / "a", loose) is not None
    for other in ({"sets": ("gate.threshold=70%",)}, {"config": "other.toml"}):
        assert "measured by the rules" in refused(github, tmp_path, dataclasses.replace(loose, **other))


def test_a_merge_is_taken_where_its_first_parent_was_the_target(github: FakeGitHub, tmp_path: Path) -> None:
    """main went on from BASE, where the head left it, to OTHER, with which the head was merged, and further."""
    between = github.state.merge_bases
    github.state.parents[MERGE] = (OTHER, HEAD)
    between[BASE, OTHER], between[OTHER, "main"] = BASE, OTHER
    between[OTHER, BASE] = BASE
    github.state.refs["main"] = OTHER
    github.add_artifact(60, NAME, packed(lines(base={"sha": OTHER}, head={"sha": MERGE})), HEAD)
    assert measured(github, tmp_path / "a") is not None
    # the target of another pull request: main does not hold it
    between[OTHER, "main"] = BASE
    assert "another base (dddddddddd)" in refused(github, tmp_path / "b")
    # a branch from before the head left main
    between[OTHER, "main"], between[BASE, OTHER] = OTHER, OTHER
    assert "another base (dddddddddd)" in refused(github, tmp_path / "c")
    # not what it says that it was merged with
    between[BASE, OTHER] = BASE
    github.state.parents[MERGE] = (BASE, HEAD)
    assert "another base (dddddddddd)" in refused(github, tmp_path / "d")


def test_inputs_name_what_it_must_be(github: FakeGitHub, tmp_path: Path) -> None:
    github.state.refs |= {"main": BASE, "v1": OTHER, "topic": MERGE}
    github.add_artifact(60, NAME, packed(lines(base={"sha": OTHER}, head={"sha": MERGE})), HEAD)
    both = dataclasses.replace(PLAIN, base="v1", head="origin/topic")
    assert measured(github, tmp_path / "a", both) is not None
    for changed_, said in (
        ({"base": "main"}, "than the input base names"),
        ({"head": "main"}, "than the input head names"),
        ({"head": "HEAD~1"}, "than the input head names"),
        ({"base": None}, "another base"),
    ):
        assert said in refused(github, tmp_path, dataclasses.replace(both, **changed_))


# --- the first step ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("inputs", [{}, {"set": "gate.threshold=80%", "budget": "5m"}], ids=["plain", "set"])
def test_a_label_decides_over_its_own_and_measures_after_a_dispatch(tmp_path: Path, inputs: dict[str, str]) -> None:
    with FakeGitHub() as fake:
        project = changed(tmp_path / "repository", base=0.1, head=0.15)
        base, head = project.sha("main"), project.sha()
        fake.add_pull(7, head_sha=head, base_sha=base)
        payload = pull_payload(project, base)
        workflow = {"GITHUB_WORKFLOW_REF": f"acme/widget/{FILE}@refs/pull/7/merge"}
        first = Job(project, tmp_path / "first", "pull_request", payload, fake.url, fake.token, more=workflow)
        done = first.run(**inputs)
        data = Path(done.steps["decide"].outputs["data"], "measurements.jsonl").read_text()
        fake.add_artifact(1000, NAME, packed(json.loads(line) for line in data.splitlines()), head)
        payload = {**payload, "action": "labeled"}
        again = Job(project, tmp_path / "again", "pull_request", payload, fake.url, fake.token, more=workflow)
        prepared = again.step("prepare", **inputs)
        assert (prepared.outputs["measure"], prepared.said("warning")) == ("false", [])
        prepared = again.step("prepare", set="gate.threshold=70%")
        assert prepared.outputs["measure"] == "true"
        (warning,) = prepared.said("warning")
        assert warning.startswith("measured again: run 1000 measured by the rules 'base")
        fake.runs[1000].event = "workflow_dispatch"
        assert again.step("prepare", **inputs).outputs["measure"] == "true"
        assert fake.violations == []


def test_measurements_of_an_attempt_before_are_not_those_of_the_one_that_runs(
    github: FakeGitHub, tmp_path: Path
) -> None:
    github.add_run(60, HEAD, attempt=2).started = github.state.moment()
    github.add_artifact(60, NAME, packed(lines()), HEAD)
    found = measured(github, tmp_path / "one")
    assert found is not None and found.attempt == 2
    github.runs[60].started = github.state.moment()
    found = measured(github, tmp_path / "two")
    assert found is not None and found.attempt == 1
