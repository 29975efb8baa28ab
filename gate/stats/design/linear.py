"""The linear model of a designed experiment: least squares with effect coding, Born de Oliveira et al. 2013, Table 3.

Observations are units of analysis, one row each; what is random in the model is taken for normal, of one variance and
independent between units (section 5). gate.stats.design.diagnostics says whether it is.
The trend of a factor whose settings are numbers is a sum of the coefficients of the linear model, so that it has the
error of the factor's term: a straight line through the means and a curvature, by orthogonal polynomials as R's
contr.poly makes them of scores, on the settings or, where those are more evenly spaced on it, their binary logarithm.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from math import fsum, prod, sqrt
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from gate.model.study import Axis, Effect, Factor, LinearModel, Setting, Slope, Term, Trend
from gate.stats.design.aliases import Aliases, Fit, aliases, least_squares, without_aliased
from gate.stats.design.coding import Addend, Design, addends, inestimable, lay_out
from gate.stats.design.layers import Layers
from gate.stats.design.strata import Strata, Sum, stratified
from gate.stats.family import holm
from gate.stats.rounding import Array
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
    those of SAS's type III (gate.stats.design.coding). Without residual degrees of freedom
    there are estimates only; where all units of a treatment are alike, intervals have no width and p is 0 or 1; of a
    constant response nothing is tested.

    Raises:
        ValueError: no units, or a value that is not finite.

    Source: Born de Oliveira et al. 2013, section 5.1; Montgomery, Design and Analysis of Experiments, chapter 5.
    """
    design = lay_out(units, factors)
    fit = least_squares(units["y"].to_numpy(dtype=np.float64), design, order)
    square = fit.scale * fit.scale
    tested = fit.results.get_robustcov_results("fixed scale", scale=fit.variance or 1.0, use_t=True)
    own = addends(design, fit.coded)
    effects = _tested(fit, tested, own, confidence) if fit.variance else _exact(fit, own)
    alike = aliases(design.codes, design.sizes, fit.coded, order, design.counts)
    found = LinearModel(
        formula=_formula(design, fit, order, response),
        observations=len(fit.residuals),
        intercept=effects[0],
        terms=_adjusted(_terms(fit, tested, own, effects, alike), 1 - confidence),
        residual_df=fit.residual_df,
        residual_ss=fit.residual_ss * square,
        residual_sd=None if fit.variance is None else sqrt(fit.variance) * fit.scale,
        total_ss=fit.total_ss * square,
        r2=1 - fit.residual_ss / fit.total_ss if fit.total_ss else None,
        unexplained=fit.residual_ss / fit.total_ss if fit.total_ss else None,
        inestimable=inestimable(design, without_aliased(design, fit.coded, alike)),
    )
    if layers is None or layers.plain or not fit.variance:
        return found
    return _layered(
        found, fit, stratified(fit.fitted + fit.residuals, design, fit.coded, factors, layers), own, confidence
    )


def _layered(found: LinearModel, fit: Fit, strata: Strata, own: Sequence[Addend], confidence: float) -> LinearModel:
    """Give the terms the tests, and the effects the intervals, of their strata."""
    square = fit.scale * fit.scale
    effects: dict[int, list[Effect]] = {}
    for each in own:
        effects.setdefault(each.number, []).append(_in_stratum(fit, strata, each, confidence))
    terms = []
    for number, (term, stratum, test) in enumerate(zip(found.terms, strata.of, strata.tests, strict=True), 1):
        terms.append(
            msgspec.structs.replace(
                term, f=test.f if test else None, p=test.p if test else None, error_df=test.error_df if test else None,
                stratum=stratum, effects=effects.get(number, []),
            )
        )  # fmt: skip
    lowest = strata.found[-1] if strata.found else None
    return msgspec.structs.replace(
        found,
        intercept=effects[0][0],
        terms=_adjusted([msgspec.structs.replace(term, p_adjusted=None) for term in terms], 1 - confidence),
        method=strata.method,
        block=strata.layers.block if strata.layers.blocks.count > 1 else None,
        blocks=strata.layers.blocks.count,
        strata=[
            msgspec.structs.replace(
                each,
                mean_square=None if each.mean_square is None else each.mean_square * square,
                component=None if each.component is None else each.component * square,
            )
            for each in strata.found
        ],
        residual_sd=None if lowest is None or lowest.component is None else sqrt(lowest.component) * fit.scale,
    )


