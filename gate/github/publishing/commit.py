"""What the head commit shows of a gate: its commit status."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from gate.github.client import Forge
from gate.github.comment import Posted
from gate.github.problems import Problem, Task, one_line
from gate.github.stamp import Stamp, stamp_on

State = Literal["success", "failure", "error", "pending"]

LONGEST_DESCRIPTION = 140
_LONGEST_CONTEXT = 255
_COMMIT = re.compile(r"[0-9a-f]{40,64}")
_ROUNDS = 6


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
) -> Posted:
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
        if placed.did != "updated" and not (found and found[0].stamp == stamp):
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


def _wanted(found: list[_Status], stamp: Stamp, ours: _Status) -> tuple[_Status, Posted]:
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
        return ours, Posted(None, "updated")
    by, entry = max(taken or newer, key=lambda one: (one[0].order, one[1].id))
    return entry, Posted(None, "taken" if taken else "older", by)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
