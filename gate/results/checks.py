"""Values that a file holds, checked: what cannot be computed with becomes a failure of its benchmark."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from gate.model import Metric
from gate.model.bounds import out_of_bounds, why_out_of_bounds
from gate.model.visible import visible
from gate.results.result import Aggregate, Failed, Measured

_NO_NEGATIVES = ("s", "B", "1/s", "B/s")


def fault(values: Sequence[float], unit: str, what: str) -> str | None:
    """Say what is wrong with values of a unit, in a few words; None: nothing.

    Args:
        what: the metric, for the words.
    """
    if not values:
        return f"no values of {visible(what)}"
    total = sum(values)
    if not math.isfinite(total):
        bad = next((value for value in values if not math.isfinite(value)), total)
        return f"{bad} in {visible(what)} is not a finite number"
    bound = out_of_bounds(values)
    if bound is not None:
        return f"{visible(what)} holds {why_out_of_bounds(bound)}"
    if unit in _NO_NEGATIVES and min(values) < 0:
        return f"{min(values):g} in {visible(what)} is below 0"
    return None


def measured(
    benchmark: str, metrics: dict[str, Metric], labels: dict[str, str], execution: int = 0
) -> Measured | Failed:
    """Give the values of a benchmark in one process, or its failure where they cannot be used."""
    for name, metric in metrics.items():
        why = fault(metric.values, metric.unit, name)
        if why is not None:
            return Failed(benchmark=benchmark, status=why, labels=labels, execution=execution)
    return Measured(benchmark=benchmark, metrics=metrics, labels=labels, execution=execution)


def aggregate(found: Aggregate) -> Aggregate | Failed:
    """Give an aggregate without what of its spread is not a number, or a failure where its value is none."""
    why = fault([found.value], found.unit, found.metric)
    if why is not None:
        return Failed(benchmark=found.benchmark, status=why, labels=found.labels, execution=found.execution)
    spread = [value for value in (found.low, found.high, found.sd) if value is not None]
    if all(math.isfinite(value) for value in spread) and out_of_bounds(spread) is None:
        return found
    return msgspec.structs.replace(found, low=None, high=None, confidence=None, sd=None)
