"""How base and head were chosen: a closed union of small types, each with its sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

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
    says = "the working tree {where} with uncommitted changes ({changed:file}{untracked:?, {untracked} untracked})"
    changed: int
    untracked: int


class MergeBase(How, frozen=True):
    says = "the merge base with {branch}"
    branch: str


Place = Literal["on", "behind"]
"""Head is on the default branch itself, or that branch has all commits of head."""


class HeadCommit(How, frozen=True):
    says = (
        "HEAD, because {place:=on?head is on {branch} itself|{branch} has all commits of head} and the tree has changes"
    )
    place: Place
    """on: the default branch is checked out. behind: it has all commits of head."""
    branch: str


class CommitBefore(How, frozen=True):
    says = (
        "the commit before head{place:?, because {place:=on?head is on {branch} itself|{branch} has all commits of "
        "head}}"
    )
    place: Place | None = None
    """on: the default branch is checked out. behind: it has all commits of head. None: a workflow asked for it."""
    branch: str = ""


class Unpushed(How, frozen=True):
    says = (
        "the merge base with {remote}, because head {place:=on?is on {branch} with {commits:commit}|has "
        "{commits:commit} of {branch}} that {remote} does not have"
    )
    place: Place
    """on: the default branch is checked out. behind: it has all commits of head."""
    branch: str
    remote: str
    """That branch at the remote, as this clone knows it: origin/main."""
    commits: int


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
    says = "the commit of #{number}{merged:? merged into its target}, confirmed by the forge"
    number: int
    merged: bool
    """Whether it is merged into its target."""


class OfForeignRun(How, frozen=True):
    says = "the commit that the fork's workflow run names"


# --- creep ------------------------------------------------------------------------------------------------------------


class PinnedCommit(How, frozen=True):
    says = "{ref}, pinned by [creep]"
    ref: str


class LatestTag(How, frozen=True):
    says = "{tag}, the tag nearest to head{tags:=*?| of {tags}}"
    tag: str
    tags: str
    """Their pattern; "*": all."""


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
