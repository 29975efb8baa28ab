"""Formats of a comparison, one file each: a file's name is a choice of `compare --format`, its `render` writes it."""

from __future__ import annotations

from importlib import import_module
from typing import Protocol

from gate.commands.compare.table import Table
from gate.document.terminal import Screen


class Render(Protocol):
    """What a file of this folder calls `render`."""

    def __call__(self, table: Table, screen: Screen) -> str:
        """Write a comparison as text, ending with a newline; screen: what shows it, if a terminal does."""
        ...


def renderer(name: str) -> Render:
    """Import a format only where it is asked for."""
    found: Render = import_module(f"{__name__}.{name}").render
    return found
