"""The comments of a pull request, and the one of a gate: found again, updated in place, never put back by an older."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeVar

import msgspec

from gate.github.client import Forge
from gate.github.stamp import FORM, Stamp, stamp_of
from gate.github.transport import Problem, Task, Transport

T = TypeVar("T")
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

    def comment(self, number: int) -> Comment | None:
        """Read a comment again; None when it is no longer there."""
        task, path = self._task("read perfgate's comment on"), f"{self._issues}/comments/{number}"
        return _unless_gone(lambda: self._transport.get(task, path, Comment))

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
        sent = _unless_gone(lambda: self._transport.send(task, "PATCH", path, {"body": body}, Comment))
        return sent is not None

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


def _unless_gone(ask: Callable[[], T]) -> T | None:
    try:
        return ask()
    except Problem as problem:
        # a comment or its pull request was deleted
        if problem.status in (404, 410):
            return None
        raise


Did = Literal["created", "updated", "unchanged", "older", "taken", "absent"]

_ROUNDS = 8
_CREATIONS = 3
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

    Args:
        body: Markdown without a marker.
        create: False only updates one that is there.

    Raises:
        Problem: it cannot be read or written.
    """
    talk = Conversation(forge.transport, forge.repository, number)
    return settle(talk, marker, body, forge.transport.patience.settle, create=create)


def settle(talk: Conversation, marker: Marker, body: str, pause: Callable[[], None], *, create: bool = True) -> Posted:
    """Read, write what differs, and read again until nothing does: others may be doing the same.

    As `publish_comment`; pause: lets those write who have read.
    """
    settling = _Settling(talk, marker, f"{marker.text}\n{body}", pause, create)
    for _ in range(_ROUNDS):
        if settling.step():
            break
    if settling.url is None and settling.did != "absent":
        raise settling.problem or Problem("cannot write the comment: it is deleted as soon as it is there")
    return Posted(settling.url, settling.did, settling.by)


class _Own(NamedTuple):
    comment: Comment
    marker: Marker


@dataclass(slots=True)
class _Settling:
    _talk: Conversation
    _marker: Marker
    _text: str
    _pause: Callable[[], None]
    _create_one: bool
    did: Did = "unchanged"
    by: Stamp | None = None
    url: str | None = None
    _creations: int = 0
    problem: Problem | None = None

    def step(self) -> bool:
        """Do the next thing that is wanted; True when nothing is."""
        try:
            own = self._own()
        except Problem:
            if self.url is None:
                raise
            return True  # what was wanted is written; only nobody looked whether another run came between
        # another job has written a comment of this name, which it alone may replace
        mine, head = self._marker.stamp, self._marker.head
        taken = [o for o in own if mine.against(o.marker.stamp, same_commit=head == o.marker.head) == "taken"]
        if taken and not any(
            one.marker.stamp == self._marker.stamp and one.comment.id < taken[0].comment.id for one in own
        ):
            # left as it is; what we wrote beside it is taken away
            self.did, self.by, self.url = "taken", taken[0].marker.stamp, taken[0].comment.url
            beside = [one.comment for one in own if one.marker.stamp == self._marker.stamp]
            self._retire(beside, "Not shown here, since another job has the same name: {} is its comment")
            return True
        own = [one for one in own if one not in taken]
        if not own:
            return self._create()
        first, newest = own[0], max(own, key=lambda one: one.marker.stamp.order)
        ours = newest.marker.stamp.order <= self._marker.stamp.order
        wanted = self._text if ours else newest.comment.text
        if self.problem and _same(first.comment.text, self._text):
            self.did, self.problem = "created", None  # the answer was lost, the comment was not
        if not ours:
            self.did = "older"
        if not _same(first.comment.text, wanted):
            return self._update(first.comment, wanted, ours)
        self.url = first.comment.url
        return not self._retire([one.comment for one in own[1:]])

    def _own(self) -> list[_Own]:
        found = []
        for comment in self._talk.comments():
            marker = Marker.parse(comment.text)
            if marker and marker.id == self._marker.id and self._talk.is_mine(comment):
                found.append(_Own(comment, marker))
        return found

    def _create(self) -> bool:
        """Write the first comment; when it is unknown whether that worked, the next step looks before it writes."""
        self.url = None
        if not self._create_one:
            self.did = "absent"
            return True
        if self._creations == _CREATIONS:
            return True
        self._creations += 1
        try:
            self.url = self._talk.create(self._text).url
        except Problem as problem:
            if not problem.unsure:
                raise
            self.problem = problem
            self._pause()
        else:
            self.did, self.problem = "created", None
        return False

    def _update(self, comment: Comment, text: str, ours: bool) -> bool:
        """Write what is wanted, unless somebody else wrote since we read."""
        fresh = self._talk.comment(comment.id)
        if fresh is None or fresh.body != comment.body or not self._talk.edit(comment.id, text):
            return False
        self.url = comment.url
        if ours:
            self.did = "updated"
        self._pause()
        return False

    def _retire(self, others: list[Comment], said: str = "Superseded by {}") -> bool:
        """Take the marker from our other comments; False when there are none, or that is refused."""
        try:
            for comment in others:
                self._talk.edit(comment.id, said.format(self.url))
        except Problem:
            return False  # the right one stands there; the next run tries again
        return bool(others)


def _same(one: str, other: str) -> bool:
    """Compare texts as a forge keeps them."""
    return one.replace("\r\n", "\n").rstrip() == other.replace("\r\n", "\n").rstrip()
