"""Work directories outside the checkout: made and removed by a run, or by the next one when a run was killed."""

import fcntl
import hashlib
import json
import os
import re
import secrets
import stat
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from gate.model.warnings.base import Said
from gate.removal import remove_tree
from harness.errors import SourceError
from harness.process.process_groups import alive, end_leftovers, start_time

_NAME = re.compile(r"perfgate-[0-9a-f]{8}")
_MOMENTS = 60.0
_ATTEMPTS = 10
RUNNING = ".perfgate-running"
"""In a work directory: names the processes that were started, see harness.process.process_groups."""


class WorkDirectory:
    """A directory in TMPDIR for all that a run makes; it exists from its first use until it is closed.

    A file in `state` names it from before it is made until after it is removed, so that the next run removes what a
    killed one left, however far that one came. left: what could not be removed, of this run or of killed ones.
    """

    def __init__(self, checkout: Path, state: Path) -> None:
        """Begin with none. checkout: it may not be inside. state: a directory of perfgate's own."""
        self._checkout = checkout
        self._state = state
        self._directory: Path | None = None
        self._record: Path | None = None
        self._descriptor: int | None = None
        self.left: list[Said] = []

    @property
    def made(self) -> bool:
        """Whether it exists."""
        return self._directory is not None

    @property
    def path(self) -> Path:
        """The directory. Raises: SourceError: it cannot be made, or TMPDIR lies inside the checkout."""
        return self._directory or self._make()

    def remove_leftovers(self) -> None:
        """Remove the work directories of runs that are dead; those of living runs stay."""
        self.left += [each for each in remove_leftovers(self._state) if each not in self.left]

    def close(self, *, keep: bool = False) -> None:
        """Remove it and forget it; keep: leave it, and forget it. Closing again goes on where an exception ended it."""
        if self._directory is not None and self._record is not None:
            why = None if keep else remove_tree(self._directory)
            if why is None:
                _forget(self._record)
            else:
                self.left.append(_left(self._directory, why))
        # forgotten first: when an exception ends this, its number may soon be another file's
        descriptor, self._directory, self._record, self._descriptor = self._descriptor, None, None, None
        if descriptor is not None:
            os.close(descriptor)

    def _make(self) -> Path:
        self.remove_leftovers()
        # one that the user names is never replaced without a word
        if wanted := os.environ.get("TMPDIR"):
            try:
                with tempfile.TemporaryFile(dir=wanted) as file:
                    file.write(b"\n")
            except OSError as error:
                why = f"TMPDIR={wanted} cannot be used: {error.strerror}"
                raise SourceError(f"{why}: set it to another place") from None
        parent = Path(tempfile.gettempdir()).resolve()
        if parent.is_relative_to(self._checkout.resolve()):
            raise SourceError(f"the temporary directory {parent} is inside the checkout: set TMPDIR to one outside")
        # by the repository, so that it is built at one path in every run, unless that is taken
        directory = parent / f"perfgate-{hashlib.sha256(os.fsencode(self._state.absolute())).hexdigest()[:8]}"
        if os.path.lexists(directory):
            directory = parent / f"perfgate-{secrets.token_hex(4)}"
        self._record = self._state / "work" / f"{directory.name}.json"
        self._directory = directory
        try:
            # open until the directory is gone: its lock says that this run lives
            self._descriptor = _locked(self._record, directory)
            directory.mkdir(mode=0o700)
            os.pwrite(self._descriptor, _content(directory, directory.stat().st_ino), 0)
        except BaseException as error:
            self.close()
            if isinstance(error, OSError):
                why = f"no work directory in {parent}: {error.strerror}"
                raise SourceError(f"{why}: set TMPDIR to another place") from None
            raise
        return directory


def _left(directory: Path, why: str) -> Said:
    return Said(f"perfgate cannot remove its directory {directory} ({why}): remove it yourself", "left-behind")


def remove_leftovers(state: Path) -> list[Said]:
    """Remove the work directories of runs that are dead; return those that cannot be removed."""
    left = []
    for path in sorted(state.glob("work/*.json")):
        with suppress(OSError), path.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                # another one is that of a file system without locks
                if isinstance(error, BlockingIOError):
                    continue
            try:
                record = json.loads(file.read(65536))
                pid, started, directory = int(record["pid"]), record["started"], Path(record["directory"])
                inode = record.get("inode")
            except (ValueError, KeyError, TypeError, AttributeError):
                _forget(path)
                continue
            # beside the lock, since some network file systems grant it to everybody
            if alive(pid, started):
                continue
            why = _remove(directory, inode)
            if why is None:
                _forget(path)
            else:
                left.append(_left(directory, why))
    for unnamed in state.glob("work/*.new"):
        # named and locked within moments, unless its run was killed between the two
        with suppress(OSError):
            if time.time() - unnamed.stat().st_mtime > _MOMENTS:
                _forget(unnamed)
    return left


def _remove(directory: Path, inode: int | None) -> str | None:
    """End what still runs in the work directory of a dead run, and remove it; return why that cannot be.

    A record is a file that anybody may have written, so only a directory that perfgate made is removed.

    inode: None: the run was killed before it made the directory, or just then.
    """
    if _NAME.fullmatch(directory.name) is None:
        return None
    there = os.path.lexists(directory)
    if there:
        facts = directory.lstat()
        if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.getuid():
            return None
        if facts.st_ino != inode if inode is not None else any(directory.iterdir()):
            return None
    # it would go on beside the next measurements; a cleaner of TMPDIR may have removed the directory, but what was
    # started in it is known by its name, too
    end_leftovers(directory / RUNNING)
    return remove_tree(directory) if there else None


def _content(directory: Path, inode: int | None = None) -> bytes:
    pid = os.getpid()
    record = {"directory": str(directory), "pid": pid, "started": start_time(pid), "inode": inode}
    # written over one without an inode: no end of that one may stay
    return json.dumps(record).encode() + b" " * 24


def _locked(path: Path, directory: Path) -> int:
    """Write and lock a record: a lock ends with its process, however that ends, and a process id is used again."""
    unnamed = path.with_suffix(".new")  # no record before it is locked, or another run takes it for a dead one's
    for attempt in range(_ATTEMPTS):
        try:
            unnamed.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(unnamed, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
            break
        except OSError as error:
            # another run that ends removes these folders whenever they are empty
            if isinstance(error, FileNotFoundError) and attempt < _ATTEMPTS - 1:
                continue
            why = f"{path.parent} cannot be written: {error.strerror}"
            raise SourceError(f"{why}: git's own directory must be") from None
    try:
        with suppress(OSError):  # a file system without locks: the process id must do
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        os.write(descriptor, _content(directory))
        unnamed.rename(path)
    except BaseException:
        os.close(descriptor)
        _forget(unnamed)
        raise
    return descriptor


def _forget(record: Path) -> None:
    """Remove a record, and the folders above it as far as nothing else is in them."""
    record.unlink(missing_ok=True)
    with suppress(OSError):
        record.parent.rmdir()
        record.parent.parent.rmdir()
