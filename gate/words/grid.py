"""A grid of cells for a terminal: columns as wide as they need to be; it knows no benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from gate.words.streams import paint as paint  # whoever lays out a grid finds it here
from gate.writing.plain import clip, columns, distinct, pad

_GAP = "  "


class Cell(msgspec.Struct, frozen=True):
    """One cell; note is written after the text, style is the SGR code it is painted with ("" for none)."""

    text: str
    note: str = ""
    style: str = ""


class Column(msgspec.Struct, frozen=True):
    """A column's title and how it is aligned."""

    title: str
    right: bool = False


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
    # what is shortened is the first column
    room = widths[0] - max((columns(row[0].note) for row in rows), default=0)
    names = distinct([row[0].text for row in rows], room) if over > 0 else [row[0].text for row in rows]
    named = [[msgspec.structs.replace(row[0], text=name), *row[1:]] for row, name in zip(rows, names, strict=True)]
    titles = [Cell(column.title, style=style) for column in head]
    return [_line(head, widths, row) for row in (titles, *named)]


def _line(head: Sequence[Column], widths: Sequence[int], row: Sequence[Cell]) -> str:
    cells = []
    for column, width, cell in zip(head, widths, row, strict=True):
        text = clip(cell.text, width - columns(cell.note))
        blanks = pad("", width - columns(text + cell.note))
        shown = paint(text, cell.style) + cell.note
        cells.append(blanks + shown if column.right else shown + blanks)
    return _GAP.join(cells).rstrip()


_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def superscript(number: int) -> str:
    """Write a number as a mark: "¹²"."""
    return str(number).translate(_SUPERSCRIPT)


class Footnotes:
    """Texts numbered from 1 in the order of use; what is over the limit (None: there is none) is counted."""

    def __init__(self, limit: int | None) -> None:
        """Begin without any."""
        self.texts: dict[str, int] = {}
        self.left_out = 0
        self._limit = limit

    def numbers(self, texts: Iterable[str]) -> list[int]:
        """Give the numbers of texts, without those that are over the limit."""
        return [number for number in map(self._number, texts) if number]

    def marks(self, texts: Iterable[str]) -> str:
        """Give the marks of texts as they stand behind a cell: " ¹ ²"."""
        return "".join(f" {superscript(number)}" for number in self.numbers(texts))

    def _number(self, text: str) -> int:
        if text not in self.texts and self._limit is not None and len(self.texts) >= self._limit:
            self.left_out += 1
            return 0
        return self.texts.setdefault(text, len(self.texts) + 1)
