"""The directory for the outputs of one execution: empty, and under a new name of the same length each time."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from harness.source.workdir import remove_tree


class Scratch:
    """One directory that is emptied and renamed for each execution.

    Not one after the other made and removed: to remove a directory costs some file systems milliseconds, more than all
    else that perfgate does for an execution. What still writes to the old name finds no directory there.
    """

    def __init__(self, parent: Path) -> None:
        """Make nothing yet.

        Args:
            parent: an existing directory.
        """
        self._parent = parent
        self._directory: Path | None = None

    def fresh(self) -> Path:
        """Return the empty directory under a new name.

        Raises:
            OSError: it cannot be made.
        """
        path = self._parent / secrets.token_hex(6)
        if self._directory is not None and _emptied(self._directory):
            self._directory.rename(path)
        else:
            path.mkdir(mode=0o700)
        self._directory = path
        return path

    def clear(self) -> None:
        """Remove the directory."""
        if self._directory is not None:
            remove_tree(self._directory)
            self._directory = None


def _emptied(directory: Path) -> bool:
    try:
        for entry in os.scandir(directory):
            if entry.is_dir(follow_symlinks=False):
                remove_tree(Path(entry.path))
            else:
                Path(entry.path).unlink()
        return not any(os.scandir(directory))
    except OSError:  # a program made its output undeletable, or removed the directory: it gets no second use
        return False
