"""Sentences: a type of data with its template beside it, and the one formatter of templates."""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from operator import attrgetter
from typing import Any, ClassVar

import msgspec

from gate.units import agree, format_share, plural
from gate.writing.amounts import format_percent
from gate.writing.phrases import joined, listed


def tag(name: str) -> str:
    """Name a type in a file: "too-wide" for TooWide."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()


class Sentence(msgspec.Struct, frozen=True, tag_field="kind", tag=tag):
    """What is told in one sentence: its kind in a file is the name of its type, its fields are the numbers."""

    says: ClassVar[str] = ""
    """The sentence, with its fields in braces, as `filled` writes them; a type that needs more overrides `_said`."""

    def sentence(self) -> str:
        """Say it, without a full stop; names in it are as they were measured."""
        return self._said()

    def _said(self) -> str:
        return filled(self.says, self)


def filled(template: str, of: object) -> str:
    """Write a template with the fields of an object: "{rounds:round} {rounds:is|are} left out".

    What stands behind the colon: a noun of a count, two verbs of a count or of a list, `share` (rounded), `percent` (a
    share as it was configured), `joined` or `listed` (of names); otherwise it is a format of Python. A list without any
    is written with commas.
    """
    parts = []
    for text, name, spec, conversion in string.Formatter().parse(template):
        parts.append(text)
        if name is not None:
            value = attrgetter(name)(of)
            parts.append(repr(value) if conversion == "r" else _written(value, spec or ""))
    return "".join(parts)


def _written(value: Any, spec: str) -> str:
    if spec in _FORMATS:
        return _FORMATS[spec](value)
    if "|" in spec:
        return agree(value if isinstance(value, int) else len(value), *spec.split("|"))
    if isinstance(value, int) and spec[:1].isalpha():
        return plural(value, spec)
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return format(value, spec)


_FORMATS: dict[str, Callable[[Any], str]] = {
    "share": format_share,
    "percent": format_percent,
    "joined": joined,
    "listed": listed,
}
