"""Understands system calls: which paths, listings, programs and connections they mean."""

from __future__ import annotations

import errno
import os
import re
import socket
import stat
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal, cast

from harness.trace import syscalls

_LINE = 256
_INTERPRETER = 3
_MACHINES = {"x86_64": 62, "aarch64": 183}
_OTHERS = Path("/proc/sys/fs/binfmt_misc")


def interpreter(file: str) -> str | None:
    """Return the path that a program names as its interpreter; None: it names none, or is not there.

    Raises:
        OSError: it is there and cannot be read.
        ValueError: it is of another architecture, or what starts it is not known.
    """
    with (
        suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError),
        open(file, "rb", opener=lambda path, flags: os.open(path, flags | os.O_NONBLOCK)) as opened,
    ):
        if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
            return None  # the kernel executes no pipe
        head = opened.read(_LINE)
        if head.startswith(b"#!"):
            words = head[2:].split(b"\n")[0].split(maxsplit=1)
            return os.fsdecode(words[0]) if words else None
        if head.startswith(b"\x7fELF"):
            return next(_elf(opened.fileno(), head), None)
        # a shell takes it for a script, unless the host knows better
        registered: set[str] = set()
        with suppress(OSError):
            registered = {path.name for path in _OTHERS.iterdir()} - {"register", "status"}
        if registered and os.access(file, os.X_OK):
            raise ValueError("a program of a kind that the host has registered")
    return None


def _elf(fd: int, head: bytes) -> Iterator[str]:
    (machine,) = struct.unpack_from("=H", head, 18)
    if machine != _MACHINES[os.uname().machine] or head[4] != 2:  # ELFCLASS64
        raise ValueError("a program of another architecture")
    (table,) = struct.unpack_from("=Q", head, 32)
    size, count = struct.unpack_from("=HH", head, 54)
    for number in range(count):
        kind, _, offset, _, _, length = struct.unpack("=IIQQQQ", os.pread(fd, 40, table + number * size))
        if kind == _INTERPRETER:
            yield os.fsdecode(os.pread(fd, min(length, 4096), offset).split(b"\0")[0])


Address = str | int | tuple[str, int]
"""A path (an abstract one begins with NUL), a port of this host, or an address elsewhere."""

_LISTENING, _UNCONNECTED = "0A", "07"
_TABLES = (("tcp", _LISTENING), ("tcp6", _LISTENING), ("udp", _UNCONNECTED), ("udp6", _UNCONNECTED))
_MAPPED = bytes(10) + b"\xff\xff"
# They tell of users and take messages: the same for both sides, as all of a host.
_OF_HOST = re.compile(r"(/var)?/run/(nscd/socket|systemd/(userdb|journal)/.+)|/dev/log|/var/lib/sss/pipes/nss")


class Sockets:
    """Where traced processes can be found."""

    def __init__(self) -> None:
        self._ports = {0}
        """At which nobody is whom others reach, as nobody can be at port 0."""
        self._names: set[str] = set()
        self._inodes: set[str] = set()

    def takes(self, caller: Caller, fd: int) -> None:
        """Note that a socket listens, or gets an address. Raises: OSError: it is not open."""
        self._inodes.add(caller.open_on(fd))

    def named(self, caller: Caller, name: str) -> None:
        """Note the path, or abstract name, that a socket is about to get; somebody else's it cannot get.

        Raises: OSError: it cannot be told whether somebody has it.
        """
        if name.startswith("\0"):
            shown = name.replace("\0", "@").encode(errors="surrogateescape")
            lines = Path(f"/proc/{caller.pid}/net/unix").read_bytes().splitlines()
            taken = any(line.split(maxsplit=7)[7:] == [shown] for line in lines)
        else:
            taken = os.path.lexists(caller.root + name)
        if not taken:
            self._names.add(name)

    def is_stranger(self, caller: Caller, address: Address) -> bool:
        """Return whether somebody else is at an address; at a path that does not exist is nobody.

        Raises: OSError: that cannot be told.
        """
        if isinstance(address, str):
            if address in self._names or _OF_HOST.fullmatch(address):
                return False
            return address.startswith("\0") or os.path.lexists(caller.root + address)
        if isinstance(address, tuple):
            return True
        if address in self._ports:
            return False
        # the sockets that take connections or datagrams at the port (proc_net(5)), as a descriptor shows them
        found = set()
        for name, state in _TABLES:
            with suppress(FileNotFoundError), Path(f"/proc/{caller.pid}/net/{name}").open(encoding="ascii") as file:
                next(file, None)
                for words in map(str.split, file):
                    if words[3] == state and int(words[1].rpartition(":")[2], 16) == address:
                        found.add(f"socket:[{words[9]}]")
        if found <= self._inodes:
            # asked once: a load makes many connections
            self._ports |= {address} if found else set()
            return False
        return True


