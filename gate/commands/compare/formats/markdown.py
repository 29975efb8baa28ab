"""A comparison of two measurement files -> Markdown, as GitHub shows it."""

from __future__ import annotations

from collections.abc import Iterator

from gate.commands.compare import table as words
from gate.commands.compare.table import Block, Comparison, Measured, Names, Row, Screen
from gate.report.markdown.escape import brief, code, prose, short
from gate.words.grid import Footnotes
from gate.words.phrases import more_are
from gate.words.sentences import say

_NAME = 80
_NOTES = 40
_WARNINGS = 20
_TEXT = 1000


def render(comparison: Comparison, _: Screen) -> str:
    """Write a comparison as Markdown: a table a metric, footnotes as a list, ending with a newline."""
    notes = Footnotes(_NOTES)
    blocks = words.blocks(comparison)
    names = words.Names(blocks)
    parts = [
        f"**base** {_text(words.source(comparison, 'base'))}  \n**head** {_text(words.source(comparison, 'head'))}",
        "\n>\n".join(f"> {prose(short(text, _TEXT))}" for text in comparison.cautions),
        _text(words.nothing(comparison)),
        *("\n".join(_block(block, names, notes)) for block in blocks),
        "\n".join(f"{number}. {_text(text)}" for text, number in notes.texts.items()),
        f"{more_are(notes.left_out, 'note')} in the JSON." if notes.left_out else "",
        _text(words.legend(comparison)),
        "\n".join(f"- {_text(text)}" for text in words.rest(comparison)),
        "\n".join(_warnings(comparison)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _block(block: Block, names: Names, notes: Footnotes) -> Iterator[str]:
    yield f"#### {_text(block.title)}"
    yield ""
    yield f"| benchmark | base | head | change ({block.confidence or 'own'} interval) |"
    yield "| --- | ---: | ---: | --- |"
    for row in block.rows:
        name = _name(row, names.within(_NAME)[row.name])
        cells = [name, _measured(row.base), _measured(row.head), _change(row, notes)]
        yield f"| {' | '.join(cells)} |"


def _name(row: Row, name: str) -> str:
    # of a geometric mean, which is no benchmark, there are no values
    return code(name) if row.base else f"**{brief(name, _NAME)}**"


def _measured(side: Measured | None) -> str:
    return f"{brief(side.value, 80)} ± {side.half}" if side else ""


def _change(row: Row, notes: Footnotes) -> str:
    numbers = ", ".join(map(str, notes.numbers(row.notes)))
    changed = row.verdict in ("regression", "improvement")
    text = brief(row.change, 80)
    return f"{f'**{text}**' if changed else text}{f' <sup>{numbers}</sup>' if numbers else ''}"


def _text(text: str) -> str:
    return brief(text, _TEXT)


def _warnings(comparison: Comparison) -> Iterator[str]:
    told = [*map(say, comparison.report.warnings)]
    if told:
        yield "Warnings:"
        yield ""
    yield from (f"- {_text(each)}" for each in told[:_WARNINGS])
    if len(told) > _WARNINGS:
        yield f"- {more_are(len(told) - _WARNINGS)} in the JSON."
