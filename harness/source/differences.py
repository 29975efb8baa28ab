"""What differs between two trees, file by file: content, mode, where a link leads, and what one of them lacks."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gate.model import SIDES, Side


@dataclass(frozen=True, slots=True)
class Differences:
    """What differs between base and head; paths are relative to the root of both trees.

    paths: of all that differs. names: those of them that one side lacks, or has as another kind of thing. hashes: of
    each tree, "sha256:...".
    """

    paths: frozenset[str]
    names: frozenset[str]
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
        hashes={side: _digest(found) for side, found in facts.items()},
    )


_Fact = tuple[int, str]
"""Of an entry: its mode, and the hash of a file or the target of a link."""


def _kind(fact: _Fact | None) -> int | None:
    return None if fact is None else stat.S_IFMT(fact[0])


def _facts(tree: Path) -> Iterator[tuple[str, _Fact]]:
    pending = [""]
    while pending:
        inner = pending.pop()
        with os.scandir(f"{tree}/{inner}") as listed:
            for entry in listed:
                path = f"{inner}{entry.name}"
                mode = entry.stat(follow_symlinks=False).st_mode
                content = ""
                if stat.S_ISREG(mode):
                    with Path(entry.path).open("rb") as file:
                        content = hashlib.file_digest(file, "sha256").hexdigest()
                elif stat.S_ISLNK(mode):
                    content = os.readlink(entry.path)  # noqa: PTH115  # the text of the link
                elif stat.S_ISDIR(mode):
                    pending.append(f"{path}/")
                yield path, (mode, content)


def _digest(facts: Mapping[str, _Fact]) -> str:
    digest = hashlib.sha256()
    for path, (mode, content) in sorted(facts.items()):
        # NUL ends each: no name and no link holds one
        digest.update(b"\0".join((os.fsencode(path), b"%o" % mode, os.fsencode(content), b"")))
    return f"sha256:{digest.hexdigest()}"
