"""The other workflows that `perfgate init` writes, as they are, under the real workflow runner."""

import math
import re

import pytest

from tests.e2e.act import events
from tests.e2e.act.consumer import CONFIG, Consumer, template
from tests.e2e.act.runner import Act
from tests.support.forge import FakeGitHub
from tests.support.nights import pretend

pytestmark = [pytest.mark.xdist_group("act"), pytest.mark.endtoend]

READ_ONLY = {"contents": "read", "pull-requests": "read", "actions": "read", "statuses": "read"}


def test_a_fork_is_measured_without_rights_and_published_by_another_workflow(
    act: Act, consumer: Consumer, github: FakeGitHub
) -> None:
    rights = dict(github.permissions)
    change = consumer.change(1.3, owner="mallory/widget")
    github.permissions.update(READ_ONLY)
    measured = act.run(consumer.top, change.event("opened"), template("forks"), hosted=True)
    assert (measured.exit, measured.outputs["gate"]["verdict"]) == (1, "regression"), measured.log
    assert github.comments == github.statuses == []
    assert [one.message for one in measured.annotations if one.level == "warning"] == []

    github.permissions.update(rights)
    github.files["main", "perfgate.toml"] = github.files[consumer.base, "perfgate.toml"] = CONFIG
    github.state.refs["main"] = consumer.base
    event = events.workflow_run(measured.id, change.head, consumer.base)
    seen = len(github.requests)
    published = act.run(consumer.top, event, template("forks-publish"), hosted=True)
    gate = published.outputs["gate"]
    assert (published.exit, gate["verdict"], gate["exit-code"]) == (1, "regression", "1"), published.log
    assert "gate.measure" not in published.steps
    assert [(one["issue"], f"head={change.head} " in one["body"]) for one in github.comments] == [(12, True)]
    assert re.search(r"\+(29|30)", github.comments[0]["body"]) and gate["comment-url"].endswith(
        f"-{github.comments[0]['id']}"
    )
    assert [(one["sha"], one["state"]) for one in github.statuses] == [(change.head, "failure")]
    assert {one.method for one in github.requests[seen:]} == {"GET", "POST"}
    assert github.violations == []


# by day tests/e2e/test_many_runners.py decides over several jobs
@pytest.mark.nightly
def test_several_jobs_share_the_measuring_and_one_decides(act: Act, consumer: Consumer, github: FakeGitHub) -> None:
    more = CONFIG.replace("iterations = 4", "iterations = 4\nshards = 2")
    consumer.write("perfgate.toml", more + more[more.index("[[benchmark]]") :].replace('"bench"', '"other"'))
    consumer.on_main()
    change = consumer.change(1.3)
    ran = act.run(consumer.top, change.event("opened"), template("matrix"))
    gate = ran.outputs["gate"]
    assert (ran.exit, gate["verdict"], gate["exit-code"]) == (1, "regression", "1"), ran.log
    names = sorted(one.name for one in github.artifacts if not one.name.endswith(".html"))
    assert [name for name in names if "shard" in name] == [
        f"perfgate-perfgate-data-shard{n}of2-session0" for n in (1, 2)
    ]
    assert len(github.comments) == 1 and re.search(
        r"❌ \*\*perfgate: Regression\*\*: .*; 1 more", github.comments[0]["body"]
    )
    assert github.violations == []


@pytest.mark.nightly
def test_only_the_default_branch_s_own_runs_write_what_is_remembered(
    act: Act, consumer: Consumer, github: FakeGitHub
) -> None:
    history = act.folder / "history"
    calibrated = consumer.project.perfgate("calibrate", PERFGATE_HISTORY=str(history))
    assert calibrated.returncode == 0 and history.exists(), calibrated.stderr

    known, change = sorted(history.rglob("*")), consumer.change(1.3)
    queued = act.run(consumer.top, events.merge_group(change.merge, consumer.base), template("pull-request"))
    assert (queued.exit, queued.outputs["gate"]["verdict"]) == (1, "regression"), queued.log
    assert len(queued.summaries) == 1 and queued.outputs["gate"]["comment-url"] == ""
    assert sorted(history.rglob("*")) == known

    before, after = consumer.base, consumer.push(1.3)
    pushed = act.run(consumer.top, events.push(after, before), template("pull-request"))
    assert (pushed.exit, pushed.outputs["gate"]["verdict"]) == (1, "regression"), pushed.log
    assert sorted(history.rglob("*")) != known
    assert github.comments == [] and github.violations == []


@pytest.mark.nightly
def test_every_night_the_default_branch_is_compared_with_the_latest_release(
    act: Act, consumer: Consumer, github: FakeGitHub
) -> None:
    consumer.write("perfgate.toml", f"{CONFIG}[creep]\n")
    consumer.on_main("release")
    consumer.project.git("tag", "v1.0")
    released = act.run(consumer.top, events.schedule(consumer.base), template("creep"))
    assert (released.exit, released.outputs["gate"]["exit-code"]) == (0, "0"), released.log
    assert "gate.measure" not in released.steps

    consumer.push(1.3)
    first = act.run(consumer.top, events.schedule(consumer.base), template("creep"))
    assert (first.exit, first.outputs["gate"]["verdict"]) == (0, "inconclusive"), first.log
    pretend(act.folder / "history", 20, change=math.log(1.3))
    again = act.run(consumer.top, events.schedule(consumer.base), template("creep"))
    assert (again.exit, again.outputs["gate"]["verdict"]) == (1, "regression"), again.log
    assert "against v1.0" in again.summaries[0]
    assert github.comments == [] and github.violations == []
