"""Quantile regression on treatments: the coefficients of the linear programme, for many values of few treatments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gate.stats.design.quantile_cells import Ordered, minimiser
from gate.stats.regression import quantile_regression

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

ROUNDING = 1e-12
"""A share of the largest value."""
SMALL = 5000
"""So many values are given to the linear programme as they are."""


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Coefficients, shape (p,), and the quantile that they give each cell, shape (cells,)."""

    beta: Array
    fitted: Array


def fit(cells: Sequence[Ordered], rows: Array, tau: float) -> Fit:
    """Return coefficients with the least sum of the check function over all values.

    rows: shape (cells, p), the columns of each cell, of full rank p. With as many columns as cells the sum separates:
    each cell is fitted by a quantile of its own, the one that `minimiser` says. Otherwise the minimum is that of
    `quantile_regression`.

    Source: Koenker and Bassett 1978; to leave out the values far from the fit, Portnoy and Koenker 1997.
    """
    if rows.shape[0] == rows.shape[1]:
        quantiles = np.array([minimiser(cell.ordered, tau) for cell in cells])
        return Fit(np.asarray(np.linalg.solve(rows, quantiles), dtype=np.float64), quantiles)
    beta = _programme(cells, rows, tau)
    fitted = [_exact(cell.ordered, at) for cell, at in zip(cells, (rows @ beta).tolist(), strict=True)]
    return Fit(beta, np.array(fitted))


def _exact(ordered: Array, fitted: float) -> float:
    """Return the value that is fitted, where the fit misses it by rounding errors alone."""
    at = int(np.searchsorted(ordered, fitted))
    rounding = ROUNDING * max(abs(float(ordered[0])), abs(float(ordered[-1])))
    near = [value for value in ordered[max(at - 1, 0) : at + 1].tolist() if abs(value - fitted) <= rounding]
    return min(near, key=lambda value: abs(value - fitted), default=fitted)


def _programme(cells: Sequence[Ordered], rows: Array, tau: float) -> Array:
    n = sum(len(cell.ordered) for cell in cells)
    if n <= SMALL:
        return _solved([cell.ordered for cell in cells], rows, tau)
    step = n // SMALL + 1
    beta = _solved([cell.ordered[(len(cell.ordered) - 1) % step // 2 :: step] for cell in cells], rows, tau)
    width = 4 * step
    while True:
        bands = [_band(cell.ordered, float(centre), width) for cell, centre in zip(cells, rows @ beta, strict=True)]
        beta = _in_bands(cells, rows, tau, bands)
        fitted: list[float] = (rows @ beta).tolist()
        if all(band.holds(cell.ordered, value) for band, cell, value in zip(bands, cells, fitted, strict=True)):
            return beta
        width *= 4


def _solved(values: Sequence[Array], rows: Array, tau: float) -> Array:
    return quantile_regression(np.concatenate(values), np.repeat(rows, [len(y) for y in values], axis=0), tau)


@dataclass(frozen=True, slots=True)
class _Band:
    """Positions first <= k < last of the ascending values that may be crossed by the fit."""

    first: int
    last: int

    def holds(self, ordered: Array, value: float) -> bool:
        """Tell whether all values outside lie on the side of the fit that they were taken to."""
        above = self.last == len(ordered) or value <= float(ordered[self.last])
        return above and (self.first == 0 or value >= float(ordered[self.first - 1]))


def _band(ordered: Array, centre: float, width: int) -> _Band:
    at = int(np.searchsorted(ordered, centre))
    return _Band(max(at - width, 0), min(at + width, len(ordered)))


def _in_bands(cells: Sequence[Ordered], rows: Array, tau: float, bands: Sequence[_Band]) -> Array:
    """Minimise with all values outside the bands as one: as far as the fit stays inside, the sum is the same.

    There each of them adds to the sum in proportion to the fit. So does one value that is always above it, of which the
    row is such that it adds as much.
    """
    values = [cell.ordered[band.first : band.last] for cell, band in zip(cells, bands, strict=True)]
    inside = np.repeat(rows, [len(own) for own in values], axis=0)
    pulls, far = [], 0.0
    for cell, band in zip(cells, bands, strict=True):
        pull = len(cell.ordered) - band.last - (1 - tau) / tau * band.first
        edges = cell.ordered[[max(band.first - 1, 0), min(band.last, len(cell.ordered) - 1)]]
        pulls.append(pull)
        far += float((pull * edges).max())
    outside = np.array(pulls) @ rows
    return quantile_regression(np.append(np.concatenate(values), far), np.vstack((inside, outside)), tau)
