"""Commits that no branch sees: the working tree as it is, and a side with paths overlaid.

Both go through a temporary index, and into perfgate's own store: nothing of the user's repository changes.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from gate.model.warnings import AnyWarning
from gate.model.warnings.base import Said
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


def working_tree(repository: Repository, leave_out: Collection[str] = ()) -> tuple[Snapshot | None, list[AnyWarning]]:
    """Take the working tree as it is: tracked changes and untracked files that are not ignored; None: it is HEAD.

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
        some = ", ".join(unmerged[:3]) + (f" and {len(unmerged) - 3} more" if len(unmerged) > 3 else "")
        raise SourceError(f"the checkout has unmerged files ({some}): {advice}")
    others = git.entries("ls-files", "--others", "--exclude-standard", "-z")
    # 1 XY S<commit><modified><untracked> mH mI mW hH hI path
    fields = [each for entry in status if len(each := entry.split(" ", 8)) == 9]
    warnings: list[AnyWarning] = [
        Said(f"submodule {each[8]} has uncommitted changes: its commit is measured without them", place="first")
        for each in fields
        if each[2].startswith("S") and each[2][2:] != ".."
    ]
    left_out = tuple(f"{path}/" for path in leave_out)
    # a folder is a repository of its own, which git leaves out
    untracked = [name for name in others if not (name.endswith("/") or f"{name}/".startswith(left_out))]
    if not status and not untracked:
        return None, warnings
    with repository.store.index() as index:
        # The user's index rather than HEAD's tree: it knows sparse paths and makes the comparison fast. copy2 keeps
        # its time, by which git tells entries that may have changed since ("racy git").
        own = git.directory / git.line("rev-parse", "--git-path", "index")
        if own.exists():
            shutil.copy2(own, index.environment["GIT_INDEX_FILE"])
        answer = index.attempt("add", "--update")
        if answer.status == 0 and untracked:
            # --remove: a file that vanished since it was listed is no error
            names = b"".join(os.fsencode(name) + b"\0" for name in untracked)
            answer = index.attempt("update-index", "--add", "--remove", "--replace", "-z", "--stdin", stdin=names)
        if answer.status != 0:
            advice = "make it readable, or name it in .gitignore; --head HEAD measures the last commit"
            raise SourceError(f"the working tree cannot be taken as it is: {answer.reason}: {advice}")
        tree = index.line("write-tree")
    if tree == git.line("rev-parse", "HEAD^{tree}"):
        return None, warnings
    revision = _commit(repository.store.writing, tree, "HEAD", "perfgate: the working tree")
    changed = len(repository.git.entries("diff-tree", "-r", "-z", "--name-only", "HEAD", revision))
    return Snapshot(revision, tree, changed, len(untracked)), warnings


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


def _commit(git: Git, tree: str, parent: str, message: str) -> str:
    # The parent's date makes the commit a function of its content, so that a resumed run finds the same one
    date = git.line("show", "--no-patch", "--no-show-signature", "--format=%ct", parent + "^{commit}") + " +0000"
    identity = {
        f"GIT_{role}_{part}": value
        for role in ("AUTHOR", "COMMITTER")
        for part, value in (("NAME", "perfgate"), ("EMAIL", "perfgate@localhost"), ("DATE", date))
    }
    return git.seeing(**identity).line("commit-tree", tree, "-p", parent, "-m", message)
