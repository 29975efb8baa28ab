"""Traces commands: a thread answers what the kernel tells of their system calls (seccomp_unotify(2))."""

from __future__ import annotations

import array
import errno
import fcntl
import os
import platform
import secrets
import select
import socket
import stat
import struct
import sys
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from harness.process.execute import Command
from harness.trace import child, syscalls
from harness.trace.accesses import Accesses, Doubt, DoubtKind, Seen
from harness.trace.interpreter import interpreter

_RECEIVE, _SEND = 0xC0502100, 0xC0182101
_NOTICE = struct.Struct("=QIIiIQ6Q")  # struct seccomp_notif
_ANSWER = struct.Struct("=QqiI")  # struct seccomp_notif_resp
_CONTINUE = 1
_AT_FDCWD = -100
_PAGE = 4096
_LONGEST = 4096
_SYS_PIDFD_OPEN, _SYS_PIDFD_GETFD = 434, 438
_SPECIAL = stat.S_ISUID | stat.S_ISGID
_DATAGRAM = (socket.SOCK_DGRAM, socket.SOCK_RAW)
_TYPE = 0xF
_MOST_INTERPRETERS = 8
_REMOVE_DIRECTORY = 0x200  # AT_REMOVEDIR
_IN_ROOT = 0x10
"""Of openat2: the directory is the root of the path (linux/openat2.h)."""


