"""Counts the words of a text."""

import re
from collections import Counter
from collections.abc import Iterator

WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")


def words(text: str) -> Iterator[str]:
    """Every word of the text in order, with capitals made small."""
    for match in WORD.finditer(text):
        yield match.group().casefold()


def most_common(text: str, count: int) -> list[tuple[str, int]]:
    """The most frequent words with how often they occur; ties in alphabetical order."""
    return sorted(Counter(words(text)).items(), key=lambda item: (-item[1], item[0]))[:count]
