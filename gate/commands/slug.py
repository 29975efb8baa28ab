"""The name of a gate whose project lies in a folder of the repository."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import PurePosixPath

ROOT = "perfgate"
"""The name of a gate at the top."""
_LONGEST = 60
_DIGITS = 8


def slug_of(folder: PurePosixPath) -> str:
    """Name a gate by its project's folder: as it is where that can stand in the name of an artifact and of a file.

    Any other folder gets a hash of its path, so that two never share a comment or an artifact.
    """
    path = folder.as_posix()
    slug = re.sub(r"[^A-Za-z0-9._-]", "-", path)
    if slug == path and len(slug) <= _LONGEST and slug != ROOT:
        return slug
    digest = hashlib.sha256(os.fsencode(path)).hexdigest()[:_DIGITS]
    return f"{slug[: _LONGEST - _DIGITS - 1]}-{digest}"


def named(gate: str) -> str:
    """Name a gate for people: "perfgate", "perfgate parser"."""
    return ROOT if gate == ROOT else f"{ROOT} {gate}"
