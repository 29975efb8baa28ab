"""Text from elsewhere made safe for GitHub's Markdown (names, sentences, output, addresses), and documents in it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from urllib.parse import quote

from gate.document.document import (
    Cell,
    Code,
    Document,
    Facts,
    Fold,
    Footnotes,
    Items,
    Part,
    Section,
    Statement,
    Table,
)
from gate.document.terminal import Notes
from gate.writing.phrases import more_are
from gate.writing.plain import clip, visible

NAME = 80
"""Columns of a name that a table can bear."""
# What becomes a mention, a reference, a link, an emoji, a formula or a box to tick. Some of these are looked for after
# entities are text again, and only an empty comment splits the text then as well.
_LINKING = r"[@$]|#(?=\d)|:(?=\S)|\[(?=[ x]\])|(?<=www)\.|(?<=[a-z])-(?=\d)"
_SPECIAL = r"[\\`*\[\]~|<>&#]|(?<![^\W_])_|_(?![^\W_])"
# GitHub links what may be a commit
_HEX = r"(?<![0-9a-z])[0-9a-f]{7,}(?![0-9a-z])"
_PATTERN = re.compile(f"(?P<linking>{_LINKING})|(?P<special>{_SPECIAL})|(?P<hex>{_HEX})", re.IGNORECASE)
_SPLIT = "<!-- -->"
_LINE_START = re.compile(r"(?:[-+=]|\d+[.)])(?=\s|[-=]|$)")
_NO_CODE_SPAN = re.compile(r"[`|\\]|<!--|^\s|\s$")


class Md(str):
    """Text that is Markdown already."""

    __slots__ = ()


def size(text: str) -> int:
    """Count the bytes of a text in UTF-8: never fewer than its characters or its UTF-16 units."""
    return len(text.encode())


def short(text: object, width: int) -> str:
    """Make a text visible and shorten it to a width, in characters as well: some take no column."""
    plain = str(text)
    if len(plain) > 8 * width:
        plain = f"{plain[: 4 * width]}…{plain[-4 * width :]}"
    found = clip(visible(plain), width)
    return found if len(found) <= 2 * width else f"{found[:width]}…{found[-width:]}"


def escape(text: object) -> Md:
    """Write any text so that Markdown shows it as it is: no markup, HTML, link, mention, reference or new line."""
    if isinstance(text, Md):
        return text
    plain = visible(str(text)).strip()
    start = _LINE_START.match(plain)
    if not start:
        return Md(_PATTERN.sub(_escaped, plain))
    # a list item or a heading's underline; the last character of the marker is what makes it one
    marker = start.end() - 1
    before, after = (_PATTERN.sub(_escaped, text) for text in (plain[:marker], plain[marker + 1 :]))
    return Md(f"{before}&#{ord(plain[marker])};{after}")


def _escaped(match: re.Match[str]) -> str:
    if match["hex"]:
        return _SPLIT.join(match["hex"][start : start + 6] for start in range(0, len(match["hex"]), 6))
    return f"&#{ord(match[0])};{_SPLIT if match['linking'] else ''}"


def brief(text: object, width: int) -> Md:
    """Shorten a text to a width and escape it."""
    return text if isinstance(text, Md) else escape(short(text, width))


def code(text: object, width: int = NAME) -> Md:
    """Write a name in a code span that holds in a table too, shortened to what a table can bear."""
    plain = short(text, width)
    if not plain.strip():
        return escape(repr(plain))
    # in a table no code span can hold all of these, and a comment in one could be taken for the marker of ours
    span = f"<code>{escape(plain)}</code>" if _NO_CODE_SPAN.search(plain) else f"`{plain}`"
    # numbers after letters written from right to left would change places with them
    return Md(f"{span}&lrm;" if any(unicodedata.bidirectional(c) in ("R", "AL") for c in plain) else span)


def prose(text: str, *, in_html: bool = False) -> Md:
    """Escape a text of ours, in which what stands between backticks is code; in_html: for a line of HTML."""
    found = []
    for place, piece in enumerate(text.split("`")):
        said = f"<code>{escape(piece)}</code>" if in_html else code(piece)
        found.append(said if place % 2 else _PATTERN.sub(_escaped, visible(piece)))
    return Md("".join(found))


def block(text: str, language: str = "text") -> Md:
    """Write lines, visible already, as a code block that nothing in them ends."""
    if "<!--" in text:
        return Md(f"<pre>\n{_PATTERN.sub(_escaped, text)}\n</pre>")
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", text))])
    return Md(f"{fence}{language}\n{text}\n{fence}")


def link(words: str, address: str | None) -> Md | None:
    """Write a link; None where there is no address of the web."""
    if address is None or not re.match(r"https?://[^/]", address):
        return None
    safe = quote(address, safe="%:/?#@!&'+,;=~", errors="replace").replace("&", "&amp;")
    return Md(f"[{escape(words)}]({safe})")


# --- a whole document -------------------------------------------------------------------------------------------------

_NOTES, _WARNINGS = 40, 20
_TITLE, _CELL, _MEAN, _TEXT = 40, 80, 200, 1000
"""Columns of a title, a cell, the name of a mean, a sentence."""


def row(*cells: str) -> Md:
    """Write a row of a table."""
    return Md(f"| {' | '.join(cells)} |")


def render(document: Document) -> str:
    """Write a document as GitHub shows it: a table each, footnotes as a list, ending with a newline."""
    notes = Notes(_NOTES)
    return _parts([part for section in document.sections for part in section], document, notes) + "\n"


def _parts(parts: Sequence[Part], document: Document, notes: Notes) -> str:
    return "\n\n".join(text for part in parts if (text := _part(part, document, notes)))


def _part(part: Part, document: Document, notes: Notes) -> str:
    match part:
        case Facts():
            return "  \n".join(f"**{brief(name, _TITLE)}** {brief(text, _TEXT)}" for name, text in part.rows)
        case Statement():
            # what a document begins with is its heading
            headed = part.tone and part is document.sections[0][0]
            return f"{f'### {document.tool}: ' if headed else ''}{brief(part.text, _TEXT)}"
        case Code():
            purpose = f": {brief(part.purpose, _TEXT)}" if part.purpose else ""
            copied = block("\n".join(map(visible, part.text.splitlines())))
            return f"- {code(part.text, _MEAN)}{purpose}" if purpose else copied
        case Section() if found := _parts(part.parts, document, notes):
            return f"### {brief(part.title, _TEXT)}\n\n{found}"
        case Fold() if found := _parts(part.parts, document, notes):
            return f"<details><summary>{escape(part.title)}</summary>\n\n{found}\n\n</details>"
        case Table():
            left = len(part.rows) - len(part.rows[: part.most])
            below = [*([f"{more_are(left, 'row')} {document.elsewhere}."] if left else []), part.note]
            return "\n".join(
                [*_table(part, notes), *(line for text in below if text for line in ("", brief(text, _TEXT)))]
            )
        case Footnotes():
            listed = "\n".join(f"{number}. {brief(text, _TEXT)}" for text, number in notes.texts.items())
            more = f"{more_are(notes.left_out, 'note')} {document.elsewhere}." if notes.left_out else ""
            tables = [each for section in document.sections for each in section if isinstance(each, Table)]
            read = dict.fromkeys(brief(each.reading, _TEXT) for each in tables)
            return "\n\n".join(text for text in (listed, more, *read) if text)
        case Items() if part.role == "caution":
            return "\n>\n".join(f"> {prose(short(text, _TEXT))}" for text in part.texts)
        case Items():
            shown = part.texts[:_WARNINGS] if part.role == "warning" else part.texts
            lines = [f"- {prose(short(t, _TEXT)) if part.role == 'advice' else brief(t, _TEXT)}" for t in shown]
            left = len(part.texts) - len(shown)
            lines += [f"- {more_are(left)} {document.elsewhere}."] if left else []
            title = "Warnings:" if part.role == "warning" else f"**{brief(part.title, _TITLE)}**" if part.title else ""
            return "\n".join([*([title, ""] if title and lines else []), *lines])
        case _:
            return ""


def _table(table: Table, notes: Notes) -> Iterator[str]:
    yield f"#### {brief(table.title, _TEXT)}"
    yield ""
    yield row(*(brief(column.title, _TITLE) for column in table.head))
    yield row(*("---:" if column.right else "---" for column in table.head))
    for each in table.rows[: table.most]:
        name, *cells = each.cells
        shown = f"**{brief(name.text, _MEAN)}**" if each.is_mean else code(name.text, len(name.text))
        texts = []
        for cell in cells:
            text = brief(cell.text, _CELL)
            spread = f" {cell.spread}" if cell.spread else ""
            texts.append(f"{f'**{text}**' if cell.tone else text}{spread}{_marks(cell, notes)}")
        yield row(shown + _marks(name, notes), *texts)


def _marks(cell: Cell, notes: Notes) -> str:
    found = ", ".join(map(str, notes.numbers(cell.notes)))
    return f" <sup>{found}</sup>" if found else ""
