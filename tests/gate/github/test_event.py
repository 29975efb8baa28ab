"""What started a workflow: read from variables and a file that may hold anything, and what follows from it."""

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gate.github.event import (
    Event,
    Pull,
    SourceRepository,
    SourceRun,
    may_write_history,
    read_event,
    refusal,
)
from gate.model import UserError

A, B, C = "a" * 40, "b" * 40, "c" * 64
BRANCH = 'zzz";echo${IFS}"hello";#'


def pull(repo: object = None, base_repo: object = None, **changes: object) -> dict[str, Any]:
    """A pull request's event; repo: of head, "absent" for none, as base_repo of base."""
    own = {"full_name": "acme/widget", "fork": False}
    ends: dict[str, Any] = {
        "head": {"ref": BRANCH, "sha": A, "repo": own if repo is None else repo},
        "base": {"ref": "main", "sha": B, "repo": own if base_repo is None else base_repo},
    }
    for end in ends.values():
        if end["repo"] == "absent":
            del end["repo"]
        elif end["repo"] == "null":
            end["repo"] = None
    facts = {"number": 7, "title": "`$(x)`", "labels": [], **ends, **changes}
    return {"action": "opened", "number": 7, "pull_request": facts, "repository": {**own, "default_branch": "main"}}


def run(**changes: object) -> dict[str, Any]:
    """A workflow_run's event."""
    facts: dict[str, Any] = {
        "id": 99, "run_attempt": 2, "head_sha": A, "head_branch": BRANCH, "head_repository": {"full_name": "Eve/widget"},
        "event": "pull_request", "conclusion": "success", "name": "perf", "pull_requests": [],
    }  # fmt: skip
    return {"action": "completed", "workflow_run": {**facts, **changes}, "repository": {"full_name": "acme/widget"}}


