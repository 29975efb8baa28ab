"""The linear model of a designed experiment: least squares with effect coding, Born de Oliveira et al. 2013, Table 3.

Observations are units of analysis, one row each; what is random in the model is taken for normal, of one variance and
independent between units (section 5). gate.stats.design.diagnostics says whether it is.
The trend of a factor whose settings are numbers is a sum of the coefficients of the linear model, so that it has the
error of the factor's term: a straight line through the means and a curvature, by orthogonal polynomials as R's
contr.poly makes them of scores, on the settings or, where those are more evenly spaced on it, their binary logarithm.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from math import prod, sqrt
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from gate.model.study import Axis, Effect, Factor, LinearModel, Setting, Slope, Term, Trend
from gate.stats.design.aliases import Aliases, Fit, aliases, least_squares, without_aliased
from gate.stats.design.coding import Addend, Design, addends, inestimable, lay_out
from gate.stats.design.layers import Layers
from gate.stats.design.strata import ErrorTerm, Strata, Sum, explained, stratified
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
    those of SAS's type III (gate.stats.design.coding). Without residual degrees of freedom there are estimates only;
    where all units of a treatment are alike, intervals have no width and p is 0 or 1; of a constant response nothing is
    tested.

    Raises:
        ValueError: no units, or a value that is not finite.

    Source: Born de Oliveira et al. 2013, section 5.1; Montgomery, Design and Analysis of Experiments, chapter 5.
    """
    design = lay_out(units, factors)
    fit = least_squares(units["y"].to_numpy(dtype=np.float64), design, order)
    square = fit.scale * fit.scale
    strata = _strata(fit, factors, layers)
    told = _sums(fit, strata)
    effects: dict[int, list[Effect]] = {}
    for each in addends(design, fit.coded):
        location = 0.0 if each.number else fit.location
        shown = _interval(fit, told(each.weights, each.number), confidence, location)
        effects.setdefault(each.number, []).append(each.effect(*shown))
    alike = aliases(design.codes, design.sizes, fit.coded, order, design.counts)
    variance = fit.variance
    if strata is not None:
        variance = strata.found[-1].component if strata.found else None
    return LinearModel(
        formula=_formula(design, fit, order, response),
        observations=len(fit.residuals),
        intercept=effects[0][0],
        terms=_adjusted(_terms(fit, strata, effects, alike), 1 - confidence),
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
    fit: Fit, strata: Strata | None, effects: Mapping[int, list[Effect]], alike: Mapping[tuple[int, ...], Aliases]
) -> list[Term]:
    """Test each term by what its columns explain beside the others, and name what it cannot be told from."""
    design, error, terms = fit.design, _error(fit), []
    for number, columns in enumerate(fit.coded.terms[1:], 1):
        own, df = slice(columns.start, columns.stop), columns.stop - columns.start
        ss = explained(fit.coefficients[own], fit.covariance[own, own])
        test = error.test(ss, df) if strata is None else strata.tests[number - 1]
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
                effects=effects.get(number, []),
                error_df=test.error_df if test else None,
                stratum=strata.of[number - 1] if strata else "execution",
                aliases=[design.term(other) for other in alike[columns.factors].full],
                partial_aliases={design.term(own): part for own, part in alike[columns.factors].partial.items()},
            )
        )
    return terms


def _strata(fit: Fit, factors: Sequence[Factor], layers: Layers | None) -> Strata | None:
    """Return the strata of what was fitted; None where all units differ by the residual error, if by any."""
    if layers is None or layers.plain or not fit.variance:
        return None
    return stratified(fit.fitted + fit.residuals, fit.design, fit.coded, factors, layers)


def _error(fit: Fit) -> ErrorTerm:
    """Return the residual error; of a constant response there is none."""
    return ErrorTerm(fit.residual_ss, fit.residual_df if fit.total_ss else 0)


def _sums(fit: Fit, strata: Strata | None) -> Callable[[Array, int], Sum]:
    """Return what tells a sum of all coefficients, of the term of a number, from the error of that term."""
    if strata is not None:
        return strata.sum_of
    error = _error(fit)
    return lambda weights, _: error.of_sum(weights, fit.coefficients, fit.covariance)


def _interval(
    fit: Fit, own: Sum, confidence: float, location: float = 0.0
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
    told = _sums(fit, _strata(fit, factors, layers))
    every = [each for each in addends(design, fit.coded) if len(each.settings) == 1]
    effects = {name: [each for each in every if each.term == name] for name in numeric}

    def slope(weights: Array, number: int) -> Slope:
        estimate, low, high, p = _interval(fit, told(weights, number), confidence)
        return Slope(estimate=estimate, low=low, high=high, p=p)

    return [_trend(name, numeric[name], effects[name], slope) for name in numeric if effects[name]]


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


def _trend(name: str, numbers: list[float], effects: Sequence[Addend], slope: Callable[[Array, int], Slope]) -> Trend:
    axis = axis_of(numbers)
    x = np.array(numbers) if axis == "setting" else np.log2(numbers)
    # the weights of the effect at each setting, the negative of the other's where a factor has two
    own = np.array([effect.weights for effect in effects])
    each = np.vstack((-own, own)) if len(numbers) == 2 else own
    center = x - x.mean()
    number = effects[0].number
    line = slope((center / (center @ center)) @ each, number)
    fitted = line.estimate * center
    curvature = None
    if len(numbers) > 2:
        bend = polynomials(x, 2)[1]
        # the second derivative of the parabola: by how much the slope changes from one step of the axis to the next
        curve = 2 * bend / float(bend @ center**2)
        curvature = slope(curve @ each, number)
        fitted = fitted + curvature.estimate / 2 * float(bend @ center**2) * bend
    unit = None
    if axis == "log2" and len(numbers) == 2:
        plain = np.array(numbers) - np.mean(numbers)
        unit = slope((plain / (plain @ plain)) @ each, number)
    return Trend(
        factor=name, axis=axis, settings=list(numbers), slope=line, per_unit=unit, curvature=curvature,
        fitted=fitted.tolist(),
    )  # fmt: skip
