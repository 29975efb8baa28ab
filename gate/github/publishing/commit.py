"""What the head commit shows of a gate: its commit status."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from gate.github.client import Forge
from gate.github.problems import Problem, Task, one_line
from gate.github.publishing.outcome import Outcome
from gate.github.publishing.request import ROOT
from gate.github.stamp import Stamp, stamp_on
from gate.model import Report
from gate.writing.plain import clip

State = Literal["success", "failure", "error", "pending"]

LONGEST_DESCRIPTION = 140
_LONGEST_CONTEXT = 255
_COMMIT = re.compile(r"[0-9a-f]{40,64}")
_ROUNDS = 6


class Placed(msgspec.Struct, frozen=True):
    """What came of it: "older": a newer state stands there; "taken": another job's, and by which."""

    did: Literal["set", "older", "taken"]
    by: Stamp | None = None


class _Status(msgspec.Struct):
    id: int
    state: State
    context: str = ""
    description: str | None = None
    target_url: str | None = None

    @property
    def stamp(self) -> Stamp | None:
        """Whose it is; None: of another program, or a person."""
        return stamp_on(self.target_url or "")


def set_status(
    forge: Forge, sha: str, context: str, stamp: Stamp, state: State, description: str, address: str
) -> Placed:
    """Set the status of a commit in a context, unless a newer one or another job's is there; what is too long is cut.

    Reads, writes what differs, and reads again until nothing does: others may be doing the same.

    Raises:
        Problem: it cannot be read or set.
    """
    task = Task(f"set the status of {one_line(sha)[:12]}", "statuses: write")
    if not _COMMIT.fullmatch(sha):
        raise task.failed("that is not a full commit id")
    transport, repository, name = forge.transport, f"/repos/{forge.repository}", _cut(context, _LONGEST_CONTEXT)
    ours = _Status(0, state, name, _cut(one_line(description), LONGEST_DESCRIPTION), stamp.on(address))
    problem: Problem | None = None
    for _ in range(_ROUNDS):
        listed = transport.listed(task, f"{repository}/commits/{sha}/statuses", list[_Status], list)
        mine = {each.id: each for each in listed if each.context.casefold() == name.casefold()}
        # the newest first: that is the one that people and rules see
        found = [mine[number] for number in sorted(mine, reverse=True)]
        wanted, placed = _wanted(found, stamp, ours)
        if found and (found[0].stamp, found[0].state) == (wanted.stamp, wanted.state):
            return placed
        if placed.did != "set" and not (found and found[0].stamp == stamp):
            # what hides the right state is not ours: whoever wrote that puts it back
            return placed
        body = {
            "state": wanted.state, "context": name, "description": wanted.description or "",
            "target_url": wanted.target_url,
        }  # fmt: skip
        try:
            transport.send(task, "POST", f"{repository}/statuses/{sha}", body, _Status)
        except Problem as failed:
            if not failed.unsure:
                raise
            problem = failed
        transport.patience.settle()
    raise problem or Problem("cannot set the state: others keep replacing it")


def _wanted(found: list[_Status], stamp: Stamp, ours: _Status) -> tuple[_Status, Placed]:
    """Choose what is to be seen: the newest state of the job that was first."""
    own = [each.id for each in found if each.stamp == stamp]
    states: dict[str, list[tuple[Stamp, _Status]]] = {"taken": [], "newer": [], "ours": []}
    for each in found:
        if (by := each.stamp) is not None and by != stamp:
            states[stamp.against(by, same_commit=True)].append((by, each))
    taken, newer = states["taken"], states["newer"]
    if own and taken and min(own) < min(each.id for _, each in taken):
        taken = []
    if not taken and not newer:
        return ours, Placed("set")
    by, entry = max(taken or newer, key=lambda one: (one[0].order, one[1].id))
    return entry, Placed("taken" if taken else "older", by)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def told(outcome: Outcome, report: Report | None, headline: str) -> str:
    """Say an outcome in one line, with what is to be known of a fork's."""
    if outcome.code or not outcome.unverified:
        return headline
    label = report.policy.gate.get("accept_label") if report is not None else None
    confirm = f", the label {clip(label, 40)} confirms it" if isinstance(label, str) and label else ""
    return f"unverified, measured on the fork's machine{confirm}: {headline}"


def show_status(forge: Forge, gate: str, stamp: Stamp, outcome: Outcome, description: str, address: str) -> Placed:
    """Set the commit status of a gate, in a context such as "perfgate" or "perfgate/parser".

    Success is only where the gate passes, and not on a fork's word alone.

    Raises:
        Problem: it cannot be read or set.
    """
    text = clip(description, LONGEST_DESCRIPTION)[:LONGEST_DESCRIPTION]
    state: State = "failure" if outcome.code else "pending" if outcome.unverified else "success"
    state = "error" if outcome.verdict == "error" else state
    context = ROOT if gate == ROOT else f"{ROOT}/{gate}"
    return set_status(forge, outcome.target.sha, context, stamp, state, text, address)