def read_address(raw: bytes) -> Address | None:
    """Read a struct sockaddr; None: it leads to nobody. Raises: struct.error: it is too short."""
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


_SPECIAL = stat.S_ISUID | stat.S_ISGID
_TYPE = 0xF
_FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6)
_IN_ROOT = 0x10  # RESOLVE_IN_ROOT
_REMOVE_DIRECTORY = 0x200  # AT_REMOVEDIR
_CREATE_ANEW = os.O_CREAT | os.O_TRUNC
_HOW = os.O_ACCMODE | os.O_EXCL | _CREATE_ANEW
_MOST_INTERPRETERS = 5


NOTICE = struct.Struct("=QIIiIQ6Q")  # struct seccomp_notif


class Watcher:
    """Notes what system calls mean.

    machine: whose calls, as uname names it.
    """

    def __init__(self, seen: Seen, machine: str) -> None:
        self._seen = seen
        self._names = syscalls.numbers(machine)
        self._architecture = syscalls.ARCHITECTURES[machine]
        self._sockets = Sockets()
        self._begun = int(time.time())

    def note(self, notice: bytes | bytearray, *, apart: bool) -> int:
        """Note one system call, which is not made before this returns; give the number of the notice.

        apart: whether its process has mounts or a root directory of its own.
        """
        number, pid, _, nr, architecture, _, *arguments = NOTICE.unpack(notice)
        try:
            self._note(Caller(pid, apart=apart), nr, architecture, arguments)
        except OSError as error:
            # what has ended reads nothing more, and what is not open is not read
            if error.errno not in (errno.ESRCH, errno.ENOENT):
                self._seen.doubt(Doubt("lost", self._names.get(nr, str(nr))))
        except (ValueError, struct.error):
            self._seen.doubt(Doubt("lost", self._names.get(nr, str(nr))))
        return int(number)

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
        if name in syscalls.NUMBERED:
            # made before by nobody traced (proc_sysvipc(5))
            table = Path(f"/proc/sysvipc/{syscalls.NUMBERED[name]}").read_text(encoding="ascii").splitlines()
            names = table[0].split()
            found = (dict(zip(names, line.split(), strict=False)) for line in table[1:])
            older = any(int(each["ctime"]) < self._begun for each in found if int(each[names[1]]) == arguments[0])
            return "shared-memory" if older else None
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
        flags = arguments[syscalls.FLAGS[name]] if name in syscalls.FLAGS else 0
        if name == "creat":
            flags = os.O_WRONLY | _CREATE_ANEW
        elif name == "openat2":
            flags, _, resolve = cast("tuple[int, int, int]", struct.unpack("=QQQ", caller.memory(arguments[2], 24)))
            if resolve & _IN_ROOT:
                seen.doubt(Doubt("namespace", name))
        for kind, position in places:
            text = caller.text(arguments[position]) if arguments[position] else ""
            if not text:  # of the descriptor itself, which was opened before
                continue
            directory = arguments[position - 1] if kind == syscalls.AT else None
            anew = flags & _HOW == os.O_WRONLY | _CREATE_ANEW
            real = self._keep(caller, caller.absolute(text, directory), anew=anew)
            if name == "rmdir" or (name == "unlinkat" and arguments[2] & _REMOVE_DIRECTORY):
                seen.listed.add(real)  # which it does if nothing is in it
            here = caller.root + real
            if name in syscalls.RENAMED and os.path.isdir(here) and not os.path.islink(here):  # noqa: PTH112, PTH114
                seen.moved.add(real)

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
            with suppress(OSError):
                facts = os.stat(file)  # noqa: PTH116
                if stat.S_ISREG(facts.st_mode) and facts.st_mode & _SPECIAL:
                    self._seen.doubt(Doubt("privileges", real))
            with suppress(OSError):
                if os.getxattr(file, "security.capability"):
                    self._seen.doubt(Doubt("privileges", real))
            try:
                found = interpreter(file)
            except (ValueError, struct.error):
                self._seen.doubt(Doubt("architecture", real))
                return
            if not found:
                return
            path, file = caller.absolute(found), None

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
                place, length = struct.unpack_from("=QI", caller.memory(arguments[1] + 64 * number, 16))
                raw = caller.memory(place, min(length, 128)) if place and length else b""
                self._addressed(name, caller, raw, arguments[0])

    def _addressed(self, name: str, caller: Caller, raw: bytes, fd: int) -> None:
        address = read_address(raw) if raw else None
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
            where = f"port {address}" if isinstance(address, int) else address
            where = where.replace("\0", "@") if isinstance(where, str) else f"{where[0]} port {where[1]}"
            self._seen.doubt(Doubt("connection", where))


