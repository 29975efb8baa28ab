"""Paths of the checkout that git does not track, linked into the trees of both sides: [build] share."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Sequence
from pathlib import Path

from harness.errors import SourceError
from harness.source.repository import Repository


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
