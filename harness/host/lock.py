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
from pathlib import Path

from harness.errors import LockError
from harness.host.holder import Claim, Holder, holder_of

# Not in TMPDIR, which differs between users: all of a machine must find one file.
LOCK_FILE = Path("/tmp/perfgate.lock")  # noqa: S108  # opened without following links, and nothing in it is trusted
_PAUSE = 0.1
"""Seconds between two attempts: flock(2) itself waits without a limit."""


class NotFreeError(Exception):
    """Somebody else keeps the machine, by its lock file."""


class LockHeldError(NotFreeError):
    """The lock was not free in time; who holds it."""

    def __init__(self, path: Path, holder: Holder) -> None:
        super().__init__(f"{holder} holds {path}")
        self.path, self.holder = path, holder


class LockOccupiedError(NotFreeError):
    """Something that cannot be locked has the lock file's name; why, and its owner.

    owner: the name of another user; None: this one, or not known.
    """

    def __init__(self, path: Path, why: str) -> None:
        self.owner = _owner(path)
        of = f" of user {self.owner}" if self.owner else ""
        super().__init__(f"{path}{of} {why}")


def lock_file(environment: Mapping[str, str]) -> Path:
    """Say which file all gates of this machine share: where containers have a /tmp of their own, PERFGATE_LOCK."""
    return Path(environment.get("PERFGATE_LOCK") or LOCK_FILE)


@contextmanager
def host_lock(claim: Claim, path: Path, *, wait: float, waiting: Callable[[Holder], None]) -> Iterator[None]:
    """Hold the machine for measuring; wait for another gate to end.

    The lock ends with this process, however it ends; children do not inherit it.

    Args:
        claim: what others who wait are told.
        path: of the lock file, which all gates of the machine share.
        wait: seconds to wait at most.
        waiting: called once with the holder, when there is one and there is time to wait.

    Raises:
        LockHeldError: it was not free in time.
        LockOccupiedError: what has its name cannot be locked.
        LockError: it cannot be made, or its file system has no locks.
    """
    descriptor = _take(path, wait, waiting)
    try:
        claim.write(descriptor)
        yield
    finally:
        # never unlinked: a process that waits holds the file open, and would lock one that nobody finds
        with suppress(OSError):
            os.ftruncate(descriptor, 0)
        os.close(descriptor)


def _take(path: Path, wait: float, waiting: Callable[[Holder], None]) -> int:
    deadline = time.monotonic() + wait
    told = False
    while True:
        descriptor = _open(path)
        try:
            while not (locked := _locked(descriptor, path)) and _is_current(descriptor, path):
                late = time.monotonic() >= deadline
                if late or not told:
                    holder = _settled(descriptor)
                    if _locked(descriptor, path):
                        continue
                    if late:
                        raise LockHeldError(path, holder)
                    told = True
                    waiting(holder)
                time.sleep(max(0.0, min(_PAUSE, deadline - time.monotonic())))
            if locked and _is_current(descriptor, path):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        # a cleaner of /tmp removed it meanwhile: whoever comes next would make another
        os.close(descriptor)


def _locked(descriptor: int, path: Path) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise LockError(f"{path} cannot be locked: {error.strerror}") from None
    return True


def _settled(descriptor: int) -> Holder:
    """Return the holder; one that has just taken the lock gets a moment to say who it is."""
    found = holder_of(descriptor)
    if found.claim is None:
        time.sleep(_PAUSE)
        found = holder_of(descriptor)
    return found


def _open(path: Path) -> int:
    """Open the lock file of whichever user made it; read-only is enough to lock it."""
    flags = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
    for _ in range(100):  # as often as others may make or remove it meanwhile
        try:
            descriptor = _open_existing(path, flags)
        except FileNotFoundError:
            # only here O_CREAT: fs.protected_regular refuses it for a file of another user in a sticky directory
            try:
                descriptor = os.open(path, flags | os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
            except FileExistsError:
                continue
            except OSError as error:
                advice = "name a file that can be made in PERFGATE_LOCK"
                raise LockError(f"the lock file {path} cannot be made ({error.strerror}): {advice}") from None
            with suppress(OSError):
                os.fchmod(descriptor, 0o666)  # whatever the umask
        except OSError as error:
            if error.errno not in _OCCUPIED or not os.path.lexists(path):
                advice = "name another lock file in PERFGATE_LOCK"
                raise LockError(f"the lock file {path} cannot be opened ({error.strerror}): {advice}") from None
            why = "is a link" if error.errno == errno.ELOOP else f"cannot be opened ({error.strerror})"
            raise LockOccupiedError(path, why) from None
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise LockOccupiedError(path, "is not a regular file")
        return descriptor
    raise LockOccupiedError(path, "keeps being made and removed by another program")


_OCCUPIED = (errno.EACCES, errno.EPERM, errno.ELOOP, errno.ENXIO)
"""Errors of opening a file that exists but cannot serve as a lock; ENXIO: it is a socket."""


def _owner(path: Path) -> str | None:
    try:
        owner = path.lstat().st_uid
    except OSError:
        return None
    if owner == os.geteuid():
        return None
    try:
        return pwd.getpwuid(owner).pw_name
    except KeyError:
        return str(owner)


def _open_existing(path: Path, flags: int) -> int:
    try:
        return os.open(path, flags | os.O_RDWR)
    except (PermissionError, IsADirectoryError):
        return os.open(path, flags | os.O_RDONLY)


def _is_current(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False
