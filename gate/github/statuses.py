"""The status of a commit in one context, kept by `gate.github.board`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

import msgspec

from gate.github.board import Entry, Placed, settle
from gate.github.problems import Task, one_line
from gate.github.stamp import Stamp, read_address
from gate.github.transport import Transport

if TYPE_CHECKING:
    from gate.github.client import Forge

State = Literal["success", "failure", "error", "pending"]

LONGEST_DESCRIPTION = 140
_LONGEST_CONTEXT = 255
_PERMISSION = "statuses: write"
_COMMIT = re.compile(r"[0-9a-f]{40,64}")


class Status(msgspec.Struct, frozen=True):
    """What a status shows."""

    state: State
    description: str
    address: str
    """Where it leads to."""


class _Status(msgspec.Struct):
    id: int
    state: State
    context: str = ""
    description: str | None = None
    target_url: str | None = None


def set_status(forge: Forge, sha: str, context: str, stamp: Stamp, status: Status) -> Placed:
    """Set the status of a commit in a context, unless a newer one or another job's is there; what is too long is cut.

    Raises:
        Problem: it cannot be read or set.
    """
    cut = Status(status.state, _cut(one_line(status.description), LONGEST_DESCRIPTION), status.address)
    board = _Statuses(forge.transport, forge.repository, sha, _cut(context, _LONGEST_CONTEXT))
    return settle(board, stamp, cut, forge.transport.patience.settle)


class _Statuses:
    def __init__(self, transport: Transport, repository: str, sha: str, context: str) -> None:
        self._task = Task(f"set the status of {one_line(sha)[:12]}", _PERMISSION)
        if not _COMMIT.fullmatch(sha):
            raise self._task.failed("that is not a full commit id")
        self._transport = transport
        self._place = f"/repos/{repository}/statuses/{sha}"
        self._list = f"/repos/{repository}/commits/{sha}/statuses"
        self._context = context

    def read(self) -> list[Entry[Status]]:
        found = self._transport.listed(self._task, self._list, list[_Status], list)
        mine = {each.id: each for each in found if each.context.casefold() == self._context.casefold()}
        return [_entry(mine[number]) for number in sorted(mine, reverse=True)]

    def write(self, stamp: Stamp, shows: Status, over: Entry[Status] | None) -> None:
        del over  # a status is not changed: a new one takes its place
        body = {
            "state": shows.state,
            "context": self._context,
            "description": shows.description,
            "target_url": stamp.on(shows.address),
        }
        self._transport.send(self._task, "POST", self._place, body, _Status)


def _entry(found: _Status) -> Entry[Status]:
    address = read_address(found.target_url or "")
    return Entry(found.id, address.stamp, Status(found.state, found.description or "", address.plain))


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