AT_FDCWD = -100
_PAGE = 4096
_LONGEST = 4096
_MOST_LINKS = 40
"""Links in one path, as the kernel has it (path_resolution(7))."""


class Caller:
    """A process, or one thread of it, while it waits for its call.

    root: "" where its paths are those of perfgate, otherwise what leads to its root directory.
    """

    __slots__ = ("pid", "root")

    def __init__(self, pid: int, *, apart: bool = False) -> None:
        """apart: it has mounts or a root directory of its own."""
        self.pid = pid
        self.root = f"/proc/{pid}/root" if apart else ""

    def memory(self, address: int, size: int) -> bytes:
        """Read its memory: at most so much. Raises: OSError: it cannot be read."""
        fd = os.open(f"/proc/{self.pid}/mem", os.O_RDONLY)
        try:
            return os.pread(fd, size, address)
        finally:
            os.close(fd)

    def text(self, address: int) -> str:
        """Read a string that NUL ends.

        Raises:
            OSError: it cannot be read.
            ValueError: it does not end.
        """
        found = b""
        while len(found) <= _LONGEST:
            # not beyond the page: the next one may not be there
            start = address + len(found)
            part = self.memory(start, _PAGE - start % _PAGE)
            text, end, _ = part.partition(b"\0")
            found += text
            if end:
                return os.fsdecode(found)
            if not part:
                break
        raise ValueError("a path without an end")

    def absolute(self, path: str, directory: int | None = None) -> str:
        """Give a path from the root; directory: the descriptor from which it starts, None: the working directory.

        Raises: OSError: there is no such directory.
        """
        if path.startswith("/"):
            return path
        if directory is None or signed(directory) == AT_FDCWD:
            return f"{os.readlink(f'/proc/{self.pid}/cwd')}/{path}"  # noqa: PTH115
        return f"{self.open_on(directory)}/{path}"

    def open_on(self, fd: int) -> str:
        """Give what a descriptor is open on. Raises: OSError: it is not open."""
        return os.readlink(f"/proc/{self.pid}/fd/{signed(fd)}")  # noqa: PTH115

    def leader(self) -> int:
        """Give the process of which this is a thread. Raises: OSError: it has ended."""
        with open(f"/proc/{self.pid}/status", encoding="ascii", errors="replace") as file:  # noqa: PTH123
            return next((int(line.split()[1]) for line in file if line.startswith("Tgid:")), self.pid)

    def resolved(self, path: str) -> Iterator[str]:
        """Give every link that a path from the root passes, and every name that leads back up, and where it ends."""
        plain = self._plain(path)
        if plain is not None:
            yield plain
            return
        pending = path.split("/")[::-1]
        here = ""
        links = 0
        while pending and links <= _MOST_LINKS:
            name = pending.pop()
            if name in ("", "."):
                continue
            if name == "..":
                yield here or "/"
                here = here.rpartition("/")[0]
                continue
            here = f"{here}/{name}"
            target = self._target(here)
            if target is not None:
                yield here
                links += 1
                here = "" if target.startswith("/") else here.rpartition("/")[0]
                pending += target.split("/")[::-1]
        yield here or "/"

    def _plain(self, path: str) -> str | None:
        """Return a path that passes no link, as the kernel says in one step; None: go through it name by name."""
        # a cache would be as fast, but links change while others ask
        if path.startswith("/proc/"):
            return None
        try:
            return path if _real(self.root + path) == path else None
        except FileNotFoundError:
            above, _, name = path.rpartition("/")
            if name in ("", ".", "..") or os.path.islink(self.root + path):  # noqa: PTH114
                return None
            with suppress(OSError):
                real = _real(f"{self.root}{above}" or "/")
                return path if real == above or (real == "/" and not above) else None
        except OSError:
            pass
        return None

    def _target(self, path: str) -> str | None:
        """Return where a link leads; None: it is none."""
        if path == "/proc/self":
            return str(self.leader())
        if path == "/proc/thread-self":
            return f"{self.leader()}/task/{self.pid}"
        try:
            target = os.readlink(self.root + path)  # noqa: PTH115  # a text, many times
        except OSError:
            return None
        if path.startswith("/proc/") and not target.startswith("/") and ":" in target:
            return None  # what a descriptor is open on may have no path: pipe:[1234]
        return target


def signed(fd: int) -> int:
    """Read the lower half of an argument as a descriptor."""
    low = fd & 0xFFFFFFFF
    return low - (1 << 32) if low & 0x80000000 else low


def _real(path: str) -> str:
    fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        return os.readlink(f"/proc/self/fd/{fd}")  # noqa: PTH115
    finally:
        os.close(fd)


