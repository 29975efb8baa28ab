"""The directories that perfgate writes to, and whether another perfgate is measuring."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from gate.model.warnings.hosts import NoTemporaryFiles
from harness.host.fitness.kernel_files import Check, State, unreadable
from harness.host.lock import claim_of

FREE_WARN = 2**30
"""Bytes: two checkouts, and what is built in them, of a project of middle size."""
FREE_BAD = 100 * 2**20
"""Bytes: a build that fills a disk fails half-way."""


def temporary(directory: Path) -> Check:
    """Look at the directory where base and head are checked out and built."""
    name = "temporary files"
    why = "Base and head are checked out and built there, which takes space."
    command = "export TMPDIR=/path/with/space"
    try:
        status = os.statvfs(directory)
    except OSError as error:
        problem = NoTemporaryFiles(str(directory), "unreadable", error=str(error.strerror))
        return Check(name, "bad", f"{directory}: {error.strerror}", why, command, problem)
    free = status.f_bavail * status.f_frsize
    if status.f_flag & os.ST_RDONLY or not os.access(directory, os.W_OK | os.X_OK):
        problem = NoTemporaryFiles(str(directory), "unwritable")
        return Check(name, "bad", f"{directory} cannot be written", why, command, problem)
    if status.f_flag & getattr(os, "ST_NOEXEC", 0):
        problem = NoTemporaryFiles(str(directory), "noexec")
        said = f"{directory} is mounted noexec: what is built there does not start"
        return Check(name, "bad", said, why, command, problem)
    value = f"{free / 2**30:.1f} GiB free in {directory}"
    if free < FREE_BAD:
        return Check(name, "bad", value, why, command, NoTemporaryFiles(str(directory), "full", free))
    state: State = "warn" if free < FREE_WARN else "ok"
    return Check(name, state, value, why, command if state != "ok" else None)


def history(folder: Path | None) -> Check:
    """Look whether what is learned of this machine can be kept; None: no place is known."""
    name = "history"
    why = "Remembered noise of this machine lets checks decide sooner; they also work without it."
    command = "export PERFGATE_HISTORY=/path/to/history"
    if folder is None:
        return Check(name, "warn", "no home directory, and nothing names another place", why, command)
    there = next((each for each in (folder.absolute(), *folder.absolute().parents) if each.exists()), None)
    if there is None or not there.is_dir() or not os.access(there, os.R_OK | os.W_OK | os.X_OK):
        return Check(name, "warn", f"{folder} cannot be written", why, command)
    return Check(name, "ok", str(folder), why)


def others(lock: Path) -> Check:
    """Look whether another perfgate holds the machine; the lock is asked for a shared moment and never made."""
    name, why = "other gates", "Two gates never measure at once on one machine: a check waits for the other to end."
    try:
        descriptor = os.open(lock, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except FileNotFoundError:
        return Check(name, "ok", "none measures", why)
    except OSError as error:
        return unreadable(name, why, f"{lock}: {error.strerror}")
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        found = claim_of(descriptor)
        who = f"another perfgate measures (process {found.pid})" if found else "another program holds its lock"
        return Check(name, "warn", who, why)
    except OSError as error:
        return unreadable(name, why, f"{lock}: {error.strerror}")
    finally:
        os.close(descriptor)
    return Check(name, "ok", "none measures", why)
