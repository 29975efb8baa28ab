"""Which benchmarks are divided into how many executions, as far as the rules tell."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gate.config.rules import is_divisible
from gate.config.types import Config


@pytest.mark.parametrize(
    ("benchmark", "plan", "divisible"),
    [
        ({"instrument": "go"}, {}, True),
        ({"instrument": "values", "warmup": 3}, {}, True),
        ({"instrument": "hyperfine"}, {}, True),
        # start by start anyway, unless a load runs as long as an execution
        ({"instrument": "spawn"}, {}, False),
        ({"instrument": "spawn", "load": {"command": "x"}}, {}, True),
        # a steady state is looked for in one whole execution
        ({"instrument": "values", "warmup": "auto"}, {}, False),
        ({"instrument": "callgrind"}, {}, False),
        ({"instrument": "go"}, {"iterations": 1}, False),
    ],
)
def test_what_may_be_divided(benchmark: dict[str, Any], plan: dict[str, Any], divisible: bool) -> None:
    config = msgspec.convert({"benchmark": [{"name": "b", "command": "x", **benchmark}], "plan": plan}, Config)
    assert is_divisible(config, "b") is divisible
