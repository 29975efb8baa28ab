"""The linear model of a designed experiment: least squares with effect coding, Born de Oliveira et al. 2013, Table 3.

Observations are units of analysis, one row each; what is random in the model is taken for normal, of one variance and
independent between units (section 5). gate.stats.design.diagnostics says whether it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import combinations
from math import prod, sqrt
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from gate.model.study import Effect, Factor, LinearModel, Term
from gate.stats.design.aliases import Aliases, Factors, Fit, aliases, least_squares, without_aliased
from gate.stats.design.coding import Design, addends, inestimable, lay_out
from gate.stats.design.layers import Layers
from gate.stats.design.strata import ErrorTerm, Strata, Sum, explained, stratified
from gate.stats.family import holm
from gate.stats.special import stdtr, stdtrit

if TYPE_CHECKING:
    import pandas as pd


def linear_model(
    units: pd.DataFrame, factors: Sequence[Factor], order: int, confidence: float, response: str = "y",
    layers: Layers | None = None,
) -> LinearModel:  # fmt: skip
    """Fit the mean of a response by its factors and their interactions of up to `order` factors.

    units: a row for each unit of analysis, with y and f0, f1, ... (numbers of settings). confidence: of each effect's
    interval, by t on the residual degrees of freedom. response: what y is called in the formula, which is for readers.
    Sums of squares are of type III: what is lost without the columns of the term; beside empty cells the hypotheses are
    those of SAS's type III (gate.stats.design.coding). Without residual degrees of freedom there are estimates only;
    where all units of a treatment are alike, intervals have no width and p is 0 or 1; of a constant response nothing is
    tested.

    Source: Born de Oliveira et al. 2013, section 5.1; Montgomery, Design and Analysis of Experiments, chapter 5.
    """
    design = lay_out(units, factors)
    fit = least_squares(units["y"].to_numpy(dtype=np.float64), design, order)
    square = fit.scale * fit.scale
    # of a constant response there is no error
    error = ErrorTerm(fit.residual_ss, fit.residual_df if fit.total_ss else 0)
    # without groups all units differ by the residual error
    several = layers is not None and not layers.plain and bool(fit.variance)
    strata = stratified(fit.fitted + fit.residuals, design, fit.coded, factors, layers) if layers and several else None
    effects: dict[int, list[Effect]] = {}
    for each in addends(design, fit.coded):
        own = (
            strata.sum_of(each.weights, each.number)
            if strata is not None
            else error.of_sum(each.weights, fit.coefficients, fit.covariance)
        )
        shown = _interval(fit, own, confidence, 0.0 if each.number else fit.location)
        effects.setdefault(each.number, []).append(each.effect(*shown))
    alike = aliases(design.codes, design.sizes, fit.coded, order, design.counts)
    variance = fit.variance
    if strata is not None:
        variance = strata.found[-1].component if strata.found else None
    return LinearModel(
        formula=_formula(design, fit, order, response),
        observations=len(fit.residuals),
        intercept=effects[0][0],
        terms=_terms(fit, error if strata is None else strata, effects, alike, 1 - confidence),
        residual_df=fit.residual_df,
        residual_ss=fit.residual_ss * square,
        residual_sd=None if variance is None else sqrt(variance) * fit.scale,
        total_ss=fit.total_ss * square,
        r2=1 - fit.residual_ss / fit.total_ss if fit.total_ss else None,
        unexplained=fit.residual_ss / fit.total_ss if fit.total_ss else None,
        inestimable=inestimable(design, without_aliased(design, fit.coded, alike)),
        block=strata.layers.block if strata and strata.layers.blocks.count > 1 else None,
        blocks=strata.layers.blocks.count if strata else 1,
        method=strata.method if strata else "least squares",
        strata=[
            msgspec.structs.replace(
                each,
                mean_square=None if each.mean_square is None else each.mean_square * square,
                component=None if each.component is None else each.component * square,
            )
            for each in (strata.found if strata else ())
        ],
    )


def _terms(
    fit: Fit, error: ErrorTerm | Strata, effects: Mapping[int, list[Effect]], alike: Mapping[Factors, Aliases],
    alpha: float,
) -> list[Term]:  # fmt: skip
    """Test each term by what its columns explain beside the others, and name what it cannot be told from.

    alpha: shared by Holm over the terms that have an error.
    """
    design, terms = fit.design, []
    for number, columns in enumerate(fit.coded.terms[1:]):
        own, df = slice(columns.start, columns.stop), columns.stop - columns.start
        ss = explained(fit.coefficients[own], fit.covariance[own, own])
        test = error.test(ss, df) if isinstance(error, ErrorTerm) else error.tests[number]
        exact = fit.variance == 0 and fit.total_ss > 0
        terms.append(
            Term(
                term=design.term(columns.factors),
                factors=[design.names[factor] for factor in columns.factors],
                df=df,
                whole_df=prod(design.sizes[factor] - 1 for factor in columns.factors),
                sum_of_squares=ss * fit.scale * fit.scale,
                share=ss / fit.total_ss if fit.total_ss else None,
                f=test.f if test else None,
                p=test.p if test else float(not ss) if exact else None,
                p_adjusted=None,
                effects=effects.get(number + 1, []),
                error_df=test.error_df if test else None,
                stratum="execution" if isinstance(error, ErrorTerm) else error.of[number],
                aliases=[design.term(other) for other in alike[columns.factors].full],
                partial_aliases={design.term(own): part for own, part in alike[columns.factors].partial.items()},
            )
        )
    shares = iter(holm([term.p for term in terms if term.p is not None], alpha))
    return [
        term if term.p is None else msgspec.structs.replace(term, p_adjusted=next(shares).p_adjusted) for term in terms
    ]


def _interval(
    fit: Fit, own: Sum, confidence: float, location: float
) -> tuple[float, float | None, float | None, float | None]:
    """Return an estimate in the unit of the response, its limits by t and its p; without spread one without width."""
    if own.error:
        estimate, error = own.estimate * fit.scale + location, own.error * fit.scale
        half = float(stdtrit(own.df, (1 + confidence) / 2)) * error
        # what rounding leaves of a sum that cancels is 0
        estimate = 0.0 if abs(estimate) < 2e-13 * half else estimate
        return estimate, estimate - half, estimate + half, 2 * float(stdtr(own.df, -abs(estimate) / error))
    estimate = (own.estimate if abs(own.estimate) > fit.noise else 0.0) * fit.scale + location
    return (estimate, None, None, None) if own.error is None else (estimate, estimate, estimate, float(not estimate))


def _formula(design: Design, fit: Fit, order: int, response: str) -> str:
    """Write the model for readers: "latency ~ load * clients", "y ~ (a + b + c)^2"; never evaluated."""
    left, *names = [
        name if re.fullmatch(r"[^\W\d][\w.-]*", name) else f"`{name}`" for name in (response, *design.names)
    ]
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
    return f"{left} ~ {right}"
