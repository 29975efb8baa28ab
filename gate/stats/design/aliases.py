"""Which terms of a linear model cannot be told from which others: the alias sets of any treatments, by their columns.

Two terms are fully aliased where the columns of one are those of the other, up to a sign and a constant, in every
treatment. In Plackett-Burman designs and other plans that are no regular fractions, a term that is left out of the
model biases others by a part of itself: the alias matrix (X'X)^-1 X'Z says by how much.

Source: Box and Wilson 1951; Montgomery, Design and Analysis of Experiments, chapter 8.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import msgspec
import numpy as np

from gate.stats.design.coding import DEPENDENT, Coded, CodedDesign, coded, columns_of
from gate.stats.rounding import Array, Ints

LOWEST = 2
"""Interactions of two factors are named as aliases whatever the order of the model."""
_MOST_TERMS = 5000
_ROUNDING = 1e-9

Factors = tuple[int, ...]
"""A term, as the numbers of its factors."""


Aliases = tuple[tuple[Factors, ...], dict[Factors, float]]
"""What one term of a model cannot be told from, the lowest order first; and in part, of terms with one column: what an
effect of 1 of a term that is left out adds to this one's."""


def aliases(
    codes: Ints, sizes: Sequence[int], model: Coded, order: int, counts: Ints | None = None
) -> dict[Factors, Aliases]:
    """Return the aliases of each term of a model but its intercept, among the terms that it does not have.

    Args:
        codes: shape (treatments, factors), numbers of settings; the rows of the model.
        sizes: how many settings each factor has.
        order: terms of up to so many factors are looked at, and of two in any case.
        counts: units of each treatment; None: equal. Only partial aliases depend on it.
    """
    found: dict[Factors, Aliases] = {term.factors: ((), {}) for term in model.terms[1:]}
    varied = [factor for factor, size in enumerate(sizes) if size > 1]
    candidates: list[Factors] = []
    for size in range(1, min(max(order, LOWEST), len(varied)) + 1):
        more = list(combinations(varied, size))
        if size > LOWEST and len(candidates) + len(more) > _MOST_TERMS:
            break
        candidates += more
    others = [own for own in candidates if own not in found]
    if not others or not found:
        return found
    parts = [columns_of(codes, sizes, own) for own in others]
    owner = np.repeat(np.arange(len(others)), [part.shape[1] for part in parts])
    columns: Array = np.asarray(np.hstack(parts), dtype=np.float64)
    columns = np.asarray(columns - columns.mean(axis=0), dtype=np.float64)
    lengths = np.linalg.norm(columns, axis=0)
    # what is constant in all treatments is a defining word, and no alias of a term
    varying = np.bincount(owner, weights=lengths > _ROUNDING, minlength=len(others)) > 0
    weights = np.ones(len(codes)) if counts is None else np.sqrt(counts.astype(np.float64))
    alias = np.linalg.lstsq(model.matrix * weights[:, None], columns * weights[:, None])[0]
    gone: set[int] = set()
    full: dict[Factors, tuple[int, ...]] = {}
    for term in model.terms[1:]:
        own = model.matrix[:, term.start : term.stop]
        q = np.linalg.qr(own - own.mean(axis=0))[0]
        apart = np.linalg.norm(columns - q @ (q.T @ columns), axis=0) > DEPENDENT * np.maximum(lengths, _ROUNDING)
        same = (np.bincount(owner, weights=apart, minlength=len(others)) == 0) & varying
        full[term.factors] = tuple(np.flatnonzero(same).tolist())
        gone.update(full[term.factors])
    single = np.bincount(owner, minlength=len(others))[owner] == 1
    for term in model.terms[1:]:
        partial = {
            others[owner[k]]: float(alias[term.start, k])
            for k in np.flatnonzero(single).tolist()
            if term.stop - term.start == 1 and owner[k] not in gone and abs(alias[term.start, k]) > _ROUNDING
        }
        found[term.factors] = tuple(others[k] for k in full[term.factors]), partial
    return found


def without_aliased(design: CodedDesign, model: Coded, alike: dict[Factors, Aliases] | None = None) -> Coded:
    """Take from the terms left out those that others stand for, which their aliases name.

    Args:
        alike: their aliases, where they are known.
    """
    order = max((len(factors) for factors in model.left_out), default=0)
    if alike is None:
        alike = aliases(design.codes, design.sizes, model, order, design.counts)
    named = {factors for full, _ in alike.values() for factors in full}
    return msgspec.structs.replace(model, left_out=tuple(own for own in model.left_out if own not in named))


def orthogonal(codes: Ints, sizes: Sequence[int]) -> bool:
    """Return whether all settings of every two factors occur together equally often: no factor biases another.

    Full factorials, fractions of resolution III and more, and Plackett-Burman designs are such.
    """
    varied = [factor for factor, size in enumerate(sizes) if size > 1]
    if not varied:
        return False
    flags = [np.eye(sizes[factor])[codes[:, factor]] for factor in varied]
    for one, other in combinations(range(len(varied)), 2):
        together = flags[one].T @ flags[other]
        if together.min() != together.max():
            return False
    return all(own.sum(axis=0).min() == own.sum(axis=0).max() for own in flags)


