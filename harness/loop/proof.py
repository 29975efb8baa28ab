"""Whether a benchmark can differ between base and head at all: what differs between the trees, and what it reads."""

from __future__ import annotations

import mmap
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gate.config.types import Benchmark
from gate.model import Unproved
from harness.build.conditions import Recipe
from harness.source.differences import Differences
from harness.trace.accesses import Accesses

_SIDE = "PERFGATE_SIDE"
_NEUTRAL = ("/proc/", "/sys/", "/dev/")
"""Of the host, and so the same for both sides; but for what programs share in memory."""
_SHARED = "/dev/shm/"  # noqa: S108  # a place that is looked for, not used


@dataclass(frozen=True, slots=True)
class Ground:
    """What a proof stands on.

    differences: between both trees. root: where both stand by turns. own: directories of perfgate for an execution.
    begun: when the run began, in nanoseconds since the epoch.
    """

    differences: Differences
    root: Path
    own: tuple[Path, ...]
    begun: int

    def inner(self, path: str) -> str | None:
        """Return a path relative to the trees; None: it is outside."""
        root = str(self.root)
        if path == root:
            return ""
        return path[len(root) + 1 :] if path.startswith(f"{root}/") else None

    def is_own(self, path: str) -> bool:
        """Return whether perfgate makes a path anew for each execution."""
        return any(path == str(each) or path.startswith(f"{each}/") for each in self.own)


def apart(base: Benchmark, head: Benchmark, recipes: tuple[Recipe, Recipe]) -> Unproved | None:
    """Return what differs between the sides before anything is executed; None: nothing does."""
    if base.command != head.command:
        return Unproved(kind="command")
    if (base.service, base.load) != (head.service, head.load):
        return Unproved(kind="service")
    if base != head:
        return Unproved(kind="instrument")
    one, other = recipes
    if (one.environment, one.table.perturb) != (other.environment, other.table.perturb):
        return Unproved(kind="environment")
    texts = (base.command, *(each.command for each in (base.service, base.load) if each is not None))
    if any(_SIDE in word for text in texts for word in ([text] if isinstance(text, str) else text)):
        return Unproved(kind="side-name-read")
    return None


def program_differs(benchmark: Benchmark, directory: Path, ground: Ground) -> Unproved | None:
    """Return whether the program of a command differs, which needs no execution to be seen; None: it does not."""
    if isinstance(benchmark.command, str) or not benchmark.command or "/" not in benchmark.command[0]:
        return None
    inner = ground.inner(os.path.normpath(directory / benchmark.command[0]))
    return Unproved(kind="changed", path=inner) if inner in ground.differences.paths else None


def doubt(accesses: Accesses, ground: Ground) -> Unproved | None:
    """Return why a benchmark that did this on one side may differ on the other; None: it cannot."""
    found = ground.differences
    for path in sorted(accesses.read | accesses.listed | accesses.written):
        inner = ground.inner(path)
        if inner is None:
            continue
        # what is written anew needs a place, whatever was in it
        if inner in (found.paths if path in accesses.read or path in accesses.listed else found.modes):
            return Unproved(kind="changed", path=inner)
        above = next((each for each in _above(inner) if each in found.paths), None)
        if above is not None:
            return Unproved(kind="changed", path=above)
    for path in sorted(accesses.listed):
        if ground.inner(path) in found.listings:
            return Unproved(kind="listed", path=ground.inner(path) or ".")
    for each in accesses.doubts:
        if each.kind == "no-tracer":
            return Unproved(kind="no-tracer")
        where = each.where if each.kind == "connection" else f"{each.kind} {each.where}".rstrip()
        return Unproved(kind="connection" if each.kind == "connection" else "no-trace", path=where)
    return _outside(accesses, ground) or _side_named(accesses.read, ground)


def _above(path: str) -> Iterator[str]:
    """Give the directories that a path passes: one that is missing or closed on one side is seen by none of its names."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _outside(accesses: Accesses, ground: Ground) -> Unproved | None:
    """Find what was read outside both trees and changed since the run began: a build of one side may have done it."""
    for path in sorted((accesses.read - accesses.written) | accesses.listed):
        if ground.inner(path) is not None or ground.is_own(path):
            continue
        if path.startswith(_NEUTRAL) and not path.startswith(_SHARED):
            continue
        with suppress(OSError):
            facts = os.lstat(path)
            # other directories are passed or looked for, and everybody makes files in /tmp
            if stat.S_ISDIR(facts.st_mode) and path not in accesses.listed:
                continue
            shared = path.startswith(_SHARED) and not stat.S_ISDIR(facts.st_mode)
            if shared or max(facts.st_mtime_ns, facts.st_ctime_ns) >= ground.begun:
                return Unproved(kind="outside-changed", path=path)
    return None


def _side_named(read: Iterable[str], ground: Ground) -> Unproved | None:
    """Find a file of the tree that may ask which side it is: the variable that tells it differs."""
    for path in sorted(read):
        inner = ground.inner(path)
        if inner and _mentions(Path(path), _SIDE.encode()):
            return Unproved(kind="side-name-read", path=inner)
    return None


def _mentions(path: Path, word: bytes) -> bool:
    with suppress(OSError, ValueError):  # an empty file cannot be mapped
        if stat.S_ISREG(path.lstat().st_mode):
            with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                return content.find(word) >= 0
    return False
