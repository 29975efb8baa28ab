"""Text from elsewhere made safe for one line, and laid out by the columns a terminal gives it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from gate.model.visible import visible as visible  # whoever writes a line finds it here

_SPACES = re.compile(r"[^\S ]+")
_CSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")


def last_lines(text: str, limit: int | None) -> list[str]:
    """Return the last lines of a program's output, made visible, without colours and blank ends; None: all."""
    lines = [visible(line.expandtabs(4)).rstrip() for line in _CSI.sub("", text).strip("\r\n").splitlines()]
    return lines if limit is None else lines[-limit:]


def columns(text: str) -> int:
    """Count the columns of a terminal: two for East Asian wide characters, none for combining marks."""
    if text.isascii():
        return len(text)
    return sum(_columns_of(c) for c in text)


def _columns_of(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def clip(text: str, width: int) -> str:
    """Shorten a text to a width by leaving out its middle."""
    if len(text) > 4 * width:
        # marks without a column of their own would never be too many
        text = f"{text[: 2 * width]}…{text[-2 * width + 1 :]}"
    if columns(text) <= width:
        return text
    # the end of a benchmark's name tells cases apart as often as its beginning
    tail = _prefix(text[::-1], (width - 1) // 2)[::-1]
    return f"{_prefix(text, width - 1 - columns(tail))}…{tail}"


def _prefix(text: str, width: int) -> str:
    used = 0
    for index, character in enumerate(text):
        used += _columns_of(character)
        if used > width:
            return text[:index]
    return text


def pad(text: str, width: int, *, right: bool = False) -> str:
    """Fill a text with blanks up to a width; right: align it right."""
    blanks = " " * max(0, width - columns(text))
    return blanks + text if right else text + blanks


def wrap(text: str, width: int, *, first: str = "", rest: str = "") -> list[str]:
    """Break a text into lines of a width, the first begun with `first` and the others with `rest`.

    Runs of blanks stay within a line: names may hold them.
    """
    lines: list[str] = []
    line = first
    empty = True
    words = _SPACES.sub(" ", text).strip(" ").split(" ")
    for word in _pieces(words, max(8, width - max(columns(first), columns(rest)))):
        if not empty and columns(line) + 1 + columns(word) > width:
            lines.append(line.rstrip(" "))
            line, empty = rest, True
        if word or not empty:
            line += word if empty else f" {word}"
            empty = False
    return [*lines, line.rstrip(" ")]


def _pieces(words: Iterable[str], width: int) -> Iterable[str]:
    for word in words:
        left = word
        while columns(left) > width:
            piece = _prefix(left, width)
            yield piece
            left = left[len(piece) :]
        yield left
