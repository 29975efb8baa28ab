"""Which tracked files of a tree are not those of its commit: suspected by facts, proved by content."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from gate.removal import remove_tree
from harness.source.store import Store

# Attributes by which a file is not the bytes that the commit has: all others leave them alone, since the store has
# git write lines as they are
_CONVERTS = re.compile(rb"filter|ident|encoding|crlf", re.IGNORECASE)
_LINK = "120000"


Parts = Mapping[str, str]
"""The repositories of a tree: where a submodule is, with a slash at its end, or "" for the commit's own files, and the
revision of each."""


def suspects(tree: Path, facts: Facts) -> dict[str, tuple[int, ...]]:
    """Give the files of a tree whose facts are not as they were, and what these are now; (): the file is gone.

    No change to a file after this call leaves its facts as they are given. What was added is not looked at, nor .git.
    """
    found: dict[str, tuple[int, ...]] = {}
    gone: set[str] = set()
    for directory, entries in facts.items():
        if directory.startswith(".git/"):
            continue
        here: int | None = None
        if directory not in gone:
            with suppress(OSError):
                here = os.open(f"{tree}/{directory}", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            for name, before in entries.items():
                now: tuple[int, ...] = ()
                with suppress(OSError):
                    now = fact(os.stat(name, dir_fd=here, follow_symlinks=False)) if here is not None else ()
                if not before or not stat.S_ISDIR(before[1]):
                    if now != before:
                        found[directory + name] = now
                elif not now or not stat.S_ISDIR(now[1]):
                    # perhaps a link now: nothing is looked at through it
                    gone.add(f"{directory}{name}/")
        finally:
            if here is not None:
                os.close(here)
    if max((now[-1] for now in found.values() if now), default=0) + TICK > time.time_ns():
        time.sleep(TICK / 1e9)
    return found


def known(facts: Facts, paths: Collection[str]) -> Facts:
    """Give the facts of directories, and of those files that are among some paths."""
    return {
        directory: {
            name: each for name, each in entries.items() if stat.S_ISDIR(each[1]) or f"{directory}{name}" in paths
        }
        for directory, entries in facts.items()
    }


def updated(facts: Facts, now: Mapping[str, tuple[int, ...]]) -> Facts:
    """Give facts with those of some files as they are now."""
    newer: dict[str, dict[str, tuple[int, ...]]] = defaultdict(dict)
    for path, each in now.items():
        directory, slash, name = path.rpartition("/")
        newer[directory + slash][name] = each
    return {**facts, **{directory: {**facts[directory], **entries} for directory, entries in newer.items()}}


class Commits:
    """Knows the files of commits, and compares those of a tree with them."""

    def __init__(self, store: Store, *, skip_lfs: bool = False) -> None:
        """Read nothing yet. skip_lfs: as the trees were exported."""
        self._store = store
        self._skip_lfs = skip_lfs
        self._known: dict[str, tuple[Mapping[str, tuple[str, str, int]], bool]] = {}

    def files(self, parts: Parts) -> Iterator[str]:
        """Give the paths of all that is tracked in a tree."""
        for place, revision in parts.items():
            for name in self._tracked(revision)[0]:
                yield place + name

    def unlike(self, parts: Parts, tree: Path, paths: Collection[str]) -> set[str]:
        """Give those of some paths of a tree that are tracked, and are not as the commit has them."""
        unlike: set[str] = set()
        left = set(paths)
        # a submodule inside another one comes first
        for place in sorted(parts, key=len, reverse=True):
            here = {path for path in left if path.startswith(place)}
            left -= here
            names = (path.removeprefix(place) for path in here)
            unlike.update(place + name for name in self._unlike(parts[place], tree / place, names))
        return unlike

    def _unlike(self, revision: str, root: Path, names: Iterable[str]) -> Iterator[str]:
        files, converted = self._tracked(revision)
        real: dict[str, bool] = {"": True}
        wanted = []
        for name in files.keys() & set(names):
            if _is_real(root, name.rpartition("/")[0], real):
                wanted.append(name)
            else:
                yield name
        if not converted:
            for name in wanted:
                mode, id_, size = files[name]
                content = partial(_digest, algorithm="sha1", named=True)
                if _size(root / name) != size or not _is_like(root / name, mode, id_, content):
                    yield name
            return
        if not wanted:
            return
        fresh = self._store.work.path / ".compared"
        remove_tree(fresh)
        fresh.mkdir()
        try:
            self._store.export_files(revision, wanted, fresh, skip_lfs=self._skip_lfs)
            for name in wanted:
                # what git did not write cannot be told to be the same
                expected = _digest(fresh / name) if os.path.lexists(fresh / name) else ""
                like = _is_like(root / name, files[name][0], expected, _digest)
                if not like or _size(root / name) != _size(fresh / name):
                    yield name
        finally:
            remove_tree(fresh)

    def _tracked(self, revision: str) -> tuple[Mapping[str, tuple[str, str, int]], bool]:
        """Give a commit's files, and whether some may have other bytes in a tree than in the commit.

        Of each its mode, as git writes it, its id and its size.
        """
        if revision not in self._known:
            git, files = self._store.unhurried, {}
            for entry in git.entries("ls-tree", "-r", "-l", "-z", "--full-tree", revision):
                facts, _, name = entry.partition("\t")
                mode, kind, object_, size = facts.split()
                if kind == "blob":
                    files[name] = (mode, object_, int(size))
            attributes = [each[1] for name, each in files.items() if name.rpartition("/")[2] == ".gitattributes"]
            converted = any(_CONVERTS.search(git.run("cat-file", "blob", id_)) for id_ in attributes)
            self._known[revision] = files, converted
        return self._known[revision]


def _size(path: Path) -> int | None:
    """Return the size of a file or of a link's target: what has another one need not be read, however much it is."""
    with suppress(OSError):
        return path.lstat().st_size
    return None


