"""The workflow of two jobs under the real workflow runner: one measures, the other decides, whatever became of the first."""

import re
import sys

import pytest

from tests.e2e.act.consumer import Consumer, template
from tests.e2e.act.runner import ROOT, Act, Ran
from tests.support.forge import FakeGitHub

pytestmark = [pytest.mark.xdist_group("act"), pytest.mark.endtoend]


def outcome(ran: Ran) -> tuple[int, str, str]:
    gate = ran.outputs["gate"]
    return ran.exit, gate["verdict"], gate["exit-code"]


def headline(body: str) -> str:
    return next(line for line in body.splitlines() if not line.startswith("<!--"))


def test_it_fails_and_passes_when_it_is_repeated_after_a_label(
    act: Act, consumer: Consumer, github: FakeGitHub
) -> None:
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
    labelled = act.run(consumer.top, change.event("opened"), text, run_id=first.id, attempt=2)
    assert outcome(labelled) == (0, "pass", "0"), labelled.log
    assert f"run={first.id} attempt=2 " in github.comments[0]["body"].splitlines()[0]
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
