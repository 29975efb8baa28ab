"""Each path and method that the fake answers, with the permission it takes."""

import re
import secrets
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tests.support.forge import shapes
from tests.support.forge.answers import Answer, Refused, invalid
from tests.support.forge.state import Artifact, Identity, Pull, State

LONGEST_COMMENT = 65_536
LONGEST_DESCRIPTION = 140
LEVELS = {"read": 1, "write": 2}
REPO = "/repos/{owner}/{repo}"


@dataclass
class Call:
    """A request on its way: the place's parameters (unquoted), the query, the body, who asks, and what is known."""

    parameters: dict[str, str]
    query: dict[str, str]
    body: Any
    who: Identity
    state: State
    api: str
    storage: str = ""
    tickets: dict[str, Artifact] = field(default_factory=dict)


class Route(NamedTuple):
    """What answers, and which of these permissions it takes; none: everybody may."""

    handler: Callable[[Call], Answer]
    permissions: tuple[str, ...]
    level: str


ROUTES: dict[tuple[str, str], Route] = {}


Handler = Callable[[Call], Answer]


def route(method: str, template: str, *permissions: str, level: str = "read") -> Callable[[Handler], Handler]:
    """Register what answers a method of a path of the description."""

    def register(handler: Handler) -> Handler:
        ROUTES[method, template] = Route(handler, permissions, level)
        return handler

    return register


def allowed(who: Identity, chosen: Route) -> bool:
    """Say whether the permissions of a token suffice: one of those that a path accepts."""
    if who.permissions is None or not chosen.permissions:
        return True
    held = [LEVELS.get(who.permissions.get(name, ""), 0) for name in chosen.permissions]
    return max(held) >= LEVELS[chosen.level]


def pull_of(call: Call, name: str) -> Pull:
    """Find the pull request that a path names."""
    found = call.state.pulls.get(int(call.parameters[name]))
    if found is None:
        raise Refused(404)
    return found


@route("GET", f"{REPO}/pulls", "pull-requests")
def pulls(call: Call) -> Answer:
    query = call.query
    chosen = [one for one in call.state.pulls.values() if query.get("state", "open") in (one.state, "all")]
    if "head" in query:
        chosen = [one for one in chosen if f"{shapes.owner_of(one.head_repository)}:{one.head_ref}" == query["head"]]
    chosen.sort(key=lambda one: -one.number)
    return Answer(200, [shapes.pull(one, call.state) for one in chosen], pages="")


@route("GET", f"{REPO}/pulls/{{pull_number}}", "pull-requests")
def pull(call: Call) -> Answer:
    return Answer(200, shapes.pull(pull_of(call, "pull_number"), call.state, "pull-request"))


@route("GET", f"{REPO}/issues/{{issue_number}}/comments", "issues", "pull-requests")
def comments(call: Call) -> Answer:
    number = int(call.parameters["issue_number"])
    pull_of(call, "issue_number")
    chosen = [one for one in call.state.comments if one["issue"] == number]
    return Answer(200, [shapes.comment(one, call.state, call.api) for one in chosen], pages="")


def body_of(call: Call) -> str:
    """Take the text of a comment, if GitHub would."""
    body: str = call.body["body"]
    if not body.strip():
        raise invalid("IssueComment", "data", "Body cannot be blank", "unprocessable")
    if len(body) > LONGEST_COMMENT:
        said = f"Body is too long (maximum is {LONGEST_COMMENT} characters)"
        raise invalid("IssueComment", "data", said, "unprocessable")
    return body


@route("POST", f"{REPO}/issues/{{issue_number}}/comments", "issues", "pull-requests", level="write")
def add_comment(call: Call) -> Answer:
    if pull_of(call, "issue_number").locked:
        raise Refused(403, "Unable to create comment because issue is locked.")
    made = call.state.comment(int(call.parameters["issue_number"]), body_of(call), call.who.login)
    return Answer(201, shapes.comment(made, call.state, call.api))


