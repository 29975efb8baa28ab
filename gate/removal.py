"""Removes directories that measured code filled: however deep, whatever their modes, without following links."""

from __future__ import annotations

import errno
import os
import stat
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_ATTEMPTS = 3
"""A process that is just being ended may put something into what was emptied."""
_NAMED = 5
"""Directories of a path that are named in a message."""


def remove_tree(directory: Path | str, *, dir_fd: int | None = None) -> str | None:
    """Remove a directory with all below it, also read-only directories (Go's module cache); return why that cannot be.

    As much as possible is removed. It calls itself nowhere and names nothing by a path, so neither Python's stack nor
    PATH_MAX limits the depth.

    Args:
        dir_fd: the open directory that a relative name is of.
    """
    why = None
    for _ in range(_ATTEMPTS):
        why = _Removal(os.fspath(directory)).run(dir_fd)
        if why is None:
            break
    return why


@dataclass(frozen=True, slots=True)
class _Level:
    """A directory that was entered."""

    name: str
    key: tuple[int, int]
    """Device and inode."""
    inner: list[str]
    """The directories in it that are still to be entered."""


class _Removal:
    """One attempt. Only the directory that it is in is open: a limit on descriptors is no limit on the depth either."""

    def __init__(self, top: str) -> None:
        self._levels = [_Level(top, (0, 0), [])]
        self._why: str | None = None

    def run(self, dir_fd: int | None) -> str | None:
        top = self._levels[0].name
        try:
            self._here = _opened(top, dir_fd)
        except FileNotFoundError:
            return None
        except OSError as error:
            return f"{top}: {error.strerror}"
        try:
            self._levels.clear()
            self._empty(top)
            while self._levels[0].inner or len(self._levels) > 1:
                if self._levels[-1].inner:
                    self._enter(self._levels[-1].inner.pop())
                else:
                    self._leave()
            os.rmdir(top, dir_fd=dir_fd)
        except FileNotFoundError:
            pass
        except OSError as error:
            self._note("", error)
        finally:
            os.close(self._here)
        return self._why

    def _empty(self, name: str) -> None:
        """Remove the files of the directory that was entered, and list the directories in it."""
        found = os.fstat(self._here)
        inner: list[str] = []
        self._levels.append(_Level(name, (found.st_dev, found.st_ino), inner))
        with os.scandir(self._here) as entries:
            for entry in entries:
                try:
                    if entry.is_dir(follow_symlinks=False):
                        inner.append(entry.name)
                    else:
                        os.unlink(entry.name, dir_fd=self._here)
                except OSError as error:
                    self._note(entry.name, error)

    def _enter(self, name: str) -> None:
        try:
            self._go(_opened(name, self._here))
        except OSError as error:
            self._note(name, error)
        else:
            self._empty(name)

    def _leave(self) -> None:
        """Go up, and remove the directory that was emptied.

        Raises:
            OSError: the directory above is not the one that it was entered from.
        """
        above = os.open("..", _flags(), dir_fd=self._here)
        self._go(above)
        found, left = os.fstat(above), self._levels[-1].name
        if (found.st_dev, found.st_ino) != self._levels[-2].key:
            raise OSError(errno.ESTALE, "was moved while it was being removed")
        self._levels.pop()
        try:
            os.rmdir(left, dir_fd=above)
        except OSError as error:
            self._note(left, error)

    def _go(self, descriptor: int) -> None:
        before, self._here = self._here, descriptor
        os.close(before)

    def _note(self, name: str, error: OSError) -> None:
        """Keep the first error, and go on; what is gone already is none."""
        if self._why is None and not isinstance(error, FileNotFoundError):
            names = [*(each.name for each in self._levels), *([name] if name else [])]
            path = "/".join(names if len(names) <= _NAMED else [names[0], "...", *names[-2:]])
            self._why = f"{path}: {error.strerror}"


def _flags() -> int:
    return os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def _opened(name: str, dir_fd: int | None) -> int:
    """Open a directory so that it can be listed and emptied."""
    try:
        descriptor = os.open(name, _flags(), dir_fd=dir_fd)
    except PermissionError:
        _let_in(name, dir_fd)
        descriptor = os.open(name, _flags(), dir_fd=dir_fd)
    with suppress(OSError):
        if os.fstat(descriptor).st_mode & stat.S_IRWXU != stat.S_IRWXU:
            os.fchmod(descriptor, stat.S_IRWXU)
    return descriptor


def _let_in(name: str, dir_fd: int | None) -> None:
    """Make a directory readable, without following a link that was put in its place."""
    if sys.platform == "linux":
        descriptor = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=dir_fd)
        try:
            Path(f"/proc/self/fd/{descriptor}").chmod(stat.S_IRWXU)
        finally:
            os.close(descriptor)
