"""A machine that another program did not give back in time: a failure, recorded where nothing else is touched."""

from __future__ import annotations

import secrets
from dataclasses import replace
from pathlib import Path

import msgspec

from gate.evidence.inputs import MEASUREMENTS
from gate.evidence.records import Appender, cut_torn
from gate.model import Failure
from gate.run.folder import PAST, make_room
from gate.run.job import Job
from gate.units import format_duration
from harness.host.lock import LockHeldError, LockOccupiedError, NotFreeError

_ANOTHER = "name another lock file in PERFGATE_LOCK for every perfgate here"


def record_held(job: Job, error: NotFreeError, waited: float, *, resume: bool) -> Job:
    """Record that the machine was not free; returns the job with the folder that holds it.

    It is the folder of the run, unless the holder measures into the same one: then a folder among its past runs.
    A run to be resumed keeps what it has.

    Raises:
        OSError: it cannot be written.
    """
    claim = error.holder.claim if isinstance(error, LockHeldError) else None
    run = job.run
    if claim is not None and Path(claim.folder) == job.out.absolute():
        # of another name than the run that may be resumed there
        run = msgspec.structs.replace(run, id=f"{run.id}-{secrets.token_hex(2)}")
        job = replace(job, run=run, out=job.out / PAST / str(run.id))
        job.out.mkdir(parents=True, exist_ok=True)
        resume = False
    if resume:
        cut_torn(job.out / MEASUREMENTS)
    else:
        make_room(job.out)
    with Appender(job.out / MEASUREMENTS) as append:
        if not resume:
            append(run)
        append(_failure(job, error, waited))
    return job


def _failure(job: Job, error: NotFreeError, waited: float) -> Failure:
    status = str(error)
    if isinstance(error, LockHeldError):
        after = f" after {format_duration(waited)}" if waited else ""
        status = f"{error.path} was still held{after} by {error.holder}"
    return Failure(kind="lock", session=job.session, status=status, hint=_hint(error))


def _hint(error: NotFreeError) -> str | None:
    if isinstance(error, LockHeldError):
        other = "" if error.holder.claim is not None else f"; if it is not yours, {_ANOTHER}"
        return f"run it again when that process has ended, or wait longer with `--wait 1h`{other}"
    if isinstance(error, LockOccupiedError):
        # in a sticky directory such as /tmp nobody else can
        who = f"have user {error.owner} or root remove it" if error.owner else "remove it"
        return f"{who}, or {_ANOTHER}"
    return None
