"""What differs between two trees, file by file: content, mode, owner, links, attributes, and what one of them lacks."""

import errno
import hashlib
import importlib.util
import math
import os
import stat
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from gate.model import SIDES, Side

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Differences:
    """What differs between base and head; paths are relative to the root of both trees.

    paths: of all that differs. modes: those of them that differ by more than content. listings: directories that list
    other names, or the same ones in another order. hashes: of each tree, "sha256:...".
    """

    paths: frozenset[str]
    modes: frozenset[str]
    listings: frozenset[str]
    hashes: Mapping[Side, str]


class FileFact(NamedTuple):
    """Of a file or directory: its mode, the hash of a file or the target of a link, and what few have besides."""

    mode: int
    content: str
    rest: str


class FileFacts:
    """Looks at files, and reads none twice that did not change meanwhile.

    until: the moment, by time.monotonic(), after which nothing more is read. timeless: whether the header of compiled
    Python, which holds the time of its source, is no matter at all.
    """

    def __init__(self, until: float = math.inf, *, timeless: bool = False) -> None:
        self.until = until
        self._header = (lambda *_: b"") if timeless else _without_time
        self._known: dict[tuple[int, ...], str] = {}

    def of(self, path: str, found: os.stat_result, owner: tuple[int, int]) -> FileFact:
        """Look at a file; found: by lstat(2). owner: of the tree. Raises: TimeoutError: it takes too long."""
        mode, rest, content = found.st_mode, list[str](), ""
        if sys.platform == "linux":
            with suppress(OSError):  # the file system has none
                for name in sorted(os.listxattr(path, follow_symlinks=False)):
                    rest.append(f"{name}={os.getxattr(path, name, follow_symlinks=False)!r}")
        if _owner(found) != owner:
            rest.append(f"owner {_owner(found)}")
        if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
            rest.append(f"device {found.st_rdev}")
        if stat.S_ISREG(mode):
            # mostly holes, which programs can ask for; whether a link writes a page of zeros or leaves it out is chance
            if found.st_blocks * 1024 < found.st_size:
                rest.append(f"blocks {found.st_blocks}")
            content = self._content(path, found)
        elif stat.S_ISLNK(mode):
            content = os.readlink(path)  # noqa: PTH115  # the text of the link
        return FileFact(mode, content, "\0".join(rest))

    def _content(self, path: str, found: os.stat_result) -> str:
        # the header of compiled Python depends on its source, too
        compiled = path.endswith(".pyc")
        key = found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
        if compiled or key not in self._known:
            try:
                with open(path, "rb") as file:  # noqa: PTH123  # many
                    digest = hashlib.sha256(self._header(Path(path), file.read(16)) if compiled else b"")
                    while chunk := file.read(_CHUNK):
                        digest.update(chunk)
                        if time.monotonic() > self.until:
                            raise TimeoutError(errno.ETIMEDOUT, "takes too long to read", path)
            except PermissionError:
                # whoever made it so may have put in anything: it is like no other file
                return f"unreadable {key}"
            self._known[key] = digest.hexdigest()
        return self._known[key]

    def differ(self, roots: Mapping[Side, Path], inner: str, *, anew: bool = False) -> bool:
        """Return whether a path below both roots differs; anew: what is in a file there is no matter.

        Raises: OSError: it takes too long, or cannot be looked at.
        """
        found: list[FileFact | None] = []
        for root in roots.values():
            path = f"{root}/{inner}"
            try:
                fact = self.of(path, os.lstat(path), _owner(root.lstat()))
                found.append(fact._replace(content="") if anew else fact)
            except (FileNotFoundError, NotADirectoryError):
                found.append(None)
        return found[0] != found[1]


def listing(directory: str) -> list[tuple[str, int]]:
    """Return the names in a directory with the kinds of what they name, in the system's order; [] of what is none."""
    try:
        with os.scandir(directory) as listed:
            return [(each.name, stat.S_IFMT(each.stat(follow_symlinks=False).st_mode)) for each in listed]
    except OSError:
        return []


def differences(trees: Mapping[Side, Path], facts: FileFacts | None = None) -> Differences:
    """Compare the trees of base and head. Raises: OSError: a file cannot be read, or all of it takes too long."""
    known = facts or FileFacts()
    found = {side: _looked_at(trees[side], known) for side in SIDES}
    (base, base_lists), (head, head_lists) = found.values()
    every = base.keys() | head.keys()
    hashes: dict[Side, str] = {}
    for side in SIDES:
        digest = hashlib.sha256()
        for path, (mode, content, rest) in sorted(found[side][0].items()):
            # NUL ends each: no name and no link holds one
            parts = (os.fsencode(path), b"%o" % mode, os.fsencode(content), *([os.fsencode(rest)] if rest else []), b"")
            digest.update(b"\0".join(parts))
        hashes[side] = f"sha256:{digest.hexdigest()}"
    return Differences(
        paths=frozenset(path for path in every if base.get(path) != head.get(path)),
        modes=frozenset(path for path in every if _mode(base.get(path)) != _mode(head.get(path))),
        listings=frozenset(
            path for path in base_lists.keys() | head_lists if base_lists.get(path) != head_lists.get(path)
        ),
        hashes=hashes,
    )


def _mode(fact: FileFact | None) -> tuple[int, str] | None:
    return None if fact is None else (fact.mode, fact.rest)


def _looked_at(tree: Path, known: FileFacts) -> tuple[dict[str, FileFact], dict[str, list[tuple[str, int]]]]:
    """Give facts by path, and by directory the names and kinds in it, in the system's order."""
    facts: dict[str, FileFact] = {}
    lists: dict[str, list[tuple[str, int]]] = {}
    owner, pending = _owner(tree.stat()), [""]
    linked: dict[tuple[int, int], list[str]] = {}
    while pending:
        inner = pending.pop()
        listed = lists[inner.rstrip("/")] = []
        with os.scandir(f"{tree}/{inner}") as entries:
            for entry in entries:
                path, found = f"{inner}{entry.name}", entry.stat(follow_symlinks=False)
                listed.append((entry.name, stat.S_IFMT(found.st_mode)))
                facts[path] = known.of(entry.path, found, owner)
                if stat.S_ISDIR(found.st_mode):
                    pending.append(f"{path}/")
                elif found.st_nlink > 1:
                    linked.setdefault((found.st_dev, found.st_ino), []).append(path)
    for paths in linked.values():
        for path in paths if len(paths) > 1 else ():
            facts[path] = facts[path]._replace(rest=f"{facts[path].rest}\0{len(paths)} names, as {min(paths)}")
    return facts, lists


def _without_time(compiled: Path, header: bytes) -> bytes:
    """Leave the time of its source out of the header of compiled Python, if it is the true one.

    Trees are made one after the other, so the sources of one may be a second older. Source: PEP 552.
    """
    with suppress(OSError, ValueError):  # no source, or none is known
        changed = int(Path(importlib.util.source_from_cache(compiled)).stat().st_mtime) & 0xFFFFFFFF
        if header[4:12] == bytes(4) + changed.to_bytes(4, "little"):
            return header[:8] + b"time of its source" + header[12:]
    return header


def _owner(found: os.stat_result) -> tuple[int, int]:
    return found.st_uid, found.st_gid
