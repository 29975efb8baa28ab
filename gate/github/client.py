"""A repository on GitHub, or on a GitHub Enterprise Server: what perfgate reads of it."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urljoin, urlsplit

import msgspec

from gate.github.transport import Problem, Task, Transport, Trouble, of_error

if TYPE_CHECKING:
    from gate.github.event import Event

LARGEST_FILE = 1_000_000
"""Bytes; GitHub leaves out the content of what is larger than 1 MB."""
# to read takes `read` alone; the same job comments, and two lines for one permission would contradict each other
_PULLS = "pull-requests: write"
_CONTENTS = "contents: read"
_ACTIONS = "actions: read"
_CHUNK = 1 << 16
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


class _Repository(msgspec.Struct):
    full_name: str = ""
    pushed_at: str | None = None


class PullSide(msgspec.Struct):
    """Head or base of a pull request; what head names is its author's choice."""

    ref: str
    sha: str
    repo: _Repository | None = None

    @property
    def repository(self) -> str:
        """Such as "owner/name", "" when it was deleted."""
        return self.repo.full_name if self.repo else ""


class Label(msgspec.Struct):
    """A label of a pull request."""

    name: str


class PullFacts(msgspec.Struct, rename={"merge_sha": "merge_commit_sha"}):
    """A pull request as it is now."""

    number: int
    state: str
    """Open or closed."""
    head: PullSide
    base: PullSide
    merge_sha: str | None = None
    """The commit that GitHub tries the merge with, or the one that was merged."""
    labels: list[Label] = []

    @property
    def pushed(self) -> str:
        """When the head's repository was last pushed to, by the forge's clock (ISO 8601), "" where it does not say."""
        return (self.head.repo.pushed_at if self.head.repo else None) or ""


class ArtifactFacts(msgspec.Struct, frozen=True):
    """An artifact, by what its maker called it."""

    id: int
    name: str
    expired: bool
    created_at: str | None = None
    """ISO 8601 in UTC."""


class _Artifacts(msgspec.Struct):
    artifacts: list[ArtifactFacts]


class _Content(msgspec.Struct):
    type: str
    size: int
    content: str = ""
    encoding: str = ""


class _Parent(msgspec.Struct):
    sha: str


class _Commit(msgspec.Struct):
    parents: list[_Parent]


def may_read(address: str, api_url: str) -> bool:
    """Say whether an address may be read: encrypted, on this machine, or beside an API that is not encrypted either."""
    place, api = urlsplit(address), urlsplit(api_url)
    if place.scheme == "http":
        return place.hostname in _LOOPBACK or (api.scheme == "http" and api.hostname == place.hostname)
    return place.scheme == "https" and bool(place.hostname)


def _saved(transport: Transport, task: Task, address: str, file: Path, limit: int) -> Trouble | None:
    """Save what is at a signed address, which is as good as a token: only its host is shown."""
    from requests import Session  # late: slow to import, and seldom needed

    host = _host(address)
    with Session() as session:
        # not what ~/.netrc holds for the host
        session.auth = lambda request: request
        session.headers.update({"User-Agent": "perfgate", "Accept-Encoding": "identity"})
        if not may_read(address, transport.api_url):
            return Trouble(task.failed(f"GitHub sends to {host} without encryption"))
        timeout = transport.timeout
        with session.get(address, stream=True, allow_redirects=False, timeout=timeout) as response:
            status = response.status_code
            if status == 200:
                return _copied(task, response.iter_content(_CHUNK), file, limit)
            problem = task.failed(f"the storage {host} answers with {status}", status=status)
            return Trouble(problem, again=status >= 500 or status == 429)


def _host(address: str) -> str:
    return urlsplit(address).hostname or "?"


def _copied(task: Task, chunks: Iterable[bytes], file: Path, limit: int) -> Trouble | None:
    from requests import RequestException

    written = 0
    try:
        with file.open("wb") as out:
            for chunk in chunks:
                written += len(chunk)
                if written > limit:
                    return Trouble(task.failed(f"it has more than {limit:,} bytes"))
                out.write(chunk)
    except RequestException:  # the connection's, not the disk's
        raise
    except OSError as error:
        return Trouble(task.failed(f"{file} cannot be written: {error.strerror}"))
    return None


