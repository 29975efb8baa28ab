"""Formats of a comparison, one file each: a file's name is a choice of `compare --format`, its `render` writes it."""

from __future__ import annotations

import shutil
from importlib import import_module
from typing import Protocol, TextIO

import msgspec

from gate.commands.compare.table import Table
from gate.words.streams import colored, is_terminal

_WIDEST = 140


class Screen(msgspec.Struct, frozen=True):
    """What shows a comparison."""

    color: bool
    width: int
    """Of text."""
    room: int | None
    """Of tables: the width of the terminal; None: there is none, and names are whole."""


def screen(out: TextIO) -> Screen:
    """Return what shows what is written to a stream."""
    width = shutil.get_terminal_size((100, 24)).columns
    return Screen(colored(out), min(width, _WIDEST), width if is_terminal(out) else None)


class Render(Protocol):
    """What a file of this folder calls `render`."""

    def __call__(self, table: Table, screen: Screen) -> str:
        """Write a comparison as text, ending with a newline; screen: what shows it, if a terminal does."""
        ...


def renderer(name: str) -> Render:
    """Import a format only where it is asked for."""
    found: Render = import_module(f"{__name__}.{name}").render
    return found
