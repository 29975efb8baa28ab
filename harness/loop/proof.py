"""Whether a benchmark can differ between base and head at all: what differs between the trees, and what it reads."""

from __future__ import annotations

import mmap
import os
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gate.config.types import Benchmark
from gate.model import Side, Unproved
from harness.build.conditions import Recipe
from harness.source.differences import Differences, FileFacts, differences, listing
from harness.trace.watcher import Accesses

_SIDE = "PERFGATE_SIDE"
_NEUTRAL = ("/proc/", "/sys/", "/dev/")
"""Of the host, and so the same for both sides; but for what programs share in memory."""
_SHARED = "/dev/shm/"  # noqa: S108  # a place that is looked for, not used


@dataclass(frozen=True, slots=True)
class ProofGround:
    """What a proof stands on.

    differences: between both trees. sources: paths of those that a commit holds, in order. root: where both stand by
    turns. own: directories of perfgate for an execution.
    begun: when the run began, in nanoseconds since the epoch. since: when the first build began whose outputs are used;
    earlier, if one was kept.
    facts: of files. home: where the sides' own home directories stand by turns; None: they have the user's.
    """

    differences: Differences
    sources: tuple[str, ...]
    root: Path
    own: tuple[Path, ...]
    begun: int
    since: int
    facts: FileFacts
    home: Path | None

    def inner(self, path: str) -> str | None:
        """Return a path relative to the trees; None: it is outside."""
        return _below(path, self.root)

    def is_foreign(self, path: str) -> bool:
        """Return whether a path is neither a side's own, nor the host's, nor made anew for each execution."""
        own = (self.root, *self.own, *([self.home] if self.home is not None else []))
        return not is_hosts(path) and all(_below(path, each) is None for each in own)


def _below(path: str, root: Path) -> str | None:
    """Return a path relative to a root, which is ""; None: it is not below it."""
    return f"{path}/"[len(f"{root}/") : -1] if f"{path}/".startswith(f"{root}/") else None


def is_hosts(path: str) -> bool:
    """Return whether a path is of the host itself, and so the same for both sides."""
    return path.startswith(_NEUTRAL) and not f"{path}/".startswith(_SHARED)


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


def program_differs(benchmark: Benchmark, directory: Path, ground: ProofGround) -> Unproved | None:
    """Return whether the program of a command differs, which needs no execution to be seen; None: it does not."""
    if isinstance(benchmark.command, str) or not benchmark.command or "/" not in benchmark.command[0]:
        return None
    inner = ground.inner(os.path.normpath(directory / benchmark.command[0]))
    return Unproved(kind="changed", path=inner) if inner in ground.differences.paths else None


def doubt(accesses: Accesses, ground: ProofGround) -> Unproved | None:
    """Return why a benchmark that did this on one side may differ on the other; None: it cannot."""
    known = differing(accesses, ground)
    if known is not None:
        return known
    for each in accesses.doubts:
        if each.kind == "no-tracer":
            return Unproved(kind="no-tracer")
        where = each.where if each.kind == "connection" else f"{each.kind} {each.where}".rstrip()
        return Unproved(kind="connection" if each.kind == "connection" else "no-trace", path=where)
    # what was read outside both trees and changed since the builds began: one of them may have done it
    for path in filter(ground.is_foreign, sorted(accesses.changed)):
        return Unproved(kind="outside-changed", path=path)
    passed: set[str] = set()
    for path in filter(ground.is_foreign, sorted(accesses.read | accesses.listed)):
        above = changed_above(path, ground.root, ground.begun, passed)
        if above is not None:
            return Unproved(kind="outside-changed", path=above)
    for path in sorted(accesses.read):
        # a file of the tree may ask which side it is: the variable that tells it differs
        inner = ground.inner(path)
        if inner and _mentions(Path(path), _SIDE.encode()):
            return Unproved(kind="side-name-read", path=inner)
    return None