DoubtKind = Literal[
    "no-tracer",
    "architecture",
    "connection",
    "handle",
    "interrupted",
    "io-uring",
    "keyring",
    "lost",
    "namespace",
    "privileges",
    "process",
    "shared-memory",
    "too-many",
]


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why more may have been read than was seen.

    kind: no-tracer: this system tells nothing. architecture: a program or a call of another one (32 bits). connection:
    to a process that is none of the traced ones. handle: a file opened by its handle. interrupted: a signal ended a
    call that it would not have ended untraced; never by ptrace. io-uring: reads without calls. keyring: keys of the
    user or the kernel. lost: a call that could not be understood. namespace: paths may mean other files. privileges: a
    program that would have more of them if it were not traced. process: memory or descriptors of another process.
    shared-memory: found by a key, name or number. too-many: more paths than are kept.
    where: the path, address or call.
    """

    kind: DoubtKind
    where: str = ""


@dataclass(frozen=True, slots=True)
class Accesses:
    """What traced commands did; all paths are absolute.

    read: opened, asked for or passed on the way, whether it exists or not: every link and directory of a path too.
    listed: directories. executed: programs and their interpreters, which are in read too. written: opened to be
    written anew, which reads nothing of them. moved: directories that got another name, or whose name another got, so
    that later paths below them mean other files. changed: of what is in read the files, and of
    what is listed the directories, that somebody else had changed, since the moment that the trace was given, when
    they were first met. doubts: each once.
    """

    read: frozenset[str]
    listed: frozenset[str]
    executed: frozenset[str]
    written: frozenset[str]
    moved: frozenset[str]
    changed: frozenset[str]
    absent: frozenset[str]
    doubts: tuple[Doubt, ...]

    @property
    def disturbed(self) -> bool:
        """Return whether the tracer disturbed what it traced, as only the faster one does."""
        return any(each.kind == "interrupted" for each in self.doubts)

    def and_again(self, later: Accesses) -> Accesses:
        """Join what a disturbed execution did with what the next one did, which was not disturbed."""
        joined = {name: getattr(self, name) | getattr(later, name) for name in _SETS}
        doubts = {each: None for each in (*self.doubts, *later.doubts) if each.kind != "interrupted"}
        return Accesses(**joined, doubts=tuple(doubts))


_SETS = [each.name for each in fields(Accesses) if each.name != "doubts"]
MOST = 1_000_000
"""Paths that are kept."""
_SHARED = "/dev/shm/"  # noqa: S108  # a place that is looked for, not used


_TICK, _SECOND = 20_000_000, 1_000_000_000


def is_changed(facts: os.stat_result, since: int) -> bool:
    """Return whether a file may have changed since a moment, in nanoseconds, by its times.

    The clock of a file system goes by the kernel's ticks, of up to 10 ms, and some write down whole seconds, or two.
    """
    step = 2 * _SECOND if facts.st_ctime_ns % _SECOND == 0 else _TICK
    return max(facts.st_mtime_ns, facts.st_ctime_ns) > since - step


class Seen:
    """Gathers accesses.

    since: what changed later, in nanoseconds since the epoch, is told.
    """

    def __init__(self, since: int) -> None:
        self.since = since
        self.read, self.listed, self.executed, self.written, self.moved, self.changed, self.absent = (
            set[str]() for _ in _SETS
        )
        self.doubts: dict[Doubt, None] = {}
        self._changed_directories: set[str] = set()

    def doubt(self, doubt: Doubt) -> None:
        """Note that more may have been read."""
        self.doubts.setdefault(doubt)

    def keep(self, path: str, root: str, *, anew: bool = False) -> None:
        """Note a resolved path, and all directories above it.

        root: leads to the root directory of who asked, "" where it is perfgate's own. anew: it is opened only to be
        written anew.
        """
        if anew:
            self._full(self.written)
            self.written.add(path)
            path = path.rpartition("/")[0] or "/"
        while path not in self.read:
            self._full(self.read)
            self.read.add(path)
            if path not in self.written:
                try:
                    facts = os.lstat(root + path)
                    # what is in memory that programs share changes without a trace
                    if path.startswith(_SHARED):
                        self.changed.add(path)
                    elif is_changed(facts, self.since):
                        (self._changed_directories if stat.S_ISDIR(facts.st_mode) else self.changed).add(path)
                except OSError:
                    self.absent.add(path)
            path = path.rpartition("/")[0] or "/"

    def _full(self, paths: set[str]) -> None:
        if len(paths) >= MOST:
            paths.clear()
            self.doubt(Doubt("too-many"))

    def accesses(self) -> Accesses:
        """Return what was gathered."""
        gathered = {name: frozenset(getattr(self, name)) for name in _SETS}
        gathered["changed"] |= self.listed & (self._changed_directories | {_SHARED.rstrip("/")})
        return Accesses(**gathered, doubts=tuple(self.doubts))
