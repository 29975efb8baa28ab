"""What the head commit shows of a gate: its commit status, and its check run from the first step to the last."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

import msgspec

from gate.github.problems import Problem, Task, one_line
from gate.github.publishing.outcome import Outcome, Target
from gate.github.publishing.request import ROOT
from gate.github.stamp import Stamp, parse, read_address
from gate.github.transport import Transport
from gate.model import Report
from gate.writing.plain import clip

if TYPE_CHECKING:
    from gate.github.client import Forge


class Shown(Protocol):
    """What an entry shows."""

    @property
    def state(self) -> str:
        """What tells it from others of the same stamp; GitHub may have changed the texts beside it."""
        ...


S = TypeVar("S", bound=Shown)
Did = Literal["set", "older", "taken"]

_ROUNDS = 6


@dataclass(frozen=True, slots=True)
class Entry(Generic[S]):
    """One state on the board."""

    id: int
    """The larger, the later it was made."""
    stamp: Stamp | None
    """None: of another program, or a person."""
    shows: S


@dataclass(frozen=True, slots=True)
class Placed:
    """What came of it: "older": a newer state stands there; "taken": another job's, and by which."""

    did: Did
    by: Stamp | None = None


class Board(Protocol[S]):
    """Reads and writes the states of one name on one commit; every method may raise Problem."""

    def read(self) -> list[Entry[S]]:
        """Read the states, the newest first: that is the one that people and rules see."""
        ...

    def write(self, stamp: Stamp, shows: S, over: Entry[S] | None) -> None:
        """Make a state the one that is seen.

        Args:
            over: the entry that is seen, where it is the writer's own.
        """
        ...


def settle(board: Board[S], stamp: Stamp, shows: S, pause: Callable[[], None]) -> Placed:
    """Read, write what differs, and read again until nothing does: others may be doing the same.

    Args:
        pause: lets those write who have read.

    Raises:
        Problem: the board cannot be read or written.
    """
    problem: Problem | None = None
    for _ in range(_ROUNDS):
        found = board.read()
        right = _right(found, stamp, shows)
        seen = found[0] if found else None
        own = next((each for each in found if each.stamp == stamp), None)
        if seen is not None and (seen.stamp, seen.shows.state) == (right.stamp, right.shows.state):
            return right.placed
        if right.placed.did != "set" and (seen is None or seen is not own):
            # what hides the right state is not ours: whoever wrote that puts it back
            return right.placed
        try:
            board.write(right.stamp, right.shows, seen if seen is own else None)
        except Problem as failed:
            if not failed.unsure:
                raise
            problem = failed
        pause()
    raise problem or Problem("cannot set the state: others keep replacing it")


@dataclass(frozen=True, slots=True)
class _Right(Generic[S]):
    stamp: Stamp
    shows: S
    placed: Placed


def _right(found: list[Entry[S]], stamp: Stamp, shows: S) -> _Right[S]:
    """Choose what is to be seen: the newest state of the job that was first."""
    own = [each.id for each in found if each.stamp == stamp]
    others = [(each.stamp, each) for each in found if each.stamp is not None and each.stamp != stamp]
    taken = [(by, each) for by, each in others if stamp.against(by, same_commit=True) == "taken"]
    if taken and not (own and min(own) < min(each.id for _, each in taken)):
        by, entry = max(taken, key=lambda one: (one[0].order, one[1].id))
        return _Right(by, entry.shows, Placed("taken", by))
    newer = [(by, each) for by, each in others if stamp.against(by, same_commit=True) == "newer"]
    if newer:
        by, entry = max(newer, key=lambda one: (one[0].order, one[1].id))
        return _Right(by, entry.shows, Placed("older", by))
    return _Right(stamp, shows, Placed("set"))


Conclusion = Literal["success", "failure", "neutral", "action_required"]

LONGEST_TITLE = 200


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
        self._task = Task(f"set the check {name} of {one_line(sha)[:12]}", "checks: write")
        self._left: list[Entry[Check]] = []

    def read(self) -> list[Entry[Check]]:
        found = self._transport.listed(
            self._task, self._list, _Runs, lambda page: page.check_runs, check_name=self._name, filter="all"
        )
        named = {each.id: _check(each) for each in found if each.name == self._name}
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


