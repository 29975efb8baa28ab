"""Puts a tree back into the state in which it was checked out, without checking it out again."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from gate.removal import remove_tree

Facts = Mapping[str, Mapping[str, tuple[int, ...]]]
"""Of each directory below a tree, what tells its entries from changed ones, by name."""
TICK = 20_000_000
"""Nanoseconds: the clock of a file system goes by the kernel's ticks, of 1 to 10 ms."""


def facts_of(tree: Path) -> Facts:
    """Return the facts of a tree; no change to a file after this call leaves them as they are.

    Whoever changes a file can set its mtime, not its ctime.

    Raises:
        OSError: a directory cannot be read.
    """
    facts: dict[str, dict[str, tuple[int, ...]]] = {}
    pending = [""]
    while pending:
        directory = pending.pop()
        entries = facts[directory] = {}
        with os.scandir(f"{tree}/{directory}") as listed:
            for entry in listed:
                entries[entry.name] = fact(entry.stat(follow_symlinks=False))
                if entry.is_dir(follow_symlinks=False):
                    pending.append(f"{directory}{entry.name}/")
    newest = max((each[-1] for entries in facts.values() for each in entries.values()), default=0)
    if newest + TICK > time.time_ns():
        time.sleep(TICK / 1e9)
    return facts


def restore(tree: Path, facts: Facts) -> bool:
    """Remove what a tree has besides its facts; return whether all of these are as they were.

    Where they are not, nothing is removed, and the tree must be made anew.
    """
    added = []
    try:
        for directory, known in facts.items():
            found = 0
            with os.scandir(f"{tree}/{directory}") as listed:
                for entry in listed:
                    before = known.get(entry.name)
                    if before is None:
                        added.append(Path(entry.path))
                    elif fact(entry.stat(follow_symlinks=False)) != before:
                        return False
                    else:
                        found += 1
            if found != len(known):
                return False
        for path in added:
            # remove a file or directory
            if path.is_dir() and not path.is_symlink():
                why = remove_tree(path)
                if why is not None:
                    raise OSError(why)
            else:
                with suppress(FileNotFoundError):
                    path.unlink()
    except OSError:
        return False
    return True


def fact(found: os.stat_result) -> tuple[int, ...]:
    """Return what tells an entry of a directory from a changed one."""
    if stat.S_ISDIR(found.st_mode):
        # its times change with what is in it, which is looked at by itself
        return found.st_ino, found.st_mode, 0
    return found.st_ino, found.st_mode, found.st_size, found.st_ctime_ns
