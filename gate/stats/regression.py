"""Quantile regression for any design matrix (Koenker and Bassett 1978)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from gate.stats.check_function import ZERO, Problem, solve
from gate.stats.special import ndtri

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

DEPENDENT = 1e-12
"""A column of which less than this share stands apart from the columns before it adds nothing but rounding errors."""


def quantile_regression(y: Array, design: Array, tau: float) -> Array:
    """Return the coefficients b that minimise the sum of rho(y - design b), rho(u) = u (tau - 1[u < 0]).

    Returned in the order of the columns. A column that depends on the columns before it gets the coefficient 0. Where
    several vectors minimise the sum, one that fits as many values exactly as there are independent columns is returned.
    The sum is that of the linear programme to within 1e-9 of it.

    Source: Koenker and Bassett 1978.

    Args:
        y: shape (n,).
        design: shape (n, p), n, p >= 1, with its own column of ones where an intercept is wanted; 0 < tau < 1.

    Raises:
        ValueError: shapes that do not fit, a value that is not finite, tau outside 0 < tau < 1.
    """
    y, design = _checked(y, design, tau)
    basis = _orthonormal(design)
    beta = np.zeros(design.shape[1])
    if not basis.kept:
        return beta
    largest = float(np.abs(y).max()) or 1.0
    scaled = y / largest
    # Least squares first: what is left is near 0 and of one scale, whatever the location and the unit of y.
    start = basis.q.T @ scaled
    start += basis.q.T @ (scaled - basis.q @ start)
    rest = scaled - basis.q @ start
    size = float(np.abs(rest).mean())
    columns = design[:, basis.kept] / basis.scale
    if size <= ZERO:
        found = np.linalg.solve(basis.r, start)
    else:
        vertex = solve(Problem(rest / size, basis.q, tau))
        if vertex.rows is None:
            found = np.linalg.solve(basis.r, start + size * vertex.beta)
        else:
            # on the values themselves, so that they are fitted to the last bit
            found = np.linalg.solve(columns[vertex.rows], scaled[vertex.rows])
    beta[basis.kept] = found / basis.scale * largest
    return beta


def hall_sheather(n: float | Array, tau: float | Array) -> Array:
    """Return the bandwidth, as a share of the values, of the difference quotient for a density at quantile tau.

    Source: Hall and Sheather 1988, as bandwidth.rq of R's quantreg.

    Args:
        n: number of values; for a 95% interval.
    """
    z = ndtri(tau)
    density2 = np.exp(-z * z) / (2 * math.pi)
    width: Array = np.cbrt(ndtri(0.975) ** 2 * 1.5 * density2 / ((2 * z * z + 1) * n))
    return width


def sparsity(residuals: Array, tau: float, coefficients: int) -> float | None:
    """Return the derivative of the quantile function of independent residuals at a fitted quantile tau.

    The slope, by median regression, of the residuals nearest to 0 over their ranks; those of the values that the fit
    goes through are left out, and as many follow as Hall and Sheather's bandwidth holds. So does summary.rq(se="iid")
    of R's quantreg, whose standard errors it gives. None: there are too few residuals, or they do not rise.

    Source: Koenker and Bassett 1978, Koenker 2005, 3.4.1.

    Args:
        residuals: shape (n,).
        coefficients: of the fit.
    """
    n = len(residuals)
    sizes = np.abs(residuals)
    hit = int((sizes <= DEPENDENT * float(sizes.max(initial=0.0))).sum())
    near = max(coefficients + 1, math.ceil(n * float(hall_sheather(n, tau)))) if n else 0
    ranks = np.arange(hit, min(hit + near + 1, n))
    if len(ranks) < 3 or n <= coefficients:
        return None
    nearest = np.sort(residuals[np.argsort(sizes, kind="stable")[ranks]])
    line = np.column_stack((np.ones(len(ranks)), (ranks + 1) / (n - coefficients)))
    slope = float(quantile_regression(nearest, line, 0.5)[1])
    return slope if slope > 0 else None


def _checked(y: Array, design: Array, tau: float) -> tuple[Array, Array]:
    y, design = np.asarray(y, dtype=np.float64), np.asarray(design, dtype=np.float64)
    if y.ndim != 1 or design.ndim != 2 or len(y) != len(design) or 0 in design.shape:
        raise ValueError(f"y of shape {y.shape} and a design of shape {design.shape} do not fit: need (n,) and (n, p)")
    if not (np.isfinite(y).all() and np.isfinite(design).all()):
        raise ValueError("y and the design must be finite numbers")
    if not 0 < tau < 1:
        raise ValueError(f"tau must lie between 0 and 1, not be {tau}")
    return y, design


class _Basis(msgspec.Struct, frozen=True, eq=False):
    """design[:, kept] * (1 / scale) = q r, q with orthonormal columns and r upper triangular."""

    kept: list[int]
    scale: Array
    q: Array
    r: Array


def _orthonormal(design: Array) -> _Basis:
    """Orthonormalise the columns in their order, and leave out those that depend on the ones before."""
    n, p = design.shape
    q, r = np.empty((n, min(n, p))), np.zeros((min(n, p), min(n, p)))
    kept: list[int] = []
    scales = np.abs(design).max(axis=0)
    for j in range(p):
        k = len(kept)
        if k == n or scales[j] == 0:
            continue
        column = design[:, j] / scales[j]
        length = float(np.linalg.norm(column))
        before = q[:, :k]
        # twice is enough (Parlett 1980, after Kahan): once leaves what cancellation has blown up
        once = before.T @ column
        column = column - before @ once
        again = before.T @ column
        column -= before @ again
        apart = float(np.linalg.norm(column))
        if apart <= DEPENDENT * length:
            continue
        q[:, k], r[:k, k], r[k, k] = column / apart, once + again, apart
        kept.append(j)
    k = len(kept)
    return _Basis(kept, scales[kept], np.ascontiguousarray(q[:, :k]), r[:k, :k])
