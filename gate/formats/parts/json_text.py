"""JSON as tools write it: numbers that are none, raw control characters, halves of pairs, several documents."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from gate.formats.parts.output import OutputError

_MARK = re.compile(r'"(?:[^"\\]|\\.)*+"|["{}\[\],]', re.DOTALL)
"""A string, what opens, ends or parts, or the quote of a string that does not end."""
_BEGINS = re.compile(r'^\ufeff?[ \t]*+(?=\{\s*+"|\[\s*+\{)', re.MULTILINE)
"""Where a document may begin that a tool wrote: at the beginning of a line, an object or a list of objects."""
_FOLLOWS = re.compile(r'\s*+\ufeff?(?=\{\s*+"|\[\s*+\{)')
_MOST_DOCUMENTS = 1000
"""Of one file: more are the lines of a log."""
_UNQUOTED = re.compile(
    r'"(?:[^"\\]|\\.)*+"|(?<![\w.])-?(?:nan(?:\([\w ]*\))?|inf(?:inity)?|1\.#[A-Z]{3,4})(?!\w)',
    re.DOTALL | re.IGNORECASE,
)
"""A string, or a number that is none as C, C++ and the library of Microsoft print it."""
_SURROGATES = re.compile(
    r"\\\\|\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|(\\ud[89a-f][0-9a-f]{2})", re.ASCII | re.IGNORECASE
)
"""Of JSON's text: a backslash, a pair, or half of one, which is no text and nothing can write."""


def parse_json(text: str, whole: Callable[[str], float] = float) -> Any:
    """Read JSON that may hold NaN, Infinity, nan, inf, raw control characters and halves of a surrogate pair.

    Args:
        whole: reads an integer; one of any length fits into a float, if only as infinity.

    Raises:
        ValueError: it is no JSON.
        RecursionError: it is too deep.
    """
    if "\\ud" in text or "\\uD" in text:
        text = _SURROGATES.sub(lambda found: f"\\{found[1]}" if found[1] else found[0], text)
    try:
        return json.loads(text, strict=False, parse_int=whole)
    except json.JSONDecodeError:

        def as_python(found: re.Match[str]) -> str:
            shown = found[0].lower()
            if shown.startswith('"'):
                return found[0]
            if shown.lstrip("-").startswith("inf") or shown.endswith("#inf"):
                return "-Infinity" if shown.startswith("-") else "Infinity"
            return "NaN"

        replaced = _UNQUOTED.sub(as_python, text)
        if replaced == text:
            raise
        return json.loads(replaced, strict=False, parse_int=whole)


def parsed(text: str) -> Any:
    """Read JSON; None where it is none."""
    try:
        return parse_json(text, int)
    except (ValueError, RecursionError):
        return None


class JsonPiece(NamedTuple):
    """A JSON document in a file that is more than one."""

    line: int
    """Where it begins, from 1."""
    text: str
    whole: bool
    """False: it is cut off."""


def documents(text: str) -> list[JsonPiece]:
    """Find the JSON documents of a text, behind lines of a tool or a build, or one behind the other.

    JSON that is not valid and ends on its line is a line of a log. A document that is cut off is the last one. None are
    found where there are too many: those are lines.

    Raises: OutputError: what begins like a document is not valid, by its line.
    """
    found: list[JsonPiece] = []
    decoder = json.JSONDecoder(strict=False)
    at, line, counted = 0, 1, 0
    while match := (_FOLLOWS.match(text, at) if at else None) or _BEGINS.search(text, at):
        start = match.end()
        line, counted = line + text.count("\n", counted, start), start
        end: int | None
        try:
            _, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end, why = _end(text, start), ""
            try:
                parse_json("{}" if end is None else text[start:end])
            except json.JSONDecodeError as error:
                why = f"line {line + error.lineno - 1}: {error.msg} in the JSON that begins at line {line}"
            except (ValueError, RecursionError):
                why = f"line {line}: the JSON that begins here is too deep"
            if why and "\n" not in text[start:end]:
                at = end or at
                continue
            if why:
                raise OutputError(why) from None
        at = len(text) if end is None else end
        found.append(JsonPiece(line, text[start:at], whole=end is not None))
        if len(found) > _MOST_DOCUMENTS:
            return []
    return found


def closed(text: str) -> Any:
    """Read the beginning of a document: what follows its last comma is left out, and what is open is closed."""
    opened: list[str] = []
    # of the last comma: where it is, which of what was open there was closed since, how many of it are open still
    comma, since, still = -1, list[str](), 0
    for found in _MARK.finditer(text):
        mark = found[0]
        if mark == '"':
            break
        if mark in "{[":
            opened.append("}" if mark == "{" else "]")
        elif mark == ",":
            comma, since, still = found.start(), [], len(opened)
        elif mark in "}]" and opened:
            ended = opened.pop()
            if len(opened) < still:
                since.append(ended)
                still = len(opened)
    return None if comma < 0 else parsed(text[:comma] + "".join([*since, *reversed(opened[:still])]))


def is_cut_off(text: str) -> bool:
    """Return whether a JSON document ends before what it opened is closed."""
    first = _MARK.search(text)
    return first is not None and _end(text, first.start()) is None


def _end(text: str, start: int) -> int | None:
    """Return where an object or a list ends that begins somewhere; None: it is cut off."""
    depth = 0
    for found in _MARK.finditer(text, start):
        if found[0] == '"':
            return None
        depth += (found[0] in "{[") - (found[0] in "}]")
        if found[0] in "}]" and depth <= 0:
            return found.end()
    return None
