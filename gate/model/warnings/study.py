"""What the design of a study leaves out, or cannot tell."""

from __future__ import annotations

from gate.model.warnings.base import Base


class OnOneSide(Base, frozen=True):
    """A benchmark is on one side only, and is not measured."""

    says = "{benchmark} is on one side only: it is not measured"
    benchmark: str


class ResponseUndeclared(Base, frozen=True):
    """No benchmark declares a response that is asked for."""

    says = "study.responses: no benchmark declares {response}, only {declared}"
    response: str
    declared: tuple[str, ...]


class FactorUnused(Base, frozen=True):
    """No command names a factor; a program can still read its variable."""

    says = "{factor}: no command has {{{factor}}}, so it changes nothing unless a program reads {variable}"
    factor: str
    variable: str


class OneReplicate(Base, frozen=True):
    """Each treatment is measured once."""

    says = (
        "study.replicates = 1: each treatment is measured once, so the noise shows only in interactions "
        "that the model leaves out; set study.replicates = 3 or more to measure it"
    )


class ReplicatesAdded(Base, frozen=True):
    """Replicates were added to a study that had begun."""

    says = (
        "replicates were added after the study had begun ({planned} planned, now {now}): if its first results were the "
        "reason, claims are wrong more often than the p values say"
    )
    planned: int
    now: int


class BuiltOnce(Base, frozen=True):
    """Each setting of factors that differ between builds is built once."""

    says = (
        "{factors:joined}: differs between builds, and each setting is built once: its effect cannot be separated from "
        "the luck of one build; set study.builds = 5"
    )
    factors: tuple[str, ...]


class OneSessionEach(Base, frozen=True):
    """A setting of factors that differ between sessions is measured in one session."""

    says = (
        "{factors:joined}: a setting is measured in one session only: its effect cannot be separated from that "
        "session's; measure two sessions for each setting"
    )
    factors: tuple[str, ...]
