"""The check run of a gate on a commit: opened before measuring, concluded by publishing; see `gate.github.board`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from gate.github.board import Entry, Placed, settle
from gate.github.problems import Task, one_line
from gate.github.stamp import Stamp, parse
from gate.github.transport import Transport

if TYPE_CHECKING:
    from gate.github.client import Forge

Conclusion = Literal["success", "failure", "neutral", "action_required"]

LONGEST_TITLE = 200
_PERMISSION = "checks: write"


class Check(msgspec.Struct, frozen=True):
    """What a check run shows."""

    conclusion: str | None
    """A Conclusion; None: in progress."""
    title: str
    summary: str
    """Markdown."""
    address: str
    """Where its details are."""

    @property
    def state(self) -> str:
        """The conclusion, or that there is none yet."""
        return self.conclusion or "in_progress"


class _Output(msgspec.Struct):
    title: str | None = None
    summary: str | None = None


class _Run(msgspec.Struct):
    id: int
    name: str
    conclusion: str | None = None
    details_url: str | None = None
    external_id: str | None = None
    output: _Output = msgspec.field(default_factory=_Output)


class _Runs(msgspec.Struct):
    check_runs: list[_Run]


def show_check(forge: Forge, sha: str, name: str, stamp: Stamp, check: Check) -> Placed:
    """Have the check run of a name on a commit show something, unless a newer run's or another job's is there.

    Raises:
        Problem: it cannot be read or written.
    """
    board = _Checks(forge.transport, forge.repository, sha, name)
    return settle(board, stamp, check, forge.transport.patience.settle)


class _Checks:
    def __init__(self, transport: Transport, repository: str, sha: str, name: str) -> None:
        self._transport = transport
        self._runs = f"/repos/{repository}/check-runs"
        self._list = f"/repos/{repository}/commits/{sha}/check-runs"
        self._sha = sha
        self._name = name
        self._task = Task(f"set the check {name} of {one_line(sha)[:12]}", _PERMISSION)
        self._left: list[Entry[Check]] = []

    def read(self) -> list[Entry[Check]]:
        found = self._transport.listed(
            self._task, self._list, _Runs, lambda page: page.check_runs, check_name=self._name, filter="all"
        )
        named = {each.id: _entry(each) for each in found if each.name == self._name}
        # another program's check run of this name is shown beside ours
        self._left = [named[number] for number in sorted(named, reverse=True) if named[number].stamp is not None]
        return self._left

    def write(self, stamp: Stamp, shows: Check, over: Entry[Check] | None) -> None:
        body = _body(stamp, shows)
        # a copy that another run made when it had hidden ours
        copies = [each for each in self._left if each.stamp == stamp and each.shows.conclusion is None]
        for entry in {each.id: each for each in (*copies, *([over] if over else ()))}.values():
            self._transport.send(self._task, "PATCH", f"{self._runs}/{entry.id}", body, _Run)
        if over is None:
            made = {"name": self._name, "head_sha": self._sha, **body}
            self._transport.send(self._task, "POST", self._runs, made, _Run)


def _body(stamp: Stamp, shows: Check) -> dict[str, Any]:
    state = {"status": "in_progress"} if shows.conclusion is None else {"conclusion": shows.conclusion}
    return {
        **state,
        "external_id": stamp.text,
        "details_url": shows.address,
        "output": {"title": shows.title, "summary": shows.summary},
    }


def _entry(found: _Run) -> Entry[Check]:
    output = found.output
    shows = Check(found.conclusion, output.title or "", output.summary or "", found.details_url or "")
    return Entry(found.id, parse(found.external_id or ""), shows)
