"""Diagnostics: problems of a measurement that its own values show.

Each is a test at LEVEL whose unit is the build or the round, so that nothing is assumed of values within one. Changes
below SMALLEST are not worth a word, however sure: both sides have them, and no threshold is so small. Nothing is ever
removed.
"""

from __future__ import annotations

import numpy as np

from gate.model import Sample
from gate.model.warnings import AnyWarning
from gate.stats.diagnostics.iterations import SMALLEST_CORRELATION, correlated, lag_one, trend
from gate.stats.diagnostics.rounds import between_sessions, drift, order, shared_rounds
from gate.stats.diagnostics.testing import LEVEL, SMALLEST, Means

__all__ = ["LEVEL", "SMALLEST", "SMALLEST_CORRELATION", "lag_one", "warnings"]


# 0/0 where nothing varies, or too little is there to vary: it is not significant
@np.errstate(divide="ignore", invalid="ignore")
def warnings(base: Sample, head: Sample, unit: str) -> list[AnyWarning]:
    """Return what to say about one case; empty where nothing stands out.

    Tested are a trend inside executions, a linear trend over the rounds that both sides share, whether the difference
    of the sides depends on which of them is executed first (where the samples have orders), whether sessions differ, in
    what both sides have in common and in their difference, and lag-1 correlation inside executions. Changes are shares
    of the mean, so values whose mean is not above 0 get the last one only. Two-sided at 1% each, the correlation
    one-sided: only a positive one makes iterations worth less.

    Args:
        unit: the base unit of the values: only a program that is timed warms up.
    """
    sides = Means.of(base), Means.of(head)
    found: list[AnyWarning | None] = []
    if all(side.builds.min() > 0 for side in sides):
        rounds = shared_rounds(sides)
        found = [trend(sides, unit), drift(rounds, unit), order(sides, unit), *between_sessions(rounds)]
    found.append(correlated(sides))
    return [warning for warning in found if warning]
