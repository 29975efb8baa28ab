"""Stands before a traced command: has the kernel tell perfgate what the command does, and becomes the command.

Started by itself (`python -I -S child.py SOCKET TRACER COMMAND ARGUMENT...`), so it imports nothing of perfgate but the
files beside it that import nothing either. seccomp(2) and seccomp_unotify(2) are the sources.
"""

import array
import ctypes
import os
import resource
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
"""What perfgate is told: how the command is traced."""


def execute(command: list[str]) -> NoReturn:
    """Become the command, as if nothing stood before it; where that fails, end as a shell would."""
    # Python has changed both, and may have added to the environment (PEP 538)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    with open("/proc/self/environ", "rb") as file:  # noqa: PTH123
        pairs = [pair.partition(b"=") for pair in file.read().split(b"\0") if b"=" in pair]
    try:
        os.execvpe(command[0], command, {name: value for name, _, value in pairs})  # noqa: S606
    except OSError as error:
        os._exit(126 if isinstance(error, PermissionError) else 127)


def greet(channel: socket.socket, how: bytes, fd: int = -1) -> None:
    """Tell perfgate how the command is traced, and wait until it listens."""
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))] if fd >= 0 else []
    channel.sendmsg([how], rights)
    channel.recv(1)  # from now on somebody answers


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
    return b"".join(struct.pack("HBBI", *line) for line in (*lines, (_RETURN, 0, 0, _ALLOW)))


def installed(machine: str, filters: bytes, flags: Collection[int]) -> int:
    """Have the kernel filter the calls of this process and of all that it starts; return what it answers.

    flags: one after the other, until the kernel knows them.

    Raises: OSError: it does not.
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


_CONT_SYSCALL, _SEIZE, _INTERRUPT, _LISTEN, _CALL = 24, 0x4206, 0x4207, 0x4208, 0x420E
_OPTIONS = 1 | 2 | 4 | 8 | 16 | 0x100000  # SYSGOOD, FORK, VFORK, CLONE, EXEC, EXITKILL
_EVENT_STOP = 128
_SYSCALL_STOP = signal.SIGTRAP | 0x80
_STOPPING = (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
_INFO = struct.Struct("=B3xIQQQ6Q")  # struct ptrace_syscall_info of an entry
_ENTRY = 1
_ALL = 0x40000000  # __WALL
_NOTICE = struct.Struct("=QIIiIQ6Q")  # struct seccomp_notif


class _Tracer:
    """Follows a process and all that it starts."""

    def __init__(self, channel: socket.socket, machine: str) -> None:
        self._channel = channel
        self._architecture = syscalls.ARCHITECTURES[machine]
        self._watched = frozenset(syscalls.numbers(machine))
        self._call = ctypes.CDLL(None, use_errno=True).ptrace
        self._call.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
        self._call.restype = ctypes.c_long
        self._info = ctypes.create_string_buffer(_INFO.size)

    def seize(self, pid: int) -> None:
        """Begin with a process, which stops. Raises: OSError: it cannot be traced."""
        for request, data in ((_SEIZE, _OPTIONS), (_INTERRUPT, 0)):
            if self._call(request, pid, None, data) < 0:
                raise OSError(ctypes.get_errno(), "ptrace")
        os.waitpid(pid, _ALL)
        if self._call(_CALL, pid, _INFO.size, ctypes.addressof(self._info)) < 0:  # kernels before 5.3
            raise OSError(ctypes.get_errno(), "ptrace")
        self._call(_CONT_SYSCALL, pid, None, 0)

    def follow(self, first: int) -> int:
        """Follow until the first process ends, and return its status."""
        while True:
            pid, status = os.waitpid(-1, _ALL)
            if not os.WIFSTOPPED(status):
                if pid == first:
                    return status
                continue
            number, event = os.WSTOPSIG(status), status >> 16
            if number == _SYSCALL_STOP:
                if self._call(_CALL, pid, _INFO.size, ctypes.addressof(self._info)) >= 0:
                    kind, architecture, _, _, nr, *arguments = _INFO.unpack(self._info.raw)
                    own = architecture == self._architecture and nr < _X32
                    if kind == _ENTRY and not (own and nr not in self._watched):
                        told = _NOTICE.pack(0, pid, 0, nr & 0x7FFFFFFF, architecture, 0, *arguments)
                        self._channel.sendall(told)
                        self._channel.recv(1)
                request, number = _CONT_SYSCALL, 0
            elif event == _EVENT_STOP and number in _STOPPING:
                request, number = _LISTEN, 0
            else:
                request, number = _CONT_SYSCALL, 0 if event else number
            # one that was killed meanwhile is waited for above
            self._call(request, pid, None, number)


def _by_ptrace(machine: str, channel: socket.socket, command: list[str]) -> None:
    """Trace the command, and end as it does."""
    tracer = _Tracer(channel, machine)
    begin, begun = os.pipe()
    first = os.fork()
    if first == 0:
        os.close(begun)
        os.read(begin, 1)
        os.close(begin)
        execute(command)
    os.close(begin)
    # to the whole group, and what it means is the command's to say
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(each, signal.SIG_IGN)
    try:
        tracer.seize(first)
        how = PTRACE
    except OSError:
        how = NONE
    greet(channel, how)
    os.close(begun)
    status = tracer.follow(first) if how == PTRACE else os.waitpid(first, 0)[1]
    code = os.waitstatus_to_exitcode(status)
    sys.stdout.flush()
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(-code, signal.SIG_DFL) if -code not in (signal.SIGKILL, signal.SIGSTOP) else None
        os.kill(os.getpid(), -code)
    os._exit(code)


def main(place: str, how: str, command: list[str]) -> None:
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
        found: list[int] = []
        known = threading.Lock()
        known.acquire()

        def told() -> None:
            with known:
                if found:
                    greet(channel, SECCOMP, *found)

        # older than the filter: what it sends need not be answered by who is to receive it
        passing = threading.Thread(target=told, daemon=True)
        passing.start()
        try:
            if how == "ptrace":
                raise OSError(how)
            flags = (NEW_LISTENER | WAIT_KILLABLE, NEW_LISTENER)
            # a signal would have the call told of again and again; kernels before 5.19 do not know the first ones
            listener = installed(machine, program(watched, syscalls.ARCHITECTURES[machine]), flags)
        except OSError:
            known.release()
            passing.join()
            _by_ptrace(machine, channel, command)
        else:
            found.append(listener)
            known.release()
            passing.join()
            os.close(listener)
            execute(command)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
