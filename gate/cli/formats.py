"""The names of the output formats, read from the file names of gate/report/formats; nothing is imported."""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).parents[1] / "report" / "formats"
_PRINTED = ("csv", "summary", "text")
"""Formats that only `report --format` prints; every other one is an option of its own, which names a file."""


def format_names() -> tuple[str, ...]:
    """Return the names of all formats, sorted."""
    return tuple(sorted(file.stem for file in _FOLDER.glob("[!_]*.py")))


def file_formats() -> tuple[str, ...]:
    """Return the names of the formats that an option writes into a file."""
    return tuple(name for name in format_names() if name not in _PRINTED)
