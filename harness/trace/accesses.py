"""What was seen of traced commands, and what could not be."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

DoubtKind = Literal[
    "no-tracer",
    "architecture",
    "handle",
    "process",
    "shared-memory",
    "namespace",
    "connection",
    "privileges",
    "too-many",
    "lost",
]


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why more may have been read than was seen.

    kind: no-tracer: this system tells nothing. architecture: a call of another one (32 bits). handle: a file opened by
    its handle. process: memory or descriptors of another process. shared-memory: found by a key or name. namespace:
    paths may mean other files. connection: to a process that is none of the traced ones. privileges: a program that
    would have more of them if it were not traced. too-many: more paths than are kept. lost: an argument that could not
    be read.
    where: the path, address or call.
    """

    kind: DoubtKind
    where: str = ""


@dataclass(frozen=True, slots=True)
class Accesses:
    """What traced commands did; all paths are absolute.

    read: opened, asked for or passed as a link, whether it exists or not. listed: directories. executed: programs,
    which are in read too. written: opened to be written anew. used: those of them that were read before. doubts: each
    once.
    """

    read: frozenset[str]
    listed: frozenset[str]
    executed: frozenset[str]
    written: frozenset[str]
    used: frozenset[str]
    doubts: tuple[Doubt, ...]


MOST = 1_000_000
"""Paths that are kept."""
_OWN = ("/proc/self", "/proc/thread-self")
_MOST_LINKS = 40
"""Links in one path, as the kernel has it (path_resolution(7))."""


@dataclass(slots=True)
class Seen:
    """Gathers accesses."""

    read: set[str] = field(default_factory=set)
    listed: set[str] = field(default_factory=set)
    executed: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    doubts: dict[Doubt, None] = field(default_factory=dict)
    _links: dict[str, str | None] = field(default_factory=dict)

    def doubt(self, doubt: Doubt) -> None:
        """Note that more may have been read."""
        self.doubts.setdefault(doubt)

    def moved(self) -> None:
        """Forget where paths lead."""
        self._links.clear()

    def path(self, path: str, into: set[str], own: Callable[[], str]) -> str:
        """Note an absolute path and every link that it passes, and return where it leads.

        own: gives the directory in /proc of the process that names the path.
        """
        pending = path.split("/")[::-1]
        here = ""
        links = 0
        while pending:
            name = pending.pop()
            if name in ("", "."):
                continue
            if name == "..":
                here = here.rpartition("/")[0]
                continue
            here = f"{here}/{name}"
            # however it comes there: to perfgate these links mean perfgate
            if here in _OWN:
                here = own()
                continue
            target = self._target(here)
            if target is not None:
                self._keep(here, self.read)
                links += 1
                if links > _MOST_LINKS:
                    break
                here = "" if target.startswith("/") else here.rpartition("/")[0]
                pending += target.split("/")[::-1]
        if into is self.written and here not in into and (here in self.read or here in self.executed):
            self._keep(here, self.used)
        self._keep(here or "/", into)
        return here or "/"

    def _target(self, path: str) -> str | None:
        """Return where a link leads; None: it is none."""
        if path not in self._links:
            try:
                target: str | None = os.readlink(path)  # noqa: PTH115  # a text, many times
            except OSError:
                target = None
            if path.startswith("/proc/"):
                # what a descriptor is open on may have no path: pipe:[1234]
                return target if target and target.startswith("/") else None
            self._links[path] = target
        return self._links[path]

    def _keep(self, path: str, into: set[str]) -> None:
        if len(into) < MOST:
            into.add(path)
        else:
            self.doubt(Doubt("too-many"))

    def accesses(self) -> Accesses:
        """Return what was gathered."""
        return Accesses(
            read=frozenset(self.read | self.executed),
            listed=frozenset(self.listed),
            executed=frozenset(self.executed),
            written=frozenset(self.written),
            used=frozenset(self.used),
            doubts=tuple(self.doubts),
        )