def _in_stratum(fit: Fit, strata: Strata, each: Addend, confidence: float) -> Effect:
    told = strata.sum_of(each.weights, each.number)
    estimate = told.estimate * fit.scale + (0.0 if each.number else fit.location)
    low = high = p = None
    if told.error is not None and told.df is not None and told.error > 0:
        error = told.error * fit.scale
        half = float(stdtrit(told.df, (1 + confidence) / 2)) * error
        estimate = _unrounded(estimate, half)
        low, high, p = estimate - half, estimate + half, 2 * float(stdtr(told.df, -abs(estimate) / error))
    return each.effect(estimate, low, high, p)


def _unrounded(estimate: float, width: float) -> float:
    """Return 0 for what rounding leaves of an effect that cancels, beside the width of its interval."""
    return 0.0 if abs(estimate) < 1e-13 * width else estimate


def _terms(
    fit: Fit, tested: Any, own: Sequence[Addend], effects: Sequence[Effect], alike: Mapping[tuple[int, ...], Aliases]
) -> list[Term]:
    """Test each term by what its columns explain beside the others, and name what it cannot be told from.

    tested: what statsmodels says of the fit.
    """
    found, name = [], fit.design.term
    for number, columns in enumerate(fit.coded.terms[1:], 1):
        test = tested.f_test(np.eye(fit.p)[columns.start : columns.stop])
        f, p = float(np.squeeze(test.fvalue)), float(np.squeeze(test.pvalue))
        within = [effect for each, effect in zip(own, effects, strict=True) if each.number == number]
        names = [fit.design.names[factor] for factor in columns.factors]
        df = columns.stop - columns.start
        present = bool(fit.coefficients[columns.start : columns.stop].any())
        ss = f * df * (fit.variance or 1.0) if present else 0.0
        exact = fit.variance == 0 and fit.total_ss > 0
        found.append(
            Term(
                term=name(columns.factors),
                factors=names,
                df=df,
                whole_df=prod(fit.design.sizes[factor] - 1 for factor in columns.factors),
                sum_of_squares=ss * fit.scale * fit.scale,
                share=ss / fit.total_ss if fit.total_ss else None,
                f=f if fit.variance else None,
                p=p if fit.variance else float(not present) if exact else None,
                p_adjusted=None,
                effects=within,
                error_df=float(fit.residual_df) if fit.variance else None,
                aliases=[name(other) for other in alike[columns.factors].full],
                partial_aliases={name(other): part for other, part in alike[columns.factors].partial.items()},
            )
        )
    return found


def _tested(fit: Fit, tested: Any, own: Sequence[Addend], confidence: float) -> list[Effect]:
    """Return the intercept, and what each term adds, with intervals by t."""
    added = np.array([fit.location] + [0.0] * (len(own) - 1))
    found = tested.t_test((np.array([each.weights for each in own]), -added / fit.scale))
    shown = np.column_stack((found.effect, found.conf_int(1 - confidence))) * fit.scale + added[:, None]
    rows = zip(own, shown.tolist(), np.atleast_1d(found.pvalue).tolist(), strict=True)
    return [each.effect(_unrounded(estimate, high - low), low, high, p) for each, (estimate, low, high), p in rows]


def _exact(fit: Fit, own: Sequence[Addend]) -> list[Effect]:
    """Return the same without spread: no interval, or one without width where units were repeated."""
    found = []
    for number, each in enumerate(own):
        estimate = fsum(each.weights * fit.coefficients)
        shown = (estimate if abs(estimate) > fit.noise else 0.0) * fit.scale + (0.0 if number else fit.location)
        known = fit.variance is not None and fit.total_ss > 0
        end, p = (shown, float(not shown)) if known else (None, None)
        found.append(each.effect(shown, end, end, p))
    return found


def _adjusted(terms: list[Term], alpha: float) -> list[Term]:
    """Share alpha by Holm over the terms that have an error."""
    shares = iter(holm([term.p for term in terms if term.p is not None], alpha))
    return [
        term if term.p is None else msgspec.structs.replace(term, p_adjusted=next(shares).p_adjusted) for term in terms
    ]


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


_DOUBLING = 2.0
"""Two settings are taken for steps of a geometric row if one is at least this many times the other."""


Sums = Callable[["Array", int], Sum]
"""Takes weights of all coefficients, and the number of the term whose they are."""


