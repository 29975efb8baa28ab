"""Text from elsewhere made safe for GitHub's Markdown (names, sentences, output, addresses), and documents in it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from urllib.parse import quote

from gate.document.document import (
    Cell,
    Code,
    Document,
    Facts,
    Fold,
    Footnotes,
    Headline,
    Items,
    Part,
    Section,
    Statement,
    Table,
)
from gate.document.terminal import Notes
from gate.writing.phrases import counted, more_are
from gate.writing.plain import clip, columns, visible
from gate.writing.units import plural

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
_TITLE, _CELL, _MEAN, _TEXT, _OUTPUT = 40, 80, 200, 1000, 200
"""Columns of a title, a cell, the name of a mean, a sentence, a line that a program wrote."""
_APART = "\n\n"
_FRAME = 120
"""Bytes of the tags and blank lines around a fold, and of what its title gets when it is cut."""


def row(*cells: str) -> Md:
    """Write a row of a table."""
    return Md(f"| {' | '.join(cells)} |")


def render(document: Document) -> str:
    """Write a document as GitHub shows it: a table each, footnotes as a list, ending with a newline."""
    parts = [part for section in document.sections for part in section]
    return f"{''.join(_Text(document).pieces(parts, 3))}\n"


def pieces(parts: Sequence[Part]) -> list[str]:
    """Write parts of no document in pieces that follow each other as they are."""
    return _Text(None).pieces(parts, 4)


def fit(folds: Sequence[Fold], room: int) -> tuple[list[Md], list[str]]:
    """Write of each fold as many pieces as the room allows, in bytes, the first folds first; never half a piece.

    First each fold gets its share at most, so that no long one takes all; then what is left goes to the first. Said as
    well is what was left out: "24 too noisy", "3 warnings".
    """
    written = [pieces(fold.parts) for fold in folds]
    counts = [0] * len(folds)
    for limited in (True, False):
        for place, (fold, own) in enumerate(zip(folds, written, strict=True)):
            limit = fold.share * room if limited else room
            first = last = counts[place]
            used = 0 if first else _FRAME + size(fold.title + fold.label)
            while last < len(own) and used + size(own[last]) <= limit:
                used += size(own[last])
                last += 1
            if last > first:
                counts[place] = last
                room -= used
    shown, words, left = [], list[str](), list[str]()
    for fold, own, count in zip(folds, written, counts, strict=True):
        more = len(own) - count
        if count:
            title = f"{escape(fold.title)}{f': {escape(fold.label)}' if fold.label else ''}"
            title += f" (the first {count})" if more else ""
            shown.append(Md(f"<details><summary>{title}</summary>\n\n{''.join(own[:count])}\n\n</details>"))
        words += fold.words[count:]
        left += [plural(more, fold.noun)] if more and not fold.words else []
    return shown, counted(words) + left


class _Text:
    """One rendering, in pieces between which it may be cut; document: None: parts that stand by themselves."""

    def __init__(self, document: Document | None) -> None:
        self.document = document
        self.elsewhere = document.elsewhere if document else ""
        self.notes = Notes(_NOTES)

    def pieces(self, parts: Sequence[Part], level: int) -> list[str]:
        """Write parts in pieces that follow each other as they are; a sentence stays with what it stands above."""
        found, above = list[str](), ""
        for part in parts:
            own = self.part(part, level)
            if own and isinstance(part, Statement):
                above += own[0] + _APART
            elif own:
                found += [(_APART if found else "") + above + own[0], *own[1:]]
                above = ""
        # sentences with nothing below them
        return found + ([(_APART if found else "") + above.removesuffix(_APART)] if above else [])

    def part(self, part: Part, level: int) -> list[str]:
        match part:
            case Facts():
                return self.facts(part)
            case Statement():
                # what a document begins with is its heading
                headed = part.tone and self.document is not None and part is self.document.sections[0][0]
                said = f"{f'### {self.document.tool}: ' if self.document and headed else ''}{brief(part.text, _TEXT)}"
                return [said] if said else []
            case Code() if part.text:
                return [self.code(part)]
            case Section() if own := self.pieces(part.parts, level + 1):
                label = f": {brief(part.label, _TEXT)}" if part.label else ""
                return [f"{'#' * level} {brief(part.title, _TEXT)}{label}\n\n{own[0]}", *own[1:]]
            # GitHub shows no fold well inside of another
            case Fold() if self.document and (own := self.pieces(part.parts, level)):
                return [f"<details><summary>{escape(part.title)}</summary>\n\n{''.join(own)}\n\n</details>"]
            case Headline():
                return [self.headline(part)]
            case Table() if part.rows:
                return self.table(part)
            case Footnotes():
                return [self.footnotes()]
            case Items() if part.texts:
                return self.items(part)
            case _:
                return []

    def headline(self, part: Headline) -> str:
        said = brief(part.line.said, _TEXT)
        gate = f"{brief(part.gate, _CELL)}: " if part.gate else ""
        if not part.line.verdict:
            return f"{part.emoji} **{gate}{said}**"
        name = f"{code(part.line.name)} " if part.line.name else ""
        return f"{part.emoji} **{gate}{part.line.verdict}**: {name}{said}"

    def code(self, part: Code) -> str:
        if part.purpose:
            return f"- {code(part.text, _MEAN)}: {brief(part.purpose, _TEXT)}"
        width = _TEXT if part.copied else _OUTPUT
        copied = block("\n".join(short(line, width) for line in part.text.splitlines()), part.language)
        return (f"{brief(part.title, _TEXT)}:{_APART}" if part.title else "") + copied

    def facts(self, facts: Facts) -> list[str]:
        if self.document is not None:
            return ["  \n".join(f"**{brief(name, _TITLE)}** {brief(text, _TEXT)}" for name, text in facts.rows)]
        told = [(name, text if isinstance(text, Md) else brief(text, _TEXT)) for name, text in facts.rows]
        lines = [f"- {brief(name, _CELL)}: {text}" for name, text in told]
        return [line if not number else f"\n{line}" for number, line in enumerate(lines)]

    def items(self, items: Items) -> list[str]:
        ours = items.role in ("caution", "advice")
        shown = items.texts[:_WARNINGS] if items.role == "warning" and self.document else items.texts
        texts = [prose(short(t, _TEXT)) if ours and not isinstance(t, Md) else brief(t, _TEXT) for t in shown]
        left = len(items.texts) - len(shown)
        texts += [escape(f"{more_are(left)} {self.elsewhere}.")] if left else []
        sign, between = {"caution": ("> ", "\n>\n"), "line": ("", "\n")}.get(items.role, ("- ", "\n"))
        named = "" if items.role == "caution" else f"**{brief(items.title, _TITLE)}**" if items.title else ""
        title = "Warnings:" if items.role == "warning" and self.document else named
        above = f"{title}\n\n" if title else ""
        return [f"{above if not number else between}{sign}{text}" for number, text in enumerate(texts)]

    def table(self, table: Table) -> list[str]:
        title = f"#### {brief(table.title, _TEXT)}\n\n" if table.title else ""
        named = row(*(brief(column.title, _TITLE) for column in table.head))
        head = f"{title}{named}\n{row(*('---:' if column.right else '---' for column in table.head))}"
        rows = []
        for each in table.rows[: table.most]:
            name, *cells = each.cells
            shown = code(name.text, columns(name.text)) if not isinstance(name.text, Md) else name.text
            shown = Md(f"**{brief(name.text, _MEAN)}**") if each.is_mean else shown
            texts = []
            for cell in cells:
                text = brief(cell.text, _CELL)
                spread = f" {cell.spread}" if cell.spread else ""
                texts.append(f"{f'**{text}**' if cell.tone else text}{spread}{self.marks(cell)}")
            rows.append(f"\n{row(shown + self.marks(name), *texts)}")
        left = len(table.rows) - len(rows)
        below = [f"{more_are(left, 'row')} {self.elsewhere}." if left else "", table.note]
        rows[0] = head + rows[0]
        rows[-1] += "".join(_APART + brief(text, _TEXT) for text in below if text)
        return rows

    def footnotes(self) -> str:
        listed = "\n".join(f"{number}. {brief(text, _TEXT)}" for text, number in self.notes.texts.items())
        more = f"{more_are(self.notes.left_out, 'note')} {self.elsewhere}." if self.notes.left_out else ""
        sections = self.document.sections if self.document else []
        read = dict.fromkeys(brief(each.reading, _TEXT) for own in sections for each in own if isinstance(each, Table))
        return "\n\n".join(text for text in (listed, more, *read) if text)

    def marks(self, cell: Cell) -> str:
        if not cell.notes:
            return ""
        found = ", ".join(map(str, self.notes.numbers(cell.notes)))
        return f" <sup>{found}</sup>" if found else ""