def _is_real(root: Path, directory: str, real: dict[str, bool]) -> bool:
    """Return whether a directory below a root is reached through no link; real: what is known of others."""
    if directory not in real:
        above = _is_real(root, directory.rpartition("/")[0], real)
        path = f"{root}/{directory}"
        real[directory] = above and os.path.isdir(path) and not os.path.islink(path)  # noqa: PTH112, PTH114  # many
    return real[directory]


def _is_like(path: Path, mode: str, expected: str, content: Callable[[Path], str]) -> bool:
    """Return whether a file is of the kind that a mode of git names, and has the content that is expected."""
    try:
        now = path.lstat().st_mode
        if mode == _LINK:
            return stat.S_ISLNK(now) and content(path) == expected
        executable = bool(now & stat.S_IXUSR)
        return stat.S_ISREG(now) and executable == (mode == "100755") and content(path) == expected
    except OSError:
        return False


def _digest(path: Path, algorithm: str = "sha256", *, named: bool = False) -> str:
    """Hash a file, or the target of a link; named: as git names it, with its length."""
    digest = hashlib.new(algorithm, usedforsecurity=False)
    if path.is_symlink():
        target = os.fsencode(os.readlink(path))  # noqa: PTH115  # the text of the link
        digest.update((b"blob %d\0" % len(target) if named else b"") + target)
        return digest.hexdigest()
    with path.open("rb") as file:
        if named:
            digest.update(b"blob %d\0" % os.fstat(file.fileno()).st_size)
        hashlib.file_digest(file, lambda: digest)
    return digest.hexdigest()


Facts = Mapping[str, Mapping[str, tuple[int, ...]]]
"""Of each directory below a tree, what tells its entries from changed ones, by name."""
TICK = 20_000_000
"""Nanoseconds: the clock of a file system goes by the kernel's ticks, of 1 to 10 ms."""


def facts_of(tree: Path) -> Facts:
    """Return the facts of a tree; no change to a file after this call leaves them as they are.

    Whoever changes a file can set its mtime, not its ctime.

    Raises: OSError: a directory cannot be read.
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
