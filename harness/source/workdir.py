"""Work directories outside the checkout: made and removed by a run, or by the next one when a run was killed."""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from harness.errors import SourceError
from harness.process.groups import alive, start_time
from harness.process.leftovers import end_leftovers
from harness.source.git import Git

_NAME = re.compile(r"perfgate-[0-9a-f]{8}")
_MARKER = ".perfgate-work"
_MOMENTS = 60.0
RUNNING = ".perfgate-running"
"""In a work directory: names the processes that were started, see harness.process.leftovers."""


@contextmanager
def work_directory(git: Git, state: Path, *, keep: bool) -> Iterator[Path]:
    """Make an empty work directory in TMPDIR, removed with the worktrees in it whatever happens.

    Args:
        git: in the checkout.
        state: a directory of perfgate's own, where a file names the work directory while the run lives; the next run
            removes what a killed one left.
        keep: leave the directory, and forget it.

    Raises:
        SourceError: the directory cannot be made, or TMPDIR lies inside the checkout.
    """
    remove_leftovers(git, state)
    parent = _temporary()
    if parent.is_relative_to(git.directory.resolve()):
        raise SourceError(f"the temporary directory {parent} is inside the checkout: set TMPDIR to one outside")
    directory = parent / f"perfgate-{secrets.token_hex(4)}"
    path = _record(state, directory)
    # open until the directory is gone: its lock says that this run lives
    descriptor = _locked(path, directory)
    try:
        _make(directory)
        yield directory
    finally:
        try:
            if keep or remove(git, directory):
                path.unlink(missing_ok=True)
        finally:
            os.close(descriptor)


def _temporary() -> Path:
    """Return the directory for temporary files; one that the user names is never replaced without a word."""
    wanted = os.environ.get("TMPDIR")
    if wanted:
        try:
            with tempfile.TemporaryFile(dir=wanted) as file:
                file.write(b"\n")
        except OSError as error:
            raise SourceError(f"TMPDIR={wanted} cannot be used: {error.strerror}: set it to another place") from None
    return Path(tempfile.gettempdir()).resolve()


def remove_leftovers(git: Git, state: Path) -> None:
    """Remove the work directories of runs that are dead; those of living runs stay."""
    for path in sorted(state.glob("work/*.json")):
        with suppress(OSError), path.open("rb") as file:
            if not _is_free(file):
                continue
            directory = _dead(file.read(65536))
            if directory is not None:
                _end_orphan(directory)
            if directory is not None and remove(git, directory):
                path.unlink(missing_ok=True)

    for unnamed in state.glob("work/*.new"):
        # named and locked within moments, unless its run was killed between the two
        with suppress(OSError):
            if time.time() - unnamed.stat().st_mtime > _MOMENTS:
                unnamed.unlink()


def _end_orphan(directory: Path) -> None:
    """End what a killed run left running: it would go on beside the next measurements, in a tree that is removed."""
    # a cleaner may have removed the directory: what was started is known by its name, too
    if _NAME.fullmatch(directory.name) is not None and (not directory.exists() or _is_ours(directory)):
        end_leftovers(directory / RUNNING)


def _is_free(file: BinaryIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def _dead(content: bytes) -> Path | None:
    """Give the directory of a record whose process is gone; None when it lives, no directory for a broken record."""
    try:
        record = json.loads(content)
        pid, started, directory = int(record["pid"]), record["started"], Path(record["directory"])
    except (ValueError, KeyError, TypeError):
        return Path("no directory")
    # beside the lock, since some network file systems grant it to everybody
    return None if alive(pid, started) else directory


def _record(state: Path, directory: Path) -> Path:
    """Give the file that names a work directory while its run lives."""
    try:
        (state / "work").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SourceError(f"{state} cannot be written: {error.strerror}: git's own directory must be") from None
    return state / "work" / f"{directory.name}.json"


def _locked(path: Path, directory: Path) -> int:
    """Write and lock a record: a lock ends with its process, however that ends, and a process id is used again."""
    content = {"directory": str(directory), "pid": os.getpid(), "started": start_time(os.getpid())}
    unnamed = path.with_suffix(".new")  # no record before it is locked, or another run takes it for a dead one's
    try:
        descriptor = os.open(unnamed, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    except OSError as error:
        raise SourceError(f"{path.parent} cannot be written: {error.strerror}: git's own directory must be") from None
    try:
        with suppress(OSError):  # a file system without locks: the process id must do
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        os.write(descriptor, json.dumps(content).encode())
        unnamed.rename(path)
    except BaseException:
        os.close(descriptor)
        unnamed.unlink(missing_ok=True)
        raise
    return descriptor


def _make(directory: Path) -> None:
    try:
        directory.mkdir(mode=0o700)
        (directory / _MARKER).write_text("perfgate made this directory and removes it\n", encoding="utf-8")
    except OSError as error:
        raise SourceError(
            f"no work directory in {directory.parent}: {error.strerror}: set TMPDIR to another place"
        ) from None


def remove(git: Git, directory: Path) -> bool:
    """Remove a work directory and the worktrees that git knows in it; True when nothing is left.

    A record is a file that a commit could hold, so only a directory that perfgate made is removed.
    """
    if _NAME.fullmatch(directory.name) is None:
        return True
    if os.path.lexists(directory):
        if not _is_ours(directory):
            return True
        remove_tree(directory)
    for worktree in _worktrees(git):
        if worktree.is_relative_to(directory):
            forget(git, worktree)
    return not directory.exists()


def forget(git: Git, worktree: Path) -> None:
    """Take a worktree whose directory is gone from git's list.

    Not `git worktree prune`: it would also forget worktrees of the user's, such as one on a disk that is not mounted.
    """
    with suppress(SourceError):  # the next run tries again; what goes on may not end here
        git.attempt("worktree", "remove", "--force", "--force", str(worktree))


def _is_ours(directory: Path) -> bool:
    facts = directory.lstat()
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.getuid():
        return False
    # empty when killed between making it and marking it
    return (directory / _MARKER).is_file() or not any(directory.iterdir())


def _worktrees(git: Git) -> list[Path]:
    with suppress(SourceError):
        listed = os.fsdecode(git.attempt("worktree", "list", "--porcelain").stdout)
        return [Path(line.removeprefix("worktree ")) for line in listed.splitlines() if line.startswith("worktree ")]
    return []


def remove_tree(directory: Path) -> None:
    """Remove a directory as far as possible, with read-only ones in it (Go's module cache); links are not followed."""
    shutil.rmtree(directory, ignore_errors=True)
    if not directory.exists():
        return
    for parent, names, _ in os.walk(directory):
        for name in names:
            path = Path(parent, name)
            if not path.is_symlink():
                with suppress(OSError):
                    path.chmod(0o700)
    shutil.rmtree(directory, ignore_errors=True)
