"""Sections of text, tables and figures -> a terminal, or a Markdown document with its figures beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gate.plots.lines import Chart
from gate.words.grid import Cell, Column, lay_out
from gate.writing.plain import wrap

_LINE = 140


@dataclass(frozen=True, slots=True)
class Table:
    """Cells below titles; the first `names` columns are words, the others numbers."""

    titles: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    names: int = 1


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart, and the name of its file without the ending."""

    name: str
    chart: Chart


@dataclass(frozen=True, slots=True)
class Code:
    """Lines that stand as they are."""

    text: str


Block = str | Table | Figure


@dataclass(frozen=True, slots=True)
class Section:
    """A title and what stands below it, in order."""

    title: str
    blocks: tuple[Block, ...]


def as_text(sections: Sequence[Section], width: int) -> str:
    """Lay out sections for a terminal; figures are left out."""
    lines: list[str] = []
    for section in sections:
        lines += [section.title, "=" * len(section.title), ""]
        for block in section.blocks:
            if isinstance(block, Table):
                lines += [*_grid(block, width), ""]
            elif isinstance(block, str):
                lines += [*wrap(_bare(block), width), ""]
    return "\n".join(lines)


def _bare(text: str) -> str:
    return text.replace("**", "").replace("`", "")


def _grid(table: Table, width: int) -> list[str]:
    head = [Column(title, right=i >= table.names) for i, title in enumerate(table.titles)]
    laid = lay_out(head, [[Cell(_bare(text)) for text in row] for row in table.rows], width)
    if laid is not None:
        return laid
    # too wide: one line for each cell
    lines = []
    for row in table.rows:
        lines.append(_bare("  ".join(row[: table.names])))
        lines += [f"  {title}: {text}" for title, text in list(zip(table.titles, row, strict=True))[table.names :]]
    return lines


def as_markdown(title: str, before: Sequence[str | Code], sections: Sequence[Section], folder: str) -> str:
    """Write sections as a Markdown document.

    Args:
        before: what stands before the first section.
        folder: where the figures are, as the document sees it.
    """
    parts = [f"# {title}", *(_markdown(block, folder) for block in before)]
    for section in sections:
        parts.append(f"## {section.title}")
        parts += [_markdown(block, folder) for block in section.blocks]
    return "\n\n".join(parts) + "\n"


def _markdown(block: Block | Code, folder: str) -> str:
    if isinstance(block, Code):
        return "\n".join(f"    {line}" for line in block.text.splitlines())
    if isinstance(block, Figure):
        return f"![{_escaped(block.chart.title)}. {_escaped(block.chart.description)}]({folder}/{block.name}.svg)"
    if isinstance(block, str):
        return "\n".join(wrap(block, _LINE))
    rule = ["---" if i < block.names else "---:" for i in range(len(block.titles))]
    rows = [list(block.titles), rule, *([_escaped(cell) for cell in row] for row in block.rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("[", "\\[").replace("]", "\\]").replace("<", "&lt;")


def figures(sections: Sequence[Section]) -> list[Figure]:
    """List the figures of all sections."""
    return [block for section in sections for block in section.blocks if isinstance(block, Figure)]
