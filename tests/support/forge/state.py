"""What the fake knows: pull requests, comments, statuses, files, runs, artifacts, and who asks."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

# What perfgate's templates grant together; a test takes some away.
GRANTED = {"contents": "read", "pull-requests": "write", "actions": "read", "statuses": "write"}
FIRST_MOMENT = datetime(2026, 11, 20, 9, tzinfo=UTC)


@dataclass(frozen=True)
class Identity:
    """Who a token stands for; permissions None: a person, who may do everything."""

    login: str
    permissions: dict[str, str] | None = None

    @property
    def bot(self) -> bool:
        return self.login.endswith("[bot]")


@dataclass
class Pull:
    """A pull request; head_repository None: the fork was deleted."""

    number: int
    head_sha: str
    base_sha: str
    head_ref: str
    base_ref: str
    head_repository: str | None
    labels: list[str]
    title: str
    state: str = "open"
    merge_sha: str | None = None
    locked: bool = False
    pushed: str = "2026-01-01T00:00:00Z"
    """When its head's repository was pushed to last."""


@dataclass
class Run:
    """A run of a workflow."""

    id: int
    head_sha: str
    head_branch: str


@dataclass
class Artifact:
    """An uploaded artifact; data is what a download gives: a zip file, if nobody lies."""

    id: int
    run_id: int
    name: str
    data: bytes
    created: str
    expired: bool = False


@dataclass(frozen=True)
class Seen:
    """A request that arrived, and what in it does not fit GitHub's description; headers have small letters."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any
    violation: str | None = None


@dataclass
class State:
    """Everything that the fake remembers."""

    repository: str
    default_branch: str = "main"
    tokens: dict[str, Identity] = field(default_factory=dict)
    pulls: dict[int, Pull] = field(default_factory=dict)
    comments: list[dict[str, Any]] = field(default_factory=list)
    statuses: list[dict[str, Any]] = field(default_factory=list)
    files: dict[tuple[str, str], str | bytes] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)
    parents: dict[str, tuple[str, ...]] = field(default_factory=dict)
    runs: dict[int, Run] = field(default_factory=dict)
    artifacts: list[Artifact] = field(default_factory=list)
    last_id: int = 1000
    seconds: int = 0

    def new_id(self) -> int:
        """Give an id that nothing else has."""
        self.last_id += 1
        return self.last_id

    def moment(self) -> str:
        """Give the time; each asking is a second later, so that nothing happens at once."""
        self.seconds += 1
        return (FIRST_MOMENT + timedelta(seconds=self.seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")

    def comment(self, issue: int, body: str, login: str) -> dict[str, Any]:
        """Add a comment."""
        now = self.moment()
        made = {"id": self.new_id(), "issue": issue, "body": body, "user": login, "created_at": now, "updated_at": now}
        self.comments.append(made)
        return made

    def file(self, ref: str, path: str) -> bytes | None:
        """Find a file at a commit, branch or tag."""
        for name in (ref, self.refs.get(ref)):
            found = self.files.get((name or "", path))
            if found is not None:
                return found.encode() if isinstance(found, str) else found
        return None

    def known(self, ref: str) -> bool:
        """Say whether anything is at a ref."""
        shas = {pull.head_sha for pull in self.pulls.values()} | {pull.base_sha for pull in self.pulls.values()}
        named = {name for name, _ in self.files} | set(self.refs) | set(self.refs.values())
        return ref in shas | named | {self.default_branch} | {run.head_sha for run in self.runs.values()}
