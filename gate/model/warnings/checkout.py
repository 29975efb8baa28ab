"""What is wrong with the checkout of a workflow."""

from __future__ import annotations

from gate.model.warnings.base import Base


class NoCommonCommit(Base, frozen=True):
    """Head and the pull request's base have no common commit."""

    base: str
    """The commit of the pull request's base."""


class SubmoduleAbsent(Base, frozen=True):
    """A submodule is not in the checkout."""

    path: str


class SubmoduleLacksCommit(Base, frozen=True):
    """A submodule lacks a commit, which cannot be fetched."""

    path: str
    commit: str
    """Its hash."""
    problem: str
    """What git said."""


class PointersCheckedOut(Base, frozen=True):
    """Files of git lfs are pointers."""

    files: tuple[str, ...]
    """The first of them."""
    more: int
    """How many more there are."""


class LfsNotFetched(Base, frozen=True):
    """Base's files of git lfs cannot be fetched."""

    problem: str
    """What git said."""


class TokenLeft(Base, frozen=True):
    """A token for the repository is where benchmarks can read it."""

    place: str
    """Where it is."""


class CheckoutChanged(Base, frozen=True):
    """The checkout has changes that are not in its commit, so they are not measured."""

    files: tuple[str, ...]
    """The first of them."""
    more: int
    """How many more there are."""


class MoreWarnings(Base, frozen=True):
    """There are more warnings than are told."""

    count: int
    """How many more."""