def differing(accesses: Accesses, ground: ProofGround) -> Unproved | None:
    """Find what was met in the tree and differs between the sides; accesses: also of what still runs."""
    found = ground.differences
    # what is written anew needs a place, whatever was in it
    written = accesses.written - accesses.read
    for path in sorted(accesses.read | accesses.listed | written):
        if ground.inner(path) in (found.modes if path in written else found.paths):
            return Unproved(kind="changed", path=ground.inner(path))
    for path in sorted(accesses.listed):
        if ground.inner(path) in found.listings:
            return Unproved(kind="listed", path=ground.inner(path) or ".")
    below = tuple(f"{path}/" for path in accesses.moved)
    for inner in sorted(found.paths):
        if f"{ground.root}/{inner}".startswith(below):  # it may have been read by another name
            return Unproved(kind="changed", path=inner)
    return None


State = tuple[int, ...] | None
"""Of a path: what changes with it, of a directory only where it was listed; None: it is not there."""


def states(accesses: Accesses, sees: Callable[[str], str]) -> dict[str, State]:
    """Return the states of what was met, where the side that met it stands now; sees: where its paths are found."""
    every = accesses.read | accesses.listed | accesses.written | accesses.moved
    return {path: _state(sees(path), listed=path in accesses.listed) for path in every if not is_hosts(path)}


def _state(path: str, *, listed: bool) -> State:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    changes = (found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    which = (found.st_mode, found.st_dev, found.st_ino)
    return which if stat.S_ISDIR(found.st_mode) and not listed else which + changes


def compared(
    accesses: Accesses,
    place: Path,
    roots: Mapping[Side, Path],
    facts: FileFacts,
    known: Mapping[Side, Mapping[str, State]],
) -> Unproved | None:
    """Find what was met below a place where both sides stand by turns, and differs between them now.

    known: by side, states that a benchmark left; what still has them on both sides is its own.

    Raises: OSError: something cannot be looked at, or all of it takes too long.
    """
    written = accesses.written - accesses.read
    for path in sorted(accesses.read | accesses.listed | written | accesses.moved):
        inner = _below(path, place)
        listed = path in accesses.listed
        if inner is None or all(
            path in known.get(side, ()) and known[side][path] == _state(f"{root}/{inner}", listed=listed)
            for side, root in roots.items()
        ):
            continue
        if inner and facts.differ(roots, inner, anew=path in written):
            return Unproved(kind="changed", path=inner)
        if listed and len({tuple(listing(f"{root}/{inner}")) for root in roots.values()}) > 1:
            return Unproved(kind="listed", path=inner or ".")
        # what is below it may have been read by another name; pytest gives its cache another one, and nothing is left
        moved = {side: root / inner for side, root in roots.items()} if path in accesses.moved else {}
        if any(map(Path.is_dir, moved.values())) and differences(moved, facts).paths:
            return Unproved(kind="changed", path=inner)
    return None


def changed_outside(
    ground: ProofGround, known: Mapping[str, State], accesses: Accesses, sees: Callable[[str], str]
) -> Unproved | None:
    """Find what was met outside both trees and is no longer in the state that it was left in; sees: as in states."""
    stand = [f"{place}/" for place in (ground.root, ground.home) if place is not None]
    for path in sorted(filter(ground.is_foreign, known)):
        # perfgate makes directories anew where the sides stand
        if (
            not any(place.startswith(f"{path}/") for place in stand)
            and _state(sees(path), listed=path in accesses.listed) != known[path]
        ):
            return Unproved(kind="outside-changed", path=path)
    return None


def changed_above(path: str, root: Path, begun: int, passed: set[str]) -> str | None:
    """Find a directory above that took the place of another, or that lost or gained what is looked for.

    root: perfgate makes files above it. begun: in nanoseconds; earlier changes are none. passed: directories that did
    not change; more are added.
    """
    there = os.path.lexists(path)
    while (path := path.rpartition("/")[0]) and not (there and path in passed):
        with suppress(OSError):
            facts = os.lstat(path)
            moved = facts.st_ctime_ns >= begun > facts.st_mtime_ns
            # everybody makes files in /tmp, and perfgate where the trees stand
            noisy = facts.st_mode & stat.S_ISVTX or str(root).startswith(f"{path}/")
            if moved or (not there and not noisy and facts.st_ctime_ns >= begun):
                return path
            there = True
            passed.add(path)
    return None


def _mentions(path: Path, word: bytes) -> bool:
    with suppress(OSError, ValueError):  # an empty file cannot be mapped
        if stat.S_ISREG(path.lstat().st_mode):
            with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                return content.find(word) >= 0
    return False
