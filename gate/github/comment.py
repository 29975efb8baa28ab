"""What a gate posts: its comment on a pull request and a commit's status, updated in place, never by older runs."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote

import msgspec

from gate.github.client import Forge
from gate.github.transport import Problem, Task, Transport

Relation = Literal["ours", "newer", "taken"]

_LONGEST = 150
_ANY = "*"
_MARK = "perfgate"
FORM = (
    r"run=(?P<run>[0-9]{1,18}) attempt=(?P<attempt>[0-9]{1,9}) by=(?P<by>[0-9]{1,18}\.[0-9]{1,9}) "
    r"job=(?P<job>[A-Za-z0-9._~*%/-]{1,200}) use=(?P<use>[A-Za-z0-9_-]{1,40})"
)
_FORM = re.compile(FORM)


class Stamp(msgspec.Struct, frozen=True, kw_only=True):
    """Which job shows which run's measurements, and which run decided over them."""

    run: int
    attempt: int
    """run and attempt: what measured."""
    by_run: int
    by_attempt: int
    """by_run and by_attempt: what decided, which may be a later run: for a fork."""
    job: str
    """From `job_of`."""
    use: str
    """A word of chance for one use of the action: two uses of one job, or of one reusable workflow, differ in it."""

    @property
    def order(self) -> tuple[int, int, int, int]:
        """What states are ordered by, the newest last."""
        return (self.run, self.attempt, self.by_run, self.by_attempt)

    @property
    def text(self) -> str:
        """The stamp in words without a line break."""
        by = f"{self.by_run}.{self.by_attempt}"
        return f"run={self.run} attempt={self.attempt} by={by} job={self.job} use={self.use}"

    def on(self, address: str) -> str:
        """Put the stamp behind an address, where browsers and servers ignore it."""
        return f"{address}#{_MARK}&{self.text.replace(' ', '&')}"

    def against(self, other: Stamp, *, same_commit: bool) -> Relation:
        """Say what another state under the same name is to this one; "taken": of another job of the same run or commit.

        same_commit: both are about one commit; a job of another commit may have been renamed since then.
        """
        # each is a file and a job
        names = zip(self.job.split("/", 1), other.job.split("/", 1), strict=False)
        if not all(one == another or _ANY in (one, another) for one, another in names):
            if same_commit or self.run == other.run:
                return "taken"
        elif self.order == other.order and self.use != other.use:
            return "taken"
        return "newer" if other.order > self.order else "ours"


def stamp_of(found: re.Match[str]) -> Stamp:
    """Make the stamp of a match of FORM."""
    run, attempt = found["by"].split(".")
    return Stamp(
        run=int(found["run"]), attempt=int(found["attempt"]), by_run=int(run), by_attempt=int(attempt),
        job=found["job"], use=found["use"],
    )  # fmt: skip


def stamp_on(address: str) -> Stamp | None:
    """Read the stamp behind an address; None: there is none."""
    mark, _, rest = address.partition("#")[2].partition("&")
    found = _FORM.fullmatch(rest.replace("&", " ")) if mark == _MARK else None
    return found and stamp_of(found)


def job_of(environment: Mapping[str, str], leg: str = "") -> str:
    """Name the job that runs this, such as "perfgate.yml/bench/linux": its workflow, its id, its leg of a matrix.

    GITHUB_JOB is the same for all legs.
    """
    path = environment.get("GITHUB_WORKFLOW_REF", "").partition("@")[0]
    # after owner and repository
    file = path.split("/", 2)[-1] if path else environment.get("GITHUB_WORKFLOW", "")
    job = environment.get("GITHUB_JOB", "")
    parts = [_quoted(file), *(quote(part, safe="") for part in (job, leg) if part)]
    name = "/".join(parts if len(parts) > 1 else [*parts, _ANY])
    if len(name) <= _LONGEST:
        return name
    return f"{name[: _LONGEST - 13].rstrip('%')}-{hashlib.sha256(name.encode()).hexdigest()[:12]}"


def any_job_of(path: str) -> str:
    """Name whichever job of a workflow's file; "" is whichever workflow.

    What a fork's run measured is published by another workflow, which knows the file of that run and not the job.
    """
    return f"{_quoted(path)}/{_ANY}"


