"""Footnotes of a table: each text once, and the marks that point to it."""

from __future__ import annotations

from collections.abc import Iterable

_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def superscript(number: int) -> str:
    """Write a number as a mark: "¹²"."""
    return str(number).translate(_SUPERSCRIPT)


class Footnotes:
    """Texts numbered from 1 in the order of use; what is over the limit (None: there is none) is counted."""

    def __init__(self, limit: int | None) -> None:
        """Begin without any."""
        self.texts: dict[str, int] = {}
        self.left_out = 0
        self._limit = limit

    def numbers(self, texts: Iterable[str]) -> list[int]:
        """Give the numbers of texts, without those that are over the limit."""
        return [number for number in map(self._number, texts) if number]

    def marks(self, texts: Iterable[str]) -> str:
        """Give the marks of texts as they stand behind a cell: " ¹ ²"."""
        return "".join(f" {superscript(number)}" for number in self.numbers(texts))

    def _number(self, text: str) -> int:
        if text not in self.texts and self._limit is not None and len(self.texts) >= self._limit:
            self.left_out += 1
            return 0
        return self.texts.setdefault(text, len(self.texts) + 1)
