"""Understands system calls: which paths, listings, programs and connections they mean."""

from __future__ import annotations

import errno
import os
import socket
import stat
import struct
from collections.abc import Collection
from contextlib import suppress
from typing import cast

from harness.trace import programs, sockets, syscalls
from harness.trace.accesses import Doubt, DoubtKind, Seen
from harness.trace.caller import Caller, signed

_SPECIAL = stat.S_ISUID | stat.S_ISGID
_TYPE = 0xF
_FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6)
_IN_ROOT = 0x10  # RESOLVE_IN_ROOT
_REMOVE_DIRECTORY = 0x200  # AT_REMOVEDIR
_CREATE_ANEW = os.O_CREAT | os.O_TRUNC
_HOW = os.O_ACCMODE | os.O_EXCL | _CREATE_ANEW
_MOST_INTERPRETERS = 5


class Watcher:
    """Notes what system calls mean.

    machine: whose calls, as uname names it. ports: of this host to which they may connect.
    """

    def __init__(self, seen: Seen, machine: str, ports: Collection[int]) -> None:
        """See the class."""
        self._seen = seen
        self._names = syscalls.numbers(machine)
        self._architecture = syscalls.ARCHITECTURES[machine]
        self._sockets = sockets.Sockets(ports)

    def note(self, caller: Caller, nr: int, architecture: int, arguments: list[int]) -> None:
        """Note one system call, which is not made before this returns."""
        try:
            self._note(caller, nr, architecture, arguments)
        except OSError as error:
            # what has ended reads nothing more, and what is not open is not read
            if error.errno not in (errno.ESRCH, errno.ENOENT):
                self._seen.doubt(Doubt("lost", self._names.get(nr, str(nr))))
        except (ValueError, struct.error):
            self._seen.doubt(Doubt("lost", self._names.get(nr, str(nr))))

    def _note(self, caller: Caller, nr: int, architecture: int, arguments: list[int]) -> None:
        seen, name = self._seen, self._names.get(nr)
        if architecture != self._architecture or name is None:
            seen.doubt(Doubt("architecture"))
        elif name in syscalls.EXECUTED:
            self._executes(name, caller, arguments)
        elif name in syscalls.PATHS:
            self._paths(name, caller, arguments)
        elif name in syscalls.LISTED:
            seen.listed.add(self._keep(caller, caller.open_on(arguments[0])))
        elif name in syscalls.SOCKETS:
            self._socket_call(name, caller, arguments)
        else:
            kind = self._doubt(name, caller, arguments)
            if kind is not None:
                seen.doubt(Doubt(kind, name))

    def _doubt(self, name: str, caller: Caller, arguments: list[int]) -> DoubtKind | None:
        if name in syscalls.SHARED:
            # a key of 0 is IPC_PRIVATE: nobody else has it
            return "shared-memory" if arguments[0] or name == "mq_open" else None
        if name in syscalls.CLONES:
            flags = arguments[0]
            if name == "clone3":
                (flags,) = struct.unpack("=Q", caller.memory(arguments[0], 8))
            return "namespace" if flags & syscalls.CLONE_NEW else None
        return cast(DoubtKind, syscalls.DOUBTFUL[name][1])

    def _keep(self, caller: Caller, path: str, *, anew: bool = False) -> str:
        """Note a path from the root with all that it passes, and return where it leads."""
        real = path
        passed = list(caller.resolved(path))
        for real in passed[:-1]:
            self._seen.keep(real, caller.root)
        real = passed[-1]
        self._seen.keep(real, caller.root, anew=anew)
        return real

    def _paths(self, name: str, caller: Caller, arguments: list[int]) -> None:
        seen = self._seen
        _, *places = syscalls.PATHS[name]
        flags = self._flags(name, caller, arguments)
        for kind, position in places:
            text = caller.text(arguments[position]) if arguments[position] else ""
            if not text:  # of the descriptor itself, which was opened before
                continue
            directory = arguments[position - 1] if kind == syscalls.AT else None
            anew = flags & _HOW == os.O_WRONLY | _CREATE_ANEW
            real = self._keep(caller, caller.absolute(text, directory), anew=anew)
            if name == "rmdir" or (name == "unlinkat" and arguments[2] & _REMOVE_DIRECTORY):
                seen.listed.add(real)  # which it does if nothing is in it
            if name in syscalls.RENAMED and _is_directory(caller.root + real):
                seen.moved.add(real)

    def _flags(self, name: str, caller: Caller, arguments: list[int]) -> int:
        """Return the flags of a call that opens; 0 of another."""
        if name == "creat":
            return os.O_WRONLY | _CREATE_ANEW
        if name == "openat2":
            flags, _, resolve = cast("tuple[int, int, int]", struct.unpack("=QQQ", caller.memory(arguments[2], 24)))
            if resolve & _IN_ROOT:
                self._seen.doubt(Doubt("namespace", name))
            return flags
        return arguments[syscalls.FLAGS[name]] if name in syscalls.FLAGS else 0

    def _executes(self, name: str, caller: Caller, arguments: list[int]) -> None:
        place, directory = (1, arguments[0]) if name == "execveat" else (0, None)
        text = caller.text(arguments[place]) if arguments[place] else ""
        if text:
            path = caller.absolute(text, directory)
            file = None
        else:  # what the descriptor is open on, which may have no name any more
            path = caller.open_on(arguments[0])
            file = f"/proc/{caller.pid}/fd/{signed(arguments[0])}"
        for _ in range(_MOST_INTERPRETERS):
            real = self._keep(caller, path)
            file = file or caller.root + real
            if os.path.isfile(file):  # noqa: PTH113  # a shell tries each directory of PATH
                self._seen.executed.add(real)
            self._privileges(file, real)
            try:
                found = programs.interpreter(file)
            except (ValueError, struct.error):
                self._seen.doubt(Doubt("architecture", real))
                return
            if not found:
                return
            path, file = caller.absolute(found), None

    def _privileges(self, file: str, path: str) -> None:
        with suppress(OSError):
            facts = os.stat(file)  # noqa: PTH116
            if stat.S_ISREG(facts.st_mode) and facts.st_mode & _SPECIAL:
                self._seen.doubt(Doubt("privileges", path))
        with suppress(OSError):
            if os.getxattr(file, "security.capability"):
                self._seen.doubt(Doubt("privileges", path))

    def _socket_call(self, name: str, caller: Caller, arguments: list[int]) -> None:
        if name == "socket":
            domain, kind = arguments[0], arguments[1] & _TYPE
            if domain not in (*_FAMILIES, socket.AF_NETLINK):
                self._seen.doubt(Doubt("connection", f"address family {domain}"))
            elif domain in _FAMILIES and kind == socket.SOCK_RAW:
                self._seen.doubt(Doubt("connection", "raw"))
        elif name == "listen":
            self._sockets.takes(caller, arguments[0])
        elif name in ("connect", "bind"):
            self._addressed(name, caller, caller.memory(arguments[1], min(arguments[2], 128)), arguments[0])
        elif name == "sendto":
            if arguments[4] and arguments[5]:
                self._addressed(name, caller, caller.memory(arguments[4], min(arguments[5], 128)), arguments[0])
        else:
            count = min(arguments[2], 1024) if name == "sendmmsg" else 1
            for number in range(count):
                # struct mmsghdr is a struct msghdr with a count behind it
                self._addressed(name, caller, sockets.of_message(caller, arguments[1] + 64 * number), arguments[0])

    def _addressed(self, name: str, caller: Caller, raw: bytes, fd: int) -> None:
        address = sockets.address(raw) if raw else None
        if name == "bind":
            self._sockets.takes(caller, fd)
        if address is None:
            return
        if isinstance(address, str) and address and not address.startswith("\0"):
            address = self._keep(caller, caller.absolute(address))
        if name == "bind":
            if isinstance(address, str):
                self._sockets.named(caller, address)
        elif self._sockets.is_stranger(caller, address):
            self._seen.doubt(Doubt("connection", sockets.shown(address)))


def _is_directory(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False
