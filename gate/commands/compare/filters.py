"""--filter: benchstat's expressions: goos:linux, .name:/Parse.*/, unit:(time OR memory), -pkg:a AND (x:1 OR x:2)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NoReturn

import msgspec

from gate.commands.compare.keys import Item, Key, key_of, require_known
from gate.model import UserError

Test = Callable[[Item], bool]
_TOKEN = re.compile(
    r'\s*(?:(?P<mark>[()*]|-(?=[^\s-])|:)|"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<word>[^\s()":*][^\s()":]*))'
)
_REGEXP = re.compile(r"/((?:[^/\\]|\\.)*)/")


class Filter(msgspec.Struct, frozen=True):
    """An expression, and the keys that it names."""

    text: str
    keys: tuple[Key, ...]
    test: Test
    """Whether an item is wanted."""

    def check(self, items: Sequence[Item]) -> None:
        """Refuse keys of which no value says anything.

        Raises:
            UserError: it names the keys that there are.
        """
        require_known(self.keys, items, "--filter")


def filter_of(text: str) -> Filter:
    """Read an expression.

    Raises:
        UserError: it cannot be read; the message says at which character.
    """
    reader = _Reader(text)
    test = reader.either()
    if reader.at < len(text.rstrip()):
        reader.fail("a key or the end")
    return Filter(text, tuple(reader.keys), test)


class _Reader:
    """Reads an expression from its beginning to its end."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.keys: list[Key] = []

    def either(self) -> Test:
        tests = [self.all_of()]
        while self.word() == "OR":
            self.next()
            tests.append(self.all_of())
        return tests[0] if len(tests) == 1 else lambda item: any(test(item) for test in tests)

    def all_of(self) -> Test:
        tests = [self.one()]
        while True:
            token = self.peek()
            if token is None or token[0] == ")" or token == ("word", "OR"):
                break
            if token == ("word", "AND"):
                self.next()
            tests.append(self.one())
        return tests[0] if len(tests) == 1 else lambda item: all(test(item) for test in tests)

    def one(self) -> Test:
        kind, text = self.next("a key")
        if kind == "-":
            test = self.one()
            return lambda item: not test(item)
        if kind == "(":
            inner = self.either()
            if self.next('")"')[0] != ")":
                self.fail('")"')
            return inner
        if kind == "*":
            return lambda _: True
        if kind not in ("word", "quoted") or (kind == "word" and text in ("AND", "OR")):
            self.fail("a key")
        return self.match(key_of(text))

    def match(self, key: Key) -> Test:
        if self.next('":" after the key')[0] != ":":
            self.fail('":" after the key')
        self.keys.append(key)
        tests = list(self.alternatives(key.text))
        return lambda item: (
            any(test(value) for value in key.values(item) for test in tests)
            or (
                # what nobody says is the empty word
                not key.values(item) and any(test("") for test in tests)
            )
        )

    def alternatives(self, key: str) -> Iterator[Callable[[str], bool]]:
        found = self.peek()
        if found is None or found[0] != "(":
            yield self.value()
            return
        self.next()
        yield self.value()
        while (found := self.next('"OR" or ")"')) == ("word", "OR"):
            yield self.value()
        if found[0] != ")":
            raise UserError(f'--filter {self.text}: write "OR" between the values in parentheses: {key}:(A OR B)')

    def value(self) -> Callable[[str], bool]:
        match = _REGEXP.match(self.text, self.at)
        if match:
            self.at = match.end()
            try:
                pattern = re.compile(match[1].replace(r"\/", "/"))
            except re.error as error:
                raise UserError(f"--filter {self.text}: /{match[1]}/ is not a regular expression: {error}") from None
            # from the beginning to the end of the value, as benchstat has it
            return lambda text: pattern.fullmatch(text) is not None
        kind, wanted = self.next("a value")
        if kind not in ("word", "quoted"):
            self.fail("a value")
        return lambda text: text == wanted

    def peek(self) -> tuple[str, str] | None:
        before = self.at
        found = self.next() if self.text[self.at :].strip() else None
        self.at = before
        return found

    def word(self) -> str:
        found = self.peek()
        return found[1] if found is not None and found[0] == "word" else ""

    def next(self, wanted: str = "a key") -> tuple[str, str]:
        match = _TOKEN.match(self.text, self.at)
        if match is None and self.text[self.at :].lstrip().startswith('"'):
            self.at = len(self.text)
            self.fail("a closing quote")
        if match is None:
            self.fail(wanted)
        self.at = match.end()
        if match["mark"]:
            return match["mark"], ""
        if match["quoted"] is not None:
            return "quoted", re.sub(r"\\(.)", r"\1", match["quoted"])
        return "word", match["word"]

    def fail(self, wanted: str) -> NoReturn:
        raise UserError(f"--filter {self.text}: expected {wanted} at character {self.at + 1}")
