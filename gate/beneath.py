"""Opens files below a directory that measured code or a commit can write: a link inside it is followed, none out of it.

It does what openat2(2) does with RESOLVE_BENEATH, on every system, and takes absolute links that lead back inside, too.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path, PurePath

_MOST_LINKS = 40
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""Not blocking: to open a pipe would wait for who writes it."""
_ENTER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)


def open_beneath(root: Path, inner: str | PurePath, standing: Path | None = None) -> int:
    """Open a regular file or a directory for reading, and return its descriptor.

    Args:
        root: the directory.
        inner: relative to it.
        standing: where the directory is when links into it are made, if that is elsewhere.

    Raises:
        OSError: there is none, it is a device, a pipe or a socket (EINVAL), or a link leads out of the root (EXDEV).
    """
    pending, links = os.fspath(inner).split("/")[::-1], 0
    opened = [os.open(root, _ENTER & ~os.O_NOFOLLOW)]
    try:
        while pending:
            name = pending.pop()
            if name == "..":
                if len(opened) == 1:
                    raise OSError(errno.EXDEV, "leads out of its tree", str(inner))
                os.close(opened.pop())
            elif name not in ("", "."):
                target = _enter(name, opened, last=not any(pending))
                if target is None:
                    continue
                links += 1
                if target.startswith("/") or links > _MOST_LINKS:
                    target = _inside(target, [root, standing or root], links)
                    while len(opened) > 1:
                        os.close(opened.pop())
                pending += target.split("/")[::-1]
        if stat.S_ISDIR(os.fstat(opened[-1]).st_mode):
            # as yet it may be open only to be passed
            return os.open(".", os.O_RDONLY | os.O_CLOEXEC, dir_fd=opened[-1])
        return opened.pop()
    finally:
        for each in opened:
            os.close(each)


def _enter(name: str, opened: list[int], *, last: bool) -> str | None:
    """Open a name in the directory that was opened last; of a link, return where it leads."""
    mode = os.stat(name, dir_fd=opened[-1], follow_symlinks=False).st_mode
    if stat.S_ISLNK(mode):
        return os.readlink(name, dir_fd=opened[-1])
    if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
        raise OSError(errno.EINVAL, "is no regular file", name)
    opened.append(os.open(name, _FLAGS if last else _ENTER, dir_fd=opened[-1]))
    return None


def _inside(target: str, roots: list[Path], links: int) -> str:
    """Return an absolute path relative to one of some roots."""
    if links > _MOST_LINKS:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), target)
    for root in map(os.path.normpath, roots):
        if f"{target}/".startswith(f"{root}/"):
            return target[len(root) :]
    raise OSError(errno.EXDEV, "leads out of its tree", target)
