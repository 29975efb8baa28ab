"""Lines of measurements.jsonl, as tests write them."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from gate.evidence.lines import Located
from gate.evidence.records import read


def execution(
    side: str,
    values: Sequence[float],
    *,
    build: int = 0,
    execution: int = 0,
    benchmark: str = "bench",
    metric: str = "time",
    unit: str = "s",
    **more: Any,
) -> dict[str, Any]:
    """Make one execution with one metric; more: further keys of the line, or better= of the metric."""
    measured = {"unit": unit, "values": list(values)}
    if "better" in more:
        measured["better"] = more.pop("better")
    return {
        "type": "execution", "benchmark": benchmark, "side": side, "build": build, "execution": execution,
        "metrics": {metric: measured}, **more,
    }  # fmt: skip


def builds(side: str, nested: Sequence[Sequence[Sequence[float]]], **more: Any) -> list[dict[str, Any]]:
    """Make the executions of nested values: build, execution, value."""
    return [
        execution(side, values, build=b, execution=e, **more)
        for b, build in enumerate(nested)
        for e, values in enumerate(build)
    ]


def text(lines: Iterable[dict[str, Any]]) -> str:
    """Write lines as a measurements file."""
    return "".join(json.dumps(line) + "\n" for line in lines)


def located(*lines: dict[str, Any]) -> list[Located]:
    """Read lines back as records."""
    return read("test.jsonl", text(lines).encode()).records
