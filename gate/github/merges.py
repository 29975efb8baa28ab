"""How commits hang together: merges that GitHub tries, one for each state of a target, and where branches parted."""

from __future__ import annotations

from urllib.parse import quote

import msgspec

from gate.github.problems import Problem, Task, one_line
from gate.github.transport import Transport

_PERMISSION = "contents: read"
# no such commit, an empty repository, no commit at all
_NONE = (404, 409, 422)


class _Parent(msgspec.Struct):
    sha: str


class _Commit(msgspec.Struct):
    parents: list[_Parent]


class _Comparison(msgspec.Struct):
    merge_base_commit: _Parent


def is_merge_of(transport: Transport, repository: str, commit: str, head: str) -> bool:
    """Tell whether a commit merges a head into what was its target then.

    The one that a pull request names is of now: it is made anew when the target moves on, as it does while a benchmark
    runs.

    Raises:
        Problem: it cannot be read.
    """
    found = parents(transport, repository, commit)
    return found is not None and len(found) == 2 and found[1] == head


def parents(transport: Transport, repository: str, commit: str) -> tuple[str, ...] | None:
    """Read the parents of a commit; None when there is no such commit.

    Raises:
        Problem: it cannot be read.
    """
    task = Task(f"read commit {commit[:10]}", _PERMISSION)
    try:
        found = transport.get(task, f"/repos/{repository}/git/commits/{commit}", _Commit)
    except Problem as problem:
        if problem.status in _NONE:
            return None
        raise
    return tuple(parent.sha for parent in found.parents)


def merge_base(transport: Transport, repository: str, one: str, other: str) -> str | None:
    """Read the merge base of two commits or branches; None when they have none, or one is not there.

    Raises:
        Problem: it cannot be read.
    """
    task = Task(f"compare {one_line(one)[:40]} with {one_line(other)[:40]}", _PERMISSION)
    where = f"/repos/{repository}/compare/{quote(one, safe='')}...{quote(other, safe='')}"
    try:
        found = transport.get(task, where, _Comparison, per_page="1")
    except Problem as problem:
        if problem.status in _NONE:
            return None
        raise
    return found.merge_base_commit.sha
