"""What an `if` of a GitHub workflow gives, as far as it is known beforehand."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

_TOKEN = re.compile(r"\s*('(?:[^']|'')*'|\d+(?:\.\d+)?|&&|\|\||[!=<>]=|[!()<>,\[\]]|[\w*.-]+)")


class _Unknown:
    """What only the run can tell."""


@dataclass(frozen=True)
class _List:
    """A list, as `fromJSON` gives it."""

    words: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> _List | _Unknown:
        try:
            given = json.loads(text)
        except ValueError:
            return UNKNOWN
        return cls(tuple(str(each).lower() for each in given)) if isinstance(given, list) else UNKNOWN


UNKNOWN: Final = _Unknown()
Value = str | float | bool | _List | _Unknown | None


def gives(text: object, known: Mapping[str, Value], results: Sequence[str]) -> bool | None:
    """Return whether a job or a step with this `if` runs; None: that is not known beforehand.

    Args:
        text: the condition as YAML gives it; None: there is none.
        known: values by the name of their property, in lower case.
        results: of what comes before: success, failure, cancelled or skipped.
    """
    source = "" if text is None else str(text).strip()
    source = source.removeprefix("${{").removesuffix("}}") if source.startswith("${{") else source
    reader = _Reader(source, known, results)
    value: Value = True
    if source.strip():
        value = reader.either()
        if reader.tokens or reader.rest:
            return None
    if not reader.asks:
        value = value if all(each == "success" for each in results) else False
    return None if isinstance(value, _Unknown) else _is_true(value)


def _is_true(value: Value) -> bool:
    return value not in ("", 0, False, None)


def _folded(value: Value) -> Value:
    return value.lower() if isinstance(value, str) else value


class _Reader:
    def __init__(self, source: str, known: Mapping[str, Value], results: Sequence[str]) -> None:
        self.known = known
        self.results = results
        self.tokens: list[str] = []
        self.asks = False
        """Whether it names a function of status; without one, `success()` is meant as well."""
        at = 0
        while (match := _TOKEN.match(source, at)) is not None:
            self.tokens.append(match[1])
            at = match.end()
        self.rest = source[at:].strip()

    def took(self, *tokens: str) -> str | None:
        return self.tokens.pop(0) if self.tokens and self.tokens[0] in tokens else None

    def either(self) -> Value:
        value = self.both()
        while self.took("||"):
            other = self.both()
            if isinstance(value, _Unknown):
                value = True if not isinstance(other, _Unknown) and _is_true(other) else UNKNOWN
            elif not _is_true(value):
                value = other
        return value

    def both(self) -> Value:
        value = self.compared()
        while self.took("&&"):
            other = self.compared()
            if isinstance(value, _Unknown):
                value = False if not isinstance(other, _Unknown) and not _is_true(other) else UNKNOWN
            elif _is_true(value):
                value = other
        return value

    def compared(self) -> Value:
        value = self.turned()
        while (how := self.took("==", "!=", "<", ">", "<=", ">=")) is not None:
            other = self.turned()
            if isinstance(value, _Unknown) or isinstance(other, _Unknown) or how not in ("==", "!="):
                value = UNKNOWN
            else:
                value = (_folded(value) == _folded(other)) == (how == "==")
        return value

    def turned(self) -> Value:
        if self.took("!"):
            value = self.turned()
            return value if isinstance(value, _Unknown) else not _is_true(value)
        return self.single()

    def single(self) -> Value:
        word = self.tokens.pop(0) if self.tokens else ""
        if word == "(":
            value = self.either()
            self.took(")")
        elif word.startswith("'"):
            value = word[1:-1].replace("''", "'")
        elif word[:1].isdigit():
            value = float(word)
        elif word.lower() in ("true", "false", "null"):
            value = {"true": True, "false": False, "null": None}[word.lower()]
        elif self.took("("):
            value = self.called(word.lower())
        else:
            value = self.known.get(word.lower(), UNKNOWN)
        if self.took("["):
            self.either()
            self.took("]")
            return UNKNOWN
        return value

    def called(self, name: str) -> Value:
        """Take the arguments of a function, and return what it gives."""
        values: list[Value] = []
        while self.tokens and not self.took(")"):
            values.append(self.either())
            if not self.took(",") and self.tokens[:1] != [")"]:
                self.tokens.clear()
        status: Mapping[str, Value] = {
            "always": True,
            "success": all(each == "success" for each in self.results),
            "failure": "failure" in self.results,
            "cancelled": False,
        }
        if name in status:
            self.asks = True
            return status[name]
        if name == "fromjson" and len(values) == 1 and isinstance(values[0], str):
            return _List.of(values[0])
        if name == "contains" and len(values) == 2 and isinstance(values[0], _List) and isinstance(values[1], str):
            return values[1].lower() in values[0].words
        texts = [each.lower() for each in values if isinstance(each, str)]
        if len(texts) == len(values) == 2:
            text, part = texts
            found = {"contains": part in text, "startswith": text.startswith(part), "endswith": text.endswith(part)}
            return found.get(name, UNKNOWN)
        return UNKNOWN
