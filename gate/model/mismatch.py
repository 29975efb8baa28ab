"""What msgspec says of data that it refuses, in two parts."""

from __future__ import annotations

from typing import NamedTuple

import msgspec


class Mismatch(NamedTuple):
    """What is wrong with a value, and where in the document it is: ".head.sha"; "" for the whole."""

    what: str
    where: str


def mismatch_of(error: msgspec.ValidationError) -> Mismatch:
    """Divide msgspec's message, which has no other form: "Expected `int`, got `str` - at `$.schema`"."""
    what, _, where = str(error).replace("`", "").partition(" - at $")
    return Mismatch(what, where)
