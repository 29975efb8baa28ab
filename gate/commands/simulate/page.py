"""Sections of text and tables -> a terminal, or a Markdown document."""

from __future__ import annotations

from collections.abc import Sequence

from gate.commands.simulate.pool import Results
from gate.commands.simulate.sections import Section, Table
from gate.document.terminal import Cell, Column, lay_out
from gate.writing.plain import wrap

LINE = 140
"""Columns of a paragraph of a document."""


def as_text(sections: Sequence[Section], results: Results, width: int) -> str:
    """Lay out sections for a terminal."""
    lines: list[str] = []
    for section in sections:
        lines += [section.title, "=" * len(section.title), ""]
        for block in section.blocks:
            lines += [*(wrap(_bare(block), width) if isinstance(block, str) else _grid(block, results, width)), ""]
    return "\n".join(lines)


def _bare(text: str) -> str:
    return text.replace("**", "").replace("`", "")


def _grid(table: Table, results: Results, width: int) -> list[str]:
    head = [Column(title, right=i >= table.names) for i, title in enumerate(table.titles)]
    rows = [[_bare(text) for text in line] for line in table.texts(results)]
    laid = lay_out(head, [[Cell(text) for text in line] for line in rows], width)
    if laid is not None:
        return laid
    # too wide: one line for each cell
    lines = []
    for line in rows:
        lines.append("  ".join(line[: table.names]))
        lines += [f"  {title}: {text}" for title, text in list(zip(table.titles, line, strict=True))[table.names :]]
    return lines


def as_markdown(before: Sequence[str], sections: Sequence[Section], results: Results) -> str:
    """Write sections as a Markdown document; before: its paragraphs before the first section."""
    parts = [*before]
    for section in sections:
        parts.append(f"## {section.title}")
        parts += [
            "\n".join(wrap(block, LINE)) if isinstance(block, str) else _markdown(block, results)
            for block in section.blocks
        ]
    return "\n\n".join(parts) + "\n"


def _markdown(table: Table, results: Results) -> str:
    rule = ["---" if i < table.names else "---:" for i in range(len(table.titles))]
    rows = [list(table.titles), rule, *([_escaped(text) for text in line] for line in table.texts(results))]
    return "\n".join(f"| {' | '.join(line)} |" for line in rows)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("[", "\\[").replace("]", "\\]").replace("<", "&lt;")
