"""The comments of a pull request, and the one of a gate: found again, updated in place, not put back by older runs."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import msgspec

from gate.github.client import Forge
from gate.github.stamp import FORM, Relation, Stamp, stamp_of
from gate.github.transport import Problem, Task, Transport

# Who writes with the token of a workflow.
_ACTIONS = "github-actions[bot]"


class User(msgspec.Struct):
    """Who wrote a comment."""

    login: str
    type: str = "User"


class Comment(msgspec.Struct, rename={"url": "html_url"}):
    """A comment."""

    id: int
    url: str
    body: str | None = None
    user: User | None = None
    """None: of a deleted account."""

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
