"""Event files as GitHub writes them, with the fields that anything reads, and the variables that go with them."""

from dataclasses import dataclass, field
from typing import Any

REPOSITORY = "acme/widget"


@dataclass(frozen=True)
class Event:
    """What starts a workflow: its name, the event file, and GITHUB_REF and GITHUB_SHA."""

    name: str
    payload: dict[str, Any]
    ref: str
    sha: str
    more: dict[str, str] = field(default_factory=dict)

    @property
    def head(self) -> str:
        """The commit that GitHub says a run of this event is of: not the merge, the pull request's own."""
        return str(self._head.get("sha", self.sha))

    @property
    def branch(self) -> str:
        """The branch that GitHub says a run of this event is of."""
        return str(self._head.get("ref", self.ref.removeprefix("refs/heads/")))

    @property
    def _head(self) -> dict[str, Any]:
        head: dict[str, Any] = self.payload.get("pull_request", {}).get("head", {})
        return head


def repository(name: str = REPOSITORY) -> dict[str, Any]:
    """A repository; another one than ours is a fork."""
    owner, short = name.split("/")
    return {
        "id": 1,
        "name": short,
        "full_name": name,
        "fork": name != REPOSITORY,
        "default_branch": "main",
        "owner": {"login": owner, "type": "User"},
        "private": False,
    }


def pull_request(
    number: int,
    head: str,
    base: str,
    merge: str,
    *,
    ref: str = "topic",
    owner: str | None = REPOSITORY,
    action: str = "synchronize",
    labels: tuple[str, ...] = (),
) -> Event:
    """A pull request was opened, pushed to or labelled; owner: of its head, None when the fork was deleted."""
    pull = {
        "number": number,
        "title": "A change",
        "state": "open",
        "labels": [{"name": name} for name in labels],
        "head": {"ref": ref, "sha": head, "label": f"{owner}:{ref}", "repo": repository(owner) if owner else None},
        "base": {"ref": "main", "sha": base, "label": "acme:main", "repo": repository()},
        "merge_commit_sha": merge,
        "user": {"login": "octocat"},
    }
    payload = {"action": action, "number": number, "pull_request": pull, "repository": repository()}
    if action in ("labeled", "unlabeled"):
        payload["label"] = {"name": labels[-1] if labels else "perf-accepted"}
    return Event("pull_request", payload, f"refs/pull/{number}/merge", merge)


def comment(number: int, default: str, body: str = "/perfgate check") -> Event:
    """A member wrote on a pull request; it runs on the default branch, at the commit default."""
    user = {"login": "maintainer", "type": "User"}
    said = {"id": 5, "body": body, "created_at": "2026-02-01T00:00:00Z", "author_association": "MEMBER", "user": user}
    payload = {
        "action": "created",
        "issue": {"number": number, "state": "open", "pull_request": {"url": "https://api.github.com/x"}},
        "comment": said,
        "repository": repository(),
        "sender": user,
    }
    return Event("issue_comment", payload, "refs/heads/main", default)


def merge_group(head: str, base: str) -> Event:
    """The merge queue asks for checks."""
    ref = f"refs/heads/gh-readonly-queue/main/pr-12-{base}"
    group = {"head_sha": head, "head_ref": ref, "base_sha": base, "base_ref": "refs/heads/main"}
    payload = {"action": "checks_requested", "merge_group": group, "repository": repository()}
    return Event("merge_group", payload, ref, head)


def push(head: str, before: str) -> Event:
    """Somebody pushed to the default branch."""
    payload = {"ref": "refs/heads/main", "before": before, "after": head, "repository": repository(), "forced": False}
    return Event("push", payload, "refs/heads/main", head)


def schedule(head: str) -> Event:
    """The clock struck."""
    return Event("schedule", {"schedule": "17 2 * * *", "repository": repository()}, "refs/heads/main", head)


def workflow_dispatch(head: str, **inputs: str) -> Event:
    """Somebody pressed the button."""
    payload = {"ref": "refs/heads/main", "inputs": inputs, "repository": repository()}
    return Event("workflow_dispatch", payload, "refs/heads/main", head)


def workflow_run(run_id: int, head: str, default: str) -> Event:
    """A workflow of a fork's pull request failed; this runs on the default branch, at the commit default."""
    run = {
        "id": run_id,
        "name": "perfgate",
        "run_attempt": 1,
        "head_sha": head,
        "head_branch": "topic",
        "head_repository": repository("mallory/widget"),
        "event": "pull_request",
        "status": "completed",
        "conclusion": "failure",
        "pull_requests": [],
    }
    payload = {"action": "completed", "workflow_run": run, "repository": repository(), "workflow": {"name": "perfgate"}}
    return Event("workflow_run", payload, "refs/heads/main", default)
