"""Sentences about how base and head were chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gate.model import choice as kinds
from gate.words.numbers import plural

_SHA = 12


def chosen(choice: kinds.Choice) -> str:
    """Say how the sides were chosen: "base is the merge base with main; head is the last commit on feature"."""
    if isinstance(choice.base, kinds.AsHead):
        return "head on both sides"
    sides = (("base", choice.base), ("head", choice.head))
    return "; ".join(f"{name} is {_HOW[type(how)](how)}" for name, how in sides if how is not None)


def _where(how: kinds.LastCommit | kinds.WorkingTree) -> str:
    return f"on {how.branch}" if how.branch else f"at the detached {how.sha[:_SHA]}"


def _working_tree(how: kinds.WorkingTree) -> str:
    untracked = f", {how.untracked} of them untracked" if how.untracked else ""
    return f"the working tree {_where(how)} with uncommitted changes ({plural(how.changed, 'file')}{untracked})"


def _place(place: kinds.Place, branch: str) -> str:
    return {"on": f"head is on {branch} itself", "behind": f"{branch} has all commits of head"}[place]


def _commit_before(how: kinds.CommitBefore) -> str:
    because = "" if how.place is None else f", because {_place(how.place, how.branch)}"
    return f"the commit before head{because}"


def _unpushed(how: kinds.Unpushed) -> str:
    commits = plural(how.commits, "commit")
    because = {
        "on": f"head is on {how.branch} with {commits} that {how.remote} does not have",
        "behind": f"head has {commits} of {how.branch} that {how.remote} does not have",
    }[how.place]
    return f"the merge base with {how.remote}, because {because}"


_HOW: dict[type, Callable[[Any], str]] = {
    kinds.Given: lambda how: f"{how.ref} as given",
    kinds.LastCommit: lambda how: f"the last commit {_where(how)}",
    kinds.WorkingTree: _working_tree,
    kinds.MergeBase: lambda how: f"the merge base with {how.branch}",
    kinds.HeadCommit: lambda how: f"HEAD, because {_place(how.place, how.branch)} and the tree has changes",
    kinds.CommitBefore: _commit_before,
    kinds.Unpushed: _unpushed,
    kinds.FirstParent: lambda _: "the first parent of the pull request's merge commit",
    kinds.WorkingAncestor: lambda how: (
        f"the nearest ancestor of {how.ref} that builds and runs, {plural(how.steps, 'commit')} before it"
    ),
    kinds.AsHead: lambda _: "head",
    kinds.QueueBase: lambda _: "the commit that the merge queue builds on",
    kinds.PullBase: lambda _: "the pull request's base",
    kinds.BeforePush: lambda _: "the commit before this push",
    kinds.AsMeasured: lambda _: "the commit of the measuring run",
    kinds.CheckedOut: lambda _: "the commit that was checked out",
    kinds.OfPull: lambda how: (
        f"the commit of #{how.number}{' merged into its target' if how.merged else ''}, confirmed by the forge"
    ),
    kinds.PinnedCommit: lambda how: f"{how.ref}, pinned by [creep]",
    kinds.LatestTag: lambda how: f"{how.tag}, the tag nearest to head{'' if how.tags == '*' else f' of {how.tags}'}",
    kinds.DefaultTip: lambda how: f"the tip of {how.branch}",
    kinds.OfForeignRun: lambda _: "the commit that the fork's workflow run names",
}
