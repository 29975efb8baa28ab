"""A fact about a report, by its name."""

from __future__ import annotations

import msgspec


class Fact(msgspec.Struct, frozen=True):
    """A name and what there is to say of it; code: a part that is written as code."""

    name: str
    text: str
    code: str = ""
