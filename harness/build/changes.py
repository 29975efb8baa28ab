"""Tracked files that a build or a benchmark changed: which ones the recipe declares, and the failure of others."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from gate.config.types import BuildTable
from gate.model import Side

_FIRST = 5
_MOST = 20
_PROPOSED = 4


@dataclass(frozen=True, slots=True)
class Declared:
    """What the builds and benchmarks of a side may change. prefix: the project's directory in the repository."""

    table: BuildTable
    prefix: PurePosixPath

    def __contains__(self, path: object) -> bool:
        """Return whether a path of the repository is declared, or lies in a directory that is."""
        parts = tuple(str(path).split("/"))
        return any(_matches(pattern, parts) for pattern in self._patterns())

    def _patterns(self) -> list[tuple[str, ...]]:
        paths = [*self.table.artifacts, *self.table.changes]
        return [tuple(posixpath.normpath(posixpath.join(self.prefix.as_posix(), path)).split("/")) for path in paths]

    def hint(self, side: Side, paths: Collection[str]) -> str:
        """Say how to declare paths of the repository."""
        line = json.dumps([*self.table.changes, *_summarized(paths, self.prefix)], ensure_ascii=False)
        hint = f"if this is meant, write `changes = {line}` in [build] of perfgate.toml"
        if side == "head":
            return hint
        return f"{hint} on the default branch first, since base has its own; or use head's file for both: `--config`"


def named(paths: Sequence[str]) -> str:
    """Name the first of some paths, and how many there are."""
    more = len(paths) - _FIRST
    return ", ".join(paths[:_FIRST]) + (f" and {more:,} more" if more > 0 else "")


def _matches(pattern: tuple[str, ...], path: tuple[str, ...]) -> bool:
    if not pattern:
        return True  # all that is in a directory
    if pattern[0] == "**":
        return any(_matches(pattern[1:], path[skipped:]) for skipped in range(len(path) + 1))
    return bool(path) and fnmatchcase(path[0], pattern[0]) and _matches(pattern[1:], path[1:])


def _summarized(paths: Collection[str], prefix: PurePosixPath) -> list[str]:
    """Give paths of the project; of many, directories that hold them."""
    found = sorted({posixpath.relpath(path, prefix.as_posix()) for path in paths})
    while len(found) > _PROPOSED:
        above = sorted({f"{posixpath.dirname(path.rstrip('/'))}/" for path in found})
        if "/" in above or any(path.endswith("../") for path in above):
            break
        found = above
    return found[:_MOST]
