"""Artifacts of workflow runs: which there are, and one as a file from a storage that never sees the token."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import msgspec

from gate.github.problems import Task, Trouble, of_error, one_line
from gate.github.transport import Overdue, Transport

if TYPE_CHECKING:
    from requests import PreparedRequest, Response, Session

_PERMISSION = "actions: read"
_CHUNK = 1 << 16
_REDIRECTIONS = 3
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


class _Origin(msgspec.Struct):
    head_sha: str | None = None


class _Artifact(msgspec.Struct):
    id: int
    name: str
    size_in_bytes: int
    expired: bool
    created_at: str | None = None
    workflow_run: _Origin | None = None


class _Artifacts(msgspec.Struct):
    artifacts: list[_Artifact]


class _Repository(msgspec.Struct):
    full_name: str = ""


class _Number(msgspec.Struct):
    number: int


class _Run(msgspec.Struct):
    id: int
    head_sha: str
    run_attempt: int | None = None
    run_started_at: str | None = None
    """Of that attempt."""
    event: str = ""
    path: str | None = None
    head_branch: str | None = None
    head_repository: _Repository | None = None
    pull_requests: list[_Number] | None = None


class _Runs(msgspec.Struct):
    workflow_runs: list[_Run]


@dataclass(frozen=True, slots=True)
class ArtifactFacts:
    """An artifact, by what its maker called it."""

    id: int
    name: str
    size: int
    """Bytes of the zip file, as GitHub says."""
    expired: bool
    run_id: int
    run_attempt: int | None
    """The newest of its run that may have made it, None where it was not asked for."""
    head_sha: str
    """Empty where GitHub does not say."""
    created: str
    """ISO 8601 in UTC, or ""."""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A run of a workflow, and what started it."""

    id: int
    attempt: int | None
    began: str
    """When that attempt did, "" where GitHub does not say."""
    event: str
    path: str
    """Of the workflow's file in the repository, "" where GitHub does not say."""
    head_branch: str
    head_repository: str
    """Such as "owner/name", "" when it was deleted."""
    pulls: tuple[int, ...]
    """The open pull requests that have this head by now, none for a fork's."""


def artifacts_of_run(
    transport: Transport, repository: str, run_id: int, attempt: int | None = None, head_sha: str = "", began: str = ""
) -> list[ArtifactFacts]:
    """List what a run has left, the newest first.

    Args:
        attempt, head_sha, began: what is known of the run: its newest attempt, and when that began.

    Raises:
        Problem: it cannot be read.
    """
    task = Task(f"list the artifacts of run {run_id}", _PERMISSION)
    where = f"/repos/{repository}/actions/runs/{run_id}/artifacts"
    found = transport.listed(task, where, _Artifacts, lambda page: page.artifacts)
    facts = [
        ArtifactFacts(
            id=one.id,
            name=one.name,
            size=one.size_in_bytes,
            expired=one.expired,
            run_id=run_id,
            # what is there longer than the newest attempt is of one before, at the latest the last
            run_attempt=attempt - 1 if attempt and attempt > 1 and (one.created_at or "~") < began else attempt,
            head_sha=(one.workflow_run and one.workflow_run.head_sha) or head_sha,
            created=one.created_at or "",
        )
        for one in {one.id: one for one in found}.values()
    ]
    return sorted(facts, key=lambda one: (one.created, one.id), reverse=True)


def artifacts_of_head(
    transport: Transport, repository: str, head_sha: str, wanted: Callable[[RunFacts], bool]
) -> list[ArtifactFacts]:
    """List what the wanted runs of a head commit have left, the newest first.

    Raises:
        Problem: it cannot be read.
    """
    found = [
        artifact
        for run in runs_of_head(transport, repository, head_sha)
        if wanted(run)
        for artifact in artifacts_of_run(transport, repository, run.id, run.attempt, head_sha, run.began)
    ]
    return sorted(found, key=lambda one: (one.created, one.id), reverse=True)


def runs_of_head(transport: Transport, repository: str, head_sha: str) -> list[RunFacts]:
    """List the runs of a head commit, the oldest first.

    Raises:
        Problem: they cannot be read.
    """
    task = Task(f"list the runs of {one_line(head_sha)[:12]}", _PERMISSION)
    where = f"/repos/{repository}/actions/runs"
    runs = transport.listed(task, where, _Runs, lambda page: page.workflow_runs, head_sha=head_sha)
    found = {run.id: _facts(run) for run in runs if run.head_sha == head_sha}
    return [found[number] for number in sorted(found)]


