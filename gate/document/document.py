"""A document: facts, lists, tables and figures in sections, safe on one line and not yet escaped for any markup."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import msgspec

from gate.model import Verdict

if TYPE_CHECKING:
    from markupsafe import Markup

Tone = Literal["worse", "better", "differs", "pass", "error", Verdict, ""]


class Column(msgspec.Struct, frozen=True):
    """A column's title and how it is aligned."""

    title: str
    right: bool = False
    fixed: bool = False
    """Stands in each part of a table that is too wide for one."""
    follows: bool = False
    """Belongs to the column before it, and stands below that where there is no room beside it."""
    spare: bool = False
    """Left out of a text where there is no room for it."""
    label: str = ""
    """What a phone writes before a cell, if not the title."""


class Cell(msgspec.Struct, frozen=True):
    """A text in a table."""

    text: str
    spread: str = ""
    """What stands behind it, a mark and a number: "± 0.5%"; the marks of a column stand below each other."""
    notes: tuple[str, ...] = ()
    """Footnotes."""
    tone: Tone = ""
    detail: str = ""
    """What a page alone has room for, below it."""


class Row(msgspec.Struct, frozen=True):
    """A row, whose first cell names it."""

    cells: list[Cell]
    is_mean: bool = False
    """It sums up the others."""


class Figure(msgspec.Struct, frozen=True):
    """A picture in a page: what it is of, for its scroll region; its SVG, the page's only markup from code."""

    kind: str
    name: str
    svg: Markup
    caption: str
    reading: tuple[str, ...] = ()
    """How to read such a picture, for all of its kind at once."""


class Facts(msgspec.Struct, frozen=True):
    """Names, and what there is to say of each; code: which is a command."""

    kind: ClassVar[str] = "facts"
    rows: list[tuple[str, str]]
    code: bool = False
    weight: Literal["", "loud", "quiet"] = ""
    """How much a terminal makes of it."""


class Items(msgspec.Struct, frozen=True):
    """Sentences of one kind; `code` in a caution or advice is ours, in the others it may be part of a name."""

    kind: ClassVar[str] = "items"
    texts: list[str]
    role: Literal["told", "caution", "rest", "warning", "advice", "says"]
    title: str = ""


class Statement(msgspec.Struct, frozen=True):
    """A sentence by itself, the verdict of a document."""

    kind: ClassVar[str] = "said"
    text: str
    tone: Tone = ""


class Table(msgspec.Struct, frozen=True):
    """A table with its title."""

    kind: ClassVar[str] = "table"
    title: str
    short: str
    """The title in a list of tables."""
    head: list[Column]
    rows: list[Row]
    reading: str = ""
    """How to read its marks, said once for all tables that have them."""
    note: str = ""
    """What stands below it."""
    most: int | None = None
    """Rows that a text shows; None: all."""
    narrower: tuple[Table, ...] = ()
    """The same with fewer columns, for a terminal without room; below the last there is a block a row."""


class Footnotes(msgspec.Struct, frozen=True):
    """The place of the footnotes of the tables above, and of how to read these."""

    kind: ClassVar[str] = "footnotes"


class Code(msgspec.Struct, frozen=True):
    """A command or lines to copy, with what they are for; copied false: what a program wrote."""

    kind: ClassVar[str] = "code"
    text: str
    purpose: str = ""
    copied: bool = True
    title: str = ""
    """What it is, said above it."""
    language: str = "text"


class Figures(msgspec.Struct, frozen=True):
    """Pictures, of which a page alone has any."""

    kind: ClassVar[str] = "figures"
    figures: list[Figure]


class Fold(msgspec.Struct, frozen=True):
    """What a page and a comment fold away under a line, and a text leaves out."""

    kind: ClassVar[str] = "fold"
    title: str
    parts: list[Part]
    id: str = ""
    """Of one that stands by itself."""
    open: bool = False
    """Shown when the page is opened."""
    label: str = ""
    """What a page says beside the title."""
    noun: str = ""
    """What a comment calls an item or a row where some have no room."""
    share: float = 1.0
    """Of a comment's room at most, as long as others want some."""
    words: tuple[str, ...] = ()
    """What a comment calls each row, where they are of several kinds: "too noisy"."""


class Section(msgspec.Struct, frozen=True):
    """Parts under a heading; reading: how to read its pictures and tables, for a page."""

    kind: ClassVar[str] = "section"
    title: str
    id: str
    parts: list[Part]
    reading: str = ""
    label: str = ""
    """What a page says beside the title."""
    tone: Tone = ""
    """Of what a page shows as a card."""


Part = Facts | Items | Statement | Table | Footnotes | Code | Figures | Fold | Section


class Document(msgspec.Struct, frozen=True):
    """What a command says."""

    tool: str
    """The command."""
    title: str
    sections: list[list[Part]]
    """Each stands by itself; parts without content take no room."""
    elsewhere: str
    """Where all of it is: "in --format json"."""
    footer: str
    """Of a page: what to know of the command."""