class Trace:
    """What some commands read, all of one benchmark on one side; see tracing."""

    def __init__(self, directory: Path, ports: Collection[int]) -> None:
        """Listen; directory: for a socket. ports: of this host that the commands may connect to."""
        self._place = directory / secrets.token_hex(4)
        self._seen = Seen()
        self._names = syscalls.numbers(platform.machine()) if _known() else {}
        self._bound: list[_Bound] = [_Bound(port) for port in ports]
        self._socket = socket.socket(socket.AF_UNIX)
        self._wake, self._woken = os.pipe()
        try:
            self._socket.bind(str(self._place))
            self._socket.listen()
        except BaseException:
            self._close()
            raise
        self._thread = threading.Thread(target=self._serve, name="trace", daemon=True)
        self._thread.start()

    def wrap(self, command: Command) -> Command:
        """Return a command that is traced; it ends as the command itself would."""
        argv = (sys.executable, "-I", "-S", child.__file__, str(self._place), *command.argv)
        return replace(command, argv=argv, launch=None)

    def accesses(self) -> Accesses:
        """Return what was seen so far."""
        return self._seen.accesses()

    def close(self) -> None:
        """End; what is still traced goes on without, and its watched calls fail."""
        os.close(self._woken)
        self._thread.join()
        self._close()

    def _close(self) -> None:
        for bound in self._bound:
            bound.close()
        self._socket.close()
        os.close(self._wake)
        self._place.unlink(missing_ok=True)

    def _serve(self) -> None:
        poller = select.poll()
        poller.register(self._socket, select.POLLIN)
        poller.register(self._wake, select.POLLIN)
        listeners: set[int] = set()
        try:
            while True:
                for fd, events in poller.poll():
                    if fd == self._wake:
                        return
                    if fd == self._socket.fileno():
                        listener = self._greet()
                        if listener is not None:
                            listeners.add(listener)
                            poller.register(listener, select.POLLIN)
                    elif events & select.POLLIN:
                        self._answer(fd)
                    else:  # all that was traced on it has ended
                        poller.unregister(fd)
                        listeners.discard(fd)
                        os.close(fd)
        finally:
            for fd in listeners:
                os.close(fd)

    def _greet(self) -> int | None:
        """Take the descriptor that tells of a command, which then begins."""
        with self._socket.accept()[0] as channel:
            message, rights, *_ = channel.recvmsg(1, socket.CMSG_SPACE(4))
            found = array.array("i")
            for level, kind, data in rights:
                if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                    found.frombytes(data[:4])
            if not found:
                self._seen.doubt(Doubt("no-tracer"))
            with suppress(OSError):
                channel.sendall(message)
            return found[0] if found else None

    def _answer(self, fd: int) -> None:
        """Note one system call, and have the kernel make it."""
        notice = bytearray(_NOTICE.size)
        try:
            fcntl.ioctl(fd, _RECEIVE, notice)
        except OSError:  # who made it has ended, or a signal came first
            return
        number, pid, _, nr, architecture, _, *arguments = _NOTICE.unpack(notice)
        try:
            self._note(pid, nr, architecture, arguments)
        except OSError as error:
            # what has ended read nothing more
            if error.errno not in (errno.ESRCH, errno.ENOENT):
                self._seen.doubt(Doubt("lost", str(nr)))
        except (ValueError, struct.error):
            self._seen.doubt(Doubt("lost", str(nr)))
        with suppress(OSError):
            fcntl.ioctl(fd, _SEND, bytearray(_ANSWER.pack(number, 0, 0, _CONTINUE)))

    def _note(self, pid: int, nr: int, architecture: int, arguments: list[int]) -> None:
        seen, name = self._seen, self._names.get(nr)
        if architecture != syscalls.ARCHITECTURES[platform.machine()] or name is None:
            seen.doubt(Doubt("architecture"))
        elif name in syscalls.PATHS:
            self._paths(name, pid, arguments)
        elif name in syscalls.LISTED:
            self._see(pid, _open_on(pid, arguments[0]), seen.listed)
        elif name in syscalls.SHARED:
            # a key of 0 is IPC_PRIVATE: nobody else has it
            if arguments[0] or name == "mq_open":
                seen.doubt(Doubt("shared-memory", name))
        elif name in syscalls.CLONES:
            flags = arguments[0]
            if name == "clone3":
                (flags,) = struct.unpack("=Q", _memory(pid, arguments[0], 8))
            if flags & syscalls.CLONE_NEW:
                seen.doubt(Doubt("namespace", name))
        elif name in syscalls.SOCKETS:
            self._socket_call(name, pid, arguments)
        else:
            seen.doubt(Doubt(cast(DoubtKind, syscalls.DOUBTFUL[name][1]), name))

    def _paths(self, name: str, pid: int, arguments: list[int]) -> None:
        seen = self._seen
        _, *places = syscalls.PATHS[name]
        if name == "openat2" and struct.unpack("=QQQ", _memory(pid, arguments[2], 24))[2] & _IN_ROOT:
            seen.doubt(Doubt("namespace", name))
        for kind, position in places:
            address = arguments[position]
            text = _text(pid, address) if address else ""
            if not text:  # of the descriptor itself, which was opened before
                if name == "execveat":
                    text = _open_on(pid, arguments[0])
                else:
                    continue
            into = seen.read
            if name in ("execve", "execveat"):
                into = seen.executed
            elif name == "rmdir" or (name == "unlinkat" and arguments[2] & _REMOVE_DIRECTORY):
                into = seen.listed  # which it does if nothing is in it
            elif name == "creat" or (name in ("open", "openat") and _rewrites(arguments[position + 1])):
                into = seen.written
            path = self._see(pid, _absolute(pid, text, arguments[position - 1] if kind == syscalls.AT else None), into)
            if into is seen.executed:
                self._executed(pid, path)
        if name in syscalls.MOVED:
            seen.moved()

    def _see(self, pid: int, path: str, into: set[str]) -> str:
        return self._seen.path(path, into, lambda: f"/proc/{_leader(pid)}")

    def _executed(self, pid: int, path: str) -> None:
        """Note what the kernel starts in place of a program: the interpreter of a script or its own, and theirs."""
        for _ in range(_MOST_INTERPRETERS):
            self._privileges(path)
            found = interpreter(path)
            if not found:
                return
            path = self._see(pid, _absolute(pid, found, None), self._seen.executed)

    def _privileges(self, path: str) -> None:
        with suppress(OSError):
            if Path(path).stat().st_mode & _SPECIAL:
                self._seen.doubt(Doubt("privileges", path))
        with suppress(OSError):
            if os.getxattr(path, "security.capability"):
                self._seen.doubt(Doubt("privileges", path))

    def _socket_call(self, name: str, pid: int, arguments: list[int]) -> None:
        if name == "socket":
            domain, kind = arguments[0], arguments[1] & _TYPE
            if domain not in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK):
                self._seen.doubt(Doubt("connection", f"address family {domain}"))
            elif domain != socket.AF_NETLINK and kind in _DATAGRAM:
                # whom it speaks to is said with each datagram
                self._seen.doubt(Doubt("connection", "datagrams"))
            return
        address = _address(_memory(pid, arguments[1], min(arguments[2], 128)))
        if name == "bind":
            self._bound.append(_bound(pid, arguments[0], address))
            return
        if address is None or any(each.is_at(address) for each in self._bound):
            return
        if isinstance(address, str) and not address.startswith("\0"):
            path = self._see(pid, _absolute(pid, address, None), self._seen.read)
            if not os.path.lexists(path):  # nobody is there, which is all that it learns
                return
            address = path
        self._seen.doubt(Doubt("connection", _shown(address)))


