"""A guard of the runner's command files: restores them after measured code ran, and follows no planted link."""

from __future__ import annotations

import errno
import io
import os
import secrets
import stat
from collections.abc import Mapping
from pathlib import Path

from gate.removal import remove_tree

NAMES = ("GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY")


class FileGuard:
    """Remembers the command files of a step, and takes back what was written to them meanwhile.

    What they hold would set outputs, environment variables and the search path of later steps.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        paths = [(name, Path(environment[name])) for name in NAMES if environment.get(name)]
        # None where there was none; a device or a pipe, such as /dev/null by hand, keeps nothing to be restored
        kept = [(name, path) for name, path in paths if _kind(path) not in (stat.S_IFCHR, stat.S_IFIFO, stat.S_IFSOCK)]
        self._kept = [(name, path, read_regular(path)) for name, path in kept]

    def restore(self) -> tuple[list[str], bool]:
        """Take back what was written; return a line for each, and whether all files are as they were. Raises nothing.

        A file that cannot be restored keeps no other from being so.
        """
        warnings: list[str] = []
        whole = True
        for name, path, data in self._kept:
            try:
                # one byte more than was there is enough to differ
                if data is not None and read_regular(path, len(data) + 1) != data:
                    put(path, data)
                elif data is None and os.path.lexists(path):
                    remove(path)
                else:
                    continue
                warnings.append(f"benchmark code wrote to {name}; the change was undone")
            except OSError as error:
                whole = False
                warnings.append(f"benchmark code wrote to {name}, and it cannot be undone: {error.strerror}")
        return warnings, whole


def open_regular(path: Path) -> io.BufferedReader:
    """Open a file to read it: no link is followed, and no pipe waited for.

    Raises:
        OSError: it cannot be opened, or is not a regular file.
    """
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "is not a regular file", str(path))
    return open(fd, "rb")  # noqa: PTH123  # of a descriptor


def read_regular(path: Path, limit: int = -1) -> bytes | None:
    """Read a regular file without following links; None: there is none that can be read.

    Args:
        limit: the most bytes to return; -1: all.
    """
    try:
        with open_regular(path) as stream:
            return stream.read(limit)
    except OSError:
        return None


def is_regular(path: Path) -> bool:
    """Return whether a regular file lies under a name, and no link to one."""
    return _kind(path) == stat.S_IFREG


def _kind(path: Path) -> int:
    try:
        return stat.S_IFMT(path.lstat().st_mode)
    except OSError:
        return 0


def remove(path: Path) -> None:
    """Remove whatever lies under a name: a file, a link and not what it leads to, a folder with all that is in it.

    Raises:
        OSError: it cannot be removed.
    """
    if not path.is_dir() or path.is_symlink():
        path.unlink(missing_ok=True)
    elif why := remove_tree(path):
        raise OSError(errno.EIO, why, str(path))


def put(path: Path, data: bytes) -> None:
    """Make a file hold this and nothing else, whatever was put under its name; nothing planted is followed.

    Raises:
        OSError: it cannot be written, or holds something else afterwards.
    """
    try:
        # put another file under the name: who holds the old one open writes into nothing
        if path.is_dir() and not path.is_symlink():
            remove(path)
        # a name that nobody can have made beforehand
        beside = path.with_name(f".{secrets.token_hex(16)}")
        try:
            _write(beside, data, os.O_CREAT | os.O_EXCL)
            beside.replace(path)
        except OSError:
            beside.unlink(missing_ok=True)
            raise
    except OSError:
        # over the file that is there, where its folder takes no other
        if not is_regular(path):
            raise OSError(errno.EINVAL, "is not a regular file", str(path)) from None
        _write(path, data, 0)
    if read_regular(path, len(data) + 1) != data:
        raise OSError(errno.EIO, "its content changed again", str(path))


def _write(path: Path, data: bytes, how: int) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | how, 0o644)
    with open(fd, "wb") as stream:  # noqa: PTH123  # of a descriptor
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, "is not a regular file", str(path))
        stream.truncate(0)
        stream.write(data)
