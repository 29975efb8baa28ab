"""What was seen of traced commands, and what could not be."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from typing import Literal

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
        return Accesses(
            read=self.read | later.read,
            listed=self.listed | later.listed,
            executed=self.executed | later.executed,
            written=self.written | later.written,
            moved=self.moved | later.moved,
            changed=self.changed | later.changed,
            absent=self.absent | later.absent,
            doubts=tuple({each: None for each in (*self.doubts, *later.doubts) if each.kind != "interrupted"}),
        )


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


@dataclass(slots=True)
class Seen:
    """Gathers accesses.

    since: what changed later, in nanoseconds since the epoch, is told.
    """

    since: int
    read: set[str] = field(default_factory=set)
    listed: set[str] = field(default_factory=set)
    executed: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)
    moved: set[str] = field(default_factory=set)
    absent: set[str] = field(default_factory=set)
    doubts: dict[Doubt, None] = field(default_factory=dict)
    _changed: set[str] = field(default_factory=set)
    _changed_directories: set[str] = field(default_factory=set)

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
            if path not in self.written:
                self._meet(path, root)
            self.read.add(path)
            path = path.rpartition("/")[0] or "/"

    def _meet(self, path: str, root: str) -> None:
        try:
            facts = os.lstat(root + path)
        except OSError:
            self.absent.add(path)
            return
        if path.startswith(_SHARED):
            # what is in memory that programs share changes without a trace
            self._changed.add(path)
        elif is_changed(facts, self.since):
            (self._changed_directories if stat.S_ISDIR(facts.st_mode) else self._changed).add(path)

    def _full(self, paths: set[str]) -> None:
        if len(paths) >= MOST:
            paths.clear()
            self.doubt(Doubt("too-many"))

    def accesses(self) -> Accesses:
        """Return what was gathered."""
        shared = self.listed & {_SHARED.rstrip("/")}
        return Accesses(
            read=frozenset(self.read),
            listed=frozenset(self.listed),
            executed=frozenset(self.executed),
            written=frozenset(self.written),
            moved=frozenset(self.moved),
            changed=frozenset(self._changed | (self._changed_directories & self.listed) | shared),
            absent=frozenset(self.absent),
            doubts=tuple(self.doubts),
        )
