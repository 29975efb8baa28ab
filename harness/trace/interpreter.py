"""The program that the kernel starts in place of another: it opens it itself, so no system call tells of it."""

from __future__ import annotations

import os
import struct
from contextlib import suppress
from pathlib import Path

_FIRST = 256
"""Bytes of a script's first line that the kernel reads (BINPRM_BUF_SIZE, linux/binfmts.h)."""
_INTERPRETER = 3  # PT_INTERP
_MOST = 128
"""Program headers that are looked at."""


def interpreter(program: str) -> str | None:
    """Return what the first line of a script names, or a program as its loader; None: it names nothing."""
    with suppress(OSError, ValueError, struct.error), Path(program).open("rb") as file:
        first = file.read(_FIRST)
        if first.startswith(b"#!"):
            words = first[2:].partition(b"\n")[0].split(maxsplit=1)
            return os.fsdecode(words[0]) if words else None
        if first.startswith(b"\x7fELF\x02"):
            (start,) = struct.unpack_from("=Q", first, 32)
            size, count = struct.unpack_from("=HH", first, 54)
            for number in range(min(count, _MOST)):
                file.seek(start + number * size)
                kind, _, offset, _, _, length = struct.unpack("=IIQQQQ", file.read(40))
                if kind == _INTERPRETER:
                    file.seek(offset)
                    return os.fsdecode(file.read(min(length, 4096)).partition(b"\0")[0])
    return None
