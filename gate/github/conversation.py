"""The comments of one pull request, and who we are there."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import msgspec

from gate.github.problems import Problem, Task
from gate.github.transport import Transport

LONGEST_COMMENT = 65_536
"""Characters of a comment; GitHub refuses more."""
# Who writes with the token of a workflow.
_ACTIONS = "github-actions[bot]"
# A comment or its pull request was deleted.
_GONE = (404, 410)


class _User(msgspec.Struct):
    login: str
    type: str = "User"


class _Comment(msgspec.Struct):
    id: int
    html_url: str
    node_id: str = ""
    body: str | None = None
    user: _User | None = None


class _Viewer(msgspec.Struct):
    viewer: _User


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment."""

    id: int
    url: str
    body: str
    author: str
    """The login, "" of a deleted account."""
    bot: bool
    """An app wrote it."""
    node: str
    """Its id in GraphQL."""


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
        found = self._transport.listed(self._task("read the comments on"), path, list[_Comment], list)
        return sorted({one.id: _comment(one) for one in found}.values(), key=lambda one: one.id)

    def comment(self, number: int) -> Comment | None:
        """Read a comment again; None when it is no longer there."""
        task = self._task("read perfgate's comment on")
        try:
            return _comment(self._transport.get(task, f"{self._issues}/comments/{number}", _Comment))
        except Problem as problem:
            if problem.status in _GONE:
                return None
            raise

    def create(self, body: str) -> Comment:
        """Write a comment; a Problem is unsure when it may stand there all the same."""
        task = self._fitting("write a comment on", body)
        path = f"{self._issues}/{self._number}/comments"
        made = _comment(self._transport.send(task, "POST", path, {"body": body}, _Comment))
        # GraphQL and REST call apps by different names: this is the one that the comments have
        self._me = made.author or self._me
        return made

    def edit(self, number: int, body: str) -> bool:
        """Replace the text of a comment; False when it is no longer there."""
        task = self._fitting("update the comment on", body)
        try:
            self._transport.send(task, "PATCH", f"{self._issues}/comments/{number}", {"body": body}, _Comment)
        except Problem as problem:
            if problem.status in _GONE:
                return False
            raise
        return True

    def hide(self, comment: Comment) -> None:
        """Minimise a comment; REST cannot, so an API without GraphQL leaves it visible, and that is no failure."""
        query = (
            "mutation Hide($input: MinimizeCommentInput!) "
            "{ minimizeComment(input: $input) { minimizedComment { isMinimized } } }"
        )
        variables = {"input": {"subjectId": comment.node, "classifier": "OUTDATED"}}
        with suppress(Problem):
            self._transport.graphql(self._task("hide an old comment on"), query, variables, dict[str, Any])

    def is_mine(self, comment: Comment) -> bool:
        """Say whether we wrote a comment; who we are is asked once."""
        if self._me is None:
            self._me = login(self._transport, self._task("find out whose token it is, for the comment on"))
        me = self._me.casefold()
        return comment.author.casefold() in ({me, f"{me}[bot]"} if comment.bot else {me})

    def _task(self, doing: str) -> Task:
        return Task(f"{doing} #{self._number}", "pull-requests: write")

    def _fitting(self, doing: str, body: str) -> Task:
        task = self._task(doing)
        if len(body) > LONGEST_COMMENT:
            raise task.failed(f"it has {len(body):,} characters, and GitHub takes {LONGEST_COMMENT:,}", status=422)
        return task


def login(transport: Transport, task: Task) -> str:
    """Find out whose token it is.

    Raises:
        Problem: it cannot be asked.
    """
    try:
        return transport.get(task, "/user", _User).login
    except Problem as problem:
        # the token of a workflow is no user's
        if problem.status not in (403, 404):
            raise
    try:
        return transport.graphql(task, "query { viewer { login } }", {}, _Viewer).viewer.login
    except Problem:
        return _ACTIONS


def _comment(said: _Comment) -> Comment:
    user = said.user or _User("")
    return Comment(said.id, said.html_url, said.body or "", user.login, user.type == "Bot", said.node_id)
