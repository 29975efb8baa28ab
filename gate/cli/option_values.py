"""The values of options: text of the command line -> numbers, names and places."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from gate.writing.units import Duration, Share

T = TypeVar("T")

MOST_JOBS = 256
"""Of a job matrix, by GitHub's limits."""
MOST_SESSIONS = 64


@dataclass(frozen=True, slots=True)
class Shard:
    """One of several parts of the benchmarks; number from 1."""

    number: int
    of: int

    def __str__(self) -> str:
        """Write it as the command line and the run line have it: "1/3"."""
        return f"{self.number}/{self.of}"

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read "1/3".

        Raises: ValueError: it is no such thing.
        """
        found = re.fullmatch(r"([0-9]{1,3})/([0-9]{1,3})", text, re.ASCII)
        number, of = (int(found[1]), int(found[2])) if found else (0, 0)
        if not 1 <= number <= of <= MOST_JOBS:
            raise ValueError(
                f"{text!r:.80} is not a shard: write 1/3 for the first of three; there are at most {MOST_JOBS}"
            )
        return cls(number, of)


def whole(least: int, most: int) -> Callable[[str], int]:
    """Return what reads a whole number within bounds."""
    upper = "2^63 - 1" if most == 2**63 - 1 else str(most)

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if not least <= number <= most:
            raise argparse.ArgumentTypeError(f"{text!r:.80} is not a whole number from {least} to {upper}")
        return number

    return read


seed = whole(0, 2**63 - 1)
session = whole(0, MOST_SESSIONS - 1)
sessions = whole(1, MOST_SESSIONS)
count = whole(1, 10**9)


def shard(text: str) -> Shard:
    """Read a part of the benchmarks."""
    return _parsed(Shard.parse, text)


def duration(text: str) -> Duration:
    """Read a time span; a number alone is in seconds."""
    from gate.writing.units import Duration

    number = re.fullmatch(r"\s*\d+(\.\d+)?\s*", text, re.ASCII)
    return _parsed(lambda written: Duration.parse(float(written) if number else written), text)


def wait(text: str) -> float:
    """Read a time span, or 0; in seconds."""
    return 0.0 if re.fullmatch(r"\s*0+(\.0+)?\s*s?\s*", text) else float(duration(text))


def share(text: str) -> Share:
    """Read a share."""
    from gate.writing.units import Share

    return _parsed(Share.parse, text)


def folder(text: str) -> Path:
    """Read the name of a folder."""
    if not text:
        raise argparse.ArgumentTypeError("is empty: name a folder")
    return Path(text)


def _parsed(parse: Callable[[str], T], text: str) -> T:
    try:
        return parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
