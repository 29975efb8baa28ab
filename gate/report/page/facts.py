"""A fact about a report, by its name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fact:
    """A name and what there is to say of it; code: a part that is written as code."""

    name: str
    text: str
    code: str = ""
