"""The trees that are built and measured: git worktrees of base and head, with paths of equal length."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from gate.model import SIDES, Side
from gate.model.warnings import AnyWarning
from gate.model.warnings.setup import LfsPointers
from harness.errors import SourceError
from harness.process.budget import Budget
from harness.source import submodules
from harness.source.base_and_head import Sources
from harness.source.git import Git
from harness.source.repository import Repository
from harness.source.workdir import forget, remove_tree, work_directory


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
    """Link paths of the repository from the checkout into a worktree; what the worktree's commit has stays.

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
        # never through a link of the commit to a place outside the worktree
        if not target.parent.resolve().is_relative_to(tree.resolve()):
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(source)
    elif target.is_dir() and not target.is_symlink() and source.is_dir():
        for child in sorted(source.iterdir()):
            _link(child, target / child.name, tree)


_POINTER = b"version https://git-lfs.github.com/spec/v1"


class Trees:
    """The worktrees of a run, made one by one in its work directory.

    directory: the work directory, outside the checkout. warnings: what the report must tell about what was checked out.
    """

    def __init__(
        self,
        repository: Repository,
        sources: Sources,
        directory: Path,
        shared: Mapping[Side, Sequence[str]],
        budget: Budget,
    ) -> None:
        self.repository = repository
        self.sources = sources
        self.directory = directory
        self._shared = shared
        self._trees: dict[tuple[Side, str], Path] = {}
        git = _without_missing_lfs(repository)
        self.warnings: tuple[AnyWarning, ...] = ()
        if git is not repository.git:
            self.warnings = (LfsPointers(),)
        self._git = git.within(budget)

    def make(self, side: Side, name: str = "", variant: str = "") -> Path:
        """Check a side out afresh, in place of its tree so far, and give its project directory.

        The tree is directory/name/variant/side; a side has one tree of each variant.

        Raises:
            SourceError: git cannot check it out, a submodule cannot be had, or the side has no such project directory.
            BudgetEndedError: the budget has ended.
        """
        self.remove(side, variant)
        tree = self.directory / name / variant / side
        self._trees[side, variant] = tree
        source = self.sources.of(side)
        try:
            tree.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SourceError(f"{tree.parent} cannot be made: {error.strerror}") from None
        answer = self._git.attempt("worktree", "add", "--quiet", "--detach", str(tree), source.revision)
        if answer.status != 0:
            lfs = f": run `git lfs fetch origin {source.commit.sha}`" if "smudge filter lfs" in answer.stderr else ""
            raise SourceError(f"{side} cannot be checked out to {tree}: {answer.reason}{lfs}")
        git = self._git.at(tree)
        submodules.fill(git, self.repository.git, self.repository.common)
        link(self.repository, tree, self._shared[side])
        if not self.project(side, variant).is_dir():
            where = f"{source.commit.ref} ({(source.commit.sha or '')[:12]})"
            raise SourceError(f"{side}, {where}, has no directory {self.repository.prefix}: choose another --{side}")
        return self.project(side, variant)

    def tree(self, side: Side, variant: str = "") -> Path | None:
        """Give the root of a side's worktree; None before it is made."""
        return self._trees.get((side, variant))

    def project(self, side: Side, variant: str = "") -> Path:
        """Give a side's project directory: where its commands run."""
        return self._trees[side, variant] / self.repository.prefix

    def remove(self, side: Side, variant: str = "") -> None:
        """Remove a side's worktree and what git knows of it."""
        tree = self._trees.pop((side, variant), None)
        if tree is None:
            return
        remove_tree(tree)
        forget(self.repository.git, tree)
        above = tree.parent
        with suppress(OSError):  # the other side may still be in it
            while above != self.directory:
                above.rmdir()
                above = above.parent


@contextmanager
def open_trees(
    repository: Repository,
    sources: Sources,
    *,
    state: Path,
    share_paths: Mapping[Side, Sequence[str]],
    budget: Budget | None = None,
    keep: bool = False,
) -> Iterator[Trees]:
    """Give the trees of a run, removed whatever happens; keep leaves them in trees.directory.

    Args:
        state: the project's .perfgate.
        share_paths: [build] share of each side.
        budget: what making a tree keeps to; None: it takes what it takes.

    Raises:
        SourceError: a shared path is missing or tracked, or there is no place for the trees.
    """
    shared = {side: shared_paths(repository, share_paths[side]) for side in SIDES}
    with work_directory(repository.git, state, keep=keep) as directory:
        yield Trees(repository, sources, directory, shared, budget or Budget())


def _without_missing_lfs(repository: Repository) -> Git:
    """Keep git lfs from downloading for the worktrees what the checkout was made without (checkout's `lfs: false`)."""
    git = repository.git
    if git.maybe("config", "--get-regexp", r"^filter\.lfs\.") is None:
        return git
    names = b"".join(os.fsencode(name) + b"\0" for name in git.entries("ls-files", "-z"))
    answers = os.fsdecode(git.run("check-attr", "--stdin", "-z", "filter", stdin=names)).split("\0")
    large = [path for path, value in zip(answers[::3], answers[2::3], strict=False) if value == "lfs"]
    pointers = any(_is_pointer(repository.top / path) for path in large)
    return git.seeing(GIT_LFS_SKIP_SMUDGE="1") if pointers else git


def _is_pointer(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_POINTER)) == _POINTER
    except OSError:
        return False
