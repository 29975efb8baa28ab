"""Carry-over: whether a side runs slower after the other side than after itself.

What both sides leave behind alike cancels, and what one of them alone leaves moves every ratio of neighbours: ABBA by
half of it. Unlike the order of a pair, no drawing of turns removes it (docs/method.md, warnings).
"""

from __future__ import annotations

import math

import numpy as np

from gate.model import SIDES, Sample, Side
from gate.model.warnings.estimates import CarryOver
from gate.stats.diagnostics.testing import SMALLEST
from gate.stats.typical import squared_error, trimmed_mean

ERRORS = 3.0
"""Standard errors from which on there is a word about it."""
FEWEST = 10
"""Executions after either side below which nothing is said."""


def carry_over(base: Sample, head: Sample) -> CarryOver | None:
    """Return the larger carry-over of the two sides; None where neither is certain and above 0.5%, or not known.

    Compared are trimmed means of the logarithms after the other side and after itself, each less its build's median.
    Only executions that directly follow another of the benchmark count.
    """
    if base.orders is None or head.orders is None:
        return None
    side_at = dict.fromkeys(_places(base), "base") | dict.fromkeys(_places(head), "head")
    found: list[CarryOver] = []
    for side, sample in zip(SIDES, (base, head), strict=True):
        change = _change(side, sample, side_at)
        if change is not None and abs(change) > SMALLEST:
            found.append(CarryOver(side, change))
    return max(found, key=lambda each: abs(each.change), default=None)


def _places(sample: Sample) -> list[tuple[int, int]]:
    """Return session and position in its run of each execution."""
    sessions = np.repeat([session for session, _ in sample.builds], sample.counts[1])
    orders = [] if sample.orders is None else sample.orders.tolist()
    return list(zip(sessions.tolist(), orders, strict=True))


def _change(side: Side, sample: Sample, side_at: dict[tuple[int, int], str]) -> float | None:
    iterations, executions = sample.counts[:2]
    means = np.add.reduceat(sample.values, np.cumsum(iterations) - iterations) / iterations
    if means.min() <= 0:
        return None
    logs = np.log(means)
    parts = np.split(logs, np.cumsum(executions)[:-1])
    away = np.concatenate([part - np.median(part) for part in parts])
    before = np.array([side_at.get((session, order - 1), "") for session, order in _places(sample)])
    other, same = away[(before != side) & (before != "")], away[before == side]
    if min(len(other), len(same)) < FEWEST:
        return None
    difference = trimmed_mean(other) - trimmed_mean(same)
    error = math.sqrt(squared_error(other) + squared_error(same))
    return math.expm1(difference) if abs(difference) > ERRORS * error else None
