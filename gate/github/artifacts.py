"""Artifacts of workflow runs: which there are, and one as a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urljoin

import msgspec

from gate.github.problems import Task, one_line
from gate.github.storage import Place, fetch
from gate.github.transport import Transport

_PERMISSION = "actions: read"


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
    event: str = ""
    path: str | None = None
    head_branch: str | None = None
    head_repository: _Repository | None = None
    pull_requests: list[_Number] | None = None


class _Runs(msgspec.Struct):
    workflow_runs: list[_Run]


@dataclass(frozen=True, slots=True)
class ArtifactFacts:
    """An artifact, by what its maker called it.

    size: bytes of the zip file, as GitHub says. run_attempt: the newest of its run, None where it was not asked for.
    head_sha: "" where GitHub does not say. created: ISO 8601 in UTC, or "".
    """

    id: int
    name: str
    size: int
    expired: bool
    run_id: int
    run_attempt: int | None
    head_sha: str
    created: str


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A run of a workflow, and what started it.

    path: of the workflow's file in the repository, "" where GitHub does not say. head_repository: "owner/name", "" when
    it was deleted. pulls: the open pull requests that have this head by now, none for a fork's.
    """

    id: int
    attempt: int | None
    event: str
    path: str
    head_branch: str
    head_repository: str
    pulls: tuple[int, ...]


def artifacts_of_run(
    transport: Transport, repository: str, run_id: int, attempt: int | None = None, head_sha: str = ""
) -> list[ArtifactFacts]:
    """List what a run has left, the newest first; attempt and head_sha: what is known of the run.

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
            run_attempt=attempt,
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
    task = Task(f"list the runs of {one_line(head_sha)[:12]}", _PERMISSION)
    where = f"/repos/{repository}/actions/runs"
    runs = transport.listed(task, where, _Runs, lambda page: page.workflow_runs, head_sha=head_sha)
    found = [
        artifact
        for run in {run.id: run for run in runs if run.head_sha == head_sha}.values()
        if wanted(_facts(run))
        for artifact in artifacts_of_run(transport, repository, run.id, run.run_attempt, head_sha)
    ]
    return sorted(found, key=lambda one: (one.created, one.id), reverse=True)


def _facts(run: _Run) -> RunFacts:
    return RunFacts(
        id=run.id,
        attempt=run.run_attempt,
        event=run.event,
        path=run.path or "",
        head_branch=run.head_branch or "",
        head_repository=run.head_repository.full_name if run.head_repository else "",
        pulls=tuple(one.number for one in run.pull_requests or ()),
    )


def download(transport: Transport, repository: str, artifact_id: int, file: Path, limit: int) -> None:
    """Save an artifact as the zip file that its maker may have forged; limit: bytes.

    Raises:
        Problem: it has expired, is larger, or cannot be read or saved; no file is left then.
    """
    task = Task(f"download artifact {artifact_id}", _PERMISSION)
    where = f"/repos/{repository}/actions/artifacts/{artifact_id}/zip"
    answer = transport.call(task, "GET", where, redirect=True)
    address = answer.headers.get("location")
    if not address:
        raise task.failed(f"GitHub says no place to get it from ({answer.status})", status=answer.status)
    fetch(task, transport, Place(urljoin(transport.api_url, address)), file, limit)
