"""What the design of a study leaves out, or cannot tell."""

from __future__ import annotations

from gate.model.warnings.base import Base


class OnOneSide(Base, frozen=True):
    says = "{benchmark} is on one side only: it is not measured"
    benchmark: str


class ResponseUndeclared(Base, frozen=True):
    says = "study.responses: no benchmark declares {response}, only {declared}"
    response: str
    declared: tuple[str, ...]


class FactorUnused(Base, frozen=True):
    says = "{factor}: no command has {{{factor}}}, so it changes nothing unless a program reads {variable}"
    factor: str
    variable: str


class OneReplicate(Base, frozen=True):
    says = (
        "study.replicates = 1: each treatment is measured once, so the noise shows only in interactions "
        "that the model leaves out; set study.replicates = 3 or more to measure it"
    )


class ReplicatesAdded(Base, frozen=True):
    says = (
        "replicates were added after the study had begun ({planned} planned, now {now}): if its first results were the "
        "reason, claims are wrong more often than the p values say"
    )
    planned: int
    now: int


class BuiltOnce(Base, frozen=True):
    says = (
        "{factors:joined}: differs between builds, and each setting is built once: its effect cannot be separated from "
        "the luck of one build; set study.builds = 5"
    )
    factors: tuple[str, ...]


class OneSessionEach(Base, frozen=True):
    says = (
        "{factors:joined}: a setting is measured in one session only: its effect cannot be separated from that "
        "session's; measure two sessions for each setting"
    )
    factors: tuple[str, ...]
