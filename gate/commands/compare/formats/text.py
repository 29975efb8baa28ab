"""A comparison -> text for a terminal, and for files."""

from __future__ import annotations

from gate.commands.compare.document import document_of
from gate.commands.compare.table import Table
from gate.document import terminal
from gate.document.terminal import Screen


def render(table: Table, screen: Screen) -> str:
    """Write a comparison, ending with a newline."""
    return terminal.render(document_of(table), screen)
