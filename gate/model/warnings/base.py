"""What all warnings have in common, and the warning of whose text nothing is known."""

from __future__ import annotations

import re
from typing import ClassVar, Literal

import msgspec

Weight = Literal["first", "middle", "later"]
"""Where a short report shows a warning: before the others, among them, or in the details only."""
WEIGHTS: tuple[Weight, Weight, Weight] = ("first", "middle", "later")


def tag(name: str) -> str:
    """Name a type in a file: "too-wide" for TooWide."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()


class Base(msgspec.Struct, frozen=True, tag_field="kind", tag=tag):
    """A warning: its kind in a file is the name of its type, its fields are the numbers and names of its sentence.

    All fields can be hashed, so that equal warnings are told once.
    """

    weight: ClassVar[Weight] = "middle"
    for_experts: ClassVar[bool] = False
    """Whether only a reader who asks for everything is shown it."""
    in_headline: ClassVar[bool] = False
    """Whether the headline of a report says it, beside the verdict."""


class Said(Base, frozen=True):
    """A text from elsewhere, as it stands: an older perfgate, another program, an earlier step of the action."""

    text: str
    """The text."""
