"""Parts of sentences."""

from __future__ import annotations

from collections.abc import Sequence

_NAMED = 3


def listed(names: Sequence[str], between: str = ", ", most: int = _NAMED) -> str:
    """Name three, or so many, at most: "a, b, c and 2 more"."""
    more = len(names) - most
    return between.join(names[:most]) + (f" and {more} more" if more > 0 else "")


def joined(names: Sequence[str]) -> str:
    """Name three at most: "a, b and c", or "a, b, c and 2 more"."""
    if not 1 < len(names) <= _NAMED:
        return listed(names)
    return " and ".join([", ".join(names[:-1]), names[-1]])
