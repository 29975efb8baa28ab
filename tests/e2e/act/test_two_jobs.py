"""The workflow of two jobs under the real workflow runner: one measures, the other decides, whatever became of the first."""

from __future__ import annotations

import re
import sys

import pytest

from tests.e2e.act import events
from tests.e2e.act.consumer import CONFIG, Consumer, template
from tests.e2e.act.runner import ROOT, Act, Ran
from tests.support.forge import FakeGitHub

pytestmark = [pytest.mark.xdist_group("act"), pytest.mark.endtoend]

LOST = """\
      - name: The runner is lost
        shell: /bin/sh -e {0}
        run: exit 1
      - name: Measure
"""


def outcome(ran: Ran) -> tuple[int, str, str]:
    gate = ran.outputs["gate"]
    return ran.exit, gate["verdict"], gate["exit-code"]


def headline(body: str) -> str:
    return next(line for line in body.splitlines() if not line.startswith("<!--"))


def test_it_fails_and_decides_again_after_a_label(act: Act, consumer: Consumer, github: FakeGitHub) -> None:
    text = template("pull-request", status=True)
    change = consumer.change(1.3)
    first = act.run(consumer.top, change.event("opened"), text)
    assert outcome(first) == (1, "regression", "1"), first.log
    assert "gate.measure" not in first.steps
    assert [one["issue"] for one in github.comments] == [12]
    body = github.comments[0]["body"]
    assert re.search(r"\+(29|30)", body) and f"head={change.head} run={first.id} attempt=1 " in body.splitlines()[0]
    assert [(one["sha"], one["state"]) for one in github.statuses] == [(change.head, "failure")]
    assert sorted(one.name for one in github.artifacts) == [
        "perfgate-perfgate-1.html",
        "perfgate-perfgate-data",
        "perfgate-perfgate-data-shard1of1-session0",
    ]

    github.pulls[12].labels = ["perf-accepted"]
    github.state.parents[change.merge] = (change.base, change.head)
    github.state.merge_bases[change.base, change.head] = github.state.merge_bases["main", change.head] = change.base
    labelled = act.run(consumer.top, change.event("labeled", ("perf-accepted",)), text)
    assert outcome(labelled) == (0, "pass", "0"), labelled.log
    assert f"run={first.id} attempt=1 " in github.comments[0]["body"].splitlines()[0]
    assert github.statuses[-1]["state"] == "success"
    assert len(github.comments) == 1 and github.violations == []
    assert github.token not in first.log + labelled.log


def test_the_workflow_of_the_readme_is_one(act: Act, consumer: Consumer, github: FakeGitHub) -> None:
    (text,) = re.findall(r"^```yaml\n(name: (?s:.*?))^```$", (ROOT / "README.md").read_text(), re.MULTILINE)
    text = text.replace("with: {command:", f"with: {{perfgate-path: {sys.prefix}, command:")
    ran = act.run(consumer.top, consumer.change(1.3).event("opened"), text)
    assert ran.exit == 1, ran.log
    assert headline(github.comments[0]["body"]).startswith("❌ **perfgate: Regression**")
    assert github.violations == []


# by day tests/gate/commands/action/test_two_jobs.py runs the steps of such a job
@pytest.mark.nightly
def test_without_measurements_it_is_red_and_the_old_result_is_the_old_commit_s(
    act: Act, consumer: Consumer, github: FakeGitHub
) -> None:
    old = consumer.change(1.3)
    assert act.run(consumer.top, old.event("opened"), template("pull-request")).exit == 1
    new = consumer.change(1.0)
    ran = act.run(
        consumer.top, new.event(), template("pull-request", status=True).replace("      - name: Measure\n", LOST, 1)
    )
    assert outcome(ran) == (1, "error", "4"), ran.log
    [comment] = github.comments
    assert headline(comment["body"]) == "### perfgate: nothing was measured"
    above, _, below = comment["body"].partition("<details>")
    assert "Regression" not in above and f"Of commit {old.head[:10]}: ❌ **perfgate: Regression**" in below
    assert [(one["sha"], one["state"]) for one in github.statuses[-1:]] == [(new.head, "error")]
    assert "nothing was measured" in github.statuses[-1]["description"]
    assert github.violations == []


STUDY = """
[study]
replicates = 3
[study.factor]
load = { idle = {}, busy = {} }
"""


# by day tests/gate/commands/action/test_study.py runs its steps
@pytest.mark.nightly
@pytest.mark.parametrize("event", ["labeled", "workflow_dispatch", "another label"])
def test_a_study_is_shown_and_decides_nothing(act: Act, consumer: Consumer, github: FakeGitHub, event: str) -> None:
    change = consumer.change(1.3, files={"perfgate.toml": CONFIG + STUDY})
    started = (
        events.workflow_dispatch(change.head, "topic")
        if event == "workflow_dispatch"
        else change.event("labeled", ("perf-study" if event == "labeled" else "other",))
    )
    ran = act.run(consumer.top, started, template("study"))
    assert ran.exit == 0, ran.log
    if event == "another label":
        assert ran.outputs == {} and github.artifacts == []
        return
    assert (ran.outputs["gate"]["verdict"], ran.outputs["gate"]["exit-code"]) == ("", "0")
    assert [text.splitlines()[0] for text in ran.summaries] == ["### perfgate study"]
    assert sorted(one.name for one in github.artifacts) == ["perfgate-perfgate-study", "perfgate-perfgate-study-1.html"]
    assert github.comments == github.statuses == [] and github.violations == []
