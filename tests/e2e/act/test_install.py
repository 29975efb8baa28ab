"""The action as a newcomer has it: a runner with Python and nothing of ours, and the same runner the second time."""

import pytest

from tests.e2e.act.consumer import Consumer, workflow
from tests.e2e.act.runner import Act
from tests.support.forge import FakeGitHub

# it downloads what requirements.lock names
pytestmark = [pytest.mark.xdist_group("act"), pytest.mark.endtoend, pytest.mark.nightly]


def test_a_bare_runner_makes_the_environment_once(act: Act, consumer: Consumer, github: FakeGitHub) -> None:
    change = consumer.change(1.3)
    first = act.run(consumer.top, change.event("opened"), workflow(perfgate_path=""))
    assert (first.exit, first.outputs["gate"]["verdict"]) == (1, "regression"), first.log
    assert "made by" in first.log and len(github.comments) == 1
    second = act.run(consumer.top, consumer.change(1.0).event(), workflow(perfgate_path=""))
    assert (second.exit, second.outputs["gate"]["verdict"]) == (0, "pass"), second.log
    assert "used again" in second.log
    assert len(github.comments) == 1 and github.violations == []
