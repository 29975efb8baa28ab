"""The workflow of `perfgate init --workflow comment` under the real workflow runner: three jobs, one answer."""

import dataclasses

import pytest

from tests.e2e.act import events
from tests.e2e.act.consumer import Change, Consumer, template
from tests.e2e.act.runner import Act
from tests.gate.commands.action.test_ask import HOSTILE
from tests.support.forge import FakeGitHub

pytestmark = [pytest.mark.xdist_group("act"), pytest.mark.endtoend]


@pytest.fixture
def change(consumer: Consumer) -> Change:
    """A fork's pull request; what is checked out is the default branch."""
    made = consumer.change(1.3, owner="mallory/widget")
    consumer.project.git("checkout", "-q", "-f", "main")
    return made


def test_a_member_asks_and_is_answered(act: Act, consumer: Consumer, github: FakeGitHub, change: Change) -> None:
    event = events.comment(12, consumer.base, "/perfgate check --benchmark 'ben*'")
    ran = act.run(consumer.top, event, template("comment"), hosted=True)
    gate = ran.outputs["gate"]
    # the answer is the result, and the default branch, whose job this is, stays green
    assert (ran.exit, gate["verdict"], gate["exit-code"]) == (0, "regression", "1"), ran.log
    [told] = github.comments
    assert "❌ **perfgate: Regression**" in told["body"] and change.head[:10] in told["body"]
    assert gate["comment-url"]
    again = act.run(consumer.top, event, template("comment"), hosted=True)
    assert again.exit == 0 and "refused: the same was asked before" in again.log and again.outputs == {}
    assert [one["id"] for one in github.comments] == [told["id"]]
    assert (github.statuses, github.violations) == ([], [])


@pytest.mark.nightly
def test_the_label_asks_too(act: Act, consumer: Consumer, github: FakeGitHub, change: Change) -> None:
    labeled = change.event("labeled", ("perfgate",))
    labeled.payload["sender"] = {"login": "maintainer", "type": "User"}
    event = dataclasses.replace(labeled, name="pull_request_target", ref="refs/heads/main")
    ran = act.run(consumer.top, event, template("comment"), hosted=True)
    assert (ran.exit, ran.outputs["gate"]["verdict"]) == (0, "regression"), ran.log
    assert "❌ **perfgate: Regression**" in github.comments[0]["body"]


@pytest.mark.nightly
def test_hostile_comments_run_nothing(act: Act, consumer: Consumer, github: FakeGitHub, change: Change) -> None:
    for changes, why, answered in HOSTILE:
        event, before = events.comment(12, consumer.base), len(github.comments)
        for path, value in changes.items():
            *parents, last = ["comment", "body"] if path == "body" else path.split("__")
            at = event.payload
            for name in parents:
                at = at[name]
            at[last] = "2025-01-01T00:00:00Z" if last == "created_at" else value
        ran = act.run(consumer.top, event, template("comment"), hosted=True)
        skipped = "does not begin" in why or changes.get("issue__pull_request", "") is None
        assert ran.exit == 0 and (skipped or why in ran.log), (changes, ran.log)
        assert ran.outputs == {} and len(github.comments) - before == int(answered), changes
    assert (github.artifacts, github.statuses, github.violations) == ([], [], [])
