"""Whom traced processes connect to: each other, or somebody else, who may read anything for them."""

from __future__ import annotations

import os
import re
import socket
import struct
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from harness.trace.caller import Caller

Address = str | int | tuple[str, int]
"""A path (an abstract one begins with NUL), a port of this host, or an address elsewhere."""

_LISTENING, _UNCONNECTED = "0A", "07"
_TABLES = (("tcp", _LISTENING), ("tcp6", _LISTENING), ("udp", _UNCONNECTED), ("udp6", _UNCONNECTED))
_MAPPED = bytes(10) + b"\xff\xff"
# They tell of users and take messages: the same for both sides, as all of a host.
_OF_HOST = re.compile(r"(/var)?/run/(nscd/socket|systemd/(userdb|journal)/.+)|/dev/log|/var/lib/sss/pipes/nss")


class Sockets:
    """Where traced processes can be found.

    ports: of this host to which they may connect whoever is there.
    """

    def __init__(self, ports: Collection[int]) -> None:
        """See the class."""
        self._ports = {0, *ports}  # nobody can be at port 0
        self._names: set[str] = set()
        self._inodes: set[str] = set()

    def takes(self, caller: Caller, fd: int) -> None:
        """Note that a socket listens, or gets an address.

        Raises:
            OSError: it is not open.
        """
        self._inodes.add(caller.open_on(fd))

    def named(self, caller: Caller, name: str) -> None:
        """Note the path, or abstract name, that a socket is about to get; somebody else's it cannot get.

        Raises:
            OSError: it cannot be told whether somebody has it.
        """
        if not (_is_taken(caller, name) if name.startswith("\0") else os.path.lexists(caller.root + name)):
            self._names.add(name)

    def is_stranger(self, caller: Caller, address: Address) -> bool:
        """Return whether somebody else is at an address; at a path that does not exist is nobody.

        Raises:
            OSError: that cannot be told.
        """
        if isinstance(address, str):
            if address in self._names or _OF_HOST.fullmatch(address):
                return False
            return address.startswith("\0") or os.path.lexists(caller.root + address)
        if isinstance(address, tuple):
            return True
        if address in self._ports:
            return False
        found = set(_at(caller, address))
        if found <= self._inodes:
            # asked once: a load makes many connections
            self._ports |= {address} if found else set()
            return False
        return True


def _is_taken(caller: Caller, name: str) -> bool:
    shown = name.replace("\0", "@").encode(errors="surrogateescape")
    lines = Path(f"/proc/{caller.pid}/net/unix").read_bytes().splitlines()
    return any(line.split(maxsplit=7)[7:] == [shown] for line in lines)


def _at(caller: Caller, port: int) -> Iterator[str]:
    """Give the sockets that take connections or datagrams at a port (proc_net(5)), as a descriptor shows them."""
    for name, state in _TABLES:
        with suppress(FileNotFoundError), Path(f"/proc/{caller.pid}/net/{name}").open(encoding="ascii") as file:
            next(file, None)
            for line in file:
                words = line.split()
                if words[3] == state and int(words[1].rpartition(":")[2], 16) == port:
                    yield f"socket:[{words[9]}]"


def address(raw: bytes) -> Address | None:
    """Read a struct sockaddr; None: it leads to nobody.

    Raises:
        struct.error: it is too short.
    """
    (family,) = struct.unpack_from("=H", raw)
    if family == socket.AF_UNIX:
        path = raw[2:]
        return os.fsdecode(path if path[:1] == b"\0" else path.split(b"\0")[0])
    if family not in (socket.AF_INET, socket.AF_INET6):
        return None
    (port,) = struct.unpack_from("!H", raw, 2)
    host = raw[4:8] if family == socket.AF_INET else raw[8:24]
    host = host.removeprefix(_MAPPED)
    if len(host) == 4:
        own = host[:1] == b"\x7f" or host == bytes(4)
        return port if own else (socket.inet_ntop(socket.AF_INET, host), port)
    return port if host in (bytes(16), bytes(15) + b"\1") else (socket.inet_ntop(socket.AF_INET6, host), port)


def shown(found: Address) -> str:
    """Put an address into a few words."""
    if isinstance(found, str):
        return found.replace("\0", "@")
    return f"port {found}" if isinstance(found, int) else f"{found[0]} port {found[1]}"


def of_message(caller: Caller, pointer: int) -> bytes:
    """Read the address in a struct msghdr; b"" when it has none.

    Raises:
        OSError: it cannot be read.
        struct.error: it is too short.
    """
    name, length = struct.unpack_from("=QI", caller.memory(pointer, 16))
    return caller.memory(name, min(length, 128)) if name and length else b""
