"""The language of CMakeLists.txt: commands with their arguments, inside their blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

_TOKEN = re.compile(
    r'#\[(=*)\[.*?\]\1\]|#[^\n]*|"(?P<quoted>(?:[^"\\]|\\.)*)"|\[(?P<fence>=*)\[(?P<raw>.*?)\](?P=fence)\]'
    r'|(?P<bracket>[()])|(?P<bare>(?:\\.|\$\{[^}\n]*\}|[^\s()"#\\])+)',
    re.DOTALL,
)
_OPENING = {"if", "foreach", "while", "function", "macro", "block"}


class Word(NamedTuple):
    """An argument as it stands there."""

    text: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """A command, and the blocks behind it."""

    name: str
    """In small letters."""
    words: list[Word]
    branches: list[Branch] = field(default_factory=list)
    """Of an if: its own and those of elseif and else; of another block: the one body."""


@dataclass(frozen=True, slots=True)
class Branch:
    """Calls in a block."""

    condition: list[Word]
    calls: list[Call]


def parse(text: str) -> list[Call]:
    """Return the commands of a file; what is not closed ends with the file."""
    whole = Branch([], [])
    # the innermost last: where its calls go, and the command that opened it
    open_: list[tuple[Branch, Call | None]] = [(whole, None)]
    for call in _calls(text):
        inner, opener = open_[-1]
        if call.name in _OPENING:
            inner.calls.append(call)
            call.branches.append(Branch(call.words, []))
            open_.append((call.branches[-1], call))
        elif call.name in ("else", "elseif") and opener is not None:
            opener.branches.append(Branch(call.words if call.name == "elseif" else [], []))
            open_[-1] = (opener.branches[-1], opener)
        elif call.name.startswith("end") and call.name[3:] in _OPENING:
            if opener is not None:
                open_.pop()
        else:
            inner.calls.append(call)
    return whole.calls


def _calls(text: str) -> Iterator[Call]:
    name, words, depth = "", list[Word](), 0
    for token in _TOKEN.finditer(text):
        if token["bracket"] == "(" and depth == 0:
            words, depth = [], 1
        elif token["bracket"] == ")" and depth == 1:
            depth = 0
            yield Call(name.lower(), words)
        elif token["bracket"]:
            # brackets inside are words of their own, which conditions read
            depth += {"(": 1, ")": -1}[token["bracket"]] if depth else 0
            words.append(Word(token["bracket"]))
        elif depth == 0:
            name = token["bare"] or name
        elif token["quoted"] is not None or token["raw"] is not None:
            words.append(Word(token["quoted"] if token["raw"] is None else token["raw"], quoted=True))
        elif token["bare"]:
            words.append(Word(token["bare"]))
