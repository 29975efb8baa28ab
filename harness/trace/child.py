"""Stands before a traced command: has the kernel tell perfgate what the command does, and becomes the command.

Started by itself (`python -I -S child.py SOCKET COMMAND ARGUMENT...`), so it imports nothing of perfgate but the table
beside it. seccomp(2) and seccomp_unotify(2) are the sources.
"""

import array
import ctypes
import os
import socket
import struct
import sys
from collections.abc import Collection

if __name__ == "__main__":
    sys.path.insert(0, os.path.normpath(f"{__file__}/../../.."))

from harness.trace import syscalls

_SET_NO_NEW_PRIVS = 38
_SET_MODE_FILTER = 1
_NEW_LISTENER, _WAIT_KILLABLE = 8, 32
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_ALLOW, _NOTIFY, _NO_SUCH_CALL = 0x7FFF0000, 0x7FC00000, 0x00050000 | 38
_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_X32 = 0x40000000


def program(watched: Collection[int], architecture: int, io_uring: int) -> bytes:
    """Return the filter (classic BPF): tell of what is watched and of calls of another architecture, allow the rest."""
    lines = [(_LOAD, 0, 0, 4), (_JUMP_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _NOTIFY), (_LOAD, 0, 0, 0)]
    lines += [(_JUMP_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _NOTIFY)] if architecture == 0xC000003E else []
    lines += [(_JUMP_EQUAL, 0, 1, io_uring), (_RETURN, 0, 0, _NO_SUCH_CALL)]
    for number in sorted(watched):
        lines += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, _NOTIFY)]
    lines.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("HBBI", *line) for line in lines)


def listener(machine: str, filters: bytes) -> int:
    """Have the kernel tell of this process and all that it starts; return the descriptor that it tells on.

    Raises:
        OSError: it does not.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "no_new_privs")
    code = ctypes.create_string_buffer(filters, len(filters))
    # struct sock_fprog: unsigned short, pointer
    rule = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(filters) // 8, ctypes.addressof(code)))
    # a signal would have the call told of again and again; kernels before 5.19 do not know the second flag
    for flags in (_NEW_LISTENER | _WAIT_KILLABLE, _NEW_LISTENER):
        fd: int = libc.syscall(_SECCOMP[machine], _SET_MODE_FILTER, flags, rule)
        if fd >= 0:
            return fd
    raise OSError(ctypes.get_errno(), "seccomp")


def main(arguments: list[str]) -> None:
    """Have it told, and become the command; where it cannot be told the command runs all the same."""
    machine = os.uname().machine
    with socket.socket(socket.AF_UNIX) as channel:
        channel.connect(arguments[0])
        try:
            watched = syscalls.numbers(machine)
            column = list(syscalls.ARCHITECTURES).index(machine)
            fd = listener(machine, program(watched, syscalls.ARCHITECTURES[machine], syscalls.IO_URING[column]))
        except (OSError, ValueError):
            fd = -1
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))] if fd >= 0 else []
        channel.sendmsg([b"x"], rights)
        channel.recv(1)  # from now on somebody answers
    if fd >= 0:
        os.close(fd)
    command = arguments[1:]
    try:
        os.execvpe(command[0], command, os.environ)  # noqa: S606
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        os._exit(126 if isinstance(error, PermissionError) else 127)


if __name__ == "__main__":
    main(sys.argv[1:])
