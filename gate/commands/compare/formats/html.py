"""A comparison -> one page that loads nothing and has no script: the table, and a picture of the intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from markupsafe import Markup

from gate.commands.compare import blocks as words
from gate.commands.compare.blocks import Line, Written
from gate.commands.compare.formats import Screen
from gate.commands.compare.table import Change, Table
from gate.plots.changes import Drawn, DrawnRow, changes
from gate.report.page.pictures import Figure
from gate.report.templates import prose, render_template
from gate.words.grid import Footnotes
from gate.writing.phrases import more_are
from gate.writing.plain import visible

_NOTES = 200
_TONES = {"worse": "regression", "better": "improvement"}


class _Cell(msgspec.Struct, frozen=True):
    """A value or a change."""

    text: str
    spread: str
    notes: list[int]
    tone: str
    """The class of a change that an interval shows."""
    label: str
    """The title of its column, which a phone writes before it."""
    basis: bool = False
    """Of the column that the others are compared with."""


class _Row(msgspec.Struct, frozen=True):
    name: str
    is_mean: bool
    notes: list[int]
    cells: list[_Cell]


class _Block(msgspec.Struct, frozen=True):
    id: str
    title: str
    short: str
    """The title without what is said of the changes."""
    heads: list[str]
    rows: list[_Row]
    figure: Figure | None


class _Page(msgspec.Struct, frozen=True):
    title: str
    sources: list[tuple[str, str]]
    told: list[Markup]
    cautions: list[Markup]
    nothing: str
    blocks: list[_Block]
    notes: list[Markup]
    left_out: str
    legend: str
    rest: list[Markup]
    warnings: list[Markup]


def render(table: Table, _: Screen) -> str:
    """Write the page, ending with a newline."""
    notes = Footnotes(_NOTES)
    blocks = [_block(block, table, number, notes) for number, block in enumerate(words.written(table), 1)]
    titles = [visible(column.title) for column in table.columns]
    hidden = words.hidden(table)
    page = _Page(
        title=_title(titles, table.base),
        sources=[(title, words.source(c)) for title, c in zip(titles, table.columns, strict=True)],
        told=[*map(prose, table.told)],
        cautions=[*map(prose, table.cautions)],
        nothing=table.nothing,
        blocks=blocks,
        notes=[*map(prose, notes.texts)],
        left_out=f"{more_are(notes.left_out, 'note')} in the JSON." if notes.left_out else "",
        legend=words.legend(table),
        rest=[*map(prose, [*([hidden] if hidden else []), *table.rest])],
        warnings=[*map(prose, table.warnings)],
    )
    return render_template("compare.html.j2", {"page": page}, html=True, finalize=_text).lstrip()


def _title(titles: Sequence[str], base: int) -> str:
    if len(titles) == 1:
        return f"Results of {titles[0]}"
    others = titles[1] if len(titles) == 2 else f"{len(titles) - 1} others"
    return f"Comparison of {titles[0 if len(titles) == 2 else base]} and {others}"


def _text(value: Any) -> Any:
    """Make what does not print visible in all text but our own markup; names come from files."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _block(block: Written, table: Table, number: int, notes: Footnotes) -> _Block:
    heads = []
    for place, column in enumerate(table.columns):
        heads.append(column.title)
        if place != table.base:
            heads.append(block.change)
    return _Block(
        id=f"block-{number}",
        title=block.title,
        short=block.short,
        heads=heads,
        rows=[_row(line, block, table, notes) for line in block.lines],
        figure=_figure(block, table, f"block-{number}"),
    )


def _row(line: Line, block: Written, table: Table, notes: Footnotes) -> _Row:
    marks = _marks(line.notes, notes)
    cells: list[_Cell] = []
    for place, value in enumerate(line.values):
        title = table.columns[place].title
        if value is None:
            cells.append(_Cell("", "", [], "", title, place == table.base))
        else:
            spread = f"{value.mark} {value.half}" if value.mark else ""
            cells.append(_Cell(value.text, spread, _marks(value.notes, notes), "", title, place == table.base))
        if place != table.base:
            told = line.changes[place]
            label = block.change if len(table.columns) == 2 else f"{title}: {block.change}"
            if told is None:
                cells.append(_Cell("", "", [], "", label))
            else:
                cells.append(_Cell(told.text, "", _marks(told.notes, notes), _TONES.get(told.shown, ""), label))
    return _Row(line.name, line.is_mean, marks, cells)


def _marks(texts: Sequence[str], notes: Footnotes) -> list[int]:
    return list(notes.numbers(texts))


def _figure(block: Written, table: Table, prefix: str) -> Figure | None:
    rows = [DrawnRow(line.name, [_drawn(line.row.changes[place]) for place in table.others]) for line in block.lines]
    columns = [visible(table.columns[place].title) for place in table.others]
    picture = changes(rows, columns, visible(table.columns[table.base].title), prefix)
    # the plots escape every name that they write
    return None if picture is None else Figure("forest", block.title, Markup(picture.svg), picture.caption)  # noqa: S704


def _drawn(change: Change | None) -> Drawn | None:
    if change is None:
        return None
    bounded = change.kind == "bounded" and change.method != "exact"
    low, high = (change.low, change.high) if bounded else (None, None)
    return Drawn(change.estimate, low, high, change.shown in ("worse", "better", "differs"))
