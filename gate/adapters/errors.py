"""The error of all adapters, and what msgspec says of data that it refuses."""

from __future__ import annotations

from typing import NamedTuple

import msgspec


class OutputError(ValueError):
    """A tool's output that gives no usable values; its text is one line."""


class Mismatch(NamedTuple):
    """What is wrong with a value, and where in the document it stands: ".head.sha"; "" for the whole."""

    what: str
    where: str


def mismatch_of(error: msgspec.ValidationError) -> Mismatch:
    """Divide msgspec's message, which has no other form: "Expected `int`, got `str` - at `$.schema`"."""
    what, _, where = str(error).replace("`", "").partition(" - at $")
    return Mismatch(what, where)
