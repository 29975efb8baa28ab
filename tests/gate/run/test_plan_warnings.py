from typing import Any

import msgspec

from gate.config.types import Config
from gate.run.job import plan_warnings, quantile_warnings


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
