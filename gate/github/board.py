"""What one name shows on a commit, as a commit status or a check run: no earlier state replaces a later one.

GitHub cannot write under a condition. So whoever writes reads again afterwards, and puts back what was replaced.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar

from gate.github.problems import Problem
from gate.github.stamp import Stamp


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
