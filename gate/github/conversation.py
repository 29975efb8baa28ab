"""The comments of one pull request, and who we are there."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import msgspec

from gate.github.problems import Problem, Task
from gate.github.transport import Transport

T = TypeVar("T")
LONGEST_COMMENT = 65_536
"""Characters of a comment; GitHub refuses more."""
# Who writes with the token of a workflow.
_ACTIONS = "github-actions[bot]"


class User(msgspec.Struct):
    """Who wrote a comment, or whose token it is."""

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
        task = fitting(self._task("write a comment on"), body)
        path = f"{self._issues}/{self._number}/comments"
        made = self._transport.send(task, "POST", path, {"body": body}, Comment)
        # GraphQL and REST call apps by different names: this is the one that the comments have
        self._me = (made.user.login if made.user else "") or self._me
        return made

    def edit(self, number: int, body: str) -> bool:
        """Replace the text of a comment; False when it is no longer there."""
        task, path = fitting(self._task("update the comment on"), body), f"{self._issues}/comments/{number}"
        sent = _unless_gone(lambda: self._transport.send(task, "PATCH", path, {"body": body}, Comment))
        return sent is not None

    def is_mine(self, comment: Comment) -> bool:
        """Say whether we wrote a comment; who we are is asked once."""
        if self._me is None:
            self._me = login(self._transport, self._task("find out whose token it is, for the comment on"))
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


def fitting(task: Task, body: str) -> Task:
    """Return a task that writes a text. Raises Problem: the text is longer than GitHub takes."""
    if len(body) > LONGEST_COMMENT:
        raise task.failed(f"it has {len(body):,} characters, and GitHub takes {LONGEST_COMMENT:,}", status=422)
    return task


def login(transport: Transport, task: Task) -> str:
    """Find out whose token it is. Raises Problem: it cannot be asked."""
    try:
        return transport.get(task, "/user", User).login
    except Problem as problem:
        # the token of a workflow is no user's
        if problem.status not in (403, 404):
            raise
    try:
        return transport.viewer(task)
    except Problem:
        return _ACTIONS