def _check(found: _Run) -> Entry[Check]:
    output = found.output
    shows = Check(found.conclusion, output.title or "", output.summary or "", found.details_url or "")
    return Entry(found.id, parse(found.external_id or ""), shows)


State = Literal["success", "failure", "error", "pending"]

LONGEST_DESCRIPTION = 140
_LONGEST_CONTEXT = 255
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
        self._task = Task(f"set the status of {one_line(sha)[:12]}", "statuses: write")
        if not _COMMIT.fullmatch(sha):
            raise self._task.failed("that is not a full commit id")
        self._transport = transport
        self._place = f"/repos/{repository}/statuses/{sha}"
        self._list = f"/repos/{repository}/commits/{sha}/statuses"
        self._context = context

    def read(self) -> list[Entry[Status]]:
        found = self._transport.listed(self._task, self._list, list[_Status], list)
        mine = {each.id: each for each in found if each.context.casefold() == self._context.casefold()}
        return [_status(mine[number]) for number in sorted(mine, reverse=True)]

    def write(self, stamp: Stamp, shows: Status, over: Entry[Status] | None) -> None:
        del over  # a status is not changed: a new one takes its place
        body = {
            "state": shows.state,
            "context": self._context,
            "description": shows.description,
            "target_url": stamp.on(shows.address),
        }
        self._transport.send(self._task, "POST", self._place, body, _Status)


def _status(found: _Status) -> Entry[Status]:
    address = read_address(found.target_url or "")
    return Entry(found.id, address.stamp, Status(found.state, found.description or "", address.plain))


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


_MEASURING = "in progress"
_UNVERIFIED = "unverified"


def context_of(gate: str) -> str:
    """Name the status and the check run of a gate: "perfgate", "perfgate/parser"."""
    return ROOT if gate == ROOT else f"{ROOT}/{gate}"


def status_of(outcome: Outcome) -> State:
    """Give the state of a commit: success only where the gate passes, and not on a fork's word alone."""
    if outcome.verdict == "error":
        return "error"
    if outcome.code:
        return "failure"
    return "pending" if outcome.unverified else "success"


def conclusion_of(outcome: Outcome, report: Report | None) -> Conclusion:
    """Give the conclusion of a check run: neutral, which blocks nothing, where nothing was shown."""
    if outcome.code:
        return "failure"
    if outcome.unverified:
        return "action_required"
    shown = report is not None and (report.findings or report.identical)
    return "neutral" if outcome.verdict == "inconclusive" or not shown else "success"


def told(outcome: Outcome, report: Report | None, headline: str) -> str:
    """Say an outcome in one line, with what is to be known of a fork's."""
    if outcome.code or not outcome.unverified:
        return headline
    label = report.policy.gate.get("accept_label") if report is not None else None
    confirm = f", the label {clip(label, 40)} confirms it" if isinstance(label, str) and label else ""
    return f"{_UNVERIFIED}, measured on the fork's machine{confirm}: {headline}"


def show_status(forge: Forge, gate: str, stamp: Stamp, outcome: Outcome, description: str, address: str) -> Placed:
    """Set the commit status of a gate.

    Raises:
        Problem: it cannot be read or set.
    """
    text = clip(description, LONGEST_DESCRIPTION)[:LONGEST_DESCRIPTION]
    return set_status(forge, outcome.target.sha, context_of(gate), stamp, Status(status_of(outcome), text, address))


def open_check(forge: Forge, gate: str, stamp: Stamp, target: Target, address: str) -> Placed:
    """Show that a gate is at work.

    Raises:
        Problem: it cannot be read or written.
    """
    name = context_of(gate)
    return show_check(forge, target.sha, name, stamp, Check(None, _MEASURING, "base and head are measured", address))


def conclude_check(
    forge: Forge, gate: str, stamp: Stamp, outcome: Outcome, report: Report | None, title: str,
    body: Callable[[], str], address: str,
) -> Placed:  # fmt: skip
    """Show how a gate ended.

    Raises:
        Problem: it cannot be read or written.
    """
    check = Check(conclusion_of(outcome, report), clip(title, LONGEST_TITLE)[:LONGEST_TITLE], body(), address)
    return show_check(forge, outcome.target.sha, context_of(gate), stamp, check)