def comment_of(call: Call) -> dict[str, Any]:
    """Find the comment that a path names."""
    wanted = int(call.parameters["comment_id"])
    for one in call.state.comments:
        if one["id"] == wanted:
            return one
    raise Refused(404)


COMMENT = f"{REPO}/issues/comments/{{comment_id}}"


@route("PATCH", COMMENT, "issues", "pull-requests", level="write")
def edit_comment(call: Call) -> Answer:
    found = comment_of(call)
    found.update(body=body_of(call), updated_at=call.state.moment())
    return Answer(200, shapes.comment(found, call.state, call.api))


@route("POST", f"{REPO}/statuses/{{sha}}", "statuses", level="write")
def add_status(call: Call) -> Answer:
    sha = call.parameters["sha"]
    if not re.fullmatch("[0-9a-f]{40}", sha):
        raise Refused(422, f"No commit found for SHA: {sha}")
    if len(call.body.get("description") or "") > LONGEST_DESCRIPTION:
        raise invalid("Status", "description", f"description is too long (maximum is {LONGEST_DESCRIPTION} characters)")
    now = call.state.moment()
    said = {name: call.body.get(name) for name in ("state", "description", "target_url")}
    made = {"id": call.state.new_id(), "sha": sha, **said, "context": call.body.get("context", "default")}
    made |= {"creator": call.who.login, "created_at": now, "updated_at": now}
    call.state.statuses.append(made)
    return Answer(201, shapes.status(made))


def statuses_of(call: Call) -> list[dict[str, Any]]:
    """Give the statuses of a commit, newest first."""
    ref = call.parameters["ref"]
    wanted = {ref, call.state.refs.get(ref)}
    return [one for one in reversed(call.state.statuses) if one["sha"] in wanted]


@route("GET", f"{REPO}/commits/{{ref}}/statuses", "statuses")
def statuses(call: Call) -> Answer:
    return Answer(200, [shapes.status(one) for one in statuses_of(call)], pages="")


@route("GET", f"{REPO}/git/commits/{{commit_sha}}", "contents")
def git_commit(call: Call) -> Answer:
    sha = call.parameters["commit_sha"]
    if sha not in call.state.parents:
        raise Refused(404)
    return Answer(200, shapes.git_commit(sha, call.state.parents[sha]))


@route("GET", f"{REPO}/contents/{{path}}", "contents")
def contents(call: Call) -> Answer:
    ref, path = call.query.get("ref", call.state.default_branch), call.parameters["path"]
    data = call.state.file(ref, path)
    if data is None:
        raise Refused(404, None if call.state.known(ref) else f"No commit found for the ref {ref}")
    return Answer(200, shapes.content(path, data))


def run_of(call: Call) -> int:
    """Find the run that a path names."""
    number = int(call.parameters["run_id"])
    if number not in call.state.runs:
        raise Refused(404)
    return number


@route("GET", f"{REPO}/actions/runs/{{run_id}}/artifacts", "actions")
def artifacts_of_run(call: Call) -> Answer:
    """List artifacts, newest first."""
    number = run_of(call)
    found = [
        shapes.artifact(one, call.state, call.api) for one in reversed(call.state.artifacts) if one.run_id == number
    ]
    return Answer(200, {"total_count": len(found), "artifacts": found}, pages="artifacts")


def artifact_of(call: Call) -> Artifact:
    """Find the artifact that a path names."""
    for one in call.state.artifacts:
        if one.id == int(call.parameters["artifact_id"]):
            return one
    raise Refused(404)


ARTIFACT = f"{REPO}/actions/artifacts/{{artifact_id}}"


@route("GET", f"{ARTIFACT}/{{archive_format}}", "actions")
def download(call: Call) -> Answer:
    """Send to the storage, another server, with a ticket in the address that is as good as a token."""
    found = artifact_of(call)
    if call.parameters["archive_format"] != "zip":
        raise Refused(404)
    if found.expired:
        raise Refused(410)
    ticket = secrets.token_hex(8)
    call.tickets[ticket] = found
    return Answer(302, b"", {"Location": f"{call.storage}/artifact.zip?{urllib.parse.urlencode({'sig': ticket})}"})
