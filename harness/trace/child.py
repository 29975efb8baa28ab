"""Stands before a traced command: has the kernel tell perfgate what the command does, and becomes the command.

Started by itself (`python -I -S child.py SOCKET NUMBER COMMAND ARGUMENT...`), so it imports nothing of perfgate but the
files beside it that import nothing either. seccomp(2) and seccomp_unotify(2) are the sources.
"""

import array
import ctypes
import os
import signal
import socket
import struct
import sys
import threading
from collections.abc import Collection, Mapping
from typing import NoReturn

if __name__ == "__main__":
    sys.path.insert(0, os.path.normpath(f"{__file__}/../../.."))

from harness.trace import syscalls

SECCOMP, PTRACE, NONE = b"s", b"p", b"n"
"""The first byte to perfgate: how the command is traced."""
HELLO = struct.Struct("=ci")
"""It, and the number of the command."""
FAILED = struct.Struct("=i")
"""Why the command cannot be started."""

_SET_NO_NEW_PRIVS = 38
_SET_MODE_FILTER = 1
_NEW_LISTENER, _WAIT_KILLABLE = 8, 32
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_ALLOW, _NOTIFY, _NO_SUCH_CALL = 0x7FFF0000, 0x7FC00000, 0x00050000 | 38
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
    lines += _refused()
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


def without_io_uring() -> bytes:
    """Return the filter that only has this kernel seem to have no io_uring."""
    return _assembled([(_LOAD, 0, 0, _NUMBER), *_refused(), (_RETURN, 0, 0, _ALLOW)])


def _refused() -> Collection[Line]:
    return (_JUMP_EQUAL, 0, 1, syscalls.IO_URING), (_RETURN, 0, 0, _NO_SUCH_CALL)


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


def execute(command: list[str], channel: socket.socket) -> NoReturn:
    """Become the command, as if nothing stood before it; perfgate hears on the channel if that fails."""
    # Python has changed both, and may have added to the environment (PEP 538)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    with open("/proc/self/environ", "rb") as file:  # noqa: PTH123
        pairs = [pair.partition(b"=") for pair in file.read().split(b"\0") if b"=" in pair]
    try:
        os.execvpe(command[0], command, {name: value for name, _, value in pairs})  # noqa: S606
    except OSError as error:
        channel.sendall(FAILED.pack(error.errno or 0))
        channel.recv(1)
        os._exit(126 if isinstance(error, PermissionError) else 127)


def greet(channel: socket.socket, how: bytes, number: int, fd: int = -1) -> None:
    """Tell perfgate how the command is traced, and wait until it listens."""
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))] if fd >= 0 else []
    channel.sendmsg([HELLO.pack(how, number)], rights)
    channel.recv(1)  # from now on somebody answers


class _Passing:
    """A thread older than the filter: what it sends need not be answered by who is to receive it."""

    def __init__(self, channel: socket.socket, number: int) -> None:
        self._arguments = (channel, SECCOMP, number)
        self._fd: int | None = None
        self._found, self._sent = threading.Lock(), threading.Lock()
        self._found.acquire()
        self._sent.acquire()
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        with self._found:
            if self._fd is not None:
                greet(*self._arguments, self._fd)
        self._sent.release()

    def send(self, fd: int | None) -> None:
        """Send the descriptor, or nothing; return when it has been taken."""
        self._fd = fd
        self._found.release()
        with self._sent:
            pass


def main(place: str, number: int, how: str, command: list[str]) -> None:
    """Have it told, and become the command; where it cannot be told the command runs all the same.

    how: "ptrace" leaves seccomp aside.
    """
    machine = os.uname().machine
    with socket.socket(socket.AF_UNIX) as channel:
        # an address has no room for a long path
        folder, name = os.path.split(place)
        fd = os.open(folder, os.O_RDONLY)
        channel.connect(f"/proc/self/fd/{fd}/{name}")
        os.close(fd)
        watched = syscalls.numbers(machine)
        passing = _Passing(channel, number)
        try:
            if how == "ptrace":
                raise OSError(how)
            flags = (_NEW_LISTENER | _WAIT_KILLABLE, _NEW_LISTENER)
            # a signal would have the call told of again and again; kernels before 5.19 do not know the first ones
            listener = installed(machine, program(watched, syscalls.ARCHITECTURES[machine]), flags)
        except OSError:
            passing.send(None)
            from harness.trace import ptracing

            ptracing.main(machine, channel, number, command)
        else:
            passing.send(listener)
            os.close(listener)
            execute(command, channel)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:])
