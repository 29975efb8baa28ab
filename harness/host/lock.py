"""The host-wide lock: two gates never measure at once on one machine. Who came first gets it first.

Each process that wants the lock holds a shared record lock (fcntl(2)) on one byte of a file beside the lock file. The
offset of the byte is the time at which the process came, so that those on lower offsets came before. The kernel drops
the lock with the process, however it ends; nothing is written into the file. Where there can be no queue, such as on a
file system without record locks, the lock serves whoever asks first after it became free.
"""

from __future__ import annotations

import errno
import fcntl
import os
import pwd
import stat
import struct
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from harness.errors import LockError
from harness.host.holder import Claim, Holder, holder_of

_LINUX = os.uname().sysname == "Linux"
_FLOCK = "@hhqqi0q" if _LINUX else "@qqihh0q"
"""The layout of struct flock: type, whence, start, length, process; elsewhere start, length, process, type, whence."""
_MOST = 1000
"""Processes that are counted."""


def queue_file(lock: Path) -> Path:
    """Return the file of the queue for a lock file."""
    return lock.with_name(f"{lock.name}.queue")


class Turn:
    """The place of this process in the queue, until it is closed."""

    def __init__(self, path: Path, opened: Callable[[Path], int]) -> None:
        """Join the queue at its end.

        Args:
            path: of the queue's file.
            opened: opens it, or raises LockError.
        """
        self._descriptor: int | None = None
        self._place = time.time_ns() // 1000
        with suppress(OSError, LockError):  # without a queue the lock is as good, but not fair
            self._descriptor = opened(path)
            # shared, since a file of another user may be read-only
            fcntl.lockf(self._descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB, 1, self._place)

    def before(self) -> int:
        """Count the processes that came before this one and still wait."""
        if self._descriptor is None:
            return 0
        count, ranges = 0, [(0, self._place)]
        while ranges and count < _MOST:
            begin, end = ranges.pop()
            found = _taken(self._descriptor, begin, end) if begin < end else None
            if found is not None:
                count += 1
                ranges += [(begin, found[0]), (found[1], end)]
        return count

    def close(self) -> None:
        """Leave the queue."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _taken(descriptor: int, begin: int, end: int) -> tuple[int, int] | None:
    """Return the first and the next byte of a range in which another process has a lock; None: none has."""
    length = end - begin
    # what an exclusive lock would meet; asking needs no right to write
    asked = (fcntl.F_WRLCK, os.SEEK_SET, begin, length, 0) if _LINUX else (begin, length, 0, fcntl.F_WRLCK, os.SEEK_SET)
    try:
        said = struct.unpack(_FLOCK, fcntl.fcntl(descriptor, fcntl.F_GETLK, struct.pack(_FLOCK, *asked)))
    except OSError:
        return None
    kind, first, size = (said[0], said[2], said[3]) if _LINUX else (said[3], said[0], said[1])
    if kind == fcntl.F_UNLCK:
        return None
    return max(first, begin), first + size if size else end


# Not in TMPDIR, which differs between users: all of a machine must find one file.
LOCK_FILE = Path("/tmp/perfgate.lock")  # noqa: S108  # opened without following links, and nothing in it is trusted
_PAUSE = 0.1
"""Seconds between two attempts: flock(2) itself waits without a limit."""
_LOOK = 2.0
"""Seconds between two looks at who holds it: a look reads /proc, and the holder measures."""
_GRACE = 2.0
"""Seconds that the next of the queue gets to take a lock that became free, before it counts as held."""

Waiting = Callable[[Holder, int], None]
"""Gets the holder, and how many of the queue come before this process."""


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
def host_lock(claim: Claim, path: Path, *, wait: float, waiting: Waiting) -> Iterator[None]:
    """Hold the machine for measuring; wait for another gate to end, and for those that waited before this one.

    The lock ends with this process, however it ends; children do not inherit it.

    Args:
        claim: what others who wait are told; its time becomes that of taking the lock.
        path: of the lock file, which all gates of the machine share.
        wait: seconds to wait at most.
        waiting: called when there is somebody to wait for and time to wait, and again when that changes.

    Raises:
        LockHeldError: it was not free in time.
        LockOccupiedError: what has its name cannot be locked.
        LockError: it cannot be made, or its file system has no locks.
    """
    descriptor = _take(path, wait, waiting)
    try:
        claim.from_now().write(descriptor)
        yield
    finally:
        # never unlinked: a process that waits holds the file open, and would lock one that nobody finds
        with suppress(OSError):
            os.ftruncate(descriptor, 0)
        os.close(descriptor)


def _take(path: Path, wait: float, waiting: Waiting) -> int:
    deadline = time.monotonic() + wait
    descriptor = _open(path)
    with closing(Turn(queue_file(path), _open_queue)) as turn:
        telling = _Telling(waiting)
        while True:
            try:
                while _is_current(descriptor, path):
                    before = turn.before()
                    if not before and _locked(descriptor, path):
                        if _is_current(descriptor, path):
                            return descriptor
                        break
                    _pause(descriptor, path, before, deadline, telling)
            except BaseException:
                os.close(descriptor)
                raise
            # a cleaner of /tmp removed it meanwhile: whoever comes next would make another
            os.close(descriptor)
            descriptor = _open(path)


def _pause(descriptor: int, path: Path, before: int, deadline: float, telling: _Telling) -> None:
    """Say for whom this process waits, and let some time pass.

    Raises:
        LockHeldError: there is no time left.
    """
    left = deadline - time.monotonic()
    if left > 0:
        telling.look(descriptor, before)
        time.sleep(max(0.0, min(_PAUSE, deadline - time.monotonic())))
        return
    holder = _settled(descriptor)
    if before and holder.pid is None and left > -_GRACE:
        time.sleep(_PAUSE)
    elif before or not _is_free(descriptor, path):
        raise LockHeldError(path, holder)


class _Telling:
    """Tells for whom this process waits, at first and whenever that changes."""

    def __init__(self, waiting: Waiting) -> None:
        self._waiting = waiting
        self._next = 0.0
        self._told: tuple[Holder, int] | None = None

    def look(self, descriptor: int, before: int) -> None:
        """See who holds the lock, unless that was done a moment ago."""
        if time.monotonic() < self._next:
            return
        found = _settled(descriptor), before
        self._next = time.monotonic() + _LOOK
        if found != self._told:
            self._told = found
            self._waiting(*found)


def _is_free(descriptor: int, path: Path) -> bool:
    """Return whether nobody holds the lock: then it is free for this process, which tries again."""
    if not _locked(descriptor, path):
        return False
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    return True


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
    for _ in range(2 if found.pid is None else 1):
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


def _open_queue(path: Path) -> int:
    try:
        return _open(path)
    except LockOccupiedError as error:
        raise LockError(str(error)) from None


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
