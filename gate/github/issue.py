"""The one issue of a creep check: found again by its marker, updated, closed when it is gone, never fought over."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from gate.github.client import Forge
from gate.github.comment import User, fitting, login
from gate.github.problems import Task
from gate.model.case import case_id
from gate.model.history import CreepCase, CreepFacts
from gate.stats.creep import QUIET

if TYPE_CHECKING:
    from gate.report.markdown.issue import Change

State = Literal["crept", "gone", "moved"]
"""What the issue says: there is a creep; there is none any more, so perfgate closed it; it is of an earlier pin."""
Did = Literal["created", "updated", "reopened", "closed", "left", "older", "nothing"]

_PERMISSION = "issues: write"
_MARKER = re.compile(
    r"<!-- perfgate-creep:(?P<id>[A-Za-z0-9._-]{1,100}) pin=(?P<pin>[0-9a-f]{40,64}) "
    r"state=(?P<state>crept|gone|moved) cases=(?P<cases>-|[0-9a-f,]{8,1000}) "
    r"run=(?P<run>[0-9]{1,18})\.(?P<attempt>[0-9]{1,9}) -->"
)
_DIGITS = 8
_MOST_CASES = 100
_LONGEST_TITLE = 256


class _Issue(msgspec.Struct):
    number: int
    html_url: str
    state: str
    body: str | None = None
    user: User | None = None
    pull_request: dict[str, Any] | None = None


class _Made(msgspec.Struct):
    html_url: str


@dataclass(frozen=True, slots=True)
class IssueMarker:
    """The hidden first line of an issue: of which gate and pin it is, its state, and which cases it names."""

    id: str
    """Of the gate."""
    pin: str
    """sha."""
    state: State
    cases: frozenset[str]
    """Digests of the cases that crept."""
    run: int
    attempt: int
    """run and attempt: of the workflow that wrote it."""

    @property
    def text(self) -> str:
        """The line."""
        cases = ",".join(sorted(self.cases)[:_MOST_CASES]) or "-"
        return (
            f"<!-- perfgate-creep:{self.id} pin={self.pin} state={self.state} cases={cases} "
            f"run={self.run}.{self.attempt} -->"
        )

    @classmethod
    def parse(cls, body: str) -> IssueMarker | None:
        """Read the marker of an issue; None unless its first line is one and nothing else."""
        found = _MARKER.fullmatch(body.split("\n", 1)[0].removesuffix("\r"))
        if found is None:
            return None
        cases = frozenset() if found["cases"] == "-" else frozenset(found["cases"].split(","))
        state: State = "crept" if found["state"] == "crept" else "gone" if found["state"] == "gone" else "moved"
        return cls(found["id"], found["pin"], state, cases, int(found["run"]), int(found["attempt"]))


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the issue of a gate is to show."""

    id: str
    creep: CreepFacts
    run: int
    attempt: int
    title: str
    body: str
    """Markdown without the marker."""
    said: Callable[[Change], str]
    """The comment on a change of state."""


@dataclass(frozen=True, slots=True)
class Told:
    """What became of the issue, and where it is (None: nowhere)."""

    url: str | None
    did: Did


def digest_of(case: CreepCase) -> str:
    """Make a short hash of a case, since its name is the project's."""
    return hashlib.sha256("\0".join(case_id(case, case.statistic)).encode("utf-8", "surrogatepass")).hexdigest()[
        :_DIGITS
    ]


