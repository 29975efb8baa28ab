"""Who makes a system call: what its arguments mean in the memory, directories and descriptors of that process."""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Iterator

AT_FDCWD = -100
_PAGE = 4096
_LONGEST = 4096
_MOST_LINKS = 40
"""Links in one path, as the kernel has it (path_resolution(7))."""


class Caller:
    """A process, or one thread of it, while it waits for its call.

    root: "" where its paths are those of perfgate, otherwise what leads to its root directory.
    """

    __slots__ = ("pid", "root")

    def __init__(self, pid: int, *, apart: bool = False) -> None:
        """See the class; apart: it has mounts or a root directory of its own."""
        self.pid = pid
        self.root = f"/proc/{pid}/root" if apart else ""

    def memory(self, address: int, size: int) -> bytes:
        """Read its memory: at most so much.

        Raises:
            OSError: it cannot be read.
        """
        # read the memory of a process in one call (process_vm_readv(2)); None: it is not to be had so
        buffer = ctypes.create_string_buffer(size)
        here, there = _Piece(ctypes.addressof(buffer), size), _Piece(address, size)
        count = _copier()(self.pid, here, 1, there, 1, 0)  # type: ignore[operator]
        found = buffer.raw[:count] if count > 0 else None
        if found is not None:
            return found
        fd = os.open(f"/proc/{self.pid}/mem", os.O_RDONLY)
        try:
            return os.pread(fd, size, address)
        finally:
            os.close(fd)

    def text(self, address: int) -> str:
        """Read a string that NUL ends.

        Raises:
            OSError: it cannot be read.
            ValueError: it does not end.
        """
        found = b""
        while len(found) <= _LONGEST:
            # not beyond the page: the next one may not be there
            start = address + len(found)
            part = self.memory(start, _PAGE - start % _PAGE)
            text, end, _ = part.partition(b"\0")
            found += text
            if end:
                return os.fsdecode(found)
            if not part:
                break
        raise ValueError("a path without an end")

    def absolute(self, path: str, directory: int | None = None) -> str:
        """Give a path from the root; directory: the descriptor from which it starts, None: the working directory.

        Raises:
            OSError: there is no such directory.
        """
        if path.startswith("/"):
            return path
        if directory is None or signed(directory) == AT_FDCWD:
            return f"{os.readlink(f'/proc/{self.pid}/cwd')}/{path}"  # noqa: PTH115
        return f"{self.open_on(directory)}/{path}"

    def open_on(self, fd: int) -> str:
        """Give what a descriptor is open on.

        Raises:
            OSError: it is not open.
        """
        return os.readlink(f"/proc/{self.pid}/fd/{signed(fd)}")  # noqa: PTH115

    def leader(self) -> int:
        """Give the process of which this is a thread.

        Raises:
            OSError: it has ended.
        """
        with open(f"/proc/{self.pid}/status", encoding="ascii", errors="replace") as file:  # noqa: PTH123
            return next((int(line.split()[1]) for line in file if line.startswith("Tgid:")), self.pid)

    def resolved(self, path: str) -> Iterator[str]:
        """Give every link that a path from the root passes, and every name that leads back up, and where it ends."""
        plain = self._plain(path)
        if plain is not None:
            yield plain
            return
        pending = path.split("/")[::-1]
        here = ""
        links = 0
        while pending and links <= _MOST_LINKS:
            name = pending.pop()
            if name in ("", "."):
                continue
            if name == "..":
                yield here or "/"
                here = here.rpartition("/")[0]
                continue
            here = f"{here}/{name}"
            target = self._target(here)
            if target is not None:
                yield here
                links += 1
                here = "" if target.startswith("/") else here.rpartition("/")[0]
                pending += target.split("/")[::-1]
        yield here or "/"

    def _plain(self, path: str) -> str | None:
        """Return a path that passes no link, as the kernel says in one step; None: go through it name by name."""
        # a cache would be as fast, but links change while others ask
        if path.startswith("/proc/"):
            return None
        try:
            fd = os.open(self.root + path, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:
            above, _, name = path.rpartition("/")
            if name in ("", ".", "..") or _is_link(self.root + path):
                return None
            real = _real(f"{self.root}{above}" or "/")
            return path if real == above or (real == "/" and not above) else None
        except OSError:
            return None
        try:
            return path if os.readlink(f"/proc/self/fd/{fd}") == path else None  # noqa: PTH115
        finally:
            os.close(fd)

    def _target(self, path: str) -> str | None:
        """Return where a link leads; None: it is none."""
        if path == "/proc/self":
            return str(self.leader())
        if path == "/proc/thread-self":
            return f"{self.leader()}/task/{self.pid}"
        try:
            target = os.readlink(self.root + path)  # noqa: PTH115  # a text, many times
        except OSError:
            return None
        if path.startswith("/proc/") and not target.startswith("/") and ":" in target:
            return None  # what a descriptor is open on may have no path: pipe:[1234]
        return target


def signed(fd: int) -> int:
    """Read the lower half of an argument as a descriptor."""
    low = fd & 0xFFFFFFFF
    return low - (1 << 32) if low & 0x80000000 else low


def _is_link(path: str) -> bool:
    try:
        os.readlink(path)  # noqa: PTH115
    except OSError:
        return False
    return True


def _real(path: str) -> str | None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return os.readlink(f"/proc/self/fd/{fd}")  # noqa: PTH115
    finally:
        os.close(fd)


class _Piece(ctypes.Structure):
    """struct iovec."""

    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


@functools.cache
def _copier() -> object:
    call = ctypes.CDLL(None).process_vm_readv
    call.argtypes = (ctypes.c_int, *(ctypes.POINTER(_Piece), ctypes.c_ulong) * 2, ctypes.c_ulong)
    call.restype = ctypes.c_ssize_t
    return call
