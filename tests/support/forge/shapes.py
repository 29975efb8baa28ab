"""State -> the JSON that GitHub answers with; what nothing reads is filled in from the description."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

from tests.support.forge.contract import complete
from tests.support.forge.state import Artifact, Identity, Pull, Run, State

ACTIONS_APP = 15368


def number_of(text: str) -> int:
    """Make a number that stands for a text, always the same."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:7], 16)


def user(login: str, api: str) -> dict[str, Any]:
    """Give an account, a person's or an app's."""
    given = {
        "login": login,
        "id": number_of(login),
        "node_id": f"U_{number_of(login)}",
        "type": "Bot" if login.endswith("[bot]") else "User",
        "url": f"{api}/users/{login}",
        "html_url": f"{api}/web/{login}",
    }
    return complete("simple-user", given)


def owner_of(repository: str) -> str:
    """Give the account that owns a repository."""
    return repository.split("/", maxsplit=1)[0]


def repository(name: str, state: State, api: str, schema: str = "minimal-repository") -> dict[str, Any]:
    """Give a repository; another one than ours is a fork."""
    given = {
        "id": number_of(name),
        "node_id": f"R_{number_of(name)}",
        "name": name.split("/")[1],
        "full_name": name,
        "owner": user(owner_of(name), api),
        "fork": name != state.repository,
        "url": f"{api}/repos/{name}",
        "html_url": f"{api}/web/{name}",
        "default_branch": state.default_branch,
    }
    return complete(schema, given)


def label(name: str, api: str) -> dict[str, Any]:
    """Give a label."""
    number = number_of(name)
    given = {"id": number, "node_id": f"LA_{number}", "name": name, "url": api, "description": ""}
    return {**given, "color": "", "default": False}


def side(ref: str, sha: str, name: str | None, state: State, api: str, pushed: str = "") -> dict[str, Any]:
    """Give one side of a pull request; the repository of a deleted fork is null."""
    owner = owner_of(name) if name else "ghost"
    repo = repository(name, state, api, "repository") | {"pushed_at": pushed or None} if name else None
    return {"label": f"{owner}:{ref}", "ref": ref, "sha": sha, "user": user(owner, api), "repo": repo}


def pull(one: Pull, state: State, api: str, schema: str = "pull-request-simple") -> dict[str, Any]:
    """Give a pull request."""
    base = f"{api}/repos/{state.repository}"
    given = {
        "id": number_of(f"pull {one.number}"),
        "node_id": f"PR_{one.number}",
        "number": one.number,
        "state": one.state,
        "locked": one.locked,
        "title": one.title,
        "url": f"{base}/pulls/{one.number}",
        "issue_url": f"{base}/issues/{one.number}",
        "comments_url": f"{base}/issues/{one.number}/comments",
        "html_url": f"{api}/web/{state.repository}/pull/{one.number}",
        "user": user(owner_of(one.head_repository or "ghost/x"), api),
        "labels": [label(name, api) for name in one.labels],
        "head": side(one.head_ref, one.head_sha, one.head_repository, state, api, one.pushed),
        "base": side(one.base_ref, one.base_sha, state.repository, state, api),
        "merge_commit_sha": one.merge_sha,
        "author_association": "CONTRIBUTOR",
    }
    return complete(schema, given)


def issue(one: Pull, state: State, api: str) -> dict[str, Any]:
    """Give the issue that every pull request also is."""
    base = f"{api}/repos/{state.repository}"
    given = {
        "id": number_of(f"issue {one.number}"),
        "node_id": f"I_{one.number}",
        "number": one.number,
        "state": one.state,
        "locked": one.locked,
        "title": one.title,
        "url": f"{base}/issues/{one.number}",
        "repository_url": base,
        "comments_url": f"{base}/issues/{one.number}/comments",
        "html_url": f"{api}/web/{state.repository}/pull/{one.number}",
        "labels": [label(name, api) for name in one.labels],
        "user": user(owner_of(one.head_repository or "ghost/x"), api),
        "comments": sum(comment["issue"] == one.number for comment in state.comments),
    }
    return complete("issue", given)


def opened_issue(one: dict[str, Any], state: State, api: str) -> dict[str, Any]:
    """Give an issue that is no pull request."""
    base = f"{api}/repos/{state.repository}"
    given = {
        "id": number_of(f"issue {one['number']}"),
        "node_id": f"I_{one['number']}",
        "number": one["number"],
        "state": one["state"],
        "state_reason": one["state_reason"],
        "title": one["title"],
        "body": one["body"],
        "url": f"{base}/issues/{one['number']}",
        "repository_url": base,
        "comments_url": f"{base}/issues/{one['number']}/comments",
        "html_url": f"{api}/web/{state.repository}/issues/{one['number']}",
        "labels": [],
        "user": user(one["user"], api),
        "comments": sum(comment["issue"] == one["number"] for comment in state.comments),
        "created_at": one["created_at"],
        "updated_at": one["updated_at"],
    }
    return complete("issue", given)


def comment(one: dict[str, Any], state: State, api: str) -> dict[str, Any]:
    """Give a comment on an issue or pull request."""
    base = f"{api}/repos/{state.repository}/issues"
    app = {"id": ACTIONS_APP, "slug": "github-actions", "name": "GitHub Actions", "owner": user("github", api)}
    given = {
        "id": one["id"],
        "node_id": node_id(one),
        "url": f"{base}/comments/{one['id']}",
        "issue_url": f"{base}/{one['issue']}",
        "html_url": f"{api}/web/{state.repository}/pull/{one['issue']}#issuecomment-{one['id']}",
        "body": one["body"],
        "user": user(one["user"], api),
        "created_at": one["created_at"],
        "updated_at": one["updated_at"],
        "author_association": "NONE",
        "performed_via_github_app": None,
    }
    made = complete("issue-comment", given)
    if one["user"] == "github-actions[bot]":
        made["performed_via_github_app"] = complete("nullable-integration", app)
    return made


