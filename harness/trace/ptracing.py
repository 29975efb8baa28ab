"""Traces a command by ptrace(2), where the kernel does not tell by seccomp: slower, and each call stops twice.

Imported by the program that stands before a traced command, and stays the parent of the command. What a call means is
perfgate's to understand: it is told in the form in which seccomp tells it, and the call waits for the answer.
"""

import ctypes
import os
import resource
import signal
import socket
import struct
import sys

from harness.trace import start, syscalls

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
        """channel: to perfgate."""
        self._channel = channel
        self._architecture = syscalls.ARCHITECTURES[machine]
        self._watched = frozenset(syscalls.numbers(machine))
        self._call = ctypes.CDLL(None, use_errno=True).ptrace
        self._call.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
        self._call.restype = ctypes.c_long
        self._info = ctypes.create_string_buffer(_INFO.size)

    def seize(self, pid: int) -> None:
        """Begin with a process, which stops.

        Raises:
            OSError: it cannot be traced.
        """
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
                self._stopped(pid)
                request, number = _CONT_SYSCALL, 0
            elif event == _EVENT_STOP and number in _STOPPING:
                request, number = _LISTEN, 0
            else:
                request, number = _CONT_SYSCALL, 0 if event else number
            # one that was killed meanwhile is waited for above
            self._call(request, pid, None, number)

    def _stopped(self, pid: int) -> None:
        if self._call(_CALL, pid, _INFO.size, ctypes.addressof(self._info)) < 0:
            return
        kind, architecture, _, _, nr, *arguments = _INFO.unpack(self._info.raw)
        if kind != _ENTRY or (architecture == self._architecture and nr not in self._watched and nr < 0x40000000):
            return
        self._channel.sendall(_NOTICE.pack(0, pid, 0, nr & 0x7FFFFFFF, architecture, 0, *arguments))
        self._channel.recv(1)


def main(machine: str, channel: socket.socket, number: int, command: list[str]) -> None:
    """Trace the command, and end as it does."""
    tracer = _Tracer(channel, machine)
    begin, begun = os.pipe()
    first = os.fork()
    if first == 0:
        os.close(begun)
        os.read(begin, 1)
        os.close(begin)
        start.execute(command, channel)
    os.close(begin)
    # to the whole group, and what it means is the command's to say
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(each, signal.SIG_IGN)
    try:
        tracer.seize(first)
        how = start.PTRACE
    except OSError:
        how = start.NONE
    start.greet(channel, how, number)
    os.close(begun)
    status = tracer.follow(first) if how == start.PTRACE else os.waitpid(first, 0)[1]
    _end(os.waitstatus_to_exitcode(status))


def _end(code: int) -> None:
    sys.stdout.flush()
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(-code, signal.SIG_DFL) if -code not in (signal.SIGKILL, signal.SIGSTOP) else None
        os.kill(os.getpid(), -code)
    os._exit(code)