def publish_issue(forge: Forge, wanted: Wanted) -> Told:
    """Have one issue of this gate and pin tell of a creep.

    Only issues that this token's owner opened count: anybody may write a marker.

    Raises:
        Problem: it cannot be read or written; unsure when it may have been created.
    """
    issues = _Issues(forge)
    found = issues.of(wanted.id)
    crept = frozenset(digest_of(case) for case in wanted.creep.cases if case.verdict == "crept")
    for issue, marker in found:
        if marker.pin != wanted.creep.pin.sha and marker.state == "crept" and issue.state == "open":
            # of an earlier pin: it is left as it is, and that is said once
            moved = IssueMarker(marker.id, marker.pin, "moved", marker.cases, wanted.run, wanted.attempt)
            issues.edit(issue.number, f"{moved.text}\n{(issue.body or '').partition(chr(10))[2]}")
            issues.comment(issue.number, wanted.said("moved"))
    own = [each for each in found if each[1].pin == wanted.creep.pin.sha]
    if not own:
        return _create(issues, wanted, crept)
    # the newest: a person may have closed one before it
    issue, marker = max(own, key=lambda each: each[0].number)
    if (marker.run, marker.attempt) > (wanted.run, wanted.attempt):
        return Told(issue.html_url, "older")
    if issue.state == "open":
        # no case creeps, nor did in any of the nights that end an alarm, but for accepted ones
        quiet = all(case.verdict == "accepted" or case.quiet >= QUIET for case in wanted.creep.cases)
        if not crept and marker.state == "crept" and quiet:
            issues.comment(issue.number, wanted.said("gone"))
            issues.edit(issue.number, _text(wanted, "gone", marker.cases), state="closed")
            return Told(issue.html_url, "closed")
        if crept - marker.cases:
            issues.comment(issue.number, wanted.said("back" if marker.state == "gone" else "more"))
        # what crept and does not tonight is no news when it does again
        issues.edit(issue.number, _text(wanted, "crept" if crept else marker.state, marker.cases | crept))
        return Told(issue.html_url, "updated")
    if not crept:
        return Told(issue.html_url, "left")
    if marker.state == "gone":
        issues.edit(issue.number, _text(wanted, "crept", crept), state="open")
        issues.comment(issue.number, wanted.said("back"))
        return Told(issue.html_url, "reopened")
    # a person closed it, and has seen these: only others are news
    return Told(issue.html_url, "left") if crept <= marker.cases else _create(issues, wanted, crept)


def _create(issues: _Issues, wanted: Wanted, crept: frozenset[str]) -> Told:
    if not crept:
        return Told(None, "nothing")
    return Told(issues.create(wanted.title, _text(wanted, "crept", crept)), "created")


def _text(wanted: Wanted, state: State, cases: Collection[str]) -> str:
    marker = IssueMarker(wanted.id, wanted.creep.pin.sha, state, frozenset(cases), wanted.run, wanted.attempt)
    return f"{marker.text}\n{wanted.body}"


class _Issues:
    """Reads and writes the issues of a repository; every method may raise Problem."""

    def __init__(self, forge: Forge) -> None:
        self._transport = forge.transport
        self._path = f"/repos/{forge.repository}/issues"

    def of(self, gate: str) -> list[tuple[_Issue, IssueMarker]]:
        """Read the issues that we opened for a gate, with their markers."""
        task = Task("find the issue of the creep check", _PERMISSION)
        me = login(self._transport, Task("find out whose token it is, for the issue of the creep check", _PERMISSION))
        # GraphQL may leave the suffix of an app out, which REST has
        names = [me] if me.endswith("[bot]") else [me, f"{me}[bot]"]
        found = []
        for name in names:
            listed = self._transport.listed(task, self._path, list[_Issue], list, creator=name, state="all")
            for issue in listed:
                marker = IssueMarker.parse(issue.body or "")
                ours = issue.user is not None and issue.user.login.casefold() == name.casefold()
                if marker is not None and marker.id == gate and ours and issue.pull_request is None:
                    found.append((issue, marker))
        return found

    def create(self, title: str, body: str) -> str:
        """Open an issue; return its address."""
        task = fitting(Task("open the issue of the creep check", _PERMISSION), body)
        sent = {"title": title[:_LONGEST_TITLE], "body": body}
        return self._transport.send(task, "POST", self._path, sent, _Made).html_url

    def edit(self, number: int, body: str, *, state: Literal["open", "closed"] | None = None) -> None:
        """Replace the body, and open or close it; the title is a person's once it is there."""
        task = fitting(Task(f"update issue #{number}", _PERMISSION), body)
        sent: dict[str, Any] = {"body": body}
        if state is not None:
            sent |= {"state": state, "state_reason": "completed" if state == "closed" else "reopened"}
        self._transport.send(task, "PATCH", f"{self._path}/{number}", sent, _Made)

    def comment(self, number: int, body: str) -> None:
        """Write a comment."""
        task = fitting(Task(f"write a comment on issue #{number}", _PERMISSION), body)
        self._transport.send(task, "POST", f"{self._path}/{number}/comments", {"body": body}, _Made)
