"""A comparison -> Markdown, as GitHub shows it."""

from __future__ import annotations

from collections.abc import Iterator

from gate.commands.compare import blocks as words
from gate.commands.compare.blocks import Line, Told, Value, Written
from gate.commands.compare.formats import Screen
from gate.commands.compare.table import Table
from gate.report.markdown.escape import brief, code, prose, short
from gate.words.grid import Footnotes
from gate.writing.phrases import more_are
from gate.writing.plain import visible

_NAME = 200
_TITLE = 40
_NOTES = 40
_WARNINGS = 20
_TEXT = 1000


def render(table: Table, _: Screen) -> str:
    """Write a comparison as Markdown: a table a metric, footnotes as a list, ending with a newline."""
    notes = Footnotes(_NOTES)
    blocks = words.written(table)
    nothing = f"nothing to compare: {table.nothing}" if table.nothing else ""
    hidden = words.hidden(table)
    parts = [
        "  \n".join(f"**{_title(column.title)}** {_text(words.source(column))}" for column in table.columns),
        "\n".join(f"- {_text(text)}" for text in table.told),
        "\n>\n".join(f"> {prose(short(text, _TEXT))}" for text in table.cautions),
        _text(nothing),
        *("\n".join(_block(block, table, notes)) for block in blocks),
        "\n".join(f"{number}. {_text(text)}" for text, number in notes.texts.items()),
        f"{more_are(notes.left_out, 'note')} in the JSON." if notes.left_out else "",
        _text(words.legend(table)),
        "\n".join(f"- {_text(text)}" for text in ([hidden] if hidden else []) + table.rest),
        "\n".join(_warnings(table)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _block(block: Written, table: Table, notes: Footnotes) -> Iterator[str]:
    yield f"#### {_text(block.title)}"
    yield ""
    heads, lines = ["benchmark"], ["---"]
    for place, column in enumerate(table.columns):
        heads.append(_title(column.title))
        lines.append("---:")
        if place != table.base:
            heads.append(block.change)
            lines.append("---")
    yield f"| {' | '.join(heads)} |"
    yield f"| {' | '.join(lines)} |"
    for line in block.lines:
        cells = [_name(line) + _marks(line.notes, notes)]
        for place, value in enumerate(line.values):
            cells.append(_value(value, notes))
            if place != table.base:
                cells.append(_change(line.changes[place], notes))
        yield f"| {' | '.join(cells)} |"


def _name(line: Line) -> str:
    return f"**{brief(line.name, _NAME)}**" if line.is_mean else code(line.name, len(line.name))


def _value(value: Value | None, notes: Footnotes) -> str:
    if value is None:
        return ""
    spread = f" {value.mark} {value.half}" if value.mark else ""
    return f"{brief(value.text, 80)}{spread}{_marks(value.notes, notes)}"


def _change(told: Told | None, notes: Footnotes) -> str:
    if told is None:
        return ""
    text = brief(told.text, 80)
    return f"{f'**{text}**' if told.shown in ('worse', 'better', 'differs') else text}{_marks(told.notes, notes)}"


def _marks(texts: tuple[str, ...], notes: Footnotes) -> str:
    found = ", ".join(map(str, notes.numbers(texts)))
    return f" <sup>{found}</sup>" if found else ""


def _title(title: str) -> str:
    return brief(visible(title), _TITLE)


def _text(text: str) -> str:
    return brief(text, _TEXT)


def _warnings(table: Table) -> Iterator[str]:
    told = table.warnings
    if told:
        yield "Warnings:"
        yield ""
    yield from (f"- {_text(each)}" for each in told[:_WARNINGS])
    if len(told) > _WARNINGS:
        yield f"- {more_are(len(told) - _WARNINGS)} in the JSON."