@contextmanager
def tracing(directory: Path, *, ports: Collection[int] = ()) -> Iterator[Trace]:
    """Trace commands that are wrapped, and all that they start, until this is left.

    What the strings of a call say is read before the kernel reads them: a program with threads that exchange them
    meanwhile would deceive this. It is a proof against accidents; measured code that cheats is the sandbox's matter.

    directory: for a socket, below 100 bytes. ports: of this host that the commands may connect to.

    Raises:
        OSError: it cannot listen.
    """
    trace = Trace(directory, ports)
    try:
        yield trace
    finally:
        trace.close()


def _known() -> bool:
    return sys.platform == "linux" and platform.machine() in syscalls.ARCHITECTURES


# --- sockets --------------------------------------------------------------------------------------------------------

_Address = str | int | tuple[str, int]
"""A path (abstract ones begin with NUL), a port of this host, or an address elsewhere."""


@dataclass(frozen=True, slots=True)
class _Bound:
    """Where a traced process listens. descriptor: of a socket whose port the kernel chooses."""

    address: _Address | None
    descriptor: int | None = None

    def is_at(self, address: _Address) -> bool:
        if self.descriptor is None:
            return self.address == address
        with suppress(OSError), socket.socket(fileno=os.dup(self.descriptor)) as own:
            return bool(own.getsockname()[1] == address)
        return False

    def close(self) -> None:
        if self.descriptor is not None:
            os.close(self.descriptor)


def _bound(pid: int, fd: int, address: _Address | None) -> _Bound:
    return _Bound(address, _taken(pid, fd)) if address == 0 else _Bound(address)


def _taken(pid: int, fd: int) -> int | None:
    """Return a copy of a descriptor of another process (pidfd_getfd(2)); None: it cannot be had."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    try:
        process = os.pidfd_open(_leader(pid))
    except OSError:
        return None
    try:
        copy = int(libc.syscall(_SYS_PIDFD_GETFD, process, fd, 0))
    finally:
        os.close(process)
    return copy if copy >= 0 else None


def _address(raw: bytes) -> _Address | None:
    """Read a struct sockaddr; None: it leads to nobody."""
    (family,) = struct.unpack_from("=H", raw)
    if family == socket.AF_UNIX:
        path = raw[2:]
        return os.fsdecode(path if path[:1] == b"\0" else path.split(b"\0")[0])
    if family == socket.AF_INET:
        port, host = struct.unpack_from("!H", raw, 2)[0], raw[4:8]
        return port if host[:1] in (b"\x7f", b"\0") else (socket.inet_ntop(socket.AF_INET, host), port)
    if family == socket.AF_INET6:
        port, host = struct.unpack_from("!H", raw, 2)[0], raw[8:24]
        here = host in (bytes(16), bytes(15) + b"\1")
        return port if here else (socket.inet_ntop(socket.AF_INET6, host), port)
    return None


def _shown(address: _Address) -> str:
    if isinstance(address, str):
        return address.replace("\0", "@")
    return f"port {address}" if isinstance(address, int) else f"{address[0]} port {address[1]}"


# --- what a traced process means ------------------------------------------------------------------------------------


def _memory(pid: int, address: int, size: int) -> bytes:
    fd = os.open(f"/proc/{pid}/mem", os.O_RDONLY)
    try:
        return os.pread(fd, size, address)
    finally:
        os.close(fd)


def _text(pid: int, address: int) -> str:
    """Read a string that NUL ends.

    Raises:
        ValueError: it does not end.
    """
    found = b""
    while len(found) <= _LONGEST:
        # not beyond the page: the next one may not be there
        found += _memory(pid, address + len(found), _PAGE - (address + len(found)) % _PAGE)
        text, end, _ = found.partition(b"\0")
        if end:
            return os.fsdecode(text)
    raise ValueError("a path without an end")


def _absolute(pid: int, path: str, directory: int | None) -> str:
    if path.startswith("/"):
        return path
    if directory is None or _signed(directory) == _AT_FDCWD:
        here = os.readlink(f"/proc/{pid}/cwd")  # noqa: PTH115
    else:
        here = _open_on(pid, directory)
    return f"{here}/{path}"


def _open_on(pid: int, fd: int) -> str:
    return os.readlink(f"/proc/{pid}/fd/{_signed(fd)}")  # noqa: PTH115


def _signed(fd: int) -> int:
    low = fd & 0xFFFFFFFF
    return low - (1 << 32) if low & 0x80000000 else low


def _leader(pid: int) -> int:
    """Return the process of a thread."""
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:  # noqa: PTH123
        return next((int(line.split()[1]) for line in file if line.startswith("Tgid:")), pid)


def _rewrites(flags: int) -> bool:
    """Return whether a file is opened to be written anew, whatever was in it."""
    return flags & os.O_ACCMODE == os.O_WRONLY and bool(flags & os.O_TRUNC) and not flags & os.O_EXCL
