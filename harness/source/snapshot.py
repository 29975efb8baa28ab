"""Commits that no branch sees: the working tree as it is, and a side with paths overlaid.

Both go through a temporary index, and into perfgate's own store: nothing of the user's repository changes.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gate.model.warnings import AnyWarning
from gate.model.warnings.setup import DirtySubmodule, EmbeddedRepository
from harness.errors import SourceError
from harness.source.git import Git
from harness.source.repository import Repository, files_at


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The working tree as a commit."""

    revision: str
    """A commit on top of HEAD, the same for the same content."""
    tree: str
    """Its tree."""
    changed: int
    """Files that differ from HEAD."""
    untracked: int
    """How many of them nobody added yet."""


@dataclass(frozen=True, slots=True)
class WorkingTree:
    """What the working tree holds beyond HEAD; snapshot is None when that is nothing."""

    snapshot: Snapshot | None
    warnings: tuple[AnyWarning, ...]


def working_tree(repository: Repository, leave_out: Collection[str] = ()) -> WorkingTree:
    """Take the working tree as it is: tracked changes and untracked files that are not ignored.

    leave_out: paths of the repository that are left out where git does not track them (perfgate's own outputs).

    Raises:
        SourceError: the tree has unmerged files, or git cannot read a file.
    """
    git = repository.store.reading_files
    listing = ("--porcelain=v2", "-z", "--no-renames", "--untracked-files=no", "--ignore-submodules=none")
    status = git.entries("status", *listing)
    unmerged = [entry.split(" ", 10)[-1] for entry in status if entry.startswith("u ")]
    if unmerged:
        advice = "resolve and `git add` them, or name a commit with --head"
        raise SourceError(f"the checkout has unmerged files ({_some(unmerged)}): {advice}")
    others = git.entries("ls-files", "--others", "--exclude-standard", "-z")
    warnings: tuple[AnyWarning, ...] = (
        *_dirty_submodules(status),
        *(EmbeddedRepository(each) for each in others if each.endswith("/")),
    )
    untracked = [name for name in others if not (name.endswith("/") or _below(name, leave_out))]
    if not status and not untracked:
        return WorkingTree(None, warnings)
    with repository.store.index() as index:
        _copy_index(git, Path(index.environment["GIT_INDEX_FILE"]))
        _add(index, untracked)
        tree = index.line("write-tree")
    if tree == git.line("rev-parse", "HEAD^{tree}"):
        return WorkingTree(None, warnings)
    revision = _commit(repository.store.writing, tree, "HEAD", "perfgate: the working tree")
    changed = len(repository.git.entries("diff-tree", "-r", "-z", "--name-only", "HEAD", revision))
    return WorkingTree(Snapshot(revision, tree, changed, len(untracked)), warnings)


def _below(name: str, paths: Collection[str]) -> bool:
    return any(name == path or name.startswith(path + "/") for path in paths)


def overlaid(repository: Repository, revision: str, head: str, paths: Sequence[str]) -> str:
    """Give a commit like a revision, but with paths of the project as head has them, extra files below them removed.

    Raises:
        SourceError: head has nothing at a path.
    """
    if not paths:
        return revision
    with repository.store.index() as index:
        index.run("read-tree", revision)
        for path in paths:
            name = repository.inside(path)
            if path.startswith("/") or name == ".." or name.startswith("../"):
                raise SourceError(f"[build] overlay: {path} is outside the repository: name a path in it")
            entries = files_at(repository, head, name)
            if not entries:
                raise SourceError(f"[build] overlay: head has no {path}: commit it, or remove it from overlay")
            index.run("rm", "-r", "--cached", "--quiet", "--force", "--ignore-unmatch", "--", name)
            lines = b"".join(os.fsencode(f"{entry.mode} {entry.object}\t{entry.path}\0") for entry in entries)
            index.run("update-index", "-z", "--index-info", stdin=lines)
        tree = index.line("write-tree")
    if tree == repository.git.line("rev-parse", revision + "^{tree}"):
        return revision
    return _commit(repository.store.writing, tree, revision, "perfgate: overlaid with " + ", ".join(paths))


def changed(repository: Repository, revision: str, files: Mapping[str, bytes], message: str) -> str:
    """Give a commit like a revision, but with these files, by their paths in the repository."""
    with repository.store.index() as index:
        index.run("read-tree", revision)
        for path, content in files.items():
            known = [entry.mode for entry in files_at(repository, revision, path) if entry.path == path]
            blob = repository.store.writing.run("hash-object", "-w", "--stdin", stdin=content).decode().strip()
            line = os.fsencode(f"{known[0] if known else '100644'} {blob}\t{path}\0")
            index.run("update-index", "-z", "--index-info", stdin=line)
        tree = index.line("write-tree")
    return _commit(repository.store.writing, tree, revision, message)


def patched(repository: Repository, revision: str, patch: bytes) -> str:
    """Give a commit like a revision, with a patch applied.

    Raises:
        SourceError: it does not apply, or changes nothing.
    """
    with repository.store.index() as index:
        index.run("read-tree", revision)
        answer = index.attempt("apply", "--cached", "-", stdin=patch)
        if answer.status != 0:
            raise SourceError(f"does not apply to head: {answer.reason}", option="patch")
        tree = index.line("write-tree")
    if tree == repository.git.line("rev-parse", revision + "^{tree}"):
        raise SourceError("changes nothing in head", option="patch")
    return _commit(repository.store.writing, tree, revision, "perfgate drill: patched")


def _copy_index(git: Git, target: Path) -> None:
    # The user's index rather than HEAD's tree: it knows sparse paths and makes the comparison fast. copy2 keeps its
    # time, by which git tells entries that may have changed since ("racy git").
    index = git.directory / git.line("rev-parse", "--git-path", "index")
    if index.exists():
        shutil.copy2(index, target)


def _add(index: Git, untracked: Sequence[str]) -> None:
    advice = "make it readable, or name it in .gitignore; --head HEAD measures the last commit"
    answer = index.attempt("add", "--update")
    if answer.status == 0 and untracked:
        # --remove: a file that vanished since it was listed is no error
        names = b"".join(os.fsencode(name) + b"\0" for name in untracked)
        answer = index.attempt("update-index", "--add", "--remove", "--replace", "-z", "--stdin", stdin=names)
    if answer.status != 0:
        raise SourceError(f"the working tree cannot be taken as it is: {answer.reason}: {advice}")


def _commit(git: Git, tree: str, parent: str, message: str) -> str:
    # The parent's date makes the commit a function of its content, so that a resumed run finds the same one
    date = git.line("show", "--no-patch", "--no-show-signature", "--format=%ct", parent + "^{commit}") + " +0000"
    identity = {
        f"GIT_{role}_{part}": value
        for role in ("AUTHOR", "COMMITTER")
        for part, value in (("NAME", "perfgate"), ("EMAIL", "perfgate@localhost"), ("DATE", date))
    }
    return git.seeing(**identity).line("commit-tree", tree, "-p", parent, "-m", message)


def _dirty_submodules(status: Sequence[str]) -> Iterator[DirtySubmodule]:
    for entry in status:
        # 1 XY S<commit><modified><untracked> mH mI mW hH hI path
        fields = entry.split(" ", 8)
        if len(fields) == 9 and fields[2].startswith("S") and fields[2][2:] != "..":
            yield DirtySubmodule(fields[8])


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
