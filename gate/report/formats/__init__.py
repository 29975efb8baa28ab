"""Output formats, one file each: a file's name is the format's, and its `render` writes a report.

A new file is a new option --NAME of check, decide and report, and a new choice of `report --format`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Protocol

from gate.report import Links
from gate.report.material import Shown


class Render(Protocol):
    """What a file of this folder calls `render`."""

    def __call__(self, subject: Shown, links: Links, /) -> str:
        """Write a report as text; links: what it points to."""
        ...


def renderer(name: str) -> Render:
    """Import a format: jinja2 and pandas take their time, and only some formats need them."""
    found: Render = import_module(f"{__name__}.{name}").render
    return found
