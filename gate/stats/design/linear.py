"""The linear model of a designed experiment: least squares with effect coding, Born de Oliveira et al. 2013, Table 3.

Observations are units of analysis, one row each; what is random in the model is taken for normal, of one variance and
independent between units (section 5). gate.stats.design.diagnostics says whether it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isfinite, sqrt
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from gate.model.study import Effect, LinearModel, Term
from gate.stats.design.cells import held
from gate.stats.design.coding import contrasts
from gate.stats.design.design import Fit, lay_out, least_squares
from gate.stats.design.inestimable import inestimable
from gate.stats.family import holm
from gate.stats.special import fdtrc, stdtr, stdtrit

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    from gate.model.study import Factor, Setting
    from gate.stats.design.coding import Columns
    from gate.stats.design.design import Design

    Array = npt.NDArray[np.float64]

INTERCEPT = "intercept"


def linear_model(
    units: pd.DataFrame, factors: Sequence[Factor], order: int, confidence: float, response: str = "y"
) -> LinearModel:
    """Fit the mean of a response by its factors and their interactions of up to `order` factors.

    units: a row for each unit of analysis, with y and f0, f1, ... (numbers of settings). confidence: of each effect's
    interval, by t on the residual degrees of freedom. response: what y is called in the formula, which is for readers.
    Sums of squares are of type III: what is lost without the columns of the term. Without residual degrees of freedom
    there are estimates only; where all units of a treatment are alike, intervals have no width and p is 0 or 1; of a
    constant response nothing is tested.

    Raises:
        ValueError: no units, or a value that is not finite.

    Source: Born de Oliveira et al. 2013, section 5.1; Montgomery, Design and Analysis of Experiments, chapter 5.
    """
    design = lay_out(units, factors)
    fit = least_squares(units["y"].to_numpy(dtype=np.float64), design, order)
    square = fit.scale * fit.scale
    return LinearModel(
        formula=_formula(design, fit, order, response),
        observations=len(fit.residuals),
        intercept=_effect(fit, INTERCEPT, {}, _Sum(slice(0, 1), np.ones(1), fit.location), confidence),
        terms=_adjusted([_term(fit, columns, confidence) for columns in fit.coded.terms[1:]], 1 - confidence),
        residual_df=fit.residual_df,
        residual_ss=held(fit.residual_ss * square),
        residual_sd=None if fit.variance is None else held(sqrt(fit.variance) * fit.scale),
        total_ss=held(fit.total_ss * square),
        r2=1 - fit.residual_ss / fit.total_ss if fit.total_ss else None,
        unexplained=fit.residual_ss / fit.total_ss if fit.total_ss else None,
        inestimable=inestimable(design, fit.coded),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Sum:
    """A weighted sum of coefficients, and what is added to it, in the unit of the response."""

    own: slice
    weights: Array
    added: float = 0.0


def _term(fit: Fit, columns: Columns, confidence: float) -> Term:
    own = slice(columns.start, columns.stop)
    b = fit.coefficients[own]
    ss = float(b @ np.linalg.solve(fit.covariance[own, own], b))
    df = columns.stop - columns.start
    f = None if not fit.variance else ss / df / fit.variance
    p: float | None = None
    if f is not None:
        p = float(fdtrc(df, fit.residual_df, f))
    elif fit.variance is not None and fit.total_ss:
        p = 0.0 if ss else 1.0
    design = fit.design
    names = [design.names[factor] for factor in columns.factors]
    effects = []
    for contrast in contrasts(columns.factors, design.sizes):
        settings = {design.names[factor]: design.settings[factor][code] for factor, code in contrast.settings.items()}
        effects.append(_effect(fit, ":".join(names), settings, _Sum(own, np.array(contrast.weights)), confidence))
    return Term(
        term=":".join(names),
        factors=names,
        df=df,
        sum_of_squares=held(ss * fit.scale * fit.scale),
        share=ss / fit.total_ss if fit.total_ss else None,
        f=f,
        p=p,
        p_adjusted=None,
        effects=effects,
    )


def _effect(fit: Fit, term: str, settings: dict[str, Setting], of: _Sum, confidence: float) -> Effect:
    estimate = float(of.weights @ fit.coefficients[of.own])
    shown = held(estimate * fit.scale + of.added)
    if fit.variance is None or not fit.total_ss:
        return Effect(term=term, settings=settings, estimate=shown, low=None, high=None, p=None)
    error = sqrt(fit.variance * max(float(of.weights @ fit.covariance[of.own, of.own] @ of.weights), 0.0))
    half = float(stdtrit(fit.residual_df, (1 + confidence) / 2)) * error * fit.scale
    p = _p(estimate + of.added / fit.scale, error, fit.residual_df)
    low, high = (end if isfinite(end) else None for end in (shown - half, shown + half))
    return Effect(term=term, settings=settings, estimate=shown, low=low, high=high, p=p)


def _p(estimate: float, error: float, df: int) -> float:
    """Return the two-sided p of no effect; without spread there is no chance in it."""
    if not error:
        return 0.0 if estimate else 1.0
    return float(2 * stdtr(df, -abs(estimate) / error))


def _adjusted(terms: list[Term], alpha: float) -> list[Term]:
    """Share alpha over the terms by Holm."""
    if any(term.p is None for term in terms):
        return terms
    shares = holm([term.p for term in terms if term.p is not None], alpha)
    return [msgspec.structs.replace(term, p_adjusted=own.p_adjusted) for term, own in zip(terms, shares, strict=True)]


def _formula(design: Design, fit: Fit, order: int, response: str) -> str:
    """Write the model for readers: "latency ~ load * clients", "y ~ (a + b + c)^2"; never evaluated."""
    names = [_quoted(name) for name in design.names]
    within = [term.factors for term in fit.coded.terms[1:]]
    mains = sorted({factor for factors in within for factor in factors})
    highest = min(max(order, 0), len(mains))
    full = [chosen for size in range(1, highest + 1) for chosen in combinations(mains, size)]
    if not within:
        right = "1"
    elif within != full or highest == 1:
        right = " + ".join(":".join(names[f] for f in factors) for factors in within)
    elif highest == len(mains):
        right = " * ".join(names[f] for f in mains)
    else:
        right = f"({' + '.join(names[f] for f in mains)})^{highest}"
    return f"{_quoted(response)} ~ {right}"


def _quoted(name: str) -> str:
    return name if re.fullmatch(r"[^\W\d][\w.-]*", name) else f"`{name}`"