class Told:
    """A workflow's variables and its event file."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "event.json"

    def environment(self, name: str, payload: object, **more: str) -> dict[str, str]:
        self.file.write_bytes(payload if isinstance(payload, bytes) else json.dumps(payload).encode())
        return {
            "GITHUB_EVENT_NAME": name, "GITHUB_EVENT_PATH": str(self.file), "GITHUB_REPOSITORY": "acme/widget",
            "GITHUB_SHA": C, "GITHUB_REF": "refs/pull/7/merge", "GITHUB_RUN_ID": "12345678901", "GITHUB_RUN_ATTEMPT": "3",
            "GITHUB_SERVER_URL": "https://ghe.example.org/", "GITHUB_API_URL": "https://ghe.example.org/api/v3",
            "RUNNER_ENVIRONMENT": "self-hosted", **more,
        }  # fmt: skip

    def __call__(self, name: str, payload: object, **more: str) -> Event:
        return read_event(self.environment(name, payload, **more))

    def pulled(self, payload: object, **more: str) -> Pull:
        found = self("pull_request", payload, **more).pull
        assert found is not None
        return found

    def refused(self, name: str, payload: object, **more: str) -> str:
        with pytest.raises(UserError) as caught:
            self(name, payload, **more)
        assert "\n" not in str(caught.value)
        return str(caught.value)


@pytest.fixture
def told(tmp_path: Path) -> Told:
    return Told(tmp_path)


# --- reading ----------------------------------------------------------------------------------------------------------


def test_a_pull_request(told: Told) -> None:
    event = told("pull_request", pull())
    assert event.pull == Pull(number=7, head_sha=A, head_ref=BRANCH, base_sha=B, base_ref="main", fork=False)
    assert (event.name, event.action) == ("pull_request", "opened")
    assert (event.repository, event.default_branch) == ("acme/widget", "main")
    assert (event.ref, event.sha, event.run_id, event.run_attempt) == ("refs/pull/7/merge", C, 12345678901, 3)
    assert (event.server_url, event.api_url) == ("https://ghe.example.org", "https://ghe.example.org/api/v3")
    assert [event.merge_base, event.merge_head, event.before, event.source, event.hosted] == [*[None] * 4, False]


def test_what_a_runner_need_not_say(told: Told) -> None:
    environment = told.environment("pull_request", pull())
    for name in ("GITHUB_SERVER_URL", "GITHUB_API_URL", "GITHUB_RUN_ATTEMPT", "GITHUB_REF", "RUNNER_ENVIRONMENT"):
        del environment[name]
    event = read_event(environment)
    assert (event.server_url, event.api_url) == ("https://github.com", "https://api.github.com")
    assert (event.run_attempt, event.ref, event.hosted) == (1, "", False)


def test_the_other_events(told: Told) -> None:
    merge = {"base_sha": A, "head_sha": B, "base_ref": "refs/heads/main"}
    group = told("merge_group", {"action": "checks_requested", "merge_group": merge})
    assert (group.merge_base, group.merge_head, group.pull) == (A, B, None)
    assert told("push", {"before": "0" * 40, "after": A, "repository": {"default_branch": "trunk"}}).before == "0" * 40
    assert told("push", {"before": None}).before is None
    found = told("workflow_run", run()).source
    facts = SourceRun(
        id=99, attempt=2, head_sha=A, head_branch=BRANCH, head_repository=SourceRepository("Eve/widget"),
        event="pull_request", conclusion="success", path=None,
    )  # fmt: skip
    assert found == facts
    gone = {"head_repository": None, "head_branch": None, "conclusion": None}
    assert told("workflow_run", run(**gone)).source == msgspec.structs.replace(facts, **gone)
    schedule = told("schedule", {"schedule": "0 3 * * *"}, RUNNER_ENVIRONMENT="github-hosted")
    assert (schedule.pull, schedule.default_branch, schedule.hosted) == (None, None, True)


ISSUE = {"number": 7, "pull_request": {"url": "https://ghe.example.org/api/v3/repos/acme/widget/pulls/7"}}


@pytest.mark.parametrize(
    ("name", "payload", "number"),
    [
        ("issue_comment", {"action": "created", "issue": ISSUE, "comment": {"body": "/bench"}}, 7),
        ("issue_comment", {"issue": {"number": 7}}, None),
        ("issue_comment", {"issue": {"number": 7, "pull_request": None}}, None),
        ("issue_comment", {}, None),
        ("workflow_dispatch", {"inputs": {"pr": "7"}}, 7),
        ("workflow_dispatch", {"inputs": {"PR-Number": " #7 ", "builds": "12"}}, 7),
        ("workflow_dispatch", {"inputs": {"pull_request": "7", "pr": "7"}}, 7),
        ("workflow_dispatch", {"inputs": {"pull_request": "7", "pr": "8"}}, None),
        ("workflow_dispatch", {"inputs": {"pr": ""}}, None),
        ("workflow_dispatch", {"inputs": {"number": "7", "print": "7"}}, None),
        ("workflow_dispatch", {"inputs": None}, None),
        ("push", {"issue": ISSUE, "inputs": {"pr": "7"}}, None),
    ],
)
def test_an_event_that_names_a_pull(told: Told, name: str, payload: dict[str, object], number: int | None) -> None:
    event = told(name, payload)
    assert (event.number, event.pull) == (number, None)


def test_what_belongs_to_another_event_is_not_looked_at(told: Told) -> None:
    event = told(
        "workflow_dispatch", {"inputs": {}, "pull_request": 3, "workflow_run": [], "merge_group": "x", "before": {}}
    )
    assert (event.pull, event.source, event.merge_base, event.before) == (None, None, None, None)


@pytest.mark.parametrize(
    ("name", "payload", "says"),
    [
        ("pull_request", pull(number="7"), "pull_request.number: expected int, got str"),
        ("pull_request", pull(head=None), "pull_request.head: expected object, got null"),
        ("pull_request", pull(head={"ref": "x", "sha": A[:-1]}), "pull_request.head.sha: is not a commit"),
        ("pull_request", pull(head={"ref": "x", "sha": "--upload-pack=x"}), "pull_request.head.sha: is not a commit"),
        ("pull_request", pull(head={"ref": "x\n::error::y", "sha": A}), "pull_request.head.ref: is not a name that git allows"),
        ("pull_request", pull(head={"ref": "x" * 1001, "sha": A}), "pull_request.head.ref: is not a name that git allows"),
        ("pull_request", pull(head={"sha": A}), "pull_request.head: Object missing required field ref"),
        ("pull_request", pull(base={"ref": "x", "sha": A, "repo": []}), "pull_request.base.repo: expected object | null, got array"),
        ("pull_request", {"action": "opened"}, "pull_request: is missing"),
        ("pull_request", b"{", "is not JSON"),
        ("pull_request", b"[" * 100_000, "event file"),
        ("pull_request", {"action": 3}, "action: expected str | null, got int"),
        ("push", {"before": "HEAD"}, "before: is not a commit"),
        ("push", {"repository": {"default_branch": "a b"}}, "repository.default_branch: is not a name that git allows"),
        ("merge_group", {"merge_group": {"base_sha": "x", "head_sha": A}}, "merge_group.base_sha: is not a commit"),
        ("workflow_run", run(id=-1), "workflow_run.id: expected int >= 1"),
        ("workflow_run", run(event="x;y"), "workflow_run.event: is not the name of an event"),
        ("workflow_run", run(head_repository={"full_name": "../.."}), "full_name: is not owner/name"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_named(told: Told, name: str, payload: object, says: str) -> None:
    assert says in told.refused(name, payload)


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("GITHUB_EVENT_NAME", "", "GITHUB_EVENT_NAME is not set: this runs in a GitHub Actions workflow"),
        ("GITHUB_EVENT_PATH", "", "GITHUB_EVENT_PATH is not set"),
        ("GITHUB_EVENT_PATH", "/nowhere/event.json", "cannot be read: No such file or directory"),
        ("GITHUB_EVENT_PATH", os.devnull, "is not a regular file"),
        ("GITHUB_REPOSITORY", "acme", "GITHUB_REPOSITORY: is not owner/name"),
        ("GITHUB_SHA", "main", "GITHUB_SHA: is not a commit"),
        ("GITHUB_REF", "refs/heads/a b", "GITHUB_REF: is not a name that git allows"),
        ("GITHUB_RUN_ID", "1e3", "GITHUB_RUN_ID: is not a number"),
        ("GITHUB_SERVER_URL", "https://user:secret@ghe.example.org", "GITHUB_SERVER_URL: is not an address"),
        ("GITHUB_API_URL", "file:///etc/passwd", "GITHUB_API_URL: is not an address"),
    ],
)
def test_a_variable_that_cannot_be_used(told: Told, variable: str, value: str, says: str) -> None:
    message = told.refused("pull_request", pull(), **{variable: value})
    assert says in message
    assert "secret" not in message


def test_a_file_without_end_is_not_read(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gate.github.event.MOST_BYTES", 1000)
    assert "is larger than" in told.refused("push", {"x": "y" * 1000})


# --- forks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "base", "fork"),
    [
        ({"full_name": "acme/widget", "fork": False}, None, False),
        ({"full_name": "ACME/Widget", "fork": False}, None, False),
        # the repository itself is a fork of another: its own branches are no strangers'
        ({"full_name": "acme/widget", "fork": True}, None, False),
        ({"full_name": "eve/widget", "fork": True}, None, True),
        ({"full_name": "eve/widget", "fork": False}, None, True),
        ({"full_name": "eve/widget"}, "absent", True),
        ({"full_name": "acme/widget"}, "absent", False),
        ("null", None, True),  # deleted
        ({"fork": True}, None, True),
        ({"fork": False}, None, False),
        ({}, None, True),
        ({"fork": None}, None, True),
        ("absent", None, True),
        ("absent", "absent", False),  # written by hand
    ],
)
def test_whose_head_it_is(told: Told, head: object, base: object, fork: bool) -> None:
    assert told.pulled(pull(head, base)).fork is fork


def test_without_a_repository_in_the_event_the_variable_says_whose(told: Told) -> None:
    event = pull({"full_name": "acme/widget"}, "absent")
    del event["repository"]
    assert not told.pulled(event).fork
    assert told.pulled(event, GITHUB_REPOSITORY="acme/gadget").fork


FORK = {"full_name": "eve/widget", "fork": True}


def test_a_fork_is_refused_on_a_machine_that_somebody_keeps(told: Told) -> None:
    said = refusal(told("pull_request", pull(FORK)), forks=False)
    assert said is not None
    assert said.startswith("not measured: fork on a self-hosted runner; ")
    for way in (
        "GitHub-hosted runner",
        "workflow_run (perfgate init --workflow forks)",
        "ephemeral",
        "protected environment",
        "`forks: measure`",
    ):
        assert way in said
    assert refusal(told("pull_request_review", pull(FORK)), forks=False) == said
    # act, and other runners that do not say what they are
    assert refusal(told("pull_request", pull(FORK), RUNNER_ENVIRONMENT=""), forks=False) == said


# --- history ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "ref", "may"),
    [
        ("push", "refs/heads/main", True),
        ("push", "refs/heads/feature", False),
        ("push", "refs/tags/main", False),
        ("schedule", "refs/heads/main", True),
        ("workflow_dispatch", "refs/heads/main", True),
        ("workflow_dispatch", "refs/heads/feature", False),
        ("issue_comment", "refs/heads/main", False),
        ("repository_dispatch", "refs/heads/main", False),
        ("pull_request", "refs/heads/main", False),
        ("merge_group", "refs/heads/main", False),
        ("workflow_run", "refs/heads/main", False),
    ],
)
def test_who_may_write_the_history(told: Told, name: str, ref: str, may: bool) -> None:
    payload = {
        **pull(), **run(), "merge_group": {"base_sha": A, "head_sha": B}, "repository": {"default_branch": "main"},
    }  # fmt: skip
    assert may_write_history(told(name, payload, GITHUB_REF=ref)) is may


def test_no_history_is_written_for_a_pull_request_nor_without_a_default_branch(told: Told) -> None:
    payload = {"inputs": {"pr": "7"}, "repository": {"default_branch": "main"}}
    assert not may_write_history(told("workflow_dispatch", payload, GITHUB_REF="refs/heads/main"))
    assert not may_write_history(told("push", {}, GITHUB_REF="refs/heads/main"))
    assert may_write_history(told("schedule", {}, GITHUB_REF="refs/heads/trunk"))
