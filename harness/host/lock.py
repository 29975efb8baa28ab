"""The host-wide lock: two gates never measure at once on one machine."""

from __future__ import annotations

import errno
import fcntl
import os
import pwd
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from gate.codes import Exit
from gate.writing.plain import visible
from harness.errors import LockError
from harness.process.process_groups import alive, start_time

# Not in TMPDIR, which differs between users: all of a machine must find one file.
LOCK_FILE = Path("/tmp/perfgate.lock")  # noqa: S108  # opened without following links, and nothing in it is trusted
_PAUSE = 0.1
"""Seconds between two attempts: flock(2) itself waits without a limit."""
_LONGEST = 4096
"""Bytes of a lock file that are read."""

Waiting = Callable[["LockHolder | None"], None]
"""Gets what the holder says of itself."""


class LockHolder(msgspec.Struct, frozen=True):
    """What a holder writes about itself. folder: where it measures to. since: when it took the lock.

    Anybody can write the file, so it counts only while that process lives.
    """

    pid: int
    user: str
    started: str | None
    """As harness.process.process_groups has it."""
    since: str
    command: str
    run: str
    directory: str
    """The project that it measures."""
    folder: str

    @classmethod
    def own(cls, command: str, run: str, directory: Path, folder: Path) -> LockHolder:
        """Make that of this process, from now on."""
        pid = os.getpid()
        # what stands in JSON is text, and a path need not be
        places = (visible(str(place)) for place in (directory, folder.absolute()))
        return cls(pid, _user(os.geteuid()), start_time(pid), _now(), command, run, *places)

    def __str__(self) -> str:
        """Name it: "process 12 (user ann, `perfgate check`), measuring since 2026-11-23T09:00:00Z, run 2026..."."""
        said = f"process {self.pid} (user {self.user}, `{self.command}`), measuring since {self.since}, run {self.run}"
        return "".join(character if character.isprintable() else "?" for character in said)[:300]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def claim_of(descriptor: int) -> LockHolder | None:
    """Return what the holder of an open lock file says of itself; None: it is no perfgate that this process can see."""
    with suppress(OSError, ValueError):
        found = msgspec.json.decode(os.pread(descriptor, _LONGEST, 0), type=LockHolder)
        return found if alive(found.pid, found.started) else None
    return None


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


class NotFreeError(Exception):
    """The lock was not free in time; who holds it."""

    def __init__(self, path: Path, holder: LockHolder | None) -> None:
        super().__init__(f"{named(holder)} holds {path}")
        self.path, self.holder = path, holder


ANOTHER = "name another lock file in PERFGATE_LOCK for every perfgate here"


class _OccupiedError(LockError):
    """No mistake in the command line."""

    exit_code = Exit.ERROR


def _occupied(path: Path, why: str) -> LockError:
    """Say that something which cannot be locked has the lock file's name."""
    owner = os.geteuid()
    with suppress(OSError):
        owner = path.lstat().st_uid
    # in a sticky directory such as /tmp nobody else can remove another user's
    other = _user(owner) if owner != os.geteuid() else ""
    of, who = (f" of user {other}", f"have user {other} or root remove it") if other else ("", "remove it")
    return _OccupiedError(f"the lock file {path}{of} {why}: {who}, or {ANOTHER}")


def named(holder: LockHolder | None) -> str:
    """Name who holds a lock, as far as it is known."""
    return str(holder) if holder is not None else "a process that did not register as perfgate"


def lock_file(environment: Mapping[str, str]) -> Path:
    """Say which file all gates of this machine share: where containers have a /tmp of their own, PERFGATE_LOCK."""
    return Path(environment.get("PERFGATE_LOCK") or LOCK_FILE)


@contextmanager
def host_lock(claim: LockHolder, path: Path, *, wait: float, waiting: Waiting) -> Iterator[None]:
    """Hold the machine for measuring; wait for another gate to end.

    The lock ends with this process, however it ends; children do not inherit it.

    Args:
        claim: what others who wait are told; its time becomes that of taking the lock.
        path: of the lock file, which all gates of the machine share.
        wait: seconds to wait at most.
        waiting: called when there is somebody to wait for and time to wait, and again when that changes.

    Raises:
        NotFreeError: it was not free in time.
        LockError: it cannot be made, its file system has no locks, or what has its name cannot be locked.
    """
    descriptor = _take(path, wait, waiting)
    try:
        with suppress(OSError):  # another user's file, opened read-only: it locks, and does not tell the run
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, msgspec.json.encode(msgspec.structs.replace(claim, since=_now())), 0)
        yield
    finally:
        # never unlinked: a process that waits holds the file open, and would lock one that nobody finds
        with suppress(OSError):
            os.ftruncate(descriptor, 0)
        os.close(descriptor)


def _take(path: Path, wait: float, waiting: Waiting) -> int:
    deadline = time.monotonic() + wait
    descriptor = _open(path)
    found: tuple[LockHolder | None] | None = None
    told = found
    while True:
        try:
            while _is_current(descriptor, path):
                if _locked(descriptor, path):
                    if _is_current(descriptor, path):
                        return descriptor
                    break
                left = deadline - time.monotonic()
                # who has just taken the lock gets a moment to say so
                found, last = (claim_of(descriptor),), found
                if left <= 0 and (found[0] is not None or left <= -2 * _PAUSE):
                    raise NotFreeError(path, found[0])
                if left > 0 and found == last != told:
                    told = found
                    waiting(*found)
                time.sleep(min(_PAUSE, left) if left > 0 else _PAUSE)
        except BaseException:
            os.close(descriptor)
            raise
        # a cleaner of /tmp removed it meanwhile: whoever comes next would make another
        os.close(descriptor)
        descriptor = _open(path)


def _locked(descriptor: int, path: Path) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise LockError(f"{path} cannot be locked: {error.strerror}") from None
    return True


def _open(path: Path) -> int:
    """Open the lock file of whichever user made it; read-only is enough to lock it."""
    flags = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
    for _ in range(100):  # as often as others may make or remove it meanwhile
        try:
            try:
                descriptor = os.open(path, flags | os.O_RDWR)
            except (PermissionError, IsADirectoryError):
                descriptor = os.open(path, flags | os.O_RDONLY)
        except FileNotFoundError:
            # only here O_CREAT: fs.protected_regular refuses it for a file of another user in a sticky directory
            try:
                descriptor = os.open(path, flags | os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
            except FileExistsError:
                continue
            except OSError as error:
                raise LockError(f"the lock file {path} cannot be made ({error.strerror}): {ANOTHER}") from None
            with suppress(OSError):
                os.fchmod(descriptor, 0o666)  # whatever the umask
        except OSError as error:
            why = f"cannot be opened ({error.strerror})"
            if error.errno == errno.EROFS or not os.path.lexists(path):
                raise LockError(f"the lock file {path} {why}: {ANOTHER}") from None
            raise _occupied(path, "is a link" if error.errno == errno.ELOOP else why) from None
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise _occupied(path, "is not a regular file")
        return descriptor
    raise _occupied(path, "keeps being made and removed by another program")


def _is_current(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False
