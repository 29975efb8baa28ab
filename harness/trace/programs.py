"""What the kernel itself reads when it starts a program: the interpreters that its file names (execve(2), elf(5))."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_LINE = 256
_INTERPRETER = 3
_MACHINES = {"x86_64": 62, "aarch64": 183}
_OTHERS = Path("/proc/sys/fs/binfmt_misc")


def interpreter(file: str) -> str | None:
    """Return the path that a program names as its interpreter; None: it names none, or is not there.

    Raises:
        OSError: it is there and cannot be read.
        ValueError: it is of another architecture, or what starts it is not known.
    """
    with suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError), open(file, "rb") as opened:  # noqa: PTH123
        head = opened.read(_LINE)
        if head.startswith(b"#!"):
            words = head[2:].split(b"\n")[0].split(maxsplit=1)
            return os.fsdecode(words[0]) if words else None
        if head.startswith(b"\x7fELF"):
            return next(_elf(opened.fileno(), head), None)
        # a shell takes it for a script, unless the host knows better
        if os.access(file, os.X_OK) and _registered() - {"register", "status"}:
            raise ValueError("a program of a kind that the host has registered")
    return None


def _registered() -> set[str]:
    with suppress(OSError):
        return {path.name for path in _OTHERS.iterdir()}
    return set()


def _elf(fd: int, head: bytes) -> Iterator[str]:
    (machine,) = struct.unpack_from("=H", head, 18)
    if machine != _MACHINES[os.uname().machine] or head[4] != 2:  # ELFCLASS64
        raise ValueError("a program of another architecture")
    (table,) = struct.unpack_from("=Q", head, 32)
    size, count = struct.unpack_from("=HH", head, 54)
    for number in range(count):
        kind, _, offset, _, _, length = struct.unpack("=IIQQQQ", os.pread(fd, 40, table + number * size))
        if kind == _INTERPRETER:
            yield os.fsdecode(os.pread(fd, min(length, 4096), offset).split(b"\0")[0])
