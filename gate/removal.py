"""Removes directories that measured code filled: however deep, whatever their modes, without following links."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

from gate.walking import FLAGS, descend

_ATTEMPTS = 3
"""A process that is just being ended may put something into what was emptied."""
_NAMED = 5
"""Directories of a path that are named in a message."""


def remove_tree(directory: Path | str, *, dir_fd: int | None = None) -> str | None:
    """Remove a directory with all below it, also read-only directories (Go's module cache); return why that cannot be.

    As much as possible is removed.

    Args:
        dir_fd: the open directory that a relative name is of.
    """
    why = None
    for _ in range(_ATTEMPTS):
        why = _attempt(os.fspath(directory), dir_fd)
        if why is None:
            break
    return why


def _attempt(top: str, dir_fd: int | None) -> str | None:
    problems: list[str] = []

    def failed(names: list[str], error: OSError) -> None:
        # the first one, and what is gone already is none
        if not problems and not isinstance(error, FileNotFoundError):
            path = [top, *names]
            shown = "/".join(path if len(path) <= _NAMED else [path[0], "...", *path[-2:]])
            problems.append(f"{shown}: {error.strerror}")

    names: list[str] = []
    try:
        for stop in descend(top, dir_fd=dir_fd, enter=_opened, failed=failed):
            names = stop.names
            for name in stop.files:
                try:
                    os.unlink(name, dir_fd=stop.fd)
                except OSError as error:
                    failed([*names, name], error)
            if stop.left:
                try:
                    os.rmdir(names[-1], dir_fd=stop.fd)
                except OSError as error:
                    failed(names, error)
        names = []
        os.rmdir(top, dir_fd=dir_fd)
    except OSError as error:
        failed(names, error)
    return problems[0] if problems else None


def _opened(name: str, dir_fd: int | None) -> int:
    """Open a directory so that it can be listed and emptied."""
    try:
        descriptor = os.open(name, FLAGS, dir_fd=dir_fd)
    except PermissionError:
        if sys.platform == "linux":
            # make it readable, without following a link that was put in its place
            descriptor = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=dir_fd)
            try:
                Path(f"/proc/self/fd/{descriptor}").chmod(stat.S_IRWXU)
            finally:
                os.close(descriptor)
        descriptor = os.open(name, FLAGS, dir_fd=dir_fd)
    with suppress(OSError):
        if os.fstat(descriptor).st_mode & stat.S_IRWXU != stat.S_IRWXU:
            os.fchmod(descriptor, stat.S_IRWXU)
    return descriptor
