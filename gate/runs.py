"""The run lines of measurement files: one run out of several that agree, and the parts of it that are missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from gate.config.parse import parse
from gate.config.source import from_tables
from gate.model import SIDES, Commit, Execution, Failure, Run, Side, UserError
from gate.records import Located


class EvidenceError(UserError):
    """Files that contradict each other."""


def run_of(records: Iterable[Located]) -> Run | None:
    """Return the run of the files: the first run line, with the benchmarks and warnings of all.

    Raises:
        EvidenceError: two run lines differ in commits, rules or the number of shards or sessions.
    """
    found: Located | None = None
    run: Run | None = None
    for located in records:
        other = located.record
        if not isinstance(other, Run):
            continue
        if run is None or found is None:
            found, run = located, other
            continue
        differing = _difference(run, other)
        if differing:
            raise EvidenceError(
                f"{found.path}:{found.line} and {located.path}:{located.line}: the runs differ in their {differing}; "
                "files of one gate must agree"
            )
        run = msgspec.structs.replace(
            run,
            benchmarks=_union(run.benchmarks, other.benchmarks),
            commands={**(other.commands or {}), **(run.commands or {})} or None,
            warnings=list(dict.fromkeys([*run.warnings, *other.warnings])),
        )
    return run


def _difference(one: Run, other: Run) -> str:
    if _identity(one.base) != _identity(other.base):
        return "base commit"
    if _identity(one.head) != _identity(other.head):
        return "head commit"
    if one.config != other.config and not _same_rules(one, other):
        return "rules"
    if _shards(one) != _shards(other):
        return "number of shards"
    return "number of sessions" if (one.sessions or 1) != (other.sessions or 1) else ""


def _identity(commit: Commit | None) -> tuple[str | None, str | None]:
    if commit is None:
        return None, None
    # a branch has another name in another clone
    return commit.sha or commit.ref, commit.tree


def _same_rules(one: Run, other: Run) -> bool:
    if one.config is None or other.config is None:
        return False
    first, second = (parse(from_tables(c, "the run's config"), lenient=True) for c in (one.config, other.config))
    return first == second


def _shards(run: Run) -> int:
    return int(run.shard.partition("/")[2]) if run.shard else 1


def _union(one: dict[Side, list[str]] | None, other: dict[Side, list[str]] | None) -> dict[Side, list[str]] | None:
    if one is None or other is None:
        return one or other
    return {side: list(dict.fromkeys([*one.get(side, []), *other.get(side, [])])) for side in SIDES}


def missing_parts(records: Sequence[Located]) -> list[Failure]:
    """Return a failure for each shard and each session that the run lines promise and the files do not hold."""
    runs = [r.record for r in records if isinstance(r.record, Run)]
    if not runs:
        return []
    shards = max(_shards(run) for run in runs)
    present = {int(run.shard.partition("/")[0]) for run in runs if run.shard}
    failures = [
        Failure(kind="missing", status=f"shard {shard} of {shards} is missing")
        for shard in range(1, shards + 1)
        if shards > 1 and shard not in present
    ]
    sessions = max(run.sessions or 1 for run in runs)
    measured = {
        side: {r.record.session for r in records if isinstance(r.record, Execution) and r.record.side == side}
        for side in SIDES
    }
    failures += [
        Failure(kind="missing", side=side, session=session, status=f"session {session} of {sessions} is missing")
        for session in range(sessions)
        for side in SIDES
        if sessions > 1 and session not in measured[side]
    ]
    return failures