def _quoted(file: str) -> str:
    """Leave out the folder of all workflows, and make one word of the rest."""
    return quote(file.removeprefix(".github/workflows/"), safe="") or _ANY


# Who writes with the token of a workflow.
_ACTIONS = "github-actions[bot]"


class User(msgspec.Struct):
    """Who wrote a comment."""

    login: str
    type: str = "User"


class Comment(msgspec.Struct, rename={"url": "html_url"}):
    """A comment."""

    id: int
    url: str = ""
    body: str | None = None
    user: User | None = None
    """None: of a deleted account."""
    created_at: str = ""
    author_association: str = "NONE"

    @property
    def text(self) -> str:
        """What it says."""
        return self.body or ""


class Conversation:
    """Reads and writes the comments of a pull request; every method may raise Problem."""

    def __init__(self, transport: Transport, repository: str, number: int) -> None:
        self._transport = transport
        self._issues = f"/repos/{repository}/issues"
        self._number = number
        self._me: str | None = None

    def comments(self) -> list[Comment]:
        """Read all comments, the oldest first, each once."""
        path = f"{self._issues}/{self._number}/comments"
        found = self._transport.listed(self._task("read the comments on"), path, list[Comment], list)
        return sorted({one.id: one for one in found}.values(), key=lambda one: one.id)

    def create(self, body: str) -> Comment:
        """Write a comment; a Problem is unsure when it may stand there all the same."""
        task = self._task("write a comment on")
        path = f"{self._issues}/{self._number}/comments"
        made = self._transport.send(task, "POST", path, {"body": body}, Comment)
        # GraphQL and REST call apps by different names: this is the one that the comments have
        self._me = (made.user.login if made.user else "") or self._me
        return made

    def edit(self, number: int, body: str) -> bool:
        """Replace the text of a comment; False when it is no longer there."""
        task, path = self._task("update the comment on"), f"{self._issues}/comments/{number}"
        try:
            self._transport.send(task, "PATCH", path, {"body": body}, Comment)
        except Problem as problem:
            # it or its pull request was deleted
            if problem.status in (404, 410):
                return False
            raise
        return True

    def is_mine(self, comment: Comment) -> bool:
        """Say whether we wrote a comment; who we are is asked once, and whoever cannot tell is a workflow."""
        if self._me is None:
            with suppress(Problem):
                self._me = self._transport.viewer(self._task("find out whose token it is, for the comment on"))
            self._me = self._me or _ACTIONS
        me, user = self._me.casefold(), comment.user or User("")
        return user.login.casefold() in ({me, f"{me}[bot]"} if user.type == "Bot" else {me})

    def _task(self, doing: str) -> Task:
        return Task(f"{doing} #{self._number}", "pull-requests: write")


Did = Literal["created", "updated", "unchanged", "older", "taken", "absent"]

LEFT: dict[Relation, Did] = {"taken": "taken", "newer": "older"}
"""What is left as it is, and how that is called."""
_TRIES = 3
_PAUSE = 1.0
"""Seconds until a comment that was written stands among the others."""
_MARKER = re.compile(
    r"<!-- perfgate:(?P<id>[A-Za-z0-9._-]{1,100}) head=(?P<head>[0-9a-f]{40,64}|unknown) "
    rf"{FORM} -->"
)


@dataclass(frozen=True, slots=True)
class Marker:
    """The hidden first line of a comment: of which gate it is, and whose state it shows."""

    id: str
    """Of the gate."""
    head: str
    """The commit, or "unknown"."""
    stamp: Stamp

    @property
    def text(self) -> str:
        """The line."""
        return f"<!-- perfgate:{self.id} head={self.head} {self.stamp.text} -->"

    @classmethod
    def parse(cls, body: str) -> Marker | None:
        """Read the marker of a comment; None unless its first line is one and nothing else."""
        found = _MARKER.fullmatch(body.split("\n", 1)[0].removesuffix("\r"))
        return found and cls(found["id"], found["head"], stamp_of(found))


@dataclass(frozen=True, slots=True)
class Posted:
    """Where the comment is (None: nowhere), and what was done.

    "older": it shows a newer run than ours, "taken": another job's, and both were left so. "absent": none was wanted.
    """

    url: str | None
    did: Did
    by: Stamp | None = None
    """Whose it is, where it is taken."""


