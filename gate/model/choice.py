"""How base and head were chosen: a closed union of small types; gate.words.choice says them."""

from __future__ import annotations

from typing import Literal

import msgspec

from gate.model.warnings.base import tag


class How(msgspec.Struct, frozen=True, tag_field="kind", tag=tag):
    """How one side was chosen."""


class Given(How, frozen=True):
    """Named on the command line."""

    ref: str
    """The name as it was given."""


class LastCommit(How, frozen=True):
    """The commit that is checked out, of a tree without changes."""

    branch: str | None
    """Name of the branch; None: HEAD is detached."""
    sha: str


class WorkingTree(How, frozen=True):
    """The working tree with its changes."""

    branch: str | None
    """Name of the branch; None: HEAD is detached."""
    sha: str
    changed: int
    """Files that differ from the commit."""
    untracked: int
    """How many of them are untracked."""


class MergeBase(How, frozen=True):
    """The merge base with a branch."""

    branch: str


Place = Literal["on", "behind"]
"""Head is on the default branch itself, or that branch has all commits of head."""


class HeadCommit(How, frozen=True):
    """HEAD, against which the changes of the working tree are compared."""

    place: Place
    """on: the default branch is checked out. behind: it has all commits of head."""
    branch: str


class CommitBefore(How, frozen=True):
    """The commit before head, where there is no merge base to compare with."""

    place: Place | None = None
    """on: the default branch is checked out. behind: it has all commits of head. None: a workflow asked for it."""
    branch: str = ""


class Unpushed(How, frozen=True):
    """The merge base with the remote's default branch, which lacks the last commits of head."""

    place: Place
    """on: the default branch is checked out. behind: it has all commits of head."""
    branch: str
    """The default branch here."""
    remote: str
    """That branch at the remote, as this clone knows it: origin/main."""
    commits: int
    """Commits of head that it lacks."""


class FirstParent(How, frozen=True):
    """The first parent of the pull request's merge commit."""


class WorkingAncestor(How, frozen=True):
    """The nearest first-parent ancestor of base that builds and runs, which base does not."""

    ref: str
    """Name of base."""
    steps: int
    """How many commits it is before base."""


class AsHead(How, frozen=True):
    """Head itself, on both sides."""


# --- in a workflow ----------------------------------------------------------------------------------------------------


class QueueBase(How, frozen=True):
    """The commit that the merge queue builds on."""


class PullBase(How, frozen=True):
    """The pull request's base, with which head has no common commit."""


class BeforePush(How, frozen=True):
    """The commit before a push."""


class AsMeasured(How, frozen=True):
    """That of an earlier run, which measured."""


class CheckedOut(How, frozen=True):
    """The commit that the workflow checked out."""


class OfPull(How, frozen=True):
    """The head of a fork's pull request, which the forge confirms."""

    number: int
    """Of the pull request."""
    merged: bool
    """Whether it is merged into its target."""


class OfForeignRun(How, frozen=True):
    """What a fork's workflow run says."""


# --- creep ------------------------------------------------------------------------------------------------------------


class PinnedCommit(How, frozen=True):
    """The commit that [creep] names."""

    ref: str
    """As [creep] names it."""


class LatestTag(How, frozen=True):
    """The tag nearest to head among those that [creep] means."""

    tag: str
    """That was found."""
    tags: str
    """Their pattern; "*": all."""


class DefaultTip(How, frozen=True):
    """The tip of the default branch."""

    branch: str


AnyHow = (
    Given
    | LastCommit
    | WorkingTree
    | MergeBase
    | HeadCommit
    | CommitBefore
    | Unpushed
    | FirstParent
    | WorkingAncestor
    | AsHead
    | QueueBase
    | PullBase
    | BeforePush
    | AsMeasured
    | CheckedOut
    | OfPull
    | OfForeignRun
    | PinnedCommit
    | LatestTag
    | DefaultTip
)


class Choice(msgspec.Struct, frozen=True):
    """How both sides were chosen; None: there is no such side."""

    base: AnyHow | None
    """How base was chosen; None: there is no such side."""
    head: AnyHow | None
    """How head was chosen; None: there is no such side."""