def saturated(codes: Ints, sizes: Sequence[int]) -> Coded | None:
    """Return the model with as many orthogonal contrasts of two-level factors as the treatments hold.

    Terms of low order come first, and stand for those that they are aliased with. None: some factor has not two
    settings, or the main effects are not orthogonal. In Plackett-Burman designs these are the main effects alone.
    """
    if any(size != 2 for size in sizes) or not orthogonal(codes, sizes):
        return None
    found = coded(codes, sizes, 1)
    for order in range(2, len(sizes) + 1):
        if found.matrix.shape[1] == len(codes):
            break
        further = coded(codes, sizes, order)
        cross = further.matrix.T @ further.matrix - len(codes) * np.eye(further.matrix.shape[1])
        if np.abs(cross).max() > _ROUNDING * len(codes):
            break
        found = further
    return found


ROUNDING = 16 * float(np.finfo(np.float64).eps)
"""Differences below this share of the values are rounding of their means, not spread."""


class Fit(msgspec.Struct, frozen=True, eq=False):
    """Least squares on scaled values: y = location + scale * scaled, scale a power of 2; up to noise all is rounding.

    coded: rows are treatments. covariance: of the coefficients, for a residual variance of 1. residuals, fitted: of the
    units, residuals that are only rounding are 0. leverage: of a unit of each treatment. residual_ss 0 with degrees of
    freedom left: all units of a treatment are alike.
    """

    design: CodedDesign
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


def scaled(y: Array) -> tuple[Array, float, float, float]:
    """Take the mean off values and divide them by a power of 2, so that neither 1e-9 s nor 1e12 loses a digit.

    Values that differ by rounding only become 0.

    Returns:
        The values, at most about 1 in size; the mean that was taken off; the divisor; and up to which size differences
        are rounding.
    """

    def power(value: float) -> float:
        # the power of 2 just above, 1 for 0
        return 2.0 ** int(np.frexp(value)[1])

    unit = power(float(np.abs(y).max()))
    whole = y / unit
    apart = whole - whole[0]
    middle = float(apart.mean())
    apart = apart - middle
    location = float((whole[0] + middle) * unit)
    largest, spread = float(np.abs(whole).max()), float(np.abs(apart).max())
    if spread <= ROUNDING * largest:
        return np.zeros(len(y)), location, 1.0, 0.0
    own = power(spread)
    return apart / own, location, own * unit, ROUNDING * (1 + largest / own)


def least_squares(y: Array, design: CodedDesign, order: int) -> Fit:
    """Fit all terms of up to `order` factors that the treatments tell apart, with effect coding; y: of the units."""
    model = coded(design.codes, design.sizes, order)
    own, location, scale, noise = scaled(y)
    # loading statsmodels takes longer than all the rest of a small study's analysis
    from statsmodels.regression.linear_model import WLS  # type: ignore[import-untyped] # it has no types

    # of the means of treatments, weighted by their units
    solved = WLS(design.totals(own) / design.counts, model.matrix, weights=design.counts).fit()
    coefficients, covariance = (np.asarray(found) for found in (solved.params, solved.normalized_cov_params))
    fitted = np.asarray(solved.fittedvalues)[design.place]
    residuals = own - fitted
    if float(np.abs(residuals).max()) <= noise:
        residuals = np.zeros(len(y))
        values = np.full(len(design.counts), math.inf)
        np.minimum.at(values, design.place, y)
        location = float(values[0])
        apart = values / scale - location / scale
        # what a BLAS rounds depends on the processor, so it only improves a solution, by what that lacks to each value:
        # a sum of floats without rounding, since columns hold -1, 0 and 1; one that floats hold is met, and stays
        coefficients = np.zeros(model.matrix.shape[1])
        for _ in range(8):
            parts = zip(apart, -model.matrix * coefficients, strict=True)
            lacking = np.array([math.fsum((value, *row)) for value, row in parts])
            if not lacking.any():
                break
            coefficients = coefficients + covariance @ (model.matrix.T * design.counts) @ lacking
        fitted = apart[design.place]
        coefficients = np.where(np.abs(coefficients) <= noise, 0.0, coefficients)
    df = len(y) - len(coefficients)
    return Fit(
        design=design,
        coded=model,
        location=location,
        scale=scale,
        noise=noise,
        coefficients=coefficients,
        covariance=covariance,
        fitted=fitted,
        residuals=residuals if df else np.zeros(len(y)),
        leverage=np.einsum("ij,ij->i", model.matrix @ covariance, model.matrix),
        residual_df=df,
        residual_ss=float(residuals @ residuals) if df else 0.0,
        total_ss=float(own @ own),
    )
