"""How base and head were chosen: a closed union of small types, each with its sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from gate.units import plural
from gate.writing.sentences import Sentence, kinds_of


class How(Sentence, frozen=True):
    """How one side was chosen; the sentence goes on behind "base is"."""


class Given(How, frozen=True):
    says = "{ref} as given"
    ref: str


class _OnBranch(How, frozen=True):
    branch: str | None
    """Name of the branch; None: HEAD is detached."""
    sha: str

    @property
    def where(self) -> str:
        return f"on {self.branch}" if self.branch else f"at the detached {self.sha[:12]}"


class LastCommit(_OnBranch, frozen=True):
    says = "the last commit {where}"


class WorkingTree(_OnBranch, frozen=True):
    """The working tree with its changes."""

    changed: int
    untracked: int

    def _said(self) -> str:
        changed = plural(self.changed, "file") + (f", {self.untracked} untracked" if self.untracked else "")
        return f"the working tree {self.where} with uncommitted changes ({changed})"


class MergeBase(How, frozen=True):
    says = "the merge base with {branch}"
    branch: str


Place = Literal["on", "behind"]
"""Head is on the default branch itself, or that branch has all commits of head."""


def _place(place: Place, branch: str) -> str:
    return f"head is on {branch} itself" if place == "on" else f"{branch} has all commits of head"


class HeadCommit(How, frozen=True):
    """HEAD, against which the changes of the working tree are compared."""

    place: Place
    """on: the default branch is checked out. behind: it has all commits of head."""
    branch: str

    def _said(self) -> str:
        return f"HEAD, because {_place(self.place, self.branch)} and the tree has changes"


class CommitBefore(How, frozen=True):
    """The commit before head, where there is no merge base to compare with."""

    place: Place | None = None
    """on: the default branch is checked out. behind: it has all commits of head. None: a workflow asked for it."""
    branch: str = ""

    def _said(self) -> str:
        because = "" if self.place is None else f", because {_place(self.place, self.branch)}"
        return f"the commit before head{because}"


class Unpushed(How, frozen=True):
    """The merge base with the remote's default branch, which lacks the last commits of head."""

    place: Place
    """on: the default branch is checked out. behind: it has all commits of head."""
    branch: str
    remote: str
    """That branch at the remote, as this clone knows it: origin/main."""
    commits: int

    def _said(self) -> str:
        commits = plural(self.commits, "commit")
        has = f"is on {self.branch} with {commits}" if self.place == "on" else f"has {commits} of {self.branch}"
        return f"the merge base with {self.remote}, because head {has} that {self.remote} does not have"


class FirstParent(How, frozen=True):
    says = "the first parent of the pull request's merge commit"


class WorkingAncestor(How, frozen=True):
    says = "the nearest ancestor of {ref} that builds and runs, {steps:commit} before it"
    ref: str
    steps: int


class AsHead(How, frozen=True):
    says = "head"


# --- in a workflow ----------------------------------------------------------------------------------------------------


class QueueBase(How, frozen=True):
    says = "the commit that the merge queue builds on"


class PullBase(How, frozen=True):
    says = "the pull request's base"


class BeforePush(How, frozen=True):
    says = "the commit before this push"


class AsMeasured(How, frozen=True):
    says = "the commit of the measuring run"


class CheckedOut(How, frozen=True):
    says = "the commit that was checked out"


class OfPull(How, frozen=True):
    """The head of a fork's pull request, which the forge confirms."""

    number: int
    merged: bool
    """Whether it is merged into its target."""

    def _said(self) -> str:
        merged = " merged into its target" if self.merged else ""
        return f"the commit of #{self.number}{merged}, confirmed by the forge"


class OfForeignRun(How, frozen=True):
    says = "the commit that the fork's workflow run names"


# --- creep ------------------------------------------------------------------------------------------------------------


class PinnedCommit(How, frozen=True):
    says = "{ref}, pinned by [creep]"
    ref: str


class LatestTag(How, frozen=True):
    """The tag nearest to head among those that [creep] means."""

    tag: str
    tags: str
    """Their pattern; "*": all."""

    def _said(self) -> str:
        return f"{self.tag}, the tag nearest to head{'' if self.tags == '*' else f' of {self.tags}'}"


class DefaultTip(How, frozen=True):
    says = "the tip of {branch}"
    branch: str


if TYPE_CHECKING:
    AnyHow = How
else:
    AnyHow = kinds_of(How)


class Choice(msgspec.Struct, frozen=True):
    """How both sides were chosen; None: there is no such side."""

    base: AnyHow | None
    """How base was chosen; None: there is no such side."""
    head: AnyHow | None
    """How head was chosen; None: there is no such side."""

    def __str__(self) -> str:
        """Say it: "base is the merge base with main; head is the last commit on feature"."""
        if isinstance(self.base, AsHead):
            return "head on both sides"
        sides = (("base", self.base), ("head", self.head))
        return "; ".join(f"{name} is {how.sentence()}" for name, how in sides if how is not None)
