"""What all warnings have in common, and the warning of whose text nothing is known."""

from __future__ import annotations

from typing import ClassVar, Literal

from gate.writing.sentences import Sentence

Weight = Literal["first", "middle", "later"]
"""Where a short report shows a warning: before the others, among them, or in the details only."""
WEIGHTS: tuple[Weight, Weight, Weight] = ("first", "middle", "later")


class Base(Sentence, frozen=True):
    """A warning. All fields can be hashed, so that equal warnings are told once."""

    weight: ClassVar[Weight] = "middle"
    for_experts: ClassVar[bool] = False
    """Whether only a reader who asks for everything is shown it."""
    in_headline: ClassVar[bool] = False
    """Whether the headline of a report says it, beside the verdict."""


class First(Base, frozen=True):
    """One that a short report shows before the others."""

    weight: ClassVar[Weight] = "first"


class Later(Base, frozen=True):
    """One that stands in the details only."""

    weight: ClassVar[Weight] = "later"


class Said(Base, frozen=True):
    says = "{text}"
    text: str
