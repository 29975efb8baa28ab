"""Traces commands: sees what they read, and all that they start."""

from __future__ import annotations

import array
import fcntl
import os
import platform
import secrets
import select
import socket
import struct
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Literal

from harness.process.execute import Command, Executor, ProcessEnd, ProcessExecutor, no_complaint
from harness.process.process_groups import Background
from harness.trace import child, syscalls
from harness.trace.watcher import NOTICE, Accesses, Doubt, Seen, Watcher

Tracer = Literal["seccomp", "ptrace"]


class Trace:
    """What some commands read, all of one benchmark on one side: a thread listens for them, and to them; see tracing.

    tracers: how they were traced so far.
    """

    def __init__(self, directory: Path, since: int, tracer: Tracer) -> None:
        self.tracers: set[str] = set()
        self._seen = Seen(since)
        self._tracer = tracer
        self._kernels: list[_Kernel] = []
        self._all = ExitStack()
        self._place: Path | None = None
        # a system whose calls are known, and where /proc shows the processes that are started
        known = sys.platform == "linux" and platform.machine() in syscalls.ARCHITECTURES
        if not known or os.path.realpath("/proc/self") != f"/proc/{os.getpid()}":
            self._seen.doubt(Doubt("no-tracer"))
            return
        self._watcher = Watcher(self._seen, platform.machine())
        with ExitStack() as stack:
            self._socket = stack.enter_context(socket.socket(socket.AF_UNIX))
            folder = os.open(directory, os.O_RDONLY)
            stack.callback(os.close, folder)
            self._place = directory / secrets.token_hex(4)
            # an address has no room for a long path
            self._socket.bind(f"/proc/self/fd/{folder}/{self._place.name}")
            stack.callback(self._place.unlink, missing_ok=True)
            # the command may be another user's; the directory lets nobody else in
            self._place.chmod(0o666)
            self._socket.listen()
            self._wake, woken = os.pipe()
            stack.callback(os.close, self._wake)
            self._thread = threading.Thread(target=self._serve, name="trace", daemon=True)
            self._thread.start()
            stack.callback(self._thread.join)
            stack.callback(os.close, woken)
            self._all = stack.pop_all()

    def wrap(self, command: Command) -> Command:
        """Return a command that is traced; it ends as the command itself would."""
        if self._place is None:
            return command
        before = (sys.executable, "-I", "-S", child.__file__)
        return replace(command, argv=(*before, str(self._place), self._tracer, *command.argv), launch=None)

    def accesses(self) -> Accesses:
        """Return what was seen so far."""
        if self._place is not None and not self._thread.is_alive():
            self._seen.doubt(Doubt("lost", "the tracer"))
        if any(each.interrupted for each in self._kernels):
            self._seen.doubt(Doubt("interrupted"))
        return self._seen.accesses()

    def close(self) -> None:
        """End; what is still traced goes on without, and its watched calls fail."""
        self._all.close()

    def _serve(self) -> None:
        poller = select.poll()
        poller.register(self._socket, select.POLLIN)
        poller.register(self._wake, select.POLLIN)
        listeners: dict[int, _Kernel | _Channel] = {}
        # an error, as when there are no more descriptors, ends it: that is a doubt
        with suppress(OSError), ExitStack() as stack:
            stack.callback(lambda: [each.close() for each in listeners.values()])
            while True:
                for fd, events in poller.poll():
                    if fd == self._wake:
                        return
                    if fd == self._socket.fileno():
                        for each in self._greet():
                            listeners[each.fd] = each
                            poller.register(each.fd, select.POLLIN)
                    elif not (events & select.POLLIN and listeners[fd].answer()):
                        # all that was traced on it has ended
                        poller.unregister(fd)
                        listeners.pop(fd).close()

    def _greet(self) -> list[_Kernel | _Channel]:
        """Take what tells of a command, which then begins."""
        channel = self._socket.accept()[0]
        how, rights, *_ = channel.recvmsg(1, socket.CMSG_SPACE(4))
        found = array.array("i")
        for level, kind, data in rights:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                found.frombytes(data[:4])
        if not how:  # it was ended before it began
            channel.close()
            return []
        pid, *_ = _CREDENTIALS.unpack(channel.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
        apart = not _same(pid, "ns/mnt") or not _same(pid, "root")
        listeners: list[_Kernel | _Channel] = [_Channel(self._watcher, channel, apart=apart)]
        if how == child.SECCOMP and found:
            self._kernels.append(_Kernel(self._watcher, found[0], apart=apart))
            listeners.append(self._kernels[-1])
            self.tracers.add("seccomp")
        elif how == child.PTRACE and _same(pid, "ns/pid"):
            self.tracers.add("ptrace")
        else:
            self._seen.doubt(Doubt("no-tracer"))
        with suppress(OSError):
            channel.sendall(_WORD)
        return listeners


@contextmanager
def tracing(directory: Path, *, since: int = 0, tracer: Tracer = "seccomp") -> Iterator[Trace]:
    """Trace commands that are wrapped, and all that they start, until this is left; ask for the accesses before that.

    What the strings of a call say is read before the kernel reads them: a program with threads that exchange them
    meanwhile would deceive this. It is a proof against accidents; measured code that cheats is the sandbox's matter.

    By seccomp, a signal that comes before a call is told of ends the call, which may fail then as it never would: the
    doubt "interrupted", and a reason to try ptrace. (That of the very last call of all is not noticed.)

    directory: for a socket. since: what others changed later is told, in nanoseconds since the epoch. tracer: which
    to try first; seccomp falls back on ptrace.

    Raises: OSError: it cannot listen.
    """
    trace = Trace(directory, since, tracer)
    try:
        yield trace
    finally:
        trace.close()


_RECEIVE, _SEND, _SET_FLAGS = 0xC0502100, 0xC0182101, 0x40082104
_SYNC_WAKE_UP = struct.pack("=Q", 1)
_ANSWER = struct.Struct("=QqiI")  # struct seccomp_notif_resp
_CONTINUE = 1
_WORD = b"x"
_CREDENTIALS = struct.Struct("=iII")  # struct ucred


class _Kernel:
    """Seccomp's descriptor, which tells of the calls of one command and of all that it starts."""

    def __init__(self, watcher: Watcher, fd: int, *, apart: bool) -> None:
        self._watcher, self._apart = watcher, apart
        self.fd = fd
        self._numbers: tuple[int, int] | None = None
        self._count = 0
        with suppress(OSError):  # two switches less a call, from Linux 6.6 on
            fcntl.ioctl(fd, _SET_FLAGS, _SYNC_WAKE_UP)

    def answer(self) -> bool:
        """Note a call, and have the kernel make it; return whether there can be more."""
        notice = bytearray(NOTICE.size)
        try:
            fcntl.ioctl(self.fd, _RECEIVE, notice)
        except OSError:  # who made it has ended, or a signal came first
            return True
        number = self._watcher.note(notice, apart=self._apart)
        first, last = self._numbers or (number, number)
        self._numbers = first, max(last, number)
        self._count += 1
        with suppress(OSError):
            fcntl.ioctl(self.fd, _SEND, bytearray(_ANSWER.pack(number, 0, 0, _CONTINUE)))
        return True

    @property
    def interrupted(self) -> bool:
        """Return whether a signal ended a call before it was told of: the kernel numbers them, and one is missing."""
        return self._numbers is not None and self._numbers[1] - self._numbers[0] + 1 != self._count

    def close(self) -> None:
        os.close(self.fd)


class _Channel:
    """The connection of the program that stands before a command, which tells of calls where the kernel does not."""

    def __init__(self, watcher: Watcher, channel: socket.socket, *, apart: bool) -> None:
        self._watcher, self._apart = watcher, apart
        self._channel = channel
        self.fd = channel.fileno()

    def answer(self) -> bool:
        """Take what it tells, and let it go on; return whether there can be more."""
        try:
            told = self._channel.recv(NOTICE.size)
            if len(told) != NOTICE.size:
                return False
            self._watcher.note(told, apart=self._apart)
            self._channel.sendall(_WORD)
        except OSError:
            return False
        return True

    def close(self) -> None:
        self._channel.close()


def _same(pid: int, what: str) -> bool:
    """Return whether a process has a namespace, or the root directory, that perfgate has."""
    try:
        return os.readlink(f"/proc/{pid}/{what}") == os.readlink(f"/proc/self/{what}")  # noqa: PTH115
    except OSError:
        return False


class TracedExecutor:
    """Starts what another executor starts, traced; see Executor."""

    def __init__(self, executor: Executor, trace: Trace) -> None:
        self._executor = executor
        self._trace = trace

    def run(self, command: Command, complaint: Callable[[], str] = no_complaint) -> ProcessEnd:
        """Start a process, wait for it, and end what is left of it."""
        return self._executor.run(self._trace.wrap(command), complaint)

    def start(self, command: Command, log: Path) -> Background:
        """Start a process in the background. Raises: StartError: it cannot be started."""
        return self._executor.start(self._trace.wrap(command), log)


def tracer_here() -> Tracer | None:
    """Return what sees the reads of commands on this host, found by trying; None: nothing does.

    Raises: OSError: there is no room for temporary files.
    """
    with tempfile.TemporaryDirectory() as place, tracing(Path(place)) as trace:
        command = Command(("/bin/sh", "-c", "test -e given"), Path(place), {"PATH": os.defpath}, 10.0)
        ProcessExecutor().run(trace.wrap(command))
        accesses = trace.accesses()
        seen = not accesses.doubts and any(path.endswith("/given") for path in accesses.read)
        return next((each for each in ("seccomp", "ptrace") if each in trace.tracers), None) if seen else None
