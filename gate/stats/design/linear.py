"""The linear model of a designed experiment: least squares with effect coding, and whether it may be believed.

Born de Oliveira et al. 2013, Table 3. Observations are units of analysis, one row each; what is random in the model is
taken for normal, of one variance and independent between units (section 5). The checks say in words whether it is
(sections 5.1 and 5.2): residuals against fitted values (Fig. 3 and 5), normal probability (Fig. 6), Cook's distance,
and the share unexplained.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from gate.model.study import Diagnostics, Effect, Factor, LinearModel, Residual, Scale, Term
from gate.stats.design.aliases import ROUNDING, Aliases, Factors, Fit, aliases, least_squares, without_aliased
from gate.stats.design.coding import addends, inestimable, lay_out
from gate.stats.design.layers import Layers
from gate.stats.design.model_checks import AssumptionTest, equal_variance, judged, lack_of_fit, normality, untested
from gate.stats.design.strata import ErrorTerm, Strata, Sum, explained, stratified
from gate.stats.rounding import Array, Ints
from gate.stats.sequential import holm
from gate.stats.special import ndtri, stdtr, stdtrit

if TYPE_CHECKING:
    import pandas as pd


def linear_model(
    units: pd.DataFrame, factors: Sequence[Factor], order: int, confidence: float, layers: Layers | None = None
) -> LinearModel:
    """Fit the mean of a response by its factors and their interactions of up to `order` factors.

    units: a row for each unit of analysis, with y and f0, f1, ... (numbers of settings). confidence: of each effect's
    interval, by t on the residual degrees of freedom. Sums of squares are of type III: what is lost without the columns
    of the term. Without residual degrees of freedom there are estimates only; where all units of a treatment are alike,
    intervals have no width and p is 0 or 1; of a constant response nothing is tested.

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
        full, partial = alike[columns.factors]
        ss = explained(fit.coefficients[own], fit.covariance[own, own])
        test = error.test(ss, df) if isinstance(error, ErrorTerm) else error.tests[number]
        exact = fit.variance == 0 and fit.total_ss > 0
        terms.append(
            Term(
                term=design.term(columns.factors),
                factors=[design.names[factor] for factor in columns.factors],
                df=df,
                sum_of_squares=ss * fit.scale * fit.scale,
                share=ss / fit.total_ss if fit.total_ss else None,
                f=test.f if test else None,
                p=test.p if test else float(not ss) if exact else None,
                p_adjusted=None,
                effects=effects[number + 1],
                error_df=test.error_df if test else None,
                stratum="execution" if isinstance(error, ErrorTerm) else error.of[number],
                aliases=[design.term(other) for other in full],
                partial_aliases={design.term(other): part for other, part in partial.items()},
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


# --- checks -----------------------------------------------------------------------------------------------------------

if TYPE_CHECKING:
    import pandas as pd

MOST_RESIDUALS = 500
LARGEST_RESIDUALS = 100
INFLUENTIAL = 0.5
"""Cook's distance that is worth a look (Cook and Weisberg 1999); with equal counts of all treatments the most is 1."""
UNEXPLAINED = 0.5
"""From this share on, what was not varied matters more than what was."""


def diagnostics(
    units: pd.DataFrame, factors: Sequence[Factor], order: int, confidence: float,
    scale: Scale = "value",
) -> Diagnostics:  # fmt: skip
    """Check the linear model of `linear_model` with the same units, factors and order.

    1 - confidence is shared over the checks by Holm, so a model without fault is
    warned of with that chance at most; each check's own p is not adjusted. scale: what y is. Residuals and fitted
    values are in the unit of y.
    """
    design = lay_out(units, factors)
    y = units["y"].to_numpy(dtype=np.float64)
    fit = least_squares(y, design, order)
    order_of, session = (units[name].to_numpy(dtype=np.int64) for name in ("order", "session"))
    found = judged(
        [
            normality(fit),
            equal_variance(fit),
            drift(fit, order_of, session, shares=scale == "value"),
            lack_of_fit(fit, design, order),
        ],
        1 - confidence,
    )
    # Cook's distance of each unit; NaN where leverage leaves no residual, or nothing compares
    cook = np.full(len(y), np.nan)
    if fit.variance:
        h = fit.leverage[design.place]
        room = np.where(1 - h > 1e-9, 1 - h, np.nan)
        cook = fit.residuals**2 * h / (room**2 * fit.p * fit.variance)
    worst = _worst(fit, cook, order_of, session)
    warnings = []
    if not fit.total_ss:
        warnings.append("all values are alike: there is nothing to explain (is the timer too coarse?)")
    elif not fit.residual_df:
        warnings.append(
            "one observation for each effect: nothing is left to estimate the noise from; measure replicates"
        )
    elif not fit.residual_ss:
        warnings.append("no spread within treatments: intervals have no width, which holds for exact values only")
    warnings += [warning for _, warning in found if warning is not None]
    distance, where, p = worst or (None, None, 1.0)
    if distance is not None and distance >= INFLUENTIAL and p < 1 - confidence:
        warnings.append(
            f"one execution moves the effects by itself (Cook's distance {distance:.2g}, {where}): "
            "look at it, and measure more before you believe them"
        )
    if fit.residual_ss and fit.residual_ss >= UNEXPLAINED * fit.total_ss:
        warnings.append(
            "more is unexplained than explained: noise, or what was not varied, moves this response more than the "
            "factors"
        )
    return Diagnostics(
        checks=[check for check, _ in found], residuals=_residuals(fit, cook, order_of), largest_cook=distance,
        where=where, warnings=warnings,
    )  # fmt: skip


def _worst(fit: Fit, cook: Array, order: Ints, session: Ints) -> tuple[float, str, float] | None:
    """Return the largest Cook's distance, whose it is, and the p that one of all units stands so far out by chance.

    The p tests its residual against the spread of the others, by Bonferroni over the units: high leverage alone is no
    fault of a unit, and with few degrees of freedom its distance is large whatever it is.
    """
    if np.isnan(cook).all():
        return None
    i = int(np.nanargmax(cook))
    where = f"execution at {fit.design.treatment(int(fit.design.place[i]))}"
    if np.ptp(session) > 0:
        where += f", session {session[i]}"
    if order.min() >= 0:
        where += f", at {order[i]} in the order of the run"
    df, p = fit.residual_df - 1, 1.0
    h = float(fit.leverage[fit.design.place[i]])
    square = float(fit.residuals[i]) ** 2 / ((fit.variance or 1.0) * (1 - h))
    if df >= 1 and square >= fit.residual_df * (1 - ROUNDING):
        p = 0.0
    elif df >= 1:
        t = sqrt(square * df / (fit.residual_df - square))
        p = min(1.0, len(fit.residuals) * 2 * float(stdtr(df, -t)))
    return float(cook[i]), where, p


def _residuals(fit: Fit, cook: Array, order: Ints) -> list[Residual]:
    """Return the residuals in the order of the units, with normal scores at their ranks (Blom 1958)."""
    n = len(fit.residuals)
    rank = np.argsort(fit.residuals, kind="stable")
    scores = np.empty(n)
    scores[rank] = ndtri((np.arange(n) + 0.625) / (n + 0.25))
    shown = np.arange(n)
    if n > MOST_RESIDUALS:
        # the largest, and the others evenly by rank, so that a picture keeps its shape
        largest = np.zeros(n, dtype=np.bool_)
        largest[np.argsort(np.abs(fit.residuals), kind="stable")[-LARGEST_RESIDUALS:]] = True
        others = rank[~largest[rank]]
        evenly = np.linspace(0, len(others) - 1, MOST_RESIDUALS - LARGEST_RESIDUALS).round().astype(np.int64)
        shown = np.sort(np.concatenate((np.flatnonzero(largest), others[evenly])))
    return [
        Residual(
            fitted=fit.location + fit.scale * float(fit.fitted[i]),
            residual=fit.scale * float(fit.residuals[i]),
            quantile=float(scores[i]),
            cook=None if np.isnan(cook[i]) else float(cook[i]),
            order=int(order[i]) if order.min() >= 0 else None,
        )
        for i in shown.tolist()
    ]


DRIFT = 0.25
"""Smallest change over the run, in residual standard deviations, that is worth a word."""
UNKNOWN = "the file does not say in which order it was measured"


def drift(fit: Fit, order: Ints, session: Ints, *, shares: bool) -> AssumptionTest:
    """Test a straight line over the order of the run, one slope for all sessions, beside the terms of the model.

    It finds 2 residual standard deviations over 40 units in 81% of studies. shares: whether a share of the mean says
    something; of logarithms it does not.
    """
    name = "no drift"
    if order.min() < 0:
        return untested(name, UNKNOWN)
    own = np.unique(session, return_inverse=True)[1].reshape(len(session))
    time = order.astype(np.float64)
    time -= (np.bincount(own, weights=time) / np.bincount(own))[own]
    x = fit.coded.matrix
    apart = time - (x @ (fit.covariance @ (x.T @ fit.design.totals(time))))[fit.design.place]
    room = float(apart @ apart)
    if fit.residual_df < 3 or not fit.residual_ss or room <= 1e-9 * float(time @ time) or not time.any():
        return untested(name, "too few units to separate it from the factors")
    slope, df = float(apart @ fit.residuals) / room, fit.residual_df - 1
    error = sqrt(max(fit.residual_ss - slope**2 * room, 0.0) / df / room)
    t = slope / error if error else None
    change = slope * max(float(np.ptp(time[own == each])) for each in range(int(own.max()) + 1))
    deviations = change / sqrt(fit.residual_ss / fit.residual_df)
    amount = f"{abs(change) * fit.scale / fit.location:.1%} of the mean, " if shares and fit.location > 0 else ""
    said = f"from the first execution to the last by {amount}{abs(deviations):.1f} residual sd"
    way = "up" if change > 0 else "down"
    return AssumptionTest(
        name=name,
        statistic=t,
        df=(float(df),),
        p=0.0 if t is None else float(2 * stdtr(df, -abs(t))),
        large=abs(deviations) >= DRIFT,
        good="no sign of a drift",
        bad=f"values drift {way}",
        figures=said if t is None else f"{said}, t {t:.2f}",
        warning=f"values drift {way} over the run: {said}; random order keeps it out of the effects, but it is part of "
        "what is unexplained",
    )
