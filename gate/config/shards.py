"""The part of a gate that one of several jobs measures: a shard of the benchmarks, in one of the sessions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gate.cli.option_values import Shard
from gate.model import UserError
from gate.writing.units import plural

if TYPE_CHECKING:
    from gate.config.types import Plan
    from gate.model import Run
    from gate.model.warnings import AnyWarning


@dataclass(frozen=True, slots=True)
class JobPart:
    """What one of several jobs measures; session from 0."""

    shard: Shard
    session: int
    sessions: int

    def __str__(self) -> str:
        """Name it for a reader."""
        shard = f"shard {self.shard.number} of {self.shard.of}, " if self.shard.of > 1 else ""
        return f"{shard}session {self.session} of {self.sessions}"


def part_of(shard: Shard | None, session: int | None, sessions: int | None, plan: Plan) -> JobPart | None:
    """Settle which part is meant; None: all of it in the only session, as without options.

    Args:
        sessions: None stands for plan.sessions, if one of the others is given.

    Raises:
        UserError: a session that there is not, or several and none of them named.
    """
    if shard is None and session is None and sessions is None:
        return None
    count = sessions if sessions is not None else plan.sessions
    where = "" if sessions is not None else " (plan.sessions)"
    if session is None and count > 1:
        raise UserError(f"there are {count} sessions{where}: say which one this is with --session 0 to {count - 1}")
    if session is not None and session >= count:
        last = f"the last of {count} sessions{where} is {count - 1}" if count > 1 else f"there is 1 session{where}"
        raise UserError(f"{session}: {last}, counted from 0; --sessions {session + 1} makes more", option="session")
    found = JobPart(shard or Shard(1, 1), session or 0, count)
    return found if found.shard.of > 1 or found.sessions > 1 else None


def names_in(names: Iterable[str], shard: Shard) -> frozenset[str]:
    """Return the names of a shard: every N-th in the order of the alphabet, so that shards differ by one at most.

    Args:
        names: the benchmarks of both sides, so that both have each in the same shard, and every machine knows which.

    Raises:
        UserError: fewer names than shards.
    """
    ordered = sorted(set(names))
    if shard.of > len(ordered):
        raise UserError(f"{shard}: {too_many(shard.of, len(ordered))}", option="shard")
    return frozenset(ordered[shard.number - 1 :: shard.of])


def too_many(shards: int, benchmarks: int) -> str:
    """Say that there are fewer benchmarks than shards."""
    have = plural(benchmarks, "benchmark")
    return (
        f"both sides have {have} together, too few for {shards} shards: at most one shard a benchmark (a suite is one)"
    )


def session_seed(seed: int, session: int) -> int:
    """Return the seed of a session where one is given: the same for its shards, and no layout twice."""
    if session == 0:
        return seed
    digest = hashlib.sha256(json.dumps([seed, "session", session]).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def part_warnings(plan: Plan) -> list[AnyWarning]:
    """Say what several jobs cannot have of what one has."""
    from gate.config.rules import most_builds
    from gate.config.types import Builds
    from gate.model.warnings.base import Said
    from gate.writing.units import plural

    most = most_builds(plan, early=False)
    if not isinstance(plan.builds, Builds) or plan.builds.min >= most:
        return []
    text = f"several jobs do not stop early: each measures up to {plural(most, 'round')}, as its budget allows"
    return [Said(text, "no-early-stop")]


def refuse_other_part(past: Run, now: Run, folder: object) -> None:
    """Refuse to go on with the run of another shard or session. Raises: UserError: naming both."""
    named = []
    for run in (past, now):
        session = "" if run.sessions is None else f"session {run.session} of {run.sessions}"
        words = filter(None, [f"shard {run.shard}" if run.shard else "", session])
        named.append(", ".join(words) or "no part of several")
    was, is_ = named
    if was != is_:
        raise UserError(f"--resume: the run in {folder} is {was}, this is {is_}")
