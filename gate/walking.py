"""Goes through directories that measured code filled, however deep: nothing here calls itself, as os.walk does.

walk names directories by paths, of which the system bounds the length; descend opens each from the one above it.
open_beneath does what openat2(2) does with RESOLVE_BENEATH: a link inside a directory is followed, none
out of it. That is so on every system, and for absolute links that lead back inside, too.
"""

from __future__ import annotations

import errno
import math
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath

FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""Of a directory that is opened from the one above it: no link that is put in its place is followed."""


def walk(
    top: Path | str, failed: Callable[[OSError], None] = lambda _: None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield what os.walk does, top-down: the path of a directory, the names of the directories in it, and the others.

    What the caller removes from the directories is not entered, and links are not; they are entered in the order that
    they are left in. One that cannot be listed is passed over, unless failed does something with it.
    """
    pending = [os.fspath(top)]
    while pending:
        parent = pending.pop()
        folders: list[str] = []
        files: list[str] = []
        links: set[str] = set()
        try:
            with os.scandir(parent) as entries:
                for entry in entries:
                    is_folder = False
                    with suppress(OSError):  # a link that leads in a circle
                        is_folder = entry.is_dir()
                    (folders if is_folder else files).append(entry.name)
                    if entry.is_symlink():
                        links.add(entry.name)
        except OSError as error:
            failed(error)
            continue
        yield parent, folders, files
        pending += [os.path.join(parent, name) for name in reversed(folders) if name not in links]  # noqa: PTH118


def size_of(tree: Path, most: float = math.inf) -> int:
    """Return the bytes that a directory takes on the disk, or what was counted when they became more than `most`."""
    total = 0
    for parent, _, files in walk(tree):
        for name in files:
            with suppress(OSError):
                total += os.lstat(f"{parent}/{name}").st_blocks * 512
        if total > most:
            break
    return total


@dataclass(frozen=True, slots=True)
class Stop:
    """A directory when it was entered, or, with `left`, when all below it was seen."""

    fd: int
    """Of the directory itself; with `left`, of the one above it."""
    names: list[str]
    """From below the top to it, changed as the descent goes on."""
    folders: list[str]
    files: list[str]
    """folders, files: what was in it when it was entered; links are files."""
    left: bool = False


def opened(name: str, dir_fd: int | None) -> int:
    """Open a directory, from the one above it."""
    return os.open(name, FLAGS, dir_fd=dir_fd)


def descend(
    top: Path | str,
    *,
    dir_fd: int | None = None,
    enter: Callable[[str, int | None], int] = opened,
    failed: Callable[[list[str], OSError], None] = lambda _, __: None,
) -> Iterator[Stop]:
    """Yield each directory but the top twice, when it is entered and when it is left; the top once.

    Only the directory that it is in is open, so that neither PATH_MAX nor a limit on descriptors is one on the depth.

    Args:
        dir_fd: the open directory that a relative name is of.
        enter: opens a directory.
        failed: gets what cannot be entered or looked at, by its names below the top.

    Raises:
        OSError: the top cannot be opened, or a directory was moved meanwhile.
    """
    names: list[str] = []
    levels: list[tuple[tuple[int, int], list[str]]] = []
    here = enter(os.fspath(top), dir_fd)
    try:
        entered = True
        while entered or len(levels) > 1 or levels[0][1]:
            if entered:
                stop = _listed(here, names, failed)
                yield stop
                found = os.fstat(here)
                levels.append(((found.st_dev, found.st_ino), stop.folders[::-1]))
            entered = False
            if levels[-1][1]:
                name = levels[-1][1].pop()
                try:
                    inner = enter(name, here)
                except OSError as error:
                    failed([*names, name], error)
                else:
                    os.close(here)
                    here, entered = inner, True
                    names.append(name)
            elif len(levels) > 1:
                above = os.open("..", FLAGS, dir_fd=here)
                os.close(here)
                here = above
                levels.pop()
                found = os.fstat(here)
                if (found.st_dev, found.st_ino) != levels[-1][0]:
                    raise OSError(errno.ESTALE, "was moved meanwhile")
                yield Stop(here, names, [], [], left=True)
                names.pop()
    finally:
        os.close(here)


def _listed(here: int, names: list[str], failed: Callable[[list[str], OSError], None]) -> Stop:
    stop = Stop(here, names, [], [])
    with os.scandir(here) as entries:
        for entry in entries:
            try:
                (stop.folders if entry.is_dir(follow_symlinks=False) else stop.files).append(entry.name)
            except OSError as error:
                failed([*names, entry.name], error)
    return stop


_MOST_LINKS = 40
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
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


def beginning(path: Path | str, most: int) -> bytes:
    """Return the first bytes of a program, or of another regular file; none where there is no such file.

    Links lead anywhere: what is read here is compared and never shown. A pipe or a file of the kernel, which would
    not end, gives nothing.
    """
    with suppress(OSError, ValueError):
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            return os.read(fd, most) if stat.S_ISREG(os.fstat(fd).st_mode) else b""
        finally:
            os.close(fd)
    return b""


def _enter(name: str, opened: list[int], *, last: bool) -> str | None:
    """Open a name in the directory that was opened last; of a link, return where it leads."""
    mode = os.stat(name, dir_fd=opened[-1], follow_symlinks=False).st_mode
    if stat.S_ISLNK(mode):
        return os.readlink(name, dir_fd=opened[-1])
    if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
        raise OSError(errno.EINVAL, "is no regular file", name)
    opened.append(os.open(name, _READ if last else _ENTER, dir_fd=opened[-1]))
    return None


def _inside(target: str, roots: list[Path], links: int) -> str:
    """Return an absolute path relative to one of some roots."""
    if links > _MOST_LINKS:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), target)
    for root in map(os.path.normpath, roots):
        if f"{target}/".startswith(f"{root}/"):
            return target[len(root) :]
    raise OSError(errno.EXDEV, "leads out of its tree", target)