def trends(
    units: pd.DataFrame, factors: Sequence[Factor], order: int, confidence: float, layers: Layers | None = None,
) -> list[Trend]:  # fmt: skip
    """Return the trend of each factor that has numbers for settings, if it is in the linear model.

    Args:
        units, factors, order, confidence, layers: those of `linear_model`.
    """
    design = lay_out(units, factors)
    numeric = {name: own for name, each in zip(design.names, design.settings, strict=True) if (own := _numbers(each))}
    if not numeric:
        return []
    fit = least_squares(units["y"].to_numpy(dtype=np.float64), design, order)
    if layers is None or layers.plain or not fit.variance:

        def of_residuals(weights: Array, _: int) -> Sum:
            """Tell a sum of coefficients from the residual variance."""
            estimate = float(weights @ fit.coefficients)
            if not fit.variance:
                return Sum(estimate, fit.variance, None)
            return Sum(estimate, math.sqrt(fit.variance * float(weights @ fit.covariance @ weights)), fit.residual_df)

        told: Sums = of_residuals
    else:
        told = stratified(fit.fitted + fit.residuals, design, fit.coded, factors, layers).sum_of
    every = [each for each in addends(design, fit.coded) if len(each.settings) == 1 and not each.against]
    effects = {name: [each for each in every if each.term == name] for name in numeric}
    return [_trend(fit, name, numeric[name], effects[name], confidence, told) for name in numeric if effects[name]]


def _numbers(settings: Sequence[Setting]) -> list[float]:
    """Return the settings as numbers; [] where they are none, or there are fewer than two."""
    found = [float(s) for s in settings if isinstance(s, (int, float))]
    if len(found) < len(settings) or len(set(found)) < max(len(found), 2):
        return []
    # squares of what is farther from 1 are no floats
    return found if 1e-100 < max(map(abs, found)) < 1e100 and np.ptp(found) > 1e-9 * max(map(abs, found)) else []


def axis_of(numbers: Sequence[float]) -> Axis:
    """Return on what settings are a trend: "log2" where they are spaced more evenly on it."""
    ordered = sorted(numbers)
    if ordered[0] <= 0:
        return "setting"
    if len(ordered) == 2:
        return "log2" if ordered[1] / ordered[0] >= _DOUBLING else "setting"
    gaps, on_logs = np.diff(np.array(ordered)), np.diff(np.log2(ordered))
    return "log2" if on_logs.std() / on_logs.mean() < gaps.std() / gaps.mean() else "setting"


def polynomials(x: Array, degree: int) -> Array:
    """Return orthogonal polynomials of numbers up to a degree, shape (degree, n), as R's contr.poly(n, scores = x)."""
    powers = np.vander(x - x.mean(), degree + 1, increasing=True)
    q, r = np.linalg.qr(powers)
    found: Array = (q * np.sign(np.diag(r))).T[1:]
    return found


def _trend(
    fit: Fit, name: str, numbers: list[float], effects: Sequence[Addend], confidence: float, told: Sums
) -> Trend:
    axis = axis_of(numbers)
    x = np.array(numbers) if axis == "setting" else np.log2(numbers)
    # the weights of the effect at each setting, the negative of the other's where a factor has two
    own = np.array([effect.weights for effect in effects])
    each = np.vstack((-own, own)) if len(numbers) == 2 else own
    center = x - x.mean()
    number = effects[0].number
    line = _slope(fit, told((center / (center @ center)) @ each, number), confidence)
    fitted = line.estimate * center
    curvature = None
    if len(numbers) > 2:
        bend = polynomials(x, 2)[1]
        # the second derivative of the parabola: by how much the slope changes from one step of the axis to the next
        curve = 2 * bend / float(bend @ center**2)
        curvature = _slope(fit, told(curve @ each, number), confidence)
        fitted = fitted + curvature.estimate / 2 * float(bend @ center**2) * bend
    unit = None
    if axis == "log2" and len(numbers) == 2:
        plain = np.array(numbers) - np.mean(numbers)
        unit = _slope(fit, told((plain / (plain @ plain)) @ each, number), confidence)
    return Trend(
        factor=name, axis=axis, settings=list(numbers), slope=line, per_unit=unit, curvature=curvature,
        fitted=fitted.tolist(),
    )  # fmt: skip


def _slope(fit: Fit, own: Sum, confidence: float) -> Slope:
    estimate = own.estimate * fit.scale if abs(own.estimate) > fit.noise else 0.0
    half, p = None, None
    if own.error is not None:
        half, p = 0.0, float(not estimate)
        if own.error != 0 and own.df is not None:
            error = own.error * fit.scale
            half = float(stdtrit(own.df, (1 + confidence) / 2)) * error
            p = min(1.0, 2 * float(stdtr(own.df, -abs(estimate) / error)))
    low, high = (None, None) if half is None else (estimate - half, estimate + half)
    return Slope(estimate=estimate, low=low, high=high, p=p)
