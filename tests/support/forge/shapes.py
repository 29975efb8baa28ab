"""State -> the JSON that GitHub answers with; what nobody reads is filled in from the description."""

import base64
import hashlib
from typing import Any

from tests.support.forge.contract import complete
from tests.support.forge.state import Artifact, Pull, State


def number_of(text: str) -> int:
    """Make a number that stands for a text, always the same."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:7], 16)


def user(login: str) -> dict[str, Any]:
    """Give an account, a person's or an app's."""
    kind = "Bot" if login.endswith("[bot]") else "User"
    return complete("simple-user", {"login": login, "id": number_of(login), "type": kind})


def owner_of(repository: str | None) -> str:
    """Give the account that owns a repository; a deleted one was a ghost's."""
    return (repository or "ghost/x").split("/", maxsplit=1)[0]


def repository(name: str, state: State, schema: str = "minimal-repository", **more: Any) -> dict[str, Any]:
    """Give a repository; another one than ours is a fork."""
    given = {"id": number_of(name), "name": name.split("/")[1], "full_name": name, "owner": user(owner_of(name))}
    return complete(schema, {**given, "fork": name != state.repository, "default_branch": state.default_branch, **more})


def label(name: str) -> dict[str, Any]:
    """Give a label."""
    given = {"id": number_of(name), "node_id": "", "name": name, "url": "http://127.0.0.1/label", "description": ""}
    return {**given, "color": "", "default": False}


def side(ref: str, sha: str, name: str | None, state: State, pushed: str = "") -> dict[str, Any]:
    """Give one side of a pull request; the repository of a deleted fork is null."""
    repo = repository(name, state, "repository", pushed_at=pushed or None) if name else None
    owner = owner_of(name)
    return {"label": f"{owner}:{ref}", "ref": ref, "sha": sha, "user": user(owner), "repo": repo}


def pull(one: Pull, state: State, schema: str = "pull-request-simple") -> dict[str, Any]:
    """Give a pull request."""
    given = {
        "number": one.number,
        "state": one.state,
        "locked": one.locked,
        "title": one.title,
        "user": user(owner_of(one.head_repository)),
        "labels": [label(name) for name in one.labels],
        "head": side(one.head_ref, one.head_sha, one.head_repository, state, one.pushed),
        "base": side(one.base_ref, one.base_sha, state.repository, state),
        "merge_commit_sha": one.merge_sha,
        "author_association": "CONTRIBUTOR",
    }
    return complete(schema, given)


def comment(one: dict[str, Any], state: State, api: str) -> dict[str, Any]:
    """Give a comment on an issue or pull request."""
    address = f"{api}/web/{state.repository}/pull/{one['issue']}#issuecomment-{one['id']}"
    given = {name: one[name] for name in ("id", "body", "created_at", "updated_at")}
    return complete("issue-comment", {**given, "html_url": address, "user": user(one["user"])})


def status(one: dict[str, Any]) -> dict[str, Any]:
    """Give a status of a commit."""
    given = {name: value for name, value in one.items() if name != "sha"}
    return complete("status", {**given, "creator": user(one["creator"])})


def artifact(one: Artifact, state: State, api: str) -> dict[str, Any]:
    """Give an artifact."""
    owner = state.runs[one.run_id]
    given = {
        "id": one.id,
        "name": one.name,
        "size_in_bytes": len(one.data),
        "archive_download_url": f"{api}/repos/{state.repository}/actions/artifacts/{one.id}/zip",
        "expired": one.expired,
        "created_at": one.created,
        "digest": f"sha256:{hashlib.sha256(one.data).hexdigest()}",
        "workflow_run": {"id": one.run_id, "head_branch": owner.head_branch, "head_sha": owner.head_sha},
    }
    return complete("artifact", given)


def content(path: str, data: bytes) -> dict[str, Any]:
    """Give a file; from 1 MB on GitHub leaves the content out."""
    large = len(data) > 1_000_000
    given = {
        "type": "file",
        "encoding": "none" if large else "base64",
        "size": len(data),
        "path": path,
        "content": "" if large else base64.encodebytes(data).decode(),
    }
    return complete("content-file", given)


def git_commit(sha: str, parents: tuple[str, ...]) -> dict[str, Any]:
    """Give a commit as git has it."""
    address = "http://127.0.0.1/commit"
    listed = [{"sha": one, "url": address, "html_url": address} for one in parents]
    return complete("git-commit", {"sha": sha, "parents": listed})