def _facts(run: _Run) -> RunFacts:
    return RunFacts(
        id=run.id,
        attempt=run.run_attempt,
        began=run.run_started_at or "",
        event=run.event,
        path=run.path or "",
        head_branch=run.head_branch or "",
        head_repository=run.head_repository.full_name if run.head_repository else "",
        pulls=tuple(one.number for one in run.pull_requests or ()),
    )


def download(transport: Transport, repository: str, artifact_id: int, file: Path, limit: int) -> None:
    """Save an artifact as the zip file that its maker may have forged.

    Args:
        limit: bytes.

    Raises:
        Problem: it has expired, is larger, or cannot be read or saved; no file is left then.
    """
    task = Task(f"download artifact {artifact_id}", _PERMISSION)
    where = f"/repos/{repository}/actions/artifacts/{artifact_id}/zip"
    answer = transport.call(task, "GET", where, redirect=True)
    address = answer.headers.get("location")
    if not address:
        raise task.failed(f"GitHub gives no address for it ({answer.status})", status=answer.status)
    # save what is at a place
    place = Place(urljoin(transport.api_url, address))

    def attempt() -> Trouble | None:
        stop = threading.Event()
        patience = transport.patience
        reading = _Reading(task, place, transport, file, limit, stop)
        try:
            return patience.within(patience.left, reading.save)
        except Overdue:
            return Trouble(task.failed(f"no end of it within {patience.seconds:g} s from {place.host}"))
        except Exception as error:  # noqa: BLE001  # whatever the libraries raise, in words without the address
            return of_error(task, error, place.host)
        finally:
            stop.set()

    done = False
    try:
        transport.persist(task, attempt, repeatable=True)
        done = True
    finally:
        if not done:
            with suppress(OSError):
                file.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class Place:
    """A signed address, as good as a token: show only its host."""

    address: str

    @property
    def host(self) -> str:
        """The host."""
        return urlsplit(self.address).hostname or "?"

    def allowed(self, api_url: str) -> bool:
        """Say whether it may be read: encrypted, on this machine, or beside an API that is not encrypted either."""
        place, api = urlsplit(self.address), urlsplit(api_url)
        if place.scheme == "http":
            return place.hostname in _LOOPBACK or (api.scheme == "http" and api.hostname == place.hostname)
        return place.scheme == "https" and bool(place.hostname)


@dataclass(frozen=True, slots=True)
class _Reading:
    task: Task
    place: Place
    transport: Transport
    file: Path
    limit: int
    stop: threading.Event

    def save(self) -> Trouble | None:
        """Follow the place to a file and save it; what is not there is a trouble."""
        from requests import Session  # late: slow to import, and seldom needed

        with Session() as session:
            session.auth = _nobody
            place = self.place
            for _ in range(_REDIRECTIONS + 1):
                if not place.allowed(self.transport.api_url):
                    return Trouble(self.task.failed(f"GitHub sends to {place.host} without encryption"))
                with self._open(session, place) as response:
                    onward = response.headers.get("Location") if response.is_redirect else None
                    if onward is None:
                        return self._saved(response, place)
                place = Place(urljoin(place.address, onward))
        return Trouble(self.task.failed(f"{place.host} redirects too often"))

    def _open(self, session: Session, place: Place) -> Response:
        headers = {"User-Agent": "perfgate", "Accept-Encoding": "identity"}
        return session.get(
            place.address, headers=headers, stream=True, allow_redirects=False, timeout=self.transport.timeout
        )

    def _saved(self, response: Response, place: Place) -> Trouble | None:
        status = response.status_code
        if status != 200:
            problem = self.task.failed(f"the storage {place.host} answers with {status}", status=status)
            return Trouble(problem, again=status >= 500 or status == 429)
        if self.stop.is_set():  # nobody waits any more
            return None
        try:
            out = self.file.open("wb", buffering=0)
        except OSError as error:
            return Trouble(self.task.failed(f"{self.file} cannot be written: {error.strerror}"))
        with out:
            return self._copied(response, out)

    def _copied(self, response: Response, out: FileIO) -> Trouble | None:
        written = 0
        for chunk in response.iter_content(_CHUNK):
            written += len(chunk)
            if written > self.limit:
                return Trouble(self.task.failed(f"it has more than {self.limit:,} bytes"))
            if self.stop.is_set():
                break
            try:
                rest = memoryview(chunk)
                while rest:
                    rest = rest[out.write(rest) :]
            except OSError as error:  # the disk's, not the connection's
                return Trouble(self.task.failed(f"{self.file} cannot be written: {error.strerror}"))
        return None


def _nobody(request: PreparedRequest) -> PreparedRequest:
    """Keep requests from what ~/.netrc holds for the host."""
    return request
