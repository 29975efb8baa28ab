"""A repository on GitHub, or on a GitHub Enterprise Server: what perfgate reads of it and writes there."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import msgspec

from gate.github import artifacts
from gate.github.artifacts import ArtifactFacts, RunFacts
from gate.github.problems import Problem, Task, one_line
from gate.github.transport import Transport

LARGEST_FILE = 1_000_000
"""Bytes; GitHub leaves out the content of what is larger than 1 MB."""
# to read takes `read` alone; the same job comments, and two lines for one permission would contradict each other
_PULLS = "pull-requests: write"
_CONTENTS = "contents: read"
_KINDS = {"dir": "a directory", "symlink": "a symbolic link", "submodule": "a submodule"}
# no such commit, an empty repository, no commit at all
_NO_COMMIT = (404, 409, 422)


class _Repository(msgspec.Struct):
    full_name: str
    pushed_at: str | None = None


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


class _Content(msgspec.Struct):
    type: str
    size: int
    content: str = ""
    encoding: str = ""


class _Parent(msgspec.Struct):
    sha: str


class _Commit(msgspec.Struct):
    parents: list[_Parent]


class _Comparison(msgspec.Struct):
    merge_base_commit: _Parent


@dataclass(frozen=True, slots=True)
class PullFacts:
    """A pull request as it is now; refs, labels and the head's repository are what its author chose."""

    number: int
    state: str
    """Open or closed."""
    head_sha: str
    head_repository: str | None
    """Such as "owner/name", None when it was deleted."""
    head_ref: str
    base_ref: str
    base_sha: str
    merge_sha: str | None
    """The commit that GitHub tries the merge with, or the one that was merged."""
    labels: tuple[str, ...]
    base_repository: str | None
    pushed: str
    """When the head's repository was last pushed to, by the forge's clock (ISO 8601), "" where it does not say."""


class Forge:
    """What perfgate reads of a repository; comments, statuses and check runs are in modules of their own.

    api_url: GITHUB_API_URL. token: in no message. repository: "owner/name". timeout: seconds for one attempt.
    patience: seconds that all methods together may wait; after them each fails at once.

    Raises:
        Problem: the address, the token or the name is none. All methods raise it too, and nothing else.
    """

    def __init__(self, *, api_url: str, token: str, repository: str, timeout: float = 20, patience: float = 60) -> None:
        if not re.fullmatch(r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+", repository) or {".", ".."} & set(repository.split("/")):
            raise Problem(f"GITHUB_REPOSITORY is not owner/name: {one_line(repository)}")
        self.repository = repository
        self.transport = Transport(api_url, token, timeout, patience)
        self._here = f"/repos/{repository}"

    def pull(self, number: int, permission: str = _PULLS) -> PullFacts:
        """Read a pull request.

        Args:
            permission: that is missing where this is denied; a job that only reads is not to be given more.
        """
        task = Task(f"read pull request #{number}", permission)
        return _pull_facts(self.transport.get(task, f"{self._here}/pulls/{number}", _Pull))

    def pulls_of(self, head_repository: str, branch: str) -> list[PullFacts]:
        """Read the open pull requests of a branch.

        Args:
            head_repository: "owner/name".
        """
        task = Task(f"find the pull requests of a branch of {head_repository}", _PULLS)
        head = f"{head_repository.partition('/')[0]}:{branch}"
        found = self.transport.listed(task, f"{self._here}/pulls", list[_Pull], list, head=head, state="open")
        # GitHub takes a filter that it cannot read for none, and an owner may have several forks
        facts = {one.number: _pull_facts(one) for one in found}
        return [
            one
            for one in facts.values()
            if one.state == "open"
            and one.head_ref == branch
            and (one.head_repository or "").casefold() == head_repository.casefold()
        ]

    def file_at(self, path: str, ref: str) -> str | None:
        """Read a text file at a commit, branch or tag; None when it has no such file.

        A link to a file is read as the file.

        Args:
            path: from the top of the repository.
        """
        task = Task(f"read {path} at {ref[:40]}", _CONTENTS)
        if not ref or any(part in ("", ".", "..") for part in path.split("/")):
            raise task.failed("write the path from the top of the repository, and the commit")
        try:
            answer = self.transport.call(task, "GET", f"{self._here}/contents/{quote(path)}", parameters={"ref": ref})
        except Problem as problem:
            if problem.status == 404 and "No commit found" not in problem.said:
                return None
            raise
        if answer.body.lstrip().startswith("["):
            raise task.failed("it is a directory")
        found = self.transport.decode(task, answer, _Content)
        if found.type != "file":
            raise task.failed(f"it is {_KINDS.get(found.type, 'no file')}")
        if found.size > LARGEST_FILE or (found.size and found.encoding != "base64"):
            raise task.failed(f"it has {found.size:,} bytes, and perfgate reads {LARGEST_FILE:,}")
        try:
            return base64.b64decode(found.content).decode()
        except ValueError:
            raise task.failed("it is not UTF-8 text") from None

    def parents(self, commit: str) -> tuple[str, ...] | None:
        """Read the parents of a commit; None when there is no such commit."""
        task = Task(f"read commit {commit[:10]}", _CONTENTS)
        try:
            found = self.transport.get(task, f"{self._here}/git/commits/{commit}", _Commit)
        except Problem as problem:
            if problem.status in _NO_COMMIT:
                return None
            raise
        return tuple(parent.sha for parent in found.parents)

    def is_merge_of(self, commit: str, head: str) -> bool:
        """Return whether a commit merges a head into what was its target then.

        The one that a pull request names is of now: it is made anew when the target moves on, as it does while a
        benchmark runs.
        """
        found = self.parents(commit)
        return found is not None and len(found) == 2 and found[1] == head

    def merge_base(self, one: str, other: str) -> str | None:
        """Read the merge base of two commits or branches; None when they have none, or one is not there."""
        task = Task(f"compare {one_line(one)[:40]} with {one_line(other)[:40]}", _CONTENTS)
        where = f"{self._here}/compare/{quote(one, safe='')}...{quote(other, safe='')}"
        try:
            found = self.transport.get(task, where, _Comparison, per_page="1")
        except Problem as problem:
            if problem.status in _NO_COMMIT:
                return None
            raise
        return found.merge_base_commit.sha

    def artifacts_of_run(self, run_id: int) -> list[ArtifactFacts]:
        """List the artifacts of a run, the newest first."""
        return artifacts.artifacts_of_run(self.transport, self.repository, run_id)

    def artifacts_of_head(self, head_sha: str, wanted: Callable[[RunFacts], bool]) -> list[ArtifactFacts]:
        """List the artifacts of the wanted runs of a head commit, the newest first."""
        return artifacts.artifacts_of_head(self.transport, self.repository, head_sha, wanted)

    def runs_of_head(self, head_sha: str) -> list[RunFacts]:
        """List the runs of a head commit, the oldest first."""
        return artifacts.runs_of_head(self.transport, self.repository, head_sha)

    def download(self, artifact_id: int, file: Path, limit: int) -> None:
        """Save an artifact as a zip file of at most so many bytes; no file is left when that fails."""
        artifacts.download(self.transport, self.repository, artifact_id, file, limit)


def _pull_facts(said: _Pull) -> PullFacts:
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
        base_repository=said.base.repo.full_name if said.base.repo else None,
        pushed=(said.head.repo.pushed_at if said.head.repo else None) or "",
    )
