"""Whether a response is better analysed by its logarithm: its spread grows with its level.

The slope of log(sd) on log(mean) over treatments says which power makes spreads alike (Bartlett 1947; Box, Hunter and
Hunter 2005, section 8.1): 1 for logarithms, 0 for the values themselves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gate.stats.design.cells import cells

if TYPE_CHECKING:
    import pandas as pd

    from gate.model.study import Factor

LEAST_RATIO = 3.0
"""The largest treatment over the smallest: below it both scales say the same."""
LEAST_SLOPE = 0.5
"""From here on logarithms make spreads more alike than values do."""
_CLEAR = 2.5
"""Standard errors that the slope is above 0."""
_APART = 6.0
"""Standard errors that the largest and the smallest treatment are apart: luck of heavy tails is no level."""


def spread_grows(units: pd.DataFrame, factors: Sequence[Factor]) -> bool:
    """Return whether units (columns y, f0, f1, ...) are all above 0 and spread the more the larger they are."""
    found = [cell.y for cell in cells(units, factors)]
    if len(found) < 2 or min(float(y.min()) for y in found) <= 0:
        return False
    known = [y for y in found if len(y) > 1 and np.ptp(y) > 0]
    if len(known) < 2:
        return False
    n = np.array([len(y) for y in known], dtype=np.float64)
    level = np.log([y.mean() for y in known])
    spread = np.log([y.std(ddof=1) for y in known])
    # where tails are long, luck moves means and standard deviations together, but not medians
    middle = np.log([np.median(y) for y in known])
    ratio = float(min(np.ptp(level), np.ptp(middle)))
    if ratio < math.log(LEAST_RATIO):
        return False
    within = sum(float(((np.log(y) - np.log(y).mean()) ** 2).sum()) for y in known) / float((n - 1).sum())
    if ratio < _APART * math.sqrt(2 * within / n.min()):
        return False
    weights = n - 1
    x = level - np.average(level, weights=weights)
    square = float(weights @ x**2)
    slope = float(weights @ (x * spread)) / square
    rest = spread - np.average(spread, weights=weights) - slope * x
    # the logarithm of the sd of n normal values has about this variance; long tails are seen in the residuals
    noise = 0.5 if len(known) < 4 else max(0.5, float(weights @ rest**2) / (len(known) - 2))
    return slope >= LEAST_SLOPE and slope > _CLEAR * math.sqrt(noise / square)
