"""How base and head were chosen, as a value and as its sentence: a kind without an example here fails."""

from typing import get_args

import msgspec
import pytest

from gate.model import choice as c
from gate.report import json as report_json
from tests.gate.report import examples

SHA = "0123456789abcdef" * 2 + "01234567"
EXAMPLES: list[tuple[c.AnyHow, str]] = [
    (c.Given("v1"), "v1 as given"),
    (c.LastCommit("main", SHA), "the last commit on main"),
    (c.LastCommit(None, SHA), "the last commit at the detached 0123456789ab"),
    (c.WorkingTree("main", SHA, 1, 0), "the working tree on main with uncommitted changes (1 file)"),
    (
        c.WorkingTree(None, SHA, 3, 2),
        "the working tree at the detached 0123456789ab with uncommitted changes (3 files, 2 of them untracked)",
    ),
    (c.MergeBase("origin/main"), "the merge base with origin/main"),
    (c.HeadCommit("on", "main"), "HEAD, because head is on main itself and the tree has changes"),
    (c.HeadCommit("behind", "main"), "HEAD, because main has all commits of head and the tree has changes"),
    (c.CommitBefore("on", "main"), "the commit before head, because head is on main itself"),
    (c.CommitBefore(), "the commit before head"),
    (
        c.Unpushed("on", "main", "origin/main", 2),
        "the merge base with origin/main, because head is on main with 2 commits that origin/main does not have",
    ),
    (
        c.Unpushed("behind", "main", "origin/main", 1),
        "the merge base with origin/main, because head has 1 commit of main that origin/main does not have",
    ),
    (c.WorkingAncestor("main", 2), "the nearest ancestor of main that builds and runs, 2 commits before it"),
    (c.FirstParent(), "the first parent of the pull request's merge commit"),
    (c.AsHead(), "head"),
    (c.QueueBase(), "the commit that the merge queue builds on"),
    (c.PullBase(), "the pull request's base"),
    (c.BeforePush(), "the commit before this push"),
    (c.AsMeasured(), "the commit of the measuring run"),
    (c.CheckedOut(), "the commit that was checked out"),
    (c.OfPull(12, merged=False), "the commit of #12, confirmed by the forge"),
    (c.OfPull(12, merged=True), "the commit of #12 merged into its target, confirmed by the forge"),
    (c.OfForeignRun(), "the commit that the fork's workflow run names"),
    (c.PinnedCommit("v1.2"), "v1.2, pinned by [creep]"),
    (c.LatestTag("v1.2", "*"), "v1.2, the tag nearest to head"),
    (c.LatestTag("v1.2", "v*"), "v1.2, the tag nearest to head of v*"),
    (c.DefaultTip("main"), "the tip of main"),
]


def test_every_kind_has_an_example() -> None:
    assert {type(how) for how, _ in EXAMPLES} == set(get_args(c.AnyHow))


@pytest.mark.parametrize(("how", "said"), EXAMPLES)
def test_a_side_is_told_and_comes_back_from_a_file(how: c.AnyHow, said: str) -> None:
    choice = c.Choice(None, how)
    assert str(choice) == f"head is {said}"
    assert msgspec.json.decode(msgspec.json.encode(choice), type=c.Choice) == choice
    run = examples.run_facts(choice=choice)
    report = msgspec.structs.replace(examples.passing(), run=run)
    assert report_json.read(report_json.render(report)).run.choice == choice


def test_both_sides_are_told() -> None:
    both = c.Choice(c.MergeBase("main"), c.LastCommit("feature", SHA))
    assert str(both) == "base is the merge base with main; head is the last commit on feature"
    assert str(c.Choice(c.AsHead(), c.LastCommit("feature", SHA))) == "head on both sides"