class Forge:
    """What perfgate reads of a repository; comments and statuses are in modules of their own.

    api_url, repository: as read_event has them. token: in no message. timeout: seconds without a byte. patience:
    seconds that all methods together may wait; after them each fails at once.

    Raises: Problem: the token is none. All methods raise it too, and nothing else.
    """

    def __init__(self, *, api_url: str, token: str, repository: str, timeout: float = 20, patience: float = 60) -> None:
        self.repository = repository
        self.transport = Transport(api_url, token, timeout, patience)
        self._here = f"/repos/{repository}"

    def pull(self, number: int, permission: str = _PULLS) -> PullFacts:
        """Read a pull request; permission: what a refusal says is missing, no more than the job has use for."""
        task = Task(f"read pull request #{number}", permission)
        return self.transport.get(task, f"{self._here}/pulls/{number}", PullFacts)

    def pulls_of(self, head_repository: str, branch: str) -> list[PullFacts]:
        """Read the open pull requests of a branch of "owner/name"."""
        task = Task(f"find the pull requests of a branch of {head_repository}", _PULLS)
        head = f"{head_repository.partition('/')[0]}:{branch}"
        found = self.transport.listed(task, f"{self._here}/pulls", list[PullFacts], list, head=head, state="open")
        # GitHub takes a filter that it cannot read for none, and an owner may have several forks
        wanted = ("open", branch, head_repository.casefold())
        each = {one.number: one for one in found}.values()
        return [one for one in each if (one.state, one.head.ref, one.head.repository.casefold()) == wanted]

    def file_at(self, path: str, ref: str) -> str | None:
        """Read a text file at a commit, branch or tag; None when it has none; a link to a file is read as the file."""
        task = Task(f"read {path} at {ref[:40]}", _CONTENTS)
        try:
            answer = self.transport.call(task, "GET", f"{self._here}/contents/{quote(path)}", parameters={"ref": ref})
        except Problem as problem:
            if problem.status == 404 and "No commit found" not in problem.said:
                return None
            raise
        # a list is what is in a directory
        listed = answer.body.lstrip().startswith("[")
        found = _Content("dir", 0) if listed else self.transport.decode(task, answer, _Content)
        if found.type != "file":
            raise task.failed("it is no file")
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
            # no such commit, an empty repository, no commit at all
            if problem.status in (404, 409, 422):
                return None
            raise
        return tuple(parent.sha for parent in found.parents)

    def artifacts_of_run(self, run_id: int) -> list[ArtifactFacts]:
        """List the artifacts of a run, the newest first."""
        task = Task(f"list the artifacts of run {run_id}", _ACTIONS)
        where = f"{self._here}/actions/runs/{run_id}/artifacts"
        found = self.transport.listed(task, where, _Artifacts, lambda page: page.artifacts)
        each = {one.id: one for one in found}.values()
        return sorted(each, key=lambda one: (one.created_at or "", one.id), reverse=True)

    def download(self, artifact_id: int, file: Path, limit: int) -> None:
        """Save an artifact as the zip file that its maker may have forged.

        Args:
            limit: bytes.

        Raises:
            Problem: it has expired, is larger, or cannot be read or saved; no file is left then.
        """
        task = Task(f"download artifact {artifact_id}", _ACTIONS)
        where = f"{self._here}/actions/artifacts/{artifact_id}/zip"
        transport, answer = self.transport, self.transport.call(task, "GET", where, redirect=True)
        if not answer.headers.get("location"):
            raise task.failed(f"GitHub gives no address for it ({answer.status})", status=answer.status)
        address = urljoin(transport.api_url, answer.headers["location"])

        def attempt() -> Trouble | None:
            try:
                return _saved(transport, task, address, file, limit)
            except Exception as error:  # noqa: BLE001  # whatever the libraries raise, in words without the address
                return of_error(task, error, _host(address))

        try:
            transport.persist(task, attempt, repeatable=True)
        except BaseException:
            with suppress(OSError):
                file.unlink(missing_ok=True)
            raise


PATIENCE = 600.0
"""Seconds that a step waits for GitHub in all: longer than it usually asks to wait after too many requests."""


def token_of(environment: Mapping[str, str]) -> str | None:
    """Return the token of this step; None: it has none."""
    return environment.get("GITHUB_TOKEN") or None


def forge_of(event: Event, environment: Mapping[str, str]) -> Forge:
    """Return the event's forge. Raises: Problem: this step has no token, or the forge has no address."""
    token = token_of(environment)
    if token is None:
        raise Problem("this step has no token: GITHUB_TOKEN is not set (the action's input token)")
    return Forge(api_url=event.api_url, token=token, repository=event.repository, patience=PATIENCE)
