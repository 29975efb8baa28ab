"""What the kernel is asked to tell of system calls, or to refuse (seccomp(2), bpf(4))."""

import ctypes
import struct
from collections.abc import Collection, Mapping

from harness.trace import syscalls

_SET_NO_NEW_PRIVS = 38
_SET_MODE_FILTER = 1
NEW_LISTENER, WAIT_KILLABLE = 8, 32
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_ALLOW, _NOTIFY = 0x7FFF0000, 0x7FC00000
_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_X32 = 0x40000000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # where struct seccomp_data has them

Line = tuple[int, int, int, int]


def program(watched: Mapping[int, str], architecture: int) -> bytes:
    """Return the filter (classic BPF): tell of what is watched and of calls of another architecture, allow the rest."""
    lines: list[Line] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_JUMP_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _NOTIFY),
        (_LOAD, 0, 0, _NUMBER),
    ]
    lines += [(_JUMP_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _NOTIFY)] if architecture == syscalls.X86_64 else []
    for number, name in sorted(watched.items()):
        if name in syscalls.NEEDED:
            place = _ARGUMENTS + 8 * syscalls.NEEDED[name]  # both halves of 64 bits
            lines += [
                (_JUMP_EQUAL, 0, 6, number),
                (_LOAD, 0, 0, place),
                (_JUMP_EQUAL, 0, 2, 0),
                (_LOAD, 0, 0, place + 4),
                (_JUMP_EQUAL, 1, 0, 0),
                (_RETURN, 0, 0, _NOTIFY),
                (_RETURN, 0, 0, _ALLOW),
            ]
        else:
            lines += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, _NOTIFY)]
    return _assembled([*lines, (_RETURN, 0, 0, _ALLOW)])


def _assembled(lines: Collection[Line]) -> bytes:
    return b"".join(struct.pack("HBBI", *line) for line in lines)


def installed(machine: str, filters: bytes, flags: Collection[int]) -> int:
    """Have the kernel filter the calls of this process and of all that it starts; return what it answers.

    flags: one after the other, until the kernel knows them.

    Raises:
        OSError: it does not.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "no_new_privs")
    code = ctypes.create_string_buffer(filters, len(filters))
    # struct sock_fprog: unsigned short, pointer
    rule = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(filters) // 8, ctypes.addressof(code)))
    for each in flags:
        answer: int = libc.syscall(_SECCOMP[machine], _SET_MODE_FILTER, each, rule)
        if answer >= 0:
            return answer
    raise OSError(ctypes.get_errno(), "seccomp")
