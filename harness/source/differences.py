"""What differs between two trees, file by file: content, mode, owner, links, attributes, and what one of them lacks."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gate.model import SIDES, Side


@dataclass(frozen=True, slots=True)
class Differences:
    """What differs between base and head; paths are relative to the root of both trees.

    paths: of all that differs. names: those of them that one side lacks, or has as another kind of thing. modes: those
    that differ by more than content. hashes: of each tree, "sha256:...".
    """

    paths: frozenset[str]
    names: frozenset[str]
    modes: frozenset[str]
    hashes: Mapping[Side, str]

    @property
    def listings(self) -> frozenset[str]:
        """The directories whose listings differ."""
        return frozenset(name.rpartition("/")[0] for name in self.names)


def differences(trees: Mapping[Side, Path]) -> Differences:
    """Compare the trees of base and head.

    Raises:
        OSError: a file cannot be read.
    """
    facts = {side: dict(_facts(trees[side])) for side in SIDES}
    base, head = facts["base"], facts["head"]
    every = base.keys() | head.keys()
    return Differences(
        paths=frozenset(path for path in every if base.get(path) != head.get(path)),
        names=frozenset(path for path in every if _kind(base.get(path)) != _kind(head.get(path))),
        modes=frozenset(path for path in every if _mode(base.get(path)) != _mode(head.get(path))),
        hashes={side: _digest(found) for side, found in facts.items()},
    )


_Fact = tuple[int, str, str]
"""Of an entry: its mode, the hash of a file or the target of a link, and what few entries have besides."""


def _kind(fact: _Fact | None) -> int | None:
    return None if fact is None else stat.S_IFMT(fact[0])


def _mode(fact: _Fact | None) -> tuple[int, str] | None:
    return None if fact is None else (fact[0], fact[2])


def _facts(tree: Path) -> Iterator[tuple[str, _Fact]]:
    pending = [""]
    owner = _owner(tree.stat())
    linked: dict[tuple[int, int], str] = {}
    while pending:
        inner = pending.pop()
        with os.scandir(f"{tree}/{inner}") as listed:
            for entry in sorted(listed, key=lambda each: each.name):
                path = f"{inner}{entry.name}"
                found = entry.stat(follow_symlinks=False)
                mode = found.st_mode
                rest = [*_attributes(entry.path)]
                if _owner(found) != owner:
                    rest.append(f"owner {_owner(found)}")
                if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
                    rest.append(f"device {found.st_rdev}")
                if found.st_nlink > 1 and not stat.S_ISDIR(mode):
                    first = linked.setdefault((found.st_dev, found.st_ino), path)
                    rest += [f"same as {first}"] if first != path else []
                content = ""
                if stat.S_ISREG(mode):
                    content = _content(Path(entry.path))
                elif stat.S_ISLNK(mode):
                    content = os.readlink(entry.path)  # noqa: PTH115  # the text of the link
                elif stat.S_ISDIR(mode):
                    pending.append(f"{path}/")
                yield path, (mode, content, "\0".join(rest))


def _content(path: Path) -> str:
    with path.open("rb") as file:
        digest = hashlib.sha256(_without_time(path, file.read(16)) if path.suffix == ".pyc" else b"")
        return hashlib.file_digest(file, lambda: digest).hexdigest()


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


def _attributes(path: str) -> Iterator[str]:
    if sys.platform == "linux":
        with suppress(OSError):  # the file system has none
            for name in sorted(os.listxattr(path, follow_symlinks=False)):
                yield f"{name}={os.getxattr(path, name, follow_symlinks=False)!r}"


def _digest(facts: Mapping[str, _Fact]) -> str:
    digest = hashlib.sha256()
    for path, (mode, content, rest) in sorted(facts.items()):
        # NUL ends each: no name and no link holds one
        parts = (os.fsencode(path), b"%o" % mode, os.fsencode(content), *([os.fsencode(rest)] if rest else []), b"")
        digest.update(b"\0".join(parts))
    return f"sha256:{digest.hexdigest()}"
