"""What the design of a study leaves out, or cannot tell."""

from __future__ import annotations

from gate.model.warnings.base import Base


class OnOneSide(Base, frozen=True):
    """A benchmark is on one side only, and is not measured."""

    benchmark: str


class ResponseUndeclared(Base, frozen=True):
    """No benchmark declares a response that is asked for."""

    response: str
    """Its name."""
    declared: tuple[str, ...]
    """Names of those that are declared."""


class FactorUnused(Base, frozen=True):
    """No command names a factor; a program can still read its variable."""

    factor: str
    """Its name."""
    variable: str
    """Name of the environment variable that holds its setting."""


class OneReplicate(Base, frozen=True):
    """Each treatment is measured once."""


class ReplicatesAdded(Base, frozen=True):
    """Replicates were added to a study that had begun."""

    planned: int
    """Replicates that were planned."""
    now: int
    """Replicates that there are now."""


class BuiltOnce(Base, frozen=True):
    """Each setting of factors that differ between builds is built once."""

    factors: tuple[str, ...]
    """Their names."""


class OneSessionEach(Base, frozen=True):
    """A setting of factors that differ between sessions is measured in one session."""

    factors: tuple[str, ...]
    """Their names."""
