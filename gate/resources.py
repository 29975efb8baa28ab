"""Finds the files that ship beside the code."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).parent


def templates() -> Path:
    """Return the folder of the templates: inside the package when installed, beside it in a checkout."""
    shipped = _HERE / "templates"
    return shipped if shipped.is_dir() else _HERE.parent / "templates"
