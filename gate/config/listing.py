"""Registries: which files of a folder declare something, found in their text; nothing is imported."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
"""Where the packages gate and harness lie."""


@cache
def declaring(folder: str, name: str) -> tuple[str, ...]:
    """Return the names of the modules of a folder that set a name at their top level, sorted."""
    declares = re.compile(rf"^{name}\b[^=\n]*=", re.MULTILINE)
    files = sorted((ROOT / folder).glob("[!_]*.py"))
    return tuple(file.stem for file in files if declares.search(file.read_text(encoding="utf-8")))


def format_names() -> tuple[str, ...]:
    """Return the formats that the values instrument reads: the modules of gate/adapters with a FORMAT."""
    return declaring("gate/adapters", "FORMAT")
