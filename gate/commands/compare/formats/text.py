"""A comparison -> text for a terminal, and for files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gate.commands.compare import blocks as words
from gate.commands.compare.blocks import Line, Told, Value, Written
from gate.commands.compare.formats import Screen
from gate.commands.compare.table import Table
from gate.words.grid import Cell, Column, Footnotes, lay_out, paint, superscript
from gate.words.names import NameSet
from gate.writing.phrases import more_are
from gate.writing.plain import columns, distinct, pad, visible, wrap

_STYLES = {"worse": "31", "better": "36"}
_NOTES = 40
_WARNINGS = 20
_TITLE = 30
_WIDE = 1_000_000


def render(table: Table, screen: Screen) -> str:
    """Write a comparison, ending with a newline; in a terminal only single words go beyond its width."""
    return "\n".join(_Text(table, screen).lines()) + "\n"


class _Text:
    """One rendering: the table, and how it is to look."""

    def __init__(self, table: Table, screen: Screen) -> None:
        self.table = table
        self.color = screen.color
        self.width = max(screen.width, 20)
        self.room = _WIDE if screen.room is None else max(screen.room, 20)
        self.bold = "1" if screen.color else ""
        self.notes = Footnotes(_NOTES)
        self.titles = distinct([visible(column.title) for column in table.columns], _TITLE)

    def lines(self) -> list[str]:
        found = words.written(self.table)
        names = NameSet(line.name for block in found for line in block.lines)
        shown = [self.block(block, names) for block in found]
        parts = [self.top(), *shown, self.footnotes(), self.rest(), self.warnings()]
        lines: list[str] = []
        for part in parts:
            if part:
                lines += ["", *part] if lines else part
        return lines

    def wrap(self, text: str, *, first: str = "", rest: str = "") -> list[str]:
        return wrap(text, self.width, first=first, rest=rest)

    def whole(self, text: str, *, first: str = "", rest: str = "") -> list[str]:
        """Wrap a text in a terminal only: elsewhere the names of files in it stay whole."""
        return wrap(text, self.width if self.room < _WIDE else _WIDE, first=first, rest=rest)

    def top(self) -> list[str]:
        lines: list[str] = []
        width = max(map(columns, self.titles))
        for title, column in zip(self.titles, self.table.columns, strict=True):
            lines += self.whole(words.source(column), first=f"{pad(title, width)}  ", rest=" " * (width + 2))
        for text in self.table.told:
            lines += self.whole(visible(text))
        caution = "33" if self.color else ""
        for text in self.table.cautions:
            lines += [paint(line, caution) for line in self.wrap(visible(text), first="! ", rest="  ")]
        nothing = self.table.nothing
        return [*lines, "", *self.wrap(f"nothing to compare: {nothing}")] if nothing else lines

    def block(self, block: Written, names: NameSet) -> list[str]:
        """Lay out a block; columns that do not fit beside each other stand below each other, each with the base."""
        others = list(self.table.others)
        count = len(others)
        lines: list[str] = []
        while True:
            chunks = [others[at : at + max(count, 1)] for at in range(0, max(len(others), 1), max(count, 1))]
            laid = [self.part(block, names, chunk) for chunk in chunks]
            if all(each is not None for each in laid):
                for number, each in enumerate(laid):
                    lines += [*([""] if number else []), *(each or [])]
                break
            if count <= 1:
                lines = self.stacked(block, names)
                break
            count -= 1
        return [*(paint(line, self.bold) for line in self.wrap(block.title)), *lines]

    def part(self, block: Written, names: NameSet, others: Sequence[int]) -> list[str] | None:
        """Lay out some columns beside the base; None: they do not fit."""
        base = self.table.base
        shown = sorted([base, *others])
        head = [Column("benchmark")]
        for place in shown:
            head.append(Column(self.titles[place], right=True))
            if place != base:
                head.append(Column(block.change))
        halves = {place: max((columns(v.half) for v in _column(block, place)), default=0) for place in shown}
        marks = [self.notes.marks(line.notes) for line in block.lines]
        rows = [self.cells(line, shown, halves) for line in block.lines]
        room = None if self.room == _WIDE else max(self.room - _beside(head, rows), words.NARROWEST)
        named = [
            [Cell(line.name if room is None else names.short(line.name, room), note=mark), *cells]
            for line, mark, cells in zip(block.lines, marks, rows, strict=True)
        ]
        return lay_out(head, named, self.room, style=self.bold, narrowest=words.NARROWEST)

    def cells(self, line: Line, shown: Sequence[int], halves: dict[int, int]) -> list[Cell]:
        """Give the cells beside the name."""
        found: list[Cell] = []
        for place in shown:
            value = line.values[place]
            note = self.notes.marks(value.notes) if value else ""
            # the number itself stands below the others
            blanks = " " * (halves[place] + 3) if value and not value.mark and halves[place] else ""
            found.append(Cell(_value(value, halves[place]), note=note + blanks))
            if place != self.table.base:
                found.append(self.change(line.changes[place]))
        return found

    def change(self, told: Told | None) -> Cell:
        if told is None:
            return Cell("")
        style = _STYLES.get(told.shown, "") if self.color else ""
        return Cell(told.text, note=self.notes.marks(told.notes), style=style)

    def stacked(self, block: Written, names: NameSet) -> list[str]:
        """A block a row, for a terminal too narrow for the table."""
        lines: list[str] = []
        base = self.table.base
        for line in block.lines:
            name = names.short(line.name, 2 * (self.width - 2)) + self.notes.marks(line.notes)
            lines += self.wrap(name, rest="  ")
            for place, value in enumerate(line.values):
                told = line.changes[place]
                if value is None and told is None:
                    continue
                lines += self.wrap(" ".join(self.stack(place, value)), first="  ", rest="    ")
                if place != base and told is not None:
                    cell = self.change(told)
                    # painted line by line, so that a code never spans a break
                    own = self.wrap(cell.text + cell.note, first="    ", rest="      ")
                    lines += [paint(each, cell.style) for each in own]
        return lines

    def stack(self, place: int, value: Value | None) -> Iterator[str]:
        yield self.titles[place]
        if value is not None:
            yield _value(value) + self.notes.marks(value.notes)

    def footnotes(self) -> list[str]:
        lines = []
        for text, number in self.notes.texts.items():
            mark = superscript(number)
            lines += self.wrap(text, first=f"{mark} ", rest=" " * (len(mark) + 1))
        if self.notes.left_out:
            lines += self.wrap(f"{more_are(self.notes.left_out, 'note')} in --format json.")
        legend = words.legend(self.table)
        return lines + (self.wrap(legend) if legend else [])

    def rest(self) -> list[str]:
        hidden = words.hidden(self.table)
        texts = [hidden, *self.table.rest] if hidden else self.table.rest
        return [line for text in texts for line in self.wrap(text, rest="  ")]

    def warnings(self) -> list[str]:
        texts = [visible(each) for each in self.table.warnings]
        lines = [paint("warnings", self.bold)] if texts else []
        lines += [line for each in texts[:_WARNINGS] for line in self.wrap(each, first="  - ", rest="    ")]
        more = len(texts) - _WARNINGS
        return lines + (self.wrap(f"{more_are(more)} in --format json.", first="  ", rest="  ") if more > 0 else [])


def _beside(head: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> int:
    """Count the columns that a table takes beside its first one."""
    texts = [[column.title, *(row[i].text + row[i].note for row in rows)] for i, column in enumerate(head[1:])]
    return sum(2 + max(map(columns, own)) for own in texts)


def _column(block: Written, place: int) -> list[Value]:
    return [value for line in block.lines if (value := line.values[place]) is not None]


def _value(value: Value | None, half: int = 0) -> str:
    """Write "101.5 ± 0.5%", the share padded so that the signs of a column stand below each other."""
    if value is None:
        return ""
    if not value.mark:
        return value.text
    return f"{value.text} {value.mark} {pad(value.half, half, right=True)}"
