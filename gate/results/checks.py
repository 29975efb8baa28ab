"""Aggregates that a file holds, checked: what cannot be computed with becomes a failure of its benchmark."""

from __future__ import annotations

import math

import msgspec

from gate.model.bounds import out_of_bounds, why_out_of_bounds
from gate.model.visible import visible
from gate.results.result import Aggregate, Failed

_NO_NEGATIVES = ("s", "B", "1/s", "B/s")


def aggregate(found: Aggregate) -> Aggregate | Failed:
    """Give an aggregate without what of its spread is not a number, or a failure where its value is none."""
    value = found.value
    why = None
    if out_of_bounds([value]) is not None:
        why = why_out_of_bounds(value)
    elif value < 0 and found.unit in _NO_NEGATIVES:
        why = f"{value:g}, which is below 0"
    if why is not None:
        status = f"{visible(found.metric)} holds {why}"
        return Failed(benchmark=found.benchmark, status=status, labels=found.labels, execution=found.execution)
    spread = [number for number in (found.low, found.high, found.sd) if number is not None]
    if all(math.isfinite(number) for number in spread) and out_of_bounds(spread) is None:
        return found
    return msgspec.structs.replace(found, low=None, high=None, confidence=None, sd=None)
