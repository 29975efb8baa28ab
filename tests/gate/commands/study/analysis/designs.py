"""Measurement lines of designed experiments with known effects."""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import msgspec
import numpy as np

from gate.model import Execution
from tests.support.lines import execution

Settings = Mapping[str, Any]
Values = Callable[[Settings, np.random.Generator], Sequence[float]]
LOAD: Mapping[str, Sequence[Any]] = {"load": ["idle", "busy"], "clients": [1, 8], "sched": ["bfs", "cfs"]}


def lines(
    factors: Mapping[str, Sequence[Any]],
    values: Values,
    replicates: int,
    *,
    seed: int = 1,
    leave_out: Callable[[Settings], bool] = lambda _: False,
    side: str = "head",
    **more: Any,
) -> list[dict[str, Any]]:
    """Make the lines of a full factorial in random order within each replicate; a replicate is a build."""
    rng = np.random.default_rng(seed)
    treatments = [dict(zip(factors, each, strict=True)) for each in product(*factors.values())]
    found: list[dict[str, Any]] = []
    for build in range(replicates):
        for number in rng.permutation(len(treatments)):
            at = treatments[number]
            if not leave_out(at):
                measured = [float(v) for v in values(at, rng)]
                found.append(execution(side, measured, build=build, factors=at, order=len(found), **more))
    return found


def records(found: Sequence[dict[str, Any]]) -> list[Execution]:
    """Turn lines into records."""
    return [msgspec.convert({k: v for k, v in line.items() if k != "type"}, Execution) for line in found]


def additive(at: Settings, rng: np.random.Generator) -> list[float]:
    """Effects (half the change) of 2 (load), 0 (clients) and 1 (sched) around 100, by execution and value."""
    level = 100 + 2 * (1 if at["load"] == "busy" else -1) + (1 if at["sched"] == "cfs" else -1)
    return list(level + rng.normal(0, 0.3) + rng.normal(0, 0.2, 12))


def tail(at: Settings, rng: np.random.Generator) -> list[float]:
    """The scheduler moves 3% of the values far up, and nothing else; the load moves all by 30%."""
    values = 1e-3 * rng.lognormal(0, 0.3, 400) * rng.lognormal(0, 0.05) * (1.3 if at["load"] == "busy" else 1)
    late = rng.random(400) < 0.03
    values[late] += rng.exponential(3e-3 if at["sched"] == "cfs" else 3e-4, late.sum())
    return list(values)
