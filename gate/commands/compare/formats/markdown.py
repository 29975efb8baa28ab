"""A comparison -> Markdown, as GitHub shows it."""

from __future__ import annotations

from gate.commands.compare.document import document_of
from gate.commands.compare.table import Table
from gate.document import markdown
from gate.document.terminal import Screen


def render(table: Table, _: Screen) -> str:
    """Write a comparison as Markdown: a table a metric, ending with a newline."""
    return markdown.render(document_of(table))
