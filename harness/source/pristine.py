"""Puts a tree back into the state in which it was checked out, without checking it out again."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from harness.source.workdir import remove_tree

Facts = tuple[int, ...]
_TICK = 20_000_000
"""Nanoseconds: the clock of a file system goes by the kernel's ticks, of 1 to 10 ms."""


def facts_of(tree: Path) -> dict[str, Facts]:
    """Return what tells each file, link and directory of a tree from one that was changed, by its path.

    No change to a file after this call leaves its facts as they are: whoever changes one cannot set its ctime.
    """
    facts: dict[str, Facts] = {}
    pending = [str(tree)]
    newest = 0
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                found = entry.stat(follow_symlinks=False)
                facts[entry.path[len(str(tree)) + 1 :]] = _facts(found)
                newest = max(newest, found.st_ctime_ns)
                if stat.S_ISDIR(found.st_mode):
                    pending.append(entry.path)
    if newest + _TICK > time.time_ns():
        time.sleep(_TICK / 1e9)
    return facts


def restore(tree: Path, facts: Mapping[str, Facts]) -> bool:
    """Remove what a tree has besides its facts; return whether all of these are as they were.

    Where they are not, the tree must be made anew.
    """
    left = len(facts)
    pending, added = [str(tree)], []
    try:
        while pending:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    known = facts.get(entry.path[len(str(tree)) + 1 :])
                    if known is None:
                        added.append(Path(entry.path))
                        continue
                    found = entry.stat(follow_symlinks=False)
                    if _facts(found) != known:
                        return False
                    left -= 1
                    if stat.S_ISDIR(found.st_mode):
                        pending.append(entry.path)
        if left == 0:
            for path in added:
                _remove(path)
    except OSError:
        return False
    return left == 0


def _facts(found: os.stat_result) -> Facts:
    if stat.S_ISDIR(found.st_mode):
        # the other facts change with what is in it, which is looked at by itself
        return found.st_ino, found.st_mode
    return found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _remove(path: Path) -> None:
    """Remove a file or directory.

    Raises:
        OSError: it cannot be removed.
    """
    if path.is_dir() and not path.is_symlink():
        why = remove_tree(path)
        if why is not None:
            raise OSError(why)
    else:
        with suppress(FileNotFoundError):
            path.unlink()
