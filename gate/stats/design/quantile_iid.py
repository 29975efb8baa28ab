"""Covariance of quantile regression for values that are independent, as in Born de Oliveira et al. 2013, Table 4."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gate.stats.design.quantile_cells import Ordered
from gate.stats.regression import hall_sheather
from gate.stats.special import ndtri

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]


def independent_covariance(cells: Sequence[Ordered], rows: Array, fitted: Array, tau: float) -> Array | None:
    """Return tau (1 - tau)/f^2 (X'X)^-1, shape (p, p), None where the values do not show the density f.

    rows: shape (cells, p), the columns of each treatment. fitted: shape (cells,). Values count as independent and their
    residuals as of one distribution. f is the residuals' density at 0 by the kernel of Epanechnikov, the bandwidth that
    of Hall and Sheather 1988 times the smaller of the standard deviation of the values and the interquartile range of
    the residuals over 1.34, as statsmodels' QuantReg with vcov="iid".

    Source: Koenker and Bassett 1978.
    """
    counts = np.array([len(cell.ordered) for cell in cells])
    n = int(counts.sum())
    residuals = np.concatenate([cell.ordered - at for cell, at in zip(cells, fitted.tolist(), strict=True)])
    quarter, three = np.quantile(residuals, (0.25, 0.75))
    deviation = float(np.concatenate([cell.ordered for cell in cells]).std())
    width = float(hall_sheather(n, tau))
    least = 0.5 / n  # statsmodels has no number where the bandwidth reaches beyond 0 or 1
    span = float(ndtri(min(tau + width, 1 - least)) - ndtri(max(tau - width, least)))
    h = min(deviation, float(three - quarter) / 1.34) * span
    if not h > 0:
        return None
    near = residuals[np.abs(residuals) <= h] / h
    density = 0.75 * float((1 - near**2).sum()) / (n * h)
    if not density > 0:
        return None
    found: Array = tau * (1 - tau) / density**2 * np.linalg.inv(rows.T @ (rows * counts[:, None]))
    return found
