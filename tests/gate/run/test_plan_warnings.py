from typing import Any

import msgspec
import pytest

from gate.config.types import Config
from gate.run.job import plan_warnings, quantile_warnings
from tests.support.warned import kinds


def rules(iterations: int = 10, **benchmark: Any) -> Config:
    table = {"plan": {"builds": 5, "executions": 2, "iterations": iterations}}
    return msgspec.convert({**table, "benchmark": [{"name": "b", "command": "x", **benchmark}]}, Config)


def test_a_quantile_that_the_plan_is_too_small_for_is_named_before_measuring() -> None:
    config = rules(metric={"latency": {"statistics": ["mean", "p50", "p99"]}}, instrument="values")
    assert quantile_warnings(config) == [
        "b: p99 of latency needs 1000 values per build, the plan has 20 (2 starts x 10 values)"
    ]
    assert quantile_warnings(rules(500, metric={"latency": {"statistics": ["p99"]}})) == []
    # the program may write more: the report must not say so
    assert plan_warnings(config, None) == []


@pytest.mark.parametrize(
    ("instrument", "iterations", "said"), [("spawn", 9, True), ("spawn", 10, False), ("values", 9, False)]
)
def test_a_plan_in_which_no_steady_state_can_be_found_is_said(instrument: str, iterations: int, said: bool) -> None:
    found = plan_warnings(rules(iterations, instrument=instrument, warmup="auto"), None)
    assert kinds(found) == ["few-iterations-for-steady"] * said


@pytest.mark.parametrize(
    ("mode", "builds", "sessions", "said"),
    [("fixed", 2, 5, True), ("fixed", 3, 5, False), ("random", 2, 5, False), ("fixed", 6, 1, False)],
)
def test_too_few_builds_on_each_machine_are_said_before_measuring(
    mode: str, builds: int, sessions: int, said: bool
) -> None:
    config = msgspec.convert({"gate": {"sessions": mode}, "plan": {"builds": builds}}, Config)
    assert kinds(plan_warnings(config, None, sessions)) == ["few-builds"] * said
