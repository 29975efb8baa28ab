"""Units of analysis sorted into treatments, and least squares on them by a formula.

All units of a treatment have one row in the design, so least squares on the means of treatments, weighted by their
counts, is least squares on the units: a hundred thousand of them cost no more than their means.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from gate.stats.design.coding import Coded, Design, coded

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
    Codes = npt.NDArray[np.int64]

ROUNDING = 16 * float(np.finfo(np.float64).eps)
"""Differences below this share of the values are rounding of their means, not spread."""


class Fit(msgspec.Struct, frozen=True, eq=False):
    """Least squares on scaled values: y = location + scale * scaled, scale a power of 2; up to noise all is rounding.

    results: of statsmodels, for the means of treatments. coded: rows are treatments. covariance: of the coefficients,
    for a residual variance of 1. residuals, fitted: of the units, residuals that are only rounding are 0. leverage: of
    a unit of each treatment. residual_ss 0 with degrees of freedom left: all units of a treatment are alike.
    """

    results: Any
    design: Design
    coded: Coded
    location: float
    scale: float
    noise: float
    coefficients: Array
    covariance: Array
    fitted: Array
    residuals: Array
    leverage: Array
    residual_df: int
    residual_ss: float
    total_ss: float

    @property
    def p(self) -> int:
        """How many coefficients there are."""
        return len(self.coefficients)

    @property
    def variance(self) -> float | None:
        """Residual variance; None without degrees of freedom."""
        return self.residual_ss / self.residual_df if self.residual_df else None


class Scaled(msgspec.Struct, frozen=True, eq=False):
    """Values about their mean, at most about 1 in size. noise: differences up to it are rounding."""

    values: Array
    location: float
    scale: float
    noise: float


def scaled(y: Array) -> Scaled:
    """Take the mean off values and divide them by a power of 2, so that neither 1e-9 s nor 1e12 loses a digit.

    Values that differ by rounding only become 0.

    Raises:
        ValueError: a value that is not finite.
    """
    if not np.isfinite(y).all():
        raise ValueError("a value is not finite")
    unit = _power(float(np.abs(y).max()))
    whole = y / unit
    apart = whole - whole[0]
    middle = float(apart.mean())
    apart = apart - middle
    location = float((whole[0] + middle) * unit)
    largest = float(np.abs(whole).max())
    spread = float(np.abs(apart).max())
    if spread <= ROUNDING * largest:
        return Scaled(np.zeros(len(y)), location, 1.0, 0.0)
    own = _power(spread)
    return Scaled(apart / own, location, own * unit, ROUNDING * (1 + largest / own))


def _power(value: float) -> float:
    """Return the power of 2 just above a value, 1 for 0."""
    return 2.0 ** int(np.frexp(value)[1])


def least_squares(y: Array, design: Design, order: int) -> Fit:
    """Fit all terms of up to `order` factors that the treatments tell apart, with effect coding; y: of the units."""
    model = coded(design.codes, design.sizes, order)
    own = scaled(y)
    results = _by_formula(design.totals(own.values) / design.counts, design, model)
    coefficients, covariance = (np.asarray(found) for found in (results.params, results.normalized_cov_params))
    location = own.location
    fitted = np.asarray(results.fittedvalues)[design.place]
    residuals = own.values - fitted
    if float(np.abs(residuals).max()) <= own.noise:
        residuals = np.zeros(len(y))
        values = np.full(len(design.counts), math.inf)
        np.minimum.at(values, design.place, y)
        location = float(values[0])
        apart = values / own.scale - location / own.scale
        coefficients = _exact(apart, model.matrix, covariance @ (model.matrix.T * design.counts))
        fitted = apart[design.place]
        coefficients = np.where(np.abs(coefficients) <= own.noise, 0.0, coefficients)
    df = len(y) - len(coefficients)
    return Fit(
        results=results,
        design=design,
        coded=model,
        location=location,
        scale=own.scale,
        noise=own.noise,
        coefficients=coefficients,
        covariance=covariance,
        fitted=fitted,
        residuals=residuals if df else np.zeros(len(y)),
        leverage=np.einsum("ij,ij->i", model.matrix @ covariance, model.matrix),
        residual_df=df,
        residual_ss=float(residuals @ residuals) if df else 0.0,
        total_ss=float(own.values @ own.values),
    )


def _by_formula(means: Array, design: Design, model: Coded) -> Any:
    """Fit the means of treatments by statsmodels, which is told how many degrees of freedom their units leave.

    The columns are named f0, f1, ...: names of factors come from files, and formulas are evaluated as Python.
    """
    import pandas as pd
    from statsmodels.regression.linear_model import WLS  # type: ignore[import-untyped] # it has no types

    if not model.coded:
        return _fitted(WLS(means, model.matrix, weights=design.counts), design, model)
    names = [f"C(f{i}, Sum(omit=0))" for i in range(len(design.sizes))]
    # of an interaction the first factor's columns are the fastest there, the last one's here
    terms = ["1", *(":".join(names[f] for f in reversed(term.factors)) for term in model.terms[1:])]
    frame = pd.DataFrame({"y": means} | {f"f{i}": own for i, own in enumerate(design.codes.T)})
    return _fitted(WLS.from_formula(f"y ~ {' + '.join(terms)}", frame, weights=design.counts), design, model)


def _fitted(model: Any, design: Design, own: Coded) -> Any:
    model.df_resid = max(int(design.counts.sum()) - own.matrix.shape[1], 1)
    return model.fit()


def _exact(values: Array, matrix: Array, solve: Array) -> Array:
    """Return coefficients that give values of treatments exactly, where there are such; solve: least squares.

    What a BLAS rounds depends on the processor. So it only improves a solution, by what that lacks to each value: a sum
    of floats without rounding, since columns hold -1, 0 and 1. A solution that floats hold is met and does not move.
    """
    found = np.zeros(matrix.shape[1])
    for _ in range(8):
        lacking = np.array([math.fsum((value, *row)) for value, row in zip(values, -matrix * found, strict=True)])
        if not lacking.any():
            break
        found = found + solve @ lacking
    return found
