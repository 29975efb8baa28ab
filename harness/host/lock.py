"""The host-wide lock: two gates never measure at once on one machine."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from harness.errors import LockError

# Not in TMPDIR, which differs between users: all of a machine must find one file.
LOCK_FILE = Path("/tmp/perfgate.lock")  # noqa: S108  # opened without following links, and nothing in it is trusted
_LONGEST = 4096


def lock_file(environment: Mapping[str, str]) -> Path:
    """Say which file all gates of this machine share: where containers have a /tmp of their own, PERFGATE_LOCK."""
    return Path(environment.get("PERFGATE_LOCK") or LOCK_FILE)


@contextmanager
def host_lock(waiting: Callable[[str], None], directory: Path, path: Path) -> Iterator[None]:
    """Hold the machine for measuring; wait for another gate to end.

    The lock ends with this process, however it ends; children do not inherit it.

    Args:
        waiting: called once with the holder in words when there is one.
        directory: the project, told to others who wait.
        path: of the lock file, which all gates of the machine share.

    Raises:
        LockError: the lock file is none, or cannot be opened.
    """
    descriptor = _take(waiting, path)
    try:
        _write_holder(descriptor, directory)
        yield
    finally:
        # never unlinked: a process that waits holds the file open, and would lock one that nobody finds
        with suppress(OSError):
            os.ftruncate(descriptor, 0)
        os.close(descriptor)


def _take(waiting: Callable[[str], None], path: Path) -> int:
    told = False
    while True:
        descriptor = _open(path)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if not told:
                    told = True
                    waiting(_holder(descriptor))
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            if _is_current(descriptor, path):
                return descriptor
        except OSError as error:
            os.close(descriptor)
            raise LockError(f"{path} cannot be locked: {error.strerror}") from None
        except BaseException:
            os.close(descriptor)
            raise
        # a cleaner of /tmp removed it between opening and locking: whoever comes next would make another
        os.close(descriptor)


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
                raise LockError(f"{path} cannot be made: {error.strerror}") from None
            with suppress(OSError):
                os.fchmod(descriptor, 0o666)  # whatever the umask
        except OSError as error:
            what = "is a link" if error.errno == errno.ELOOP else f"cannot be opened ({error.strerror})"
            raise LockError(f"{path} {what}: remove it; perfgate makes a new one") from None
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise LockError(f"{path} is not a regular file: remove it; perfgate makes a new one")
        return descriptor
    raise LockError(f"{path} keeps being made and removed: another program uses this name")


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


def _write_holder(descriptor: int, directory: Path) -> None:
    since = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    content = json.dumps({"pid": os.getpid(), "directory": str(directory), "since": since})
    with suppress(OSError):  # another user's file, opened read-only: it locks, it only names nobody
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, content.encode(), 0)


def _holder(descriptor: int) -> str:
    """Put the holder into words; anybody can write the file, so only printable text comes out."""
    try:
        content = json.loads(os.pread(descriptor, _LONGEST, 0))
        words = f"process {int(content['pid'])} in {content['directory']} since {content['since']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another perfgate"
    return "".join(character if character.isprintable() else "?" for character in words)[:500]
