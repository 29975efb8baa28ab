"""Quantile regression for any design matrix (Koenker and Bassett 1978)."""

from __future__ import annotations

import math

import numpy as np

from gate.stats.rounding import Array
from gate.stats.special import ndtri

ZERO = 1e-13
"""What is below this share of the largest value is what is left of a difference of equal numbers."""


def quantile_regression(y: Array, design: Array, tau: float) -> Array:
    """Return the coefficients b that minimise the sum of rho(y - design b), rho(u) = u (tau - 1[u < 0]).

    Where several vectors minimise the sum, it is one that fits as many values exactly as there are columns. The dual
    linear programme is solved by HiGHS: y'd is largest among the weights d of the values with x'd = 0 and
    tau - 1 <= d <= tau, d being the slope of rho. statsmodels' QuantReg comes near the minimum only.

    Source: Koenker and Bassett 1978, Koenker 2005, 6.2.

    Args:
        y: shape (n,), finite.
        design: shape (n, p), n >= p >= 1, of rank p, with its own column of ones where an intercept is wanted.
        tau: 0 < tau < 1.
    """
    from scipy import linalg, optimize

    largest, scale = float(np.abs(y).max()) or 1.0, np.abs(design).max(axis=0)
    values, columns = y / largest, design / scale
    q, r = np.linalg.qr(columns)
    # least squares first: what is left is near 0 and of one scale, whatever the location and the unit of y
    start = q.T @ values
    start += q.T @ (values - q @ start)
    rest = values - q @ start
    size = float(np.abs(rest).mean())
    if size <= ZERO:
        return np.asarray(np.linalg.solve(r, start) / scale * largest, dtype=np.float64)
    found = optimize.linprog(
        -rest / size,
        A_eq=q.T,
        b_eq=np.zeros(q.shape[1]),
        bounds=(tau - 1, tau),
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    near = start - size * np.asarray(found.eqlin.marginals)
    # through the values themselves, so that they are fitted to the last bit: the nearest whose rows are independent
    weights = 1 / (np.abs(values - q @ near) + ZERO)
    rows = linalg.qr((q * weights[:, None]).T, mode="r", pivoting=True)[1][: q.shape[1]]
    exact, other = np.linalg.solve(columns[rows], values[rows]), np.linalg.solve(r, near)

    def objective(beta: Array) -> float:
        residuals = values - columns @ beta
        return float(np.maximum(tau * residuals, (tau - 1) * residuals).sum())

    best = exact if objective(exact) <= objective(other) * (1 + 1e-9) + ZERO else other
    return np.asarray(best / scale * largest, dtype=np.float64)


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
    hit = int((sizes <= 1e-12 * float(sizes.max(initial=0.0))).sum())
    near = max(coefficients + 1, math.ceil(n * float(hall_sheather(n, tau)))) if n else 0
    ranks = np.arange(hit, min(hit + near + 1, n))
    if len(ranks) < 3 or n <= coefficients:
        return None
    nearest = np.sort(residuals[np.argsort(sizes, kind="stable")[ranks]])
    line = np.column_stack((np.ones(len(ranks)), (ranks + 1) / (n - coefficients)))
    slope = float(quantile_regression(nearest, line, 0.5)[1])
    return slope if slope > 0 else None
