"""A grid of cells for a terminal: columns as wide as they need to be; it knows no benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gate.report.plain import clip, columns, pad

_GAP = "  "


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell; note is written after the text, style is the SGR code it is painted with ("" for none)."""

    text: str
    note: str = ""
    style: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """A column's title and how it is aligned."""

    title: str
    right: bool = False


def paint(text: str, style: str) -> str:
    """Wrap a text in an SGR code; an empty code leaves it as it is."""
    return f"\x1b[{style}m{text}\x1b[0m" if style and text else text


def lay_out(
    head: Sequence[Column], rows: Sequence[Sequence[Cell]], width: int, *, style: str = "", narrowest: int = 14
) -> list[str] | None:
    """Lay out a table, shortening the first column if need be; None when it does not fit the width.

    style: the SGR code of the titles. narrowest: what the first column keeps.
    """
    widths = [
        max([columns(column.title), *(columns(row[i].text + row[i].note) for row in rows)])
        for i, column in enumerate(head)
    ]
    over = sum(widths) + len(_GAP) * (len(widths) - 1) - width
    if over > 0:
        if widths[0] - over < min(narrowest, widths[0]):
            return None
        widths[0] -= over
    titles = [Cell(column.title, style=style) for column in head]
    return [_line(head, widths, row) for row in (titles, *rows)]


def _line(head: Sequence[Column], widths: Sequence[int], row: Sequence[Cell]) -> str:
    cells = []
    for column, width, cell in zip(head, widths, row, strict=True):
        text = clip(cell.text, width - columns(cell.note))
        blanks = pad("", width - columns(text + cell.note))
        shown = paint(text, cell.style) + cell.note
        cells.append(blanks + shown if column.right else shown + blanks)
    return _GAP.join(cells).rstrip()
