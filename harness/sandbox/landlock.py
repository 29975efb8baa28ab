"""Landlock, the kernel's sandbox for everybody: rulesets of what may be done below which paths (landlock(7))."""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_CREATE, _ADD = 444, 445
_VERSION, _BENEATH = 1, 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_DIR, _REMOVE_FILE, _MAKE_CHAR, _MAKE_DIR = 1 << 4, 1 << 5, 1 << 6, 1 << 7
_MAKE_REG, _MAKE_SOCK, _MAKE_FIFO, _MAKE_BLOCK, _MAKE_SYM = 1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_LATER = ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV))
"""Rights, and the versions that brought them."""
_OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | _TRUNCATE | _IOCTL_DEV
_SIGNALS_SINCE, _NET_SINCE = 6, 4
_SCOPES = 1 | 2  # abstract Unix sockets, signals
READ = EXECUTE | READ_FILE | READ_DIR
REOPEN = READ | WRITE_FILE | _TRUNCATE
"""All that one does with files that are there: nothing is made, removed or renamed."""
DEVICE = READ_FILE | WRITE_FILE | _IOCTL_DEV
WRITE = (
    READ | WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _MAKE_SOCK | _MAKE_FIFO | _MAKE_SYM
    | _REFER | _TRUNCATE
)  # fmt: skip
"""All that one does in a directory of one's own; no devices."""
LEAST = 2
"""Without the second version (Linux 5.19) nothing can be moved between directories, which compilers do."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What may be done with a path and all below it."""

    path: Path | str
    access: int


@cache
def version() -> int:
    """Return the version that this system has; 0: none, or it is switched off."""
    if sys.platform != "linux":
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    return max(0, int(libc.syscall(_CREATE, None, ctypes.c_size_t(0), _VERSION)))


def stops_signals() -> bool:
    """Return whether it keeps signals inside (Linux 6.12)."""
    return version() >= _SIGNALS_SINCE


def ruleset(rules: Iterable[Rule]) -> int:
    """Make a ruleset and return its file descriptor: whoever enters it has these rights on files, and no others.

    Paths that do not exist are left out. Where the kernel knows it, no signal goes outside.

    Raises:
        OSError: the system refuses it.
    """
    known = version()
    handled = WRITE | _MAKE_CHAR | _MAKE_BLOCK | _IOCTL_DEV
    for since, right in _LATER:
        handled &= ~right if known < since else -1
    fields = [handled, *([0] if known >= _NET_SINCE else []), *([_SCOPES] if stops_signals() else [])]
    libc = ctypes.CDLL(None, use_errno=True)
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    made = libc.syscall(_CREATE, attributes, ctypes.c_size_t(len(attributes)), 0)
    if made < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    try:
        for rule in rules:
            _add(libc, made, rule, handled)
    except BaseException:
        os.close(made)
        raise
    return int(made)


def _add(libc: ctypes.CDLL, made: int, rule: Rule, handled: int) -> None:
    try:
        # CLOEXEC, and of links what they lead to
        beneath = os.open(rule.path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        directory = stat.S_ISDIR(os.fstat(beneath).st_mode)
        access = rule.access & handled & (-1 if directory else _OF_FILES)
        if not access:
            return
        packed = struct.pack("=Qi", access, beneath)
        if libc.syscall(_ADD, made, _BENEATH, packed, 0) != 0:
            number = ctypes.get_errno()
            with suppress(KeyError):  # a file system that the kernel keeps to itself
                if errno.errorcode[number] in ("EBADFD", "EBADF"):
                    return
            raise OSError(number, os.strerror(number), str(rule.path))
    finally:
        os.close(beneath)
