"""Pull requests: what one is, and which ones a branch has."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from gate.github.problems import Task
from gate.github.transport import Transport

# to read takes `read` alone; the same job comments, and two lines for one permission would contradict each other
_PERMISSION = "pull-requests: write"


class _Repository(msgspec.Struct):
    full_name: str


class _Side(msgspec.Struct):
    ref: str
    sha: str
    repo: _Repository | None = None


class _Label(msgspec.Struct):
    name: str


class _Pull(msgspec.Struct):
    number: int
    state: str
    head: _Side
    base: _Side
    merge_commit_sha: str | None = None
    labels: list[_Label] = []


@dataclass(frozen=True, slots=True)
class PullFacts:
    """A pull request as it is now; refs, labels and the head's repository are what its author chose.

    state: open or closed. head_repository: "owner/name", None when it was deleted. merge_sha: the commit that GitHub
    tries the merge with, or the one that was merged.
    """

    number: int
    state: str
    head_sha: str
    head_repository: str | None
    head_ref: str
    base_ref: str
    base_sha: str
    merge_sha: str | None
    labels: tuple[str, ...]


def pull(transport: Transport, repository: str, number: int) -> PullFacts:
    """Read a pull request.

    Raises:
        Problem: it cannot be read.
    """
    task = Task(f"read pull request #{number}", _PERMISSION)
    return _facts(transport.get(task, f"/repos/{repository}/pulls/{number}", _Pull))


def pulls_of(transport: Transport, repository: str, head_repository: str, branch: str) -> list[PullFacts]:
    """Read the open pull requests of a branch, of whatever repository it is.

    Raises:
        Problem: they cannot be read.
    """
    task = Task(f"find the pull requests of a branch of {head_repository}", _PERMISSION)
    owner = head_repository.partition("/")[0]
    found = transport.listed(
        task, f"/repos/{repository}/pulls", list[_Pull], list, head=f"{owner}:{branch}", state="open"
    )
    # GitHub takes a filter that it cannot read for none, and an owner may have several forks
    facts = {one.number: _facts(one) for one in found}
    return [
        one
        for one in facts.values()
        if one.state == "open"
        and one.head_ref == branch
        and (one.head_repository or "").casefold() == head_repository.casefold()
    ]


def _facts(said: _Pull) -> PullFacts:
    return PullFacts(
        number=said.number,
        state=said.state,
        head_sha=said.head.sha,
        head_repository=said.head.repo.full_name if said.head.repo else None,
        head_ref=said.head.ref,
        base_ref=said.base.ref,
        base_sha=said.base.sha,
        merge_sha=said.merge_commit_sha,
        labels=tuple(label.name for label in said.labels),
    )
