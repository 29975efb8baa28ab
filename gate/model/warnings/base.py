"""What all warnings have in common, and the warning of which only the sentence counts."""

from __future__ import annotations

from typing import ClassVar, Literal

from gate.writing.sentences import Sentence

Weight = Literal["first", "middle", "later"]
"""Where a short report shows a warning: before the others, among them, or in the details only."""
WEIGHTS: tuple[Weight, Weight, Weight] = ("first", "middle", "later")


class Base(Sentence, frozen=True):
    """A warning. All fields can be hashed, so that equal warnings are told once."""

    placed: ClassVar[Weight] = "middle"
    in_headline: ClassVar[bool] = False
    """Whether the headline of a report says it, beside the verdict."""

    @property
    def weight(self) -> Weight:
        """Where a short report shows it."""
        return self.placed


class First(Base, frozen=True):
    """One that a short report shows before the others."""

    placed: ClassVar[Weight] = "first"


class Said(Base, frozen=True):
    """One that only people read, since nothing goes by its numbers: its sentence stands where it is found."""

    text: str
    what: str = "said"
    """Its kind in report.json; sentences of one kind differ in their figures alone."""
    place: Weight = "middle"

    def _said(self) -> str:
        return self.text

    @property
    def weight(self) -> Weight:
        """Where a short report shows it."""
        return self.place
