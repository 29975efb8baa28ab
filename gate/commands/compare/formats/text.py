"""A comparison of two measurement files -> text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from gate.commands.compare import table as words
from gate.commands.compare.table import Block, Comparison, Measured, Row, Screen
from gate.words.grid import Cell, Column, Footnotes, lay_out, paint, superscript
from gate.words.phrases import more_are
from gate.words.plain import columns, pad, visible, wrap
from gate.words.sentences import say

_STYLES = {"regression": "31", "improvement": "36"}
_NOTES = 40
_WARNINGS = 20


def render(comparison: Comparison, screen: Screen) -> str:
    """Write a comparison for a terminal, ending with a newline; only single words go beyond its width."""
    return "\n".join(_Text(comparison, screen.color, max(screen.width, 20)).lines()) + "\n"


class _Text:
    """One rendering: the comparison, and how it is to look."""

    def __init__(self, comparison: Comparison, color: bool, width: int) -> None:
        self.comparison = comparison
        self.color = color
        self.width = width
        self.bold = "1" if color else ""
        self.notes = Footnotes(_NOTES)

    def lines(self) -> list[str]:
        found = words.blocks(self.comparison)
        names = words.Names(found)
        blocks = [self.block(block, names) for block in found]
        parts = [self.top(), *blocks, self.footnotes(), self.rest(), self.warnings()]
        lines: list[str] = []
        for part in parts:
            if part:
                lines += ["", *part] if lines else part
        return lines

    def wrap(self, text: str, *, first: str = "", rest: str = "") -> list[str]:
        return wrap(text, self.width, first=first, rest=rest)

    def top(self) -> list[str]:
        lines = [*self.wrap(words.source(self.comparison, "base"), first="base  ", rest="      ")]
        lines += self.wrap(words.source(self.comparison, "head"), first="head  ", rest="      ")
        caution = "33" if self.color else ""
        for text in self.comparison.cautions:
            lines += [paint(line, caution) for line in self.wrap(visible(text), first="! ", rest="  ")]
        nothing = words.nothing(self.comparison)
        return [*lines, "", *self.wrap(nothing)] if nothing else lines

    def block(self, block: Block, names: words.Names) -> list[str]:
        interval = f"{block.confidence} interval" if block.confidence else "interval"
        head = [Column("benchmark"), Column("base", right=True), Column("head", right=True)]
        head.append(Column(f"change ({interval})"))
        halves = [max((columns(side.half) for side in column if side), default=0) for column in _sides(block.rows)]
        rows = [self.row(row, halves) for row in block.rows]
        room = max(self.width - _beside(head, rows), words.NARROWEST)
        shown = names.within(room)
        named = [[Cell(shown[row.name]), *cells] for row, cells in zip(block.rows, rows, strict=True)]
        lines = lay_out(head, named, self.width, style=self.bold, narrowest=words.NARROWEST)
        lines = lines or self.stacked(block, names)
        return [*(paint(line, self.bold) for line in self.wrap(block.title)), *lines]

    def row(self, row: Row, halves: Sequence[int]) -> list[Cell]:
        """Give the cells beside the name."""
        values = [_measured(side, half) for side, half in zip((row.base, row.head), halves, strict=True)]
        return [*map(Cell, values), Cell(row.change, note=self.marks(row), style=self.style(row))]

    def style(self, row: Row) -> str:
        return _STYLES.get(row.verdict, "") if self.color else ""

    def marks(self, row: Row) -> str:
        return self.notes.marks(row.notes)

    def stacked(self, block: Block, names: words.Names) -> list[str]:
        """A block a row, for a terminal too narrow for the table."""
        lines = []
        for row in block.rows:
            lines += self.wrap(names.within(2 * (self.width - 2))[row.name], rest="  ")
            if row.base and row.head:
                lines += self.wrap(f"{_measured(row.base)} to {_measured(row.head)}", first="  ", rest="    ")
            # painted line by line, so that a code never spans a break
            style = self.style(row)
            lines += [paint(line, style) for line in self.wrap(row.change + self.marks(row), first="  ", rest="    ")]
        return lines

    def footnotes(self) -> list[str]:
        lines = []
        for text, number in self.notes.texts.items():
            mark = superscript(number)
            lines += self.wrap(text, first=f"{mark} ", rest=" " * (len(mark) + 1))
        if self.notes.left_out:
            lines += self.wrap(f"{more_are(self.notes.left_out, 'note')} in --format json.")
        legend = words.legend(self.comparison)
        return lines + (self.wrap(legend) if legend else [])

    def rest(self) -> list[str]:
        return [line for text in words.rest(self.comparison) for line in self.wrap(text, rest="  ")]

    def warnings(self) -> list[str]:
        texts = [visible(each) for each in map(say, self.comparison.report.warnings)]
        lines = [paint("warnings", self.bold)] if texts else []
        lines += [line for each in texts[:_WARNINGS] for line in self.wrap(each, first="  - ", rest="    ")]
        more = len(texts) - _WARNINGS
        return lines + (self.wrap(f"{more_are(more)} in --format json.", first="  ", rest="  ") if more > 0 else [])


def _beside(head: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> int:
    """Count the columns that a table takes beside its first one."""
    texts = [[column.title, *(row[i].text + row[i].note for row in rows)] for i, column in enumerate(head[1:])]
    return sum(2 + max(map(columns, own)) for own in texts)


def _sides(rows: Sequence[Row]) -> tuple[list[Measured | None], list[Measured | None]]:
    return [row.base for row in rows], [row.head for row in rows]


def _measured(side: Measured | None, half: int = 0) -> str:
    """Write "101.5 ± 0.5%", the share padded so that the signs of a column stand below each other."""
    return f"{side.value} ± {pad(side.half, half, right=True)}" if side else ""
