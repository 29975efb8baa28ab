"""Text from elsewhere made safe for one line, and laid out by the columns a terminal gives it."""

from __future__ import annotations

import functools
import glob
import re
import shlex
import unicodedata
from collections.abc import Iterable, Sequence

_SPACES = re.compile(r"[^\S ]+")
_CODE = re.compile(r"`[^`]+`")
_KEPT = "\0"
"""A blank at which no line breaks."""


def visible(text: str) -> str:
    r"""Write what does not print as repr() would: "\n", "\x1b", "\u202e"; the result is one line.

    A byte of a file's name that is no text is written as git would: "\xff".
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    if 0xDC80 <= ord(character) <= 0xDCFF:  # "surrogateescape" (PEP 383)
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def columns(text: str) -> int:
    """Count the columns of a terminal: two for East Asian wide characters, none for combining marks."""
    if text.isascii():
        return len(text)
    return sum(map(_columns_of, text))


@functools.lru_cache(4096)
def _columns_of(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


_ROOM = 8
"""Columns from which a name is cut in its middle."""


def clip(text: str, width: int) -> str:
    """Shorten a text to a width by leaving out its middle."""
    # the end of a benchmark's name tells cases apart as often as its beginning
    return _clip(text, width, (width - 1) // 2)


def _clip(text: str, width: int, end: int) -> str:
    """Shorten a text to a width, of which its end keeps so many columns."""
    if len(text) > 4 * width:
        # marks without a column of their own would never be too many
        text = f"{text[: 2 * width]}…{text[-2 * width + 1 :]}"
    if columns(text) <= width:
        return text
    tail = _prefix(text[::-1], end)[::-1]
    return f"{_prefix(text, width - 1 - columns(tail))}…{tail}"


def distinct(names: Sequence[str], width: int) -> list[str]:
    """Shorten a set of names to a width, so that different ones stay different.

    What long names have in common at their begin and end goes first, at the bounds of words: of those that still look
    alike, each group shows where it differs. What nothing tells apart is numbered: "pars…json", "pars…json~2".
    """
    shown = told_apart(names, width)
    taken = {name for name, text in shown.items() if text == name}
    used: dict[str, int] = {}
    for name, text in shown.items():
        if text == name:
            continue
        short, number = text, used.get(text, 1)
        while short in taken:
            number += 1
            short = _prefix(text, width - len(f"~{number}")) + f"~{number}"
        used[text] = number
        taken.add(short)
        shown[name] = short
    return [shown[name] for name in names]


def told_apart(names: Sequence[str], width: int) -> dict[str, str]:
    """Shorten names as `distinct`, but without numbers: where nothing tells names apart they look alike."""
    shown = {name: name for name in names}
    groups = [[name for name in shown if _is_over(name, width)]]
    while groups:
        group = groups.pop()
        ways = [[_around(name, *ends, width) for name in group] for ends in _in_common(group)]
        shown |= zip(group, max(ways, key=lambda way: len({*way}), default=[]), strict=True)
        alike: dict[str, list[str]] = {}
        for name in group:
            alike.setdefault(shown[name], []).append(name)
        groups += [own for own in alike.values() if 1 < len(own) < len(group)]
    return shown


def _is_over(text: str, width: int) -> bool:
    # marks without a column of their own would never be too many
    return len(text) > 4 * width or columns(text) > width


def _in_common(names: Sequence[str]) -> list[tuple[int, int]]:
    """Give how many characters of begin and end names have in common: up to the bounds of words, and all of them."""
    if len(names) < 2:
        return [(0, 0) for _ in names]
    begin = _alike(names)
    end = _alike([name[begin:][::-1] for name in names])
    first, last = begin, end
    while first and any(_splits(name, first) for name in names):
        first -= 1
    while last and any(_splits(name, len(name) - last) for name in names):
        last -= 1
    return [(first, last), (begin, end)]


def _alike(names: Sequence[str]) -> int:
    first, last = min(names), max(names)
    return next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))


def _splits(text: str, at: int) -> bool:
    """Return whether a word or a number goes on over a place of a text."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if not (before.isalnum() and after.isalnum()):
        return False
    return before.isdigit() == after.isdigit() and not (before.islower() and after.isupper())


def _around(name: str, begin: int, end: int, width: int) -> str:
    """Shorten a name to what is between its begin and its end, with as much of these as there is room for."""
    middle, rest = name[begin : len(name) - end], name[len(name) - end :]
    room = width - bool(begin) - bool(end)
    if not middle or room < 1:
        return clip(name, width)
    if _is_over(middle, room):
        # the end of a name tells cases apart as often as its begin, which says more where there is little room
        kept = (room - 1) // 2 if room >= _ROOM else 0
        return f"{'…' if begin else ''}{_clip(middle, room, kept)}{'…' if end else ''}"
    left = room - columns(middle)
    tail = _prefix(rest[::-1], max(left // 2, left - columns(name[:begin])))[::-1]
    head = _prefix(name[:begin], left - columns(tail))
    return f"{head}{'…' if len(head) < begin else ''}{middle}{'…' if len(tail) < end else ''}{tail}"


def _prefix(text: str, width: int) -> str:
    if text.isascii():
        return text[: max(width, 0)]
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


def wrap(text: str, width: int, *, first: str = "", rest: str = "", typed: bool = False) -> list[str]:
    """Break a text into lines of a width, the first begun with `first` and the others with `rest`.

    Runs of blanks stay within a line: names may hold them. typed: what stands in backticks stays on one line, however
    long, so that it can be copied.
    """
    text = _CODE.sub(lambda code: code[0].replace(" ", _KEPT), text) if typed else text
    lines: list[str] = []
    line = first
    empty = True
    words = _SPACES.sub(" ", text).strip(" ").split(" ")
    for word in _pieces(words, max(8, width - max(columns(first), columns(rest)))):
        if not empty and columns(line) + 1 + columns(word) > width:
            lines.append(line.rstrip(" "))
            line, empty = rest, True
        if word or not empty:
            line += (word if empty else f" {word}").replace(_KEPT, " ")
            empty = False
    return [*lines, line.rstrip(" ")]


def _pieces(words: Iterable[str], width: int) -> Iterable[str]:
    for word in words:
        left = word
        while columns(left) > width and _KEPT not in word:
            piece = _prefix(left, width)
            yield piece
            left = left[len(piece) :]
        yield left


def benchmark_option(name: str) -> str:
    """Write the option that selects one benchmark by its name, for a shell: it is no glob, and no option itself."""
    return f"--benchmark{'=' if name.startswith('-') else ' '}{shlex.quote(glob.escape(name))}"


class NameSet:
    """Names that stay different where they are shortened, to any width."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = list(dict.fromkeys(map(visible, names)))
        self._shown: dict[int, dict[str, str]] = {}

    def short(self, name: str, width: int) -> str:
        """Write one of them, made visible and shortened to a width."""
        if width not in self._shown:
            self._shown[width] = dict(zip(self._names, distinct(self._names, width), strict=True))
        own = visible(name)
        return self._shown[width].get(own) or clip(own, width)
