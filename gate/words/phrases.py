"""Parts of sentences: names in a row, and how many more there are."""

from __future__ import annotations

import json
from collections.abc import Sequence

from gate.model import Turn
from gate.units import agree, plural

_LEAST = 0.01
"""A share below which its size is of no interest."""


def listed(names: Sequence[str], most: int = 3, *, between: str = ", ") -> str:
    """Name so many at most: "a, b, c and 2 more"."""
    more = len(names) - most
    return between.join(names[:most]) + (f" and {more} more" if more > 0 else "")


def joined(names: Sequence[str], most: int = 4) -> str:
    """Name all, or of many the first few: "a, b and c", "a, b, c and 2 more"."""
    if len(names) > most:
        return listed(names, most - 1)
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def more_are(count: int, noun: str = "") -> str:
    """Begin a sentence about what is left out: "1 more is", "3 more notes are"."""
    what = plural(count, f"more {noun}") if noun else f"{count:,} more"
    return f"{what} {agree(count, 'is', 'are')}"


def turns(found: Sequence[Turn]) -> str:
    """Say how short turns are, and why they may be: "by turns of 2 values (starting takes 3% of the time)"."""
    low, high = min(each.iterations for each in found), max(each.iterations for each in found)
    count = plural(low, "value") if low == high else f"{low:,} to {high:,} values"
    most = max(each.starting for each in found)
    share = f"{'at most ' if len(found) > 1 else ''}{most:.0%}" if most >= _LEAST else f"less than {_LEAST:.0%}"
    return f"by turns of {count} (starting takes {share} of the time)"


def toml_text(text: str) -> str:
    """Write text as perfgate.toml has it, in quotes."""
    return json.dumps(text, ensure_ascii=False)
