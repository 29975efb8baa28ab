"""A document for a terminal: columns as wide as they need to be, footnotes with raised numbers, lines of a width."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TextIO

import msgspec

from gate.document import bars
from gate.document.document import (
    Cell,
    Code,
    Column,
    Document,
    Facts,
    Footnotes,
    Headline,
    Items,
    Part,
    Result,
    Results,
    Row,
    Section,
    Statement,
    Table,
)
from gate.writing.phrases import more_are
from gate.writing.plain import NameSet, clip, columns, distinct, pad, visible, wrap
from gate.writing.streams import colored, is_terminal, paint

_GAP = "  "
_WIDEST = 140
_ENDLESS = 1_000_000
_TITLE = 30
_NARROWEST, _WHOLE = 14, 48
"""Columns that a name keeps of a table, and of results where these have a narrower form."""
_NOTES = 40
_WARNINGS = 20
_STYLES = {**bars.STYLES, "worse": "31", "better": "36"}


class Screen(msgspec.Struct, frozen=True):
    """What shows a text."""

    color: bool
    width: int
    """Of text."""
    room: int | None
    """Of tables: the width of the terminal; None: there is none, and names are whole."""


def screen(out: TextIO) -> Screen:
    """Return what shows what is written to a stream."""
    width = shutil.get_terminal_size((100, 24)).columns
    return Screen(colored(out), min(width, _WIDEST), width if is_terminal(out) else None)


def bounded(out: TextIO) -> Screen:
    """Return the same for a document that is to be read, whose tables fit also where they go to a file."""
    found = screen(out)
    return msgspec.structs.replace(found, room=found.width)


# --- footnotes --------------------------------------------------------------------------------------------------------

_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class Notes:
    """Texts numbered from 1 in the order of use; what is over the limit (None: there is none) is counted."""

    def __init__(self, limit: int | None) -> None:
        self.texts: dict[str, int] = {}
        self._left: set[str] = set()
        self._limit = limit

    @property
    def left_out(self) -> int:
        """Count the texts over the limit."""
        return len(self._left)

    def numbers(self, texts: Iterable[str]) -> list[int]:
        """Give the numbers of texts, without those that are over the limit."""
        found = []
        for text in texts:
            if text not in self.texts and self._limit is not None and len(self.texts) >= self._limit:
                self._left.add(text)
            else:
                found.append(self.texts.setdefault(text, len(self.texts) + 1))
        return found

    def marks(self, texts: Iterable[str]) -> str:
        """Give the marks of texts as they stand behind a cell: " ¹ ²"."""
        return "".join(f" {str(number).translate(_SUPERSCRIPT)}" for number in self.numbers(texts))

    def lines(self, width: int, elsewhere: str) -> list[str]:
        """Write all texts below a table; elsewhere: where those over the limit are."""
        lines = []
        for text, number in self.texts.items():
            mark = str(number).translate(_SUPERSCRIPT)
            lines += wrap(text, width, first=f"{mark} ", rest=" " * (len(mark) + 1))
        more = f"{more_are(self.left_out, 'note')} {elsewhere}."
        return lines + (wrap(more, width) if self.left_out else [])


# --- tables -----------------------------------------------------------------------------------------------------------


class _Drawn(msgspec.Struct, frozen=True):
    """A cell as it looks: style is the SGR code of its text, behind which the note stands."""

    text: str
    note: str = ""
    style: str = ""


def lay_out(
    head: Sequence[Column],
    rows: Sequence[Sequence[Cell | str]],
    width: int,
    *,
    style: str = "",
    narrowest: int = _NARROWEST,
    notes: Notes | None = None,
    styles: dict[str, str] | None = None,
) -> list[str] | None:
    """Lay out a table, shortening the first column if need be; None when it does not fit the width.

    Args:
        style: the SGR code of the titles.
        narrowest: what the first column keeps.
        notes: number the footnotes of its cells; those of the first column come first.
        styles: the SGR codes of tones.
    """
    table = _drawn(rows, notes, styles or {})
    widths = [
        max([columns(column.title), *(columns(row[i].text + row[i].note) for row in table)])
        for i, column in enumerate(head)
    ]
    over = sum(widths) + len(_GAP) * (len(widths) - 1) - width
    if over > 0:
        if widths[0] - over < min(narrowest, widths[0]):
            return None
        widths[0] -= over
        # what is shortened is the first column
        names = distinct(
            [row[0].text for row in table], widths[0] - max((columns(r[0].note) for r in table), default=0)
        )
        table = [[msgspec.structs.replace(row[0], text=n), *row[1:]] for row, n in zip(table, names, strict=True)]
    titles = [_Drawn(column.title, style=style) for column in head]
    lines = []
    for row in (titles, *table):
        cells = []
        for column, room, cell in zip(head, widths, row, strict=True):
            text = clip(cell.text, room - columns(cell.note))
            blanks = pad("", room - columns(text + cell.note))
            shown = paint(text, cell.style) + cell.note
            cells.append(blanks + shown if column.right else shown + blanks)
        lines.append(_GAP.join(cells).rstrip())
    return lines


def _drawn(rows: Sequence[Sequence[Cell | str]], notes: Notes | None, styles: dict[str, str]) -> list[list[_Drawn]]:
    """Write what stands behind the text of each cell: its spread below that of others, and the marks of its notes."""
    cells = [[Cell(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
    first = [notes.marks(row[0].notes) if notes is not None else "" for row in cells]
    halves = [max(columns(cell.spread.partition(" ")[2]) for cell in column) for column in zip(*cells, strict=True)]
    table = []
    for row, mark in zip(cells, first, strict=True):
        drawn = [_Drawn(visible(row[0].text), mark)]
        for cell, half in zip(row[1:], halves[1:], strict=True):
            note = notes.marks(cell.notes) if notes is not None else ""
            # the number itself stands below the others
            blanks = " " * (half + 3) if cell.text and half and not cell.spread else ""
            drawn.append(_Drawn(_with_spread(cell, half), note + blanks, styles.get(cell.tone, "")))
        table.append(drawn)
    return table


def _with_spread(cell: Cell, half: int = 0) -> str:
    """Write "101.5 ± 0.5%", the share padded so that the signs of a column stand below each other."""
    mark, _, share = cell.spread.partition(" ")
    return f"{visible(cell.text)} {mark} {pad(share, half, right=True)}" if mark else visible(cell.text)


def stacked(head: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """Write a paragraph a row where a table is too wide: numbers with their titles, words by themselves."""
    lines = []
    for name, row in zip(distinct([row[0] for row in rows], 2 * width), rows, strict=True):
        lines += wrap(name, width, rest=_GAP) if name else []
        cells = (f"{c.title} {text}" if c.right else text for c, text in zip(head[1:], row[1:], strict=True) if text)
        lines += wrap(", ".join(cells), width, first=_GAP, rest=2 * _GAP)
    return lines


def table(head: Sequence[Column], rows: Sequence[Sequence[str]], width: int, *, style: str = "") -> list[str]:
    """Lay out a table of texts, or where it does not fit a paragraph a row; style: the SGR code of the titles."""
    found = lay_out(head, rows, width, style=style)
    return stacked(head, rows, width) if found is None else found


# --- results ----------------------------------------------------------------------------------------------------------

_NAMED = ("benchmark", "metric", "factors", "change", "threshold", "verdict", "base", "head", "bar")
_CASE = ("case", "change", "threshold", "verdict")
_FORMS = (
    (_NAMED, 29), (_NAMED, 17), ((*_CASE, "base", "head", "bar"), 17), ((*_CASE, "base", "head"), 0), (_CASE, 0),
    (("case", "change", "word"), 0),
)  # fmt: skip
"""Which columns results have, and the width of their bars: the widest first."""
_NUMERIC = ("base", "head", "threshold")


def _cells(row: Result, absent: Collection[str], *, arrow: bool) -> dict[str, Cell]:
    """Write all that a row of results may show; absent: what stands above it. arrow: what is better differs."""
    texts = {
        "benchmark": row.name,
        "metric": f"{row.quantity}{' ↑' * (arrow and row.higher)}",
        "factors": row.settings,
        "change": f"{row.change} ({row.interval})",
        "threshold": row.threshold,
        "base": row.base,
        "head": row.head,
    }
    texts["case"] = " ".join(texts[n] for n in ("benchmark", "metric", "factors") if n not in absent and texts[n])
    mark = bars.SHAPES[row.verdict]
    words = {"verdict": f"{mark} {row.word}{row.by}", "word": f"{mark} {row.word}"}
    found = {name: Cell(text, notes=row.notes, tone=row.verdict) for name, text in words.items()}
    return {**{name: Cell(text) for name, text in texts.items()}, **found}


# --- a whole document -------------------------------------------------------------------------------------------------


def render(document: Document, screen: Screen) -> str:
    """Write a document, ending with a newline; in a terminal only single words go beyond its width."""
    text, lines = _Text(document, screen), list[str]()
    for section in document.sections:
        own = text.parts(section)
        lines += [*([""] if lines and own else []), *own]
    return "\n".join(lines) + "\n"


def lines(parts: Sequence[Part], screen: Screen, elsewhere: str) -> list[str]:
    """Write parts of no document; elsewhere: where what has no room is."""
    return _Text(Document("", "", [[*parts]], elsewhere, ""), screen).parts(parts)


class _Text:
    """One rendering: the document, and how it is to look."""

    def __init__(self, document: Document, screen: Screen) -> None:
        self.elsewhere = document.elsewhere
        self.width = max(screen.width, 20)
        self.room = _ENDLESS if screen.room is None else max(screen.room, 20)
        self.bold, self.caution, self.dim = ("1", "33", "2") if screen.color else ("", "", "")
        self.styles: dict[str, str] = {**_STYLES} if screen.color else {}
        # where the others stand nowhere else, all are here
        self.notes = Notes(_NOTES if document.elsewhere else None)
        tables = [each for section in document.sections for each in _tables(section)]
        self.names = NameSet(row.cells[0].text for each in tables for row in each.rows)
        self.readings = dict.fromkeys(each.reading for each in tables if each.reading)

    def parts(self, parts: Sequence[Part]) -> list[str]:
        """Write parts below each other; what has a title of its own stands apart."""
        lines: list[str] = []
        below = False
        for part in parts:
            own = self.part(part)
            titled = isinstance(part, Section) or bool(isinstance(part, Table | Items) and part.title)
            lines += [*([""] if lines and own and (titled or below) else []), *own]
            below = isinstance(part, Section) if own else below
        return lines

    def part(self, part: Part) -> list[str]:
        match part:
            case Facts():
                titles = distinct([name for name, _ in part.rows], _TITLE)
                width = max(map(columns, titles), default=0)
                style = {"loud": self.bold, "quiet": self.dim}.get(part.weight, "")
                return [
                    paint(line, style)
                    for title, (_, text) in zip(titles, part.rows, strict=True)
                    for line in self.whole(text, first=f"{pad(title, width)}  ", rest=" " * (width + 2))
                ]
            case Items():
                return list(self.items(part))
            case Statement():
                style, rest = self.styles.get(part.tone, ""), "  " if part.tone else ""
                lines = wrap(visible(part.text), self.width, rest=rest) if part.text else []
                return [paint(line, style) for line in lines]
            case Table() if part.rows:
                left = len(part.rows) - len(part.rows[: part.most])
                more = f"{more_are(left, 'row')} {self.elsewhere}." if left else ""
                shown = msgspec.structs.replace(part, rows=part.rows[: part.most])
                below = [paint(line, self.dim) for text in (more, part.note) for line in self.lines(text)]
                return [*self.title(part.title), *self.table(shown), *below]
            case Headline():
                return self.part(Statement(f"{part.mark} {part.line.text()}", part.tone or "unchanged"))
            case Results() if part.rows:
                return self.results(part)
            case Section():
                return self.section(part)
            case Code() if part.text:
                return self.code(part)
            case Footnotes():
                read = [line for text in self.readings for line in wrap(text, self.width)]
                return [paint(line, self.dim) for line in (*self.notes.lines(self.width, self.elsewhere), *read)]
            case _:
                return []

    def code(self, part: Code) -> list[str]:
        lines = self.lines(f"{part.title}:") if part.title else []
        for line in map(visible, part.text.splitlines()):
            # the shape of what a program wrote is part of it
            whole = part.copied or columns(line) <= self.width - 2
            lines += [f"  {line}".rstrip()] if whole else wrap(line, self.width, first="  ", rest="    ")
        return lines + (wrap(part.purpose, self.width, first="    ", rest="    ") if part.purpose else [])

    def section(self, section: Section) -> list[str]:
        title = self.title(f"{section.title}{f' ({section.label})' if section.label else ''}")
        # what a page shows as a card
        indent = 2 if section.tone else 0
        self.width, self.room = self.width - indent, self.room - indent
        own = self.parts(section.parts)
        self.width, self.room = self.width + indent, self.room + indent
        return [*title, *(f"{' ' * indent}{line}".rstrip() for line in own)] if own or section.tone else []

    def title(self, text: str) -> list[str]:
        return [paint(line, self.bold) for line in wrap(visible(text), self.width, rest="  ")] if text else []

    def lines(self, text: str) -> list[str]:
        return wrap(visible(text), self.width) if text else []

    def items(self, items: Items) -> Iterator[str]:
        texts = [visible(text) for text in items.texts]
        if items.role == "warning" and texts:
            yield paint("warnings", self.bold)
            # where the others stand nowhere else, all are here
            shown = texts[:_WARNINGS] if self.elsewhere else texts
            for text in shown:
                yield from wrap(text, self.width, first="  - ", rest="    ")
            if more := len(texts) - len(shown):
                yield from wrap(f"{more_are(more)} {self.elsewhere}.", self.width, first="  ", rest="  ")
            return
        if items.title and texts:
            style = self.caution if items.role == "caution" else ""
            yield paint(items.title, self.bold)
            for text in texts:
                yield from (paint(line, style) for line in wrap(text, self.width, first="- ", rest="  "))
            return
        for text in texts:
            if items.role == "caution":
                yield from (paint(line, self.caution) for line in wrap(text, self.width, first="! ", rest="  "))
            else:
                yield from self.whole(text) if items.role == "told" else wrap(text, self.width, rest="  ")

    def whole(self, text: str, *, first: str = "", rest: str = "") -> list[str]:
        """Wrap a text in a terminal only: elsewhere the names of files in it stay whole."""
        width = self.width if self.room < _ENDLESS // 2 else _ENDLESS
        return wrap(text, width, first=first, rest=rest, typed=True)

    def results(self, own: Results) -> list[str]:
        """Lay out results in as many columns as fit, below what all of them have in common."""
        better = own.better or "↑ higher is better, the others lower"
        above = self.lines(", ".join(filter(None, (own.quantity, better, own.threshold, own.within))))
        said = {
            "metric": own.quantity,
            "threshold": own.threshold,
            "factors": not any(row.settings for row in own.rows),
        }
        absent = {name for name, shared in said.items() if shared}
        cells = [_cells(row, absent, arrow=not own.better) for row in own.rows]
        titles = {"case": "benchmark", "change": f"change ({own.interval})", "word": "verdict"}
        for form, room in _FORMS:
            names = [name for name in form if name not in absent and (room or name != "bar")]
            titles["bar"] = bars.ends(own.scale, room) if room else ""
            head = [Column(titles.get(name, name), right=name in _NUMERIC) for name in names]
            drawn = [Cell(bars.bar(row.bar, own.scale, room) if room else "") for row in own.rows]
            rows = [[({**of, "bar": bar})[name] for name in names] for of, bar in zip(cells, drawn, strict=True)]
            least = _NARROWEST if form == _FORMS[-1][0] else _WHOLE
            laid = lay_out(
                head, rows, self.room, style=self.bold, narrowest=least, notes=self.notes, styles=self.styles
            )
            if laid is not None:
                read = (bars.legend() if room else "", own.caught if "verdict" in names else "", *own.reading)
                note = " ".join(f"{text[0].upper()}{text[1:]}." for text in read if text)
                return [*above, *laid, *(paint(line, self.dim) for line in self.lines(note))]
        names = [name for name in _NAMED if name not in (*absent, "bar")]
        texts = [[of[name].text + self.notes.marks(of[name].notes) for name in names] for of in cells]
        head = [Column(titles.get(name, name), right=name in _NUMERIC) for name in names]
        return [*above, *stacked(head, texts, self.room)]

    def table(self, table: Table) -> list[str]:
        """Lay out a table; columns that do not fit beside each other stand in parts, each with those that are fixed."""
        groups: list[list[int]] = []
        for place, column in enumerate(table.head[1:], 1):
            if column.follows:
                groups[-1].append(place)
            else:
                groups.append([place])
        fixed = [place for group in groups if table.head[group[0]].fixed for place in group]
        others = [group for group in groups if not table.head[group[0]].fixed] or [[]]
        spare = any(column.spare for column in table.head)
        if spare and lay_out(table.head, [row.cells for row in table.rows], self.room, narrowest=_ENDLESS) is None:
            others = [group for group in others if not table.head[group[0]].spare] or others
            groups = [group for group in groups if not table.head[group[0]].spare]
        for count in range(len(others), 0, -1):
            chunks = [others[at : at + count] for at in range(0, len(others), count)]
            parts = [self.laid_out(table, sorted([*fixed, *(p for group in c for p in group)])) for c in chunks]
            if all(part is not None for part in parts):
                return [line for part in parts for line in ("", *(part or []))][1:]
        return [line for row in table.rows for line in self.stacked(table.head, row, groups)]

    def laid_out(self, table: Table, places: Sequence[int]) -> list[str] | None:
        """Lay out some columns beside the names; None: they do not fit."""
        titles = distinct([column.title for column in table.head], _TITLE)
        head = [msgspec.structs.replace(table.head[place], title=titles[place]) for place in (0, *places)]
        rows = [[row.cells[place] for place in (0, *places)] for row in table.rows]
        if self.room < _ENDLESS // 2:
            cells = [
                [column.title for column in head],
                *([d.text + d.note for d in r] for r in _drawn(rows, self.notes, {})),
            ]
            beside = sum(len(_GAP) + max(map(columns, own)) for own in list(zip(*cells, strict=True))[1:])
            room = max(self.room - beside, _NARROWEST)
            names = [self.names.short(row[0].text, room) for row in rows]
            rows = [[msgspec.structs.replace(row[0], text=n), *row[1:]] for row, n in zip(rows, names, strict=True)]
        return lay_out(head, rows, self.room, style=self.bold, notes=self.notes, styles=self.styles)

    def stacked(self, head: Sequence[Column], row: Row, groups: Sequence[Sequence[int]]) -> Iterator[str]:
        """A block a row, for a terminal too narrow for the table."""
        name = self.names.short(row.cells[0].text, 2 * (self.width - 2)) + self.notes.marks(row.cells[0].notes)
        yield from wrap(name, self.width, rest="  ")
        titles = distinct([column.title for column in head], _TITLE)
        for first, *rest in (group for group in groups if any(row.cells[place].text for place in group)):
            cell = row.cells[first]
            text = f"{_with_spread(cell)}{self.notes.marks(cell.notes)}" if cell.text else ""
            own = f"{titles[first]} {text}".rstrip() if head[first].right or not text else text
            yield from wrap(own, self.width, first="  ", rest="    ")
            for cell in (row.cells[place] for place in rest if row.cells[place].text):
                # painted line by line, so that a code never spans a break
                lines = wrap(cell.text + self.notes.marks(cell.notes), self.width, first="    ", rest="      ")
                yield from (paint(line, self.styles.get(cell.tone, "")) for line in lines)


def _tables(parts: Sequence[Part]) -> Iterator[Table]:
    for part in parts:
        if isinstance(part, Section):
            yield from _tables(part.parts)
        elif isinstance(part, Table):
            yield part
