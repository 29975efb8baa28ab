"""A comparison -> one page that loads nothing and has no script: the table, and a picture of the intervals."""

from __future__ import annotations

from gate.commands.compare.document import document_of
from gate.commands.compare.table import Table
from gate.document import html
from gate.document.terminal import Screen


def render(table: Table, _: Screen) -> str:
    """Write the page, ending with a newline."""
    return html.render(document_of(table))
