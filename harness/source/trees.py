"""The trees that are built and measured: the files of base and head, with paths of equal length."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from gate.model import SIDES, Side
from gate.model.warnings import AnyWarning
from gate.model.warnings.setup import LfsPointers
from harness.errors import SourceError
from harness.process.budget import Budget
from harness.source import submodules
from harness.source.base_and_head import Sources
from harness.source.lfs import lfs_files, pointers
from harness.source.pristine import Facts, facts_of, restore
from harness.source.repository import Repository
from harness.source.workdir import remove_tree


def shared_paths(repository: Repository, paths: Sequence[str]) -> list[str]:
    """Find what git does not track at or below paths of the project: paths of the repository, directories whole.

    A path that git tracks in part (data/ with a .gitkeep) gives what it does not track of it: what is tracked, each
    side has from its own commit.

    Raises:
        SourceError: a path is outside the project, does not exist in the checkout, or is tracked throughout.
    """
    found = []
    for path in paths:
        inner = posixpath.normpath(path)
        if path.startswith("/") or inner in (".", "..") or inner.startswith("../"):
            raise SourceError(
                f"[build] share: {path} is not a path inside the project: write one relative to perfgate.toml"
            )
        place = repository.project / inner
        if not os.path.lexists(place):
            where = repository.project
            raise SourceError(f"[build] share: {path} does not exist in {where}: make it, or remove it from share")
        name = repository.inside(inner)
        # all that is not tracked, ignored or not; --directory: whole directories in one entry
        others = repository.git.entries("ls-files", "--others", "--directory", "-z", "--", name)
        if not others:
            advice = "take it out of share (overlay gives both sides head's)"
            raise SourceError(f"[build] share: git tracks {path}, so each side has its own: {advice}")
        found += [other.rstrip("/") for other in others]
    return found


def link(repository: Repository, tree: Path, shared: Sequence[str]) -> None:
    """Link paths of the repository from the checkout into a tree; what the tree's commit has stays.

    Raises:
        SourceError: a link cannot be made.
    """
    for name in shared:
        try:
            _link(repository.top / name, tree / name, tree)
        except OSError as error:
            raise SourceError(f"[build] share: {name} cannot be linked: {error.strerror}: {error.filename}") from None


def _link(source: Path, target: Path, tree: Path) -> None:
    if not os.path.lexists(target):
        # never through a link of the commit to a place outside the tree
        if not target.parent.resolve().is_relative_to(tree.resolve()):
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(source)
    elif target.is_dir() and not target.is_symlink() and source.is_dir():
        for child in sorted(source.iterdir()):
            _link(child, target / child.name, tree)


@dataclass(frozen=True, slots=True)
class _Made:
    """A tree as it was made. facts: of its files; None: it is not made whole."""

    path: Path
    git: bool
    facts: Facts | None = None


class Trees:
    """The trees of a run, made one by one in its work directory: the files of a commit, exported from the store.

    directory: the work directory, outside the checkout. warnings: what the report must tell about what was checked out.
    """

    def __init__(
        self, repository: Repository, sources: Sources, shared: Mapping[Side, Sequence[str]], budget: Budget
    ) -> None:
        self.repository = repository
        self.sources = sources
        self.directory = repository.store.work.path
        self._shared = shared
        self._made: dict[tuple[Side, str], _Made] = {}
        self._skip_lfs = _lacks_lfs(repository)
        self.warnings: tuple[AnyWarning, ...] = (LfsPointers(),) if self._skip_lfs else ()
        repository.store.keep_to(budget)

    def make(self, side: Side, name: str = "", variant: str = "", *, git: bool = False) -> Path:
        """Check a side out afresh, in place of its tree so far, and give its project directory.

        The tree is directory/name/variant/side; a side has one tree of each variant. One whose files nobody changed is
        moved there, without what was added to it.

        Args:
            git: it gets a .git of its own.

        Raises:
            SourceError: git cannot check it out, a submodule cannot be had, or the side has no such project directory.
            BudgetEndedError: the budget has ended.
        """
        tree = self.directory / name / variant / side
        made = self._made.get((side, variant))
        try:
            tree.parent.mkdir(parents=True, exist_ok=True)
            if made is not None and made.git == git and self._move(made, tree):
                self._made[side, variant] = replace(made, path=tree)
            else:
                self.remove(side, variant)
                self._made[side, variant] = _Made(tree, git)
                self._fill(side, tree, git=git)
                self._made[side, variant] = _Made(tree, git, facts_of(tree))
        except OSError as error:
            raise SourceError(f"{tree} cannot be made: {error.strerror or error}") from None
        if not self.project(side, variant).is_dir():
            commit = self.sources.of(side).commit
            where = f"{commit.ref} ({(commit.sha or '')[:12]})"
            raise SourceError(f"{side}, {where}, has no directory {self.repository.prefix}: choose another --{side}")
        return self.project(side, variant)

    def _fill(self, side: Side, tree: Path, *, git: bool) -> None:
        source, store = self.sources.of(side), self.repository.store
        tree.mkdir(parents=True)
        answer = store.export(source.revision, tree, skip_lfs=self._skip_lfs)
        if answer.status != 0:
            lfs = f": run `git lfs fetch origin {source.commit.sha}`" if "smudge filter lfs" in answer.stderr else ""
            raise SourceError(f"{side} cannot be checked out to {tree}: {answer.reason}{lfs}")
        if git:
            store.attach(source.revision, tree)
        submodules.fill(store, tree, source.revision, submodules.of_checkout(self.repository), skip_lfs=self._skip_lfs)
        link(self.repository, tree, self._shared[side])

    def _move(self, made: _Made, tree: Path) -> bool:
        """Put a tree into the state in which it was made, at another path; return whether that could be done."""
        if made.facts is None or not restore(made.path, made.facts):
            return False
        if made.path != tree:
            made.path.rename(tree)
            self._remove_empty(made.path.parent)
        return True

    def tree(self, side: Side, variant: str = "") -> Path | None:
        """Give the root of a side's tree; None before it is made."""
        made = self._made.get((side, variant))
        return made.path if made else None

    def project(self, side: Side, variant: str = "") -> Path:
        """Give a side's project directory: where its commands run."""
        return self._made[side, variant].path / self.repository.prefix

    def remove(self, side: Side, variant: str = "") -> None:
        """Remove a side's tree."""
        made = self._made.pop((side, variant), None)
        if made is not None:
            remove_tree(made.path)
            self._remove_empty(made.path.parent)

    def _remove_empty(self, above: Path) -> None:
        with suppress(OSError):  # the other side may still be in it
            while above != self.directory:
                above.rmdir()
                above = above.parent


@contextmanager
def open_trees(
    repository: Repository,
    sources: Sources,
    *,
    share_paths: Mapping[Side, Sequence[str]],
    budget: Budget | None = None,
    keep: bool = False,
) -> Iterator[Trees]:
    """Give the trees of a run, removed whatever happens; keep leaves them in trees.directory.

    Args:
        share_paths: [build] share of each side.
        budget: what making a tree keeps to; None: it takes what it takes.

    Raises:
        SourceError: a shared path is missing or tracked, or there is no place for the trees.
    """
    try:
        shared = {side: shared_paths(repository, share_paths[side]) for side in SIDES}
        yield Trees(repository, sources, shared, budget or Budget())
    finally:
        repository.store.work.close(keep=keep)


def _lacks_lfs(repository: Repository) -> bool:
    """Return whether the checkout was made without files of git lfs (checkout's `lfs: false`): trees are so, too."""
    if repository.git.maybe("config", "--get-regexp", r"^filter\.lfs\.") is None:
        return False
    return bool(pointers(repository, lfs_files(repository)))
