"""Finds the checkout around a directory, so that git never looks for one.

git takes a directory with HEAD, objects and refs for a repository, and a pull request can commit these as plain files
of a folder: with the configuration there it could run commands, and name another commit as HEAD. No commit can hold a
file called .git.
"""

from __future__ import annotations

import os
from pathlib import Path


def top_of(directory: Path) -> Path | None:
    """Return the nearest directory upwards that has a .git, the given one included; None: there is none.

    Args:
        directory: absolute, without links.
    """
    return next((each for each in (directory, *directory.parents) if _has_repository(each / ".git")), None)


def _has_repository(place: Path) -> bool:
    # a file names the repository: of a linked worktree, of a submodule
    return place.is_file() or is_repository(place)


def is_repository(place: Path) -> bool:
    """Return whether git would take a directory for a repository; one that is damaged it passes over."""
    return os.path.lexists(place / "HEAD") and (place / "objects").is_dir() and (place / "refs").is_dir()
