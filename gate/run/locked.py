"""A machine that another program holds: what a run says while it waits, and the failure if that was not enough."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import msgspec

from gate.codes import Exit
from gate.evidence.records import MEASUREMENTS, Appender, cut_torn
from gate.model import Failure
from gate.run.job import Job
from gate.run.run_folder import PAST, make_room
from gate.writing.plain import visible
from gate.writing.units import format_duration
from harness.errors import LockError
from harness.host.lock import ANOTHER, LockHolder, NotFreeError, named


def record_held(job: Job, error: NotFreeError | LockError, waited: float, *, resume: bool) -> Job:
    """Record that the machine was not free; returns the job with the folder that holds it.

    It is the folder of the run, unless the holder measures into the same one: then a folder among its past runs.
    A run to be resumed keeps what it has.

    Raises:
        LockError: it was that; nothing is recorded.
        OSError: it cannot be written.
    """
    if isinstance(error, LockError):
        if error.exit_code == Exit.ERROR and not resume:
            # or the report of the run before would pass for one of this run
            make_room(job.out)
        raise error
    claim = error.holder
    run = job.run
    if claim is not None and claim.folder == visible(str(job.out.absolute())):
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
        status, hint = _status(error, waited), _hint(error, longer=True)
        append(Failure(kind="lock", session=job.session, seconds=waited, status=status, hint=hint))
    return job


def not_free(error: NotFreeError, waited: float, *, longer: bool) -> str:
    """Say in one line that the machine was not free, and what to do: for commands that have no report.

    longer: whether the command has --wait.
    """
    return f"the machine was not free: {_status(error, waited)}; {_hint(error, longer=longer)}"


def _status(error: NotFreeError, waited: float) -> str:
    after = f" after {format_duration(waited)}" if waited else ""
    return f"{error.path} was still held{after} by {named(error.holder)}"


def _hint(error: NotFreeError, *, longer: bool) -> str:
    other = "" if error.holder is not None else f"; if it is not yours, {ANOTHER}"
    wait = ", or wait longer with `--wait 1h`" if longer else ""
    return f"run it again when that process has ended{wait}{other}"


class WaitingLines:
    """Says for whom a run waits: all of it at first, and then who holds the machine now."""

    def __init__(self, say: Callable[[str], None], seconds: float, *, option: str | None = "--wait") -> None:
        """Begin to wait; seconds: at most. option: that changes them, if the command has one."""
        self._say, self._seconds = say, seconds
        self._until = f"{datetime.now(UTC) + timedelta(seconds=seconds):%H:%M:%S} UTC"
        self._option = f", {option}" if option else ""
        self._first = True

    def __call__(self, holder: LockHolder | None) -> None:
        """Say who holds the machine."""
        where = f" in {visible(holder.directory)}" if holder is not None else ""
        if self._first:
            self._first = False
            limit = f"for at most {format_duration(self._seconds)} (until {self._until}{self._option})"
            self._say(f"waiting for {named(holder)}{where}; {limit}: only one perfgate at a time measures on a machine")
        else:
            self._say(f"now waiting for {named(holder)}{where}; until {self._until}")