def node_id(one: dict[str, Any]) -> str:
    """Give the id that GraphQL knows a comment by."""
    return f"IC_{one['id']}"


def status(one: dict[str, Any], api: str) -> dict[str, Any]:
    """Give a status of a commit."""
    given = {**one, "creator": user(one["creator"], api), "node_id": f"SC_{one['id']}", "url": f"{api}/statuses"}
    given.pop("sha")
    return complete("status", given)


def run(one: Run, state: State, api: str) -> dict[str, Any]:
    """Give a run of a workflow."""
    base = f"{api}/repos/{state.repository}/actions/runs/{one.id}"
    given = {
        "id": one.id,
        "node_id": f"WFR_{one.id}",
        "name": one.name,
        "display_title": one.name,
        "path": one.path,
        "run_number": 1,
        "run_attempt": one.attempt,
        "run_started_at": one.started,
        "event": one.event,
        "status": "completed" if one.conclusion else "in_progress",
        "conclusion": one.conclusion,
        "head_sha": one.head_sha,
        "head_branch": one.head_branch,
        "url": base,
        "html_url": f"{api}/web/{state.repository}/actions/runs/{one.id}",
        "artifacts_url": f"{base}/artifacts",
        "repository": repository(state.repository, state, api),
        "head_repository": repository(one.head_repository, state, api),
        "pull_requests": [
            pull_minimal(number, state, api) for number in (pulls_of(one, state) if one.pulls is None else one.pulls)
        ],
    }
    return complete("workflow-run", given)


def pulls_of(one: Run, state: State) -> list[int]:
    """List the open pull requests that have the head of a run; GitHub knows none of a fork's."""
    head = (state.repository, one.head_branch, one.head_sha)
    found = state.pulls.values()
    return [p.number for p in found if p.state == "open" and (p.head_repository, p.head_ref, p.head_sha) == head]


def pull_minimal(number: int, state: State, api: str) -> dict[str, Any]:
    """Give a pull request as a run names it."""
    base = f"{api}/repos/{state.repository}"
    repo = {"id": number_of(state.repository), "url": base, "name": state.repository.split("/")[1]}
    known = state.pulls.get(number)
    sides = [("main", "b" * 40)] * 2 if known is None else [
        (known.head_ref, known.head_sha), (known.base_ref, known.base_sha),
    ]  # fmt: skip
    head, target = ({"ref": ref, "sha": sha, "repo": repo} for ref, sha in sides)
    return {
        "id": number_of(f"pull {number}"), "number": number, "url": f"{base}/pulls/{number}", "head": head, "base": target,
    }  # fmt: skip


def artifact(one: Artifact, state: State, api: str) -> dict[str, Any]:
    """Give an artifact."""
    owner = state.runs[one.run_id]
    base = f"{api}/repos/{state.repository}/actions/artifacts/{one.id}"
    given = {
        "id": one.id,
        "node_id": f"A_{one.id}",
        "name": one.name,
        "size_in_bytes": len(one.data),
        "url": base,
        "archive_download_url": f"{base}/zip",
        "expired": one.expired,
        "created_at": one.created,
        "updated_at": one.created,
        "expires_at": one.created,
        "digest": f"sha256:{hashlib.sha256(one.data).hexdigest()}",
        "workflow_run": {
            "id": one.run_id,
            "repository_id": number_of(state.repository),
            "head_repository_id": number_of(owner.head_repository),
            "head_branch": owner.head_branch,
            "head_sha": owner.head_sha,
        },
    }
    return complete("artifact", given)


def content(path: str, ref: str, data: bytes, state: State, api: str) -> dict[str, Any]:
    """Give a file; from 1 MB on GitHub leaves the content out."""
    large = len(data) > 1_000_000
    url = f"{api}/repos/{state.repository}/contents/{path}?ref={ref}"
    given = {
        "type": "file",
        "encoding": "none" if large else "base64",
        "size": len(data),
        "name": path.rsplit("/", maxsplit=1)[-1],
        "path": path,
        "content": "" if large else base64.encodebytes(data).decode(),
        "sha": hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest(),
        "url": url,
        "_links": {"self": url, "git": None, "html": None},
    }
    return complete("content-file", given)


def commit(sha: str, api: str) -> dict[str, Any]:
    """Give a commit of which only the name matters."""
    author = {"name": "somebody", "email": "somebody@example.org", "date": "2026-11-20T09:00:00Z"}
    given = {
        "sha": sha,
        "url": f"{api}/commits/{sha}",
        "commit": {"message": "a change", "author": author, "committer": author},
        "author": user("somebody", api),
        "committer": user("somebody", api),
    }
    return complete("commit", given)


def git_commit(sha: str, parents: tuple[str, ...], api: str) -> dict[str, Any]:
    """Give a commit as git has it."""
    url = f"{api}/git/commits"
    listed = [{"sha": one, "url": f"{url}/{one}", "html_url": f"{url}/{one}"} for one in parents]
    return complete("git-commit", {"sha": sha, "url": f"{url}/{sha}", "message": "a merge", "parents": listed})


def person(who: Identity, api: str) -> dict[str, Any]:
    """Give the account that a token stands for."""
    made = complete("private-user", user(who.login, api))
    return {**made, "user_view_type": "private"}
