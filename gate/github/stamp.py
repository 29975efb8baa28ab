"""Whose a published state is and how late it is: the same words in a comment and a commit status."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Literal
from urllib.parse import quote

import msgspec

Relation = Literal["ours", "newer", "taken"]

_LONGEST = 150
_ANY = "*"
_MARK = "perfgate"
FORM = (
    r"run=(?P<run>[0-9]{1,18}) attempt=(?P<attempt>[0-9]{1,9}) by=(?P<by>[0-9]{1,18}\.[0-9]{1,9}) "
    r"job=(?P<job>[A-Za-z0-9._~*%/-]{1,200}) use=(?P<use>[A-Za-z0-9_-]{1,40})"
)
_FORM = re.compile(FORM)


class Stamp(msgspec.Struct, frozen=True, kw_only=True):
    """Which job shows which run's measurements, and which run decided over them."""

    run: int
    attempt: int
    """run and attempt: what measured."""
    by_run: int
    by_attempt: int
    """by_run and by_attempt: what decided, which may be a later run: for a fork."""
    job: str
    """From `job_of`."""
    use: str
    """A word of chance for one use of the action: two uses of one job, or of one reusable workflow, differ in it."""

    @property
    def order(self) -> tuple[int, int, int, int]:
        """What states are ordered by, the newest last."""
        return (self.run, self.attempt, self.by_run, self.by_attempt)

    @property
    def text(self) -> str:
        """The stamp in words without a line break."""
        by = f"{self.by_run}.{self.by_attempt}"
        return f"run={self.run} attempt={self.attempt} by={by} job={self.job} use={self.use}"

    def on(self, address: str) -> str:
        """Put the stamp behind an address, where browsers and servers ignore it."""
        return f"{address}#{_MARK}&{self.text.replace(' ', '&')}"

    def against(self, other: Stamp, *, same_commit: bool) -> Relation:
        """Say what another state under the same name is to this one; "taken": of another job of the same run or commit.

        same_commit: both are about one commit; a job of another commit may have been renamed since then.
        """
        # each is a file and a job
        names = zip(self.job.split("/", 1), other.job.split("/", 1), strict=False)
        if not all(one == another or _ANY in (one, another) for one, another in names):
            if same_commit or self.run == other.run:
                return "taken"
        elif self.order == other.order and self.use != other.use:
            return "taken"
        return "newer" if other.order > self.order else "ours"


def stamp_of(found: re.Match[str]) -> Stamp:
    """Make the stamp of a match of FORM."""
    run, attempt = found["by"].split(".")
    return Stamp(
        run=int(found["run"]), attempt=int(found["attempt"]), by_run=int(run), by_attempt=int(attempt),
        job=found["job"], use=found["use"],
    )  # fmt: skip


def stamp_on(address: str) -> Stamp | None:
    """Read the stamp behind an address; None: there is none."""
    mark, _, rest = address.partition("#")[2].partition("&")
    found = _FORM.fullmatch(rest.replace("&", " ")) if mark == _MARK else None
    return found and stamp_of(found)


def job_of(environment: Mapping[str, str], leg: str = "") -> str:
    """Name the job that runs this, such as "perfgate.yml/bench/linux": its workflow, its id, its leg of a matrix.

    GITHUB_JOB is the same for all legs.
    """
    path = environment.get("GITHUB_WORKFLOW_REF", "").partition("@")[0]
    # after owner and repository
    file = path.split("/", 2)[-1] if path else environment.get("GITHUB_WORKFLOW", "")
    job = environment.get("GITHUB_JOB", "")
    parts = [_quoted(file), *(quote(part, safe="") for part in (job, leg) if part)]
    name = "/".join(parts if len(parts) > 1 else [*parts, _ANY])
    if len(name) <= _LONGEST:
        return name
    return f"{name[: _LONGEST - 13].rstrip('%')}-{hashlib.sha256(name.encode()).hexdigest()[:12]}"


def any_job_of(path: str) -> str:
    """Name whichever job of a workflow's file; "" is whichever workflow.

    What a fork's run measured is published by another workflow, which knows the file of that run and not the job.
    """
    return f"{_quoted(path)}/{_ANY}"


def _quoted(file: str) -> str:
    """Leave out the folder of all workflows, and make one word of the rest."""
    return quote(file.removeprefix(".github/workflows/"), safe="") or _ANY
