"""A document: facts, lists, tables and figures in sections, safe on one line and not yet escaped for any markup."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import msgspec

from gate.document.bars import Ends, Extent
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
    """Sentences of one kind; `code` in a caution or advice is ours, in the others it may be part of a name.

    line: they are Markdown's own lines (Md) that stand below each other as they are, as those of a table.
    """

    kind: ClassVar[str] = "items"
    texts: list[str]
    role: Literal["told", "caution", "rest", "warning", "advice", "says", "line"]
    title: str = ""


class Statement(msgspec.Struct, frozen=True):
    """A sentence by itself, the verdict of a document."""

    kind: ClassVar[str] = "statement"
    text: str
    tone: Tone = ""
    is_loud: bool = False
    """What a card is about."""


class VerdictLine(msgspec.Struct, frozen=True):
    """The line in its parts, which each format writes in its own way."""

    verdict: str
    """In a word; empty: what is said is the verdict."""
    name: str
    """Of the finding that matters most; empty: the line is about all."""
    said: str
    """What is said of it, and of the rest."""

    def text(self) -> str:
        """Write the whole line."""
        said = f"{self.name} {self.said}" if self.name else self.said
        return f"{self.verdict}: {said}" if self.verdict else said


class Headline(msgspec.Struct, frozen=True):
    """What a report says first: its verdict, and what decided."""

    kind: ClassVar[str] = "headline"
    mark: str
    emoji: str
    """The mark in colour, for a comment."""
    line: VerdictLine
    tone: Tone
    meaning: str = ""
    """What a page says with it, and what to do next."""
    next: str = ""
    gate: str = ""
    """Which of several gates of a repository says it, in a comment."""


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


class Result(msgspec.Struct, frozen=True):
    """A result, in texts that each medium lays out in its own columns."""

    name: str
    """Of the benchmark, without what all begin with."""
    quantity: str
    """What of it is compared."""
    view: str
    """Why this view decided, where a row says so."""
    settings: str
    higher: bool
    """More is better."""
    verdict: Verdict
    word: str
    """The verdict, as people read it."""
    by: str
    """What it is by, or would have shown, behind the word: ", catches 4.1%"."""
    not_worse: str
    """What an open verdict says nevertheless: "not slower"."""
    may_regress: str
    """What it leaves open: "may be a regression"."""
    change: str
    interval: str
    threshold: str
    base: str
    head: str
    bar: Extent
    numbers: tuple[float | None, ...]
    """Change, base and head, by which a page sorts."""
    warnings: int
    notes: tuple[str, ...] = ()
    """Footnotes, in a text."""
    id: str = ""
    """Of its details in a page."""


class Tally(msgspec.Struct, frozen=True):
    """How many there are of something in a report."""

    count: int
    name: str
    """Of so many."""
    verdict: Verdict | None = None
    """Of the first, where they are findings."""
    mark: str = ""
    word: str = ""
    """What people read for it."""
    which: str = ""
    """Of inconclusive ones, how many may be a regression and are not worse: "3 may be a regression, 2 not worse"."""
    link: str = ""
    """Where in a page they are."""


class Results(msgspec.Struct, frozen=True):
    """The results of a report, each with its interval against its threshold; a text is empty where rows differ."""

    kind: ClassVar[str] = "results"
    rows: list[Result]
    scale: Ends
    """Of the bars."""
    interval: str
    """The title of the column: "95% interval"."""
    quantity: str
    better: str
    threshold: str
    """"threshold 3%"."""
    within: str
    """What all names begin with."""
    caught: str = ""
    """What a text says below verdicts, and below all of it, besides how to read a bar."""
    reading: tuple[str, ...] = ()
    ticks: tuple[tuple[float, str], ...] = ()
    """Of a page's axis: logarithms of ratios, with what is written there."""
    ways: tuple[str, str] = ("", "")
    """What a change to the left and to the right is called."""
    counts: tuple[Tally, ...] = ()
    """What stands above it in a page."""


class Sides(msgspec.Struct, frozen=True):
    """The values of base and head, in the colours of the pictures of a page; label: their difference."""

    kind: ClassVar[str] = "sides"
    base: str
    head: str
    label: str = ""


class Pointers(msgspec.Struct, frozen=True):
    """Where in a page more is: a text, and the id, the name and the label of each place."""

    kind: ClassVar[str] = "pointers"
    text: str
    to: tuple[tuple[str, str, str], ...]


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
    of: str = ""
    """Whose they are, where each has its caption below it."""


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
    tone: Tone = ""
    """Of what a page shows as a card."""
    badge: str = ""
    """The verdict of a card, with its mark."""


class Section(msgspec.Struct, frozen=True):
    """Parts under a heading; reading: how to read its pictures and tables, for a page, a line each."""

    kind: ClassVar[str] = "section"
    title: str
    id: str
    parts: list[Part]
    reading: str = ""
    label: str = ""
    """What a page says beside the title."""
    tone: Tone = ""
    """Of what a page shows as a card."""
    badge: str = ""
    """The verdict of a card, with its mark."""


Part = (
    Facts
    | Items
    | Statement
    | Headline
    | Table
    | Results
    | Sides
    | Pointers
    | Footnotes
    | Code
    | Figures
    | Fold
    | Section
)


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
    about: str = ""
    """What a page says beside the command."""
    behind: str = ""
    """What the contents of a page call all its folds; empty: each by its title."""