def publish_comment(forge: Forge, number: int, marker: Marker, body: str, *, create: bool = True) -> Posted:
    """Have one comment of this gate on a pull request show a body, or a newer run's if there is one.

    Jobs that write in the same second are kept apart by `concurrency`, as in the templates.

    Args:
        body: Markdown without a marker.
        create: False only updates one that is there.

    Raises:
        Problem: it cannot be read or written.
    """
    talk, text = Conversation(forge.transport, forge.repository, number), f"{marker.text}\n{body}"
    problem: Problem | None = None
    for _ in range(_TRIES):
        own = _own(talk, marker)
        if (other := _other(own, marker)) is not None:
            return other
        if own and _same(own[0][0].text, text):
            return Posted(own[0][0].url, "created" if problem else "unchanged")
        if own:
            first, *others = [comment for comment, _ in own]
            if talk.edit(first.id, text):
                with suppress(Problem):  # the right one stands there; the next run tries again
                    for each in others:
                        talk.edit(each.id, f"Superseded by {first.url}")
                return Posted(first.url, "updated")
        elif not create:
            return Posted(None, "absent")
        else:
            try:
                return Posted(talk.create(text).url, "created")
            except Problem as failed:
                if not failed.unsure:
                    raise
                # it may stand there all the same: look before writing again
                problem = failed
                forge.transport.patience.sleep(_PAUSE)
    raise problem or Problem("cannot write the comment: it is deleted as soon as it is there")


def _own(talk: Conversation, marker: Marker) -> list[tuple[Comment, Marker]]:
    """Find the comments of a gate, the oldest first."""
    found = [(comment, Marker.parse(comment.text)) for comment in talk.comments()]
    return [(comment, of) for comment, of in found if of and of.id == marker.id and talk.is_mine(comment)]


def _other(own: list[tuple[Comment, Marker]], marker: Marker) -> Posted | None:
    """Say whose comment is to be left as it is: another job's, which it alone may replace, or a newer run's."""
    stamp = marker.stamp
    found = [(stamp.against(of.stamp, same_commit=marker.head == of.head), each, of.stamp) for each, of in own]
    for relation, did in LEFT.items():
        for is_, comment, by in found:
            if is_ == relation:
                return Posted(comment.url, did, by)
    return None


def _same(one: str, other: str) -> bool:
    """Compare texts as a forge keeps them."""
    return one.replace("\r\n", "\n").rstrip() == other.replace("\r\n", "\n").rstrip()


# --- the status of a commit -------------------------------------------------------------------------------------------


State = Literal["success", "failure", "error", "pending"]

LONGEST_DESCRIPTION = 140


class _Status(msgspec.Struct):
    id: int
    state: State
    context: str = ""
    target_url: str | None = None


def set_status(
    forge: Forge, sha: str, context: str, stamp: Stamp, state: State, description: str, address: str
) -> Posted:
    """Set the status of a commit in a context, unless a newer one or another job's is there.

    Raises: Problem: it cannot be read or set.
    """
    task, path = Task(f"set the status of {sha[:12]}", "statuses: write"), f"/repos/{forge.repository}"
    listed = forge.transport.listed(task, f"{path}/commits/{sha}/statuses", list[_Status], list)
    present = [each for each in listed if each.context.casefold() == context.casefold()]
    states: dict[Relation, list[Stamp]] = {"taken": [], "newer": [], "ours": []}
    for each in present:
        if (by := stamp_on(each.target_url or "")) is not None and by != stamp:
            states[stamp.against(by, same_commit=True)].append(by)
    for relation, did in LEFT.items():
        if states[relation]:
            return Posted(None, did, max(states[relation], key=lambda each: each.order))
    # the newest is the one that people and rules see
    newest = max(present, key=lambda each: each.id, default=None)
    if newest is None or (stamp_on(newest.target_url or ""), newest.state) != (stamp, state):
        body = {"state": state, "context": context, "description": description, "target_url": stamp.on(address)}
        # twice the same is as good as once
        forge.transport.send(task, "POST", f"{path}/statuses/{sha}", body, _Status, repeatable=True)
    return Posted(None, "updated")
