"""The mean of each treatment with its BCa interval (NIST TN 1855, 3.6 and Fig. 1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gate.model.study import Factor, MeanInterval
from gate.stats.design.cells import Cell, cells, settings
from gate.stats.design.sample_size import REPLICATES, accelerated, t_limits

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    Array = npt.NDArray[np.float64]

FEWEST = 3
"""Units below which a bootstrap has nothing to draw from."""
LARGE = 20_000
"""Units from which on Student's interval stands for BCa's, which it then is to the width of a line."""
_CHUNK = 2_000_000


def mean_intervals(units: pd.DataFrame, factors: Sequence[Factor], confidence: float, seed: int) -> list[MeanInterval]:
    """Return the mean of the units of each treatment in standard order, with its BCa interval (Efron 1987).

    No interval with fewer than 3 units or where all are the same. seed: not negative.
    """
    return [_interval(cell, factors, confidence, seed) for cell in cells(units, factors)]


def _interval(cell: Cell, factors: Sequence[Factor], confidence: float, seed: int) -> MeanInterval:
    low, high = None, None
    if len(cell.y) >= FEWEST and cell.squares > 0:
        rng = np.random.default_rng((seed, *cell.codes))
        found = limits(cell.y, confidence, rng)
        low, high = found
    return MeanInterval(settings=settings(factors, cell.codes), units=len(cell.y), mean=cell.mean, low=low, high=high)


def limits(y: Array, confidence: float, rng: np.random.Generator) -> tuple[float, float]:
    """Return the BCa limits of the mean of y, shape (n,), n >= 2."""
    if len(y) >= LARGE:
        found = t_limits(y[None, :], confidence)
    else:
        away = y - y.mean()
        rows = max(1, _CHUNK // len(y))
        means = [
            away[rng.integers(len(y), size=(min(rows, REPLICATES - done), len(y)))].mean(axis=1)
            for done in range(0, REPLICATES, rows)
        ]
        found = accelerated(y[None, :], np.concatenate(means)[None, :], confidence)
    return float(found.low[0]), float(found.high[0])
