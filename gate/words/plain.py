"""Text from elsewhere made safe for one line, and laid out by the columns a terminal gives it."""

from __future__ import annotations

import glob
import re
import shlex
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence

from gate.model.visible import visible as visible  # whoever writes a line finds it here

_SPACES = re.compile(r"[^\S ]+")
_CSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_ERROR = re.compile(r"\berror\b|[a-z]Error\b", re.IGNORECASE)
"""What compilers and interpreters write before what is wrong."""
_FEWEST = 4
"""Lines among which an earlier one may stand."""


def last_lines(text: str, limit: int | None) -> list[str]:
    """Return the last lines of a program's output, made visible, without colours and blank ends; None: all.

    If the first line that names an error comes before them, it stands above them: a compiler's first error causes the
    others, and Node writes what it could not find above the stack.
    """
    lines = [visible(line.expandtabs(4)).rstrip() for line in _CSI.sub("", text).strip("\r\n").splitlines()]
    if limit is None or len(lines) <= limit:
        return lines
    last = lines[-limit:]
    first = next((number for number, line in enumerate(lines) if _ERROR.search(line)), len(lines))
    if limit < _FEWEST or first >= len(lines) - limit:
        return last
    return [lines[first], "...", *last[2:]]


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
    """Shorten names to a width, so that different ones stay different.

    Those that would look alike keep more of their beginning or of their end, or what is around their first difference;
    where nothing of this tells them apart they are numbered: "pars…json", "pars…json~2".
    """
    shown = {name: clip(name, width) for name in dict.fromkeys(names)}
    for alike in _alike(shown):
        ways = [*_cuts(alike, width), {name: shown[name] for name in alike}]
        others = {text for name, text in shown.items() if name not in alike}
        best = max(ways, key=lambda way: len({*way.values()} - others))
        shown |= best
    for alike in _alike(shown):
        for number, name in enumerate(alike[1:], 2):
            mark = f"~{number}"
            shown[name] = _prefix(shown[name], width - len(mark)) + mark
    return [shown[name] for name in names]


def _alike(shown: Mapping[str, str]) -> list[list[str]]:
    groups: dict[str, list[str]] = {}
    for name, text in shown.items():
        groups.setdefault(text, []).append(name)
    return [group for group in groups.values() if len(group) > 1]


def _cuts(alike: Sequence[str], width: int) -> Iterator[dict[str, str]]:
    """Give ways to shorten names that look alike: with every length of the end, nearest to half first, and a middle."""
    for end in sorted(range(width), key=lambda end: abs(2 * end - width)):
        yield {name: _clip(name, width, end) for name in alike}
    first = next((at for at, here in enumerate(zip(*alike, strict=False)) if len({*here}) > 1), 0)
    start = max(0, first - width // 4)
    yield {name: f"…{_clip(name[start:], width - 1, 0)}" for name in alike}


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


def benchmark_option(name: str) -> str:
    """Write the option that selects one benchmark by its name, for a shell: it is no glob, and no option itself."""
    return f"--benchmark{'=' if name.startswith('-') else ' '}{shlex.quote(glob.escape(name))}"
