"""What the design of a study leaves out, or cannot tell."""

from __future__ import annotations

from gate.model.warnings.base import Base


class OnOneSide(Base, frozen=True):
    """A benchmark is on one side only, and is not measured."""

    benchmark: str


class ResponseUndeclared(Base, frozen=True):
    """No benchmark declares a response that is asked for."""

    response: str
    declared: tuple[str, ...]


class OneReplicate(Base, frozen=True):
    """Each treatment is measured once."""


class ReplicatesAdded(Base, frozen=True):
    """Replicates were added to a study that had begun."""

    planned: int
    now: int


class BuiltOnce(Base, frozen=True):
    """Each setting of factors that differ between builds is built once."""

    factors: tuple[str, ...]


class OneSessionEach(Base, frozen=True):
    """A setting of factors that differ between sessions is measured in one session."""

    factors: tuple[str, ...]
