"""A repository on GitHub, or on a GitHub Enterprise Server, through its API."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from gate.github import artifacts, contents, merges, pulls, statuses
from gate.github.artifacts import ArtifactFacts, RunFacts
from gate.github.problems import Problem, one_line
from gate.github.pulls import PullFacts
from gate.github.statuses import State
from gate.github.transport import Transport


class Forge:
    """What perfgate reads of a repository and writes there; comments are in gate.github.comment.

    api_url: GITHUB_API_URL. token: in no message. repository: "owner/name". timeout: seconds for one attempt.
    patience: seconds that all methods together may wait; after them each fails at once.

    Raises:
        Problem: the address, the token or the name is none. All methods raise it too, and nothing else.
    """

    def __init__(self, *, api_url: str, token: str, repository: str, timeout: float = 20, patience: float = 60) -> None:
        if not re.fullmatch(r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+", repository) or {".", ".."} & set(repository.split("/")):
            raise Problem(f"GITHUB_REPOSITORY is no owner/name: {one_line(repository)}")
        self.repository = repository
        self.transport = Transport(api_url, token, timeout, patience)

    def pull(self, number: int) -> PullFacts:
        """Read a pull request."""
        return pulls.pull(self.transport, self.repository, number)

    def pulls_of(self, head_repository: str, branch: str) -> list[PullFacts]:
        """Read the open pull requests of a branch; head_repository: "owner/name"."""
        return pulls.pulls_of(self.transport, self.repository, head_repository, branch)

    def file_at(self, path: str, ref: str) -> str | None:
        """Read a text file at a commit; None when it has no such file."""
        return contents.file_at(self.transport, self.repository, path, ref)

    def artifacts_of_run(self, run_id: int) -> list[ArtifactFacts]:
        """List the artifacts of a run, the newest first."""
        return artifacts.artifacts_of_run(self.transport, self.repository, run_id)

    def artifacts_of_head(self, head_sha: str, wanted: Callable[[RunFacts], bool]) -> list[ArtifactFacts]:
        """List the artifacts of the wanted runs of a head commit, the newest first."""
        return artifacts.artifacts_of_head(self.transport, self.repository, head_sha, wanted)

    def parents(self, commit: str) -> tuple[str, ...] | None:
        """Read the parents of a commit; None when there is no such commit."""
        return merges.parents(self.transport, self.repository, commit)

    def merge_base(self, one: str, other: str) -> str | None:
        """Read the merge base of two commits or branches; None when they have none, or one is not there."""
        return merges.merge_base(self.transport, self.repository, one, other)

    def download(self, artifact_id: int, file: Path, limit: int) -> None:
        """Save an artifact as a zip file of at most so many bytes; no file is left when that fails."""
        artifacts.download(self.transport, self.repository, artifact_id, file, limit)

    def set_status(self, sha: str, state: State, description: str, context: str, target_url: str | None) -> None:
        """Set the status of a commit; what is too long is cut."""
        statuses.set_status(self.transport, self.repository, sha, state, description, context, target_url)
