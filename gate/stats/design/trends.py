"""The trend of factors whose settings are numbers: a straight line through their means, and a curvature.

The coefficients of orthogonal polynomials, as R's contr.poly with the settings as scores makes them, on the settings
or, where those are more evenly spaced on it, on their logarithm to base 2. A trend is a sum of the coefficients of
the linear model, so that it has the error of the factor's term.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gate.model.study import Slope, Trend
from gate.stats.design.coding import Addend, addends, lay_out
from gate.stats.design.least_squares import Fit, least_squares
from gate.stats.design.strata import Sum, stratified
from gate.stats.special import stdtr, stdtrit

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    from gate.model.study import Axis, Factor, Setting
    from gate.stats.design.layers import Layers

    Array = npt.NDArray[np.float64]

_DOUBLING = 2.0
"""Two settings are taken for steps of a geometric row if one is at least this many times the other."""


Sums = Callable[["Array", int], Sum]
"""Takes weights of all coefficients, and the number of the term whose they are."""


def trends(
    units: pd.DataFrame,
    factors: Sequence[Factor],
    order: int,
    confidence: float,
    layers: Layers | None = None,
) -> list[Trend]:
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
        told = residual_sums(fit)
    else:
        told = stratified(fit.fitted + fit.residuals, design, fit.coded, factors, layers).sum_of
    every = [each for each in addends(design, fit.coded) if len(each.settings) == 1 and not each.against]
    effects = {name: [each for each in every if each.term == name] for name in numeric}
    return [_trend(fit, name, numeric[name], effects[name], confidence, told) for name in numeric if effects[name]]


def residual_sums(fit: Fit) -> Sums:
    """Tell sums of coefficients from the residual variance."""

    def told(weights: Array, _: int) -> Sum:
        estimate = float(weights @ fit.coefficients)
        if not fit.variance:
            return Sum(estimate, fit.variance, None)
        return Sum(estimate, math.sqrt(fit.variance * float(weights @ fit.covariance @ weights)), fit.residual_df)

    return told


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
    uneven, on_logs = (_uneven(np.diff(row)) for row in (np.array(ordered), np.log2(ordered)))
    return "log2" if on_logs < uneven else "setting"


def _uneven(gaps: Array) -> float:
    return float(gaps.std() / gaps.mean())


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
    each = _by_setting(effects, len(numbers))
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
        factor=name,
        axis=axis,
        settings=list(numbers),
        slope=line,
        per_unit=unit,
        curvature=curvature,
        fitted=fitted.tolist(),
    )


def _by_setting(effects: Sequence[Addend], count: int) -> Array:
    """Return the weights of the effect at each setting, the negative of the other's where a factor has two."""
    own = np.array([effect.weights for effect in effects])
    return np.vstack((-own, own)) if count == 2 else own


def _slope(fit: Fit, own: Sum, confidence: float) -> Slope:
    estimate = own.estimate * fit.scale if abs(own.estimate) > fit.noise else 0.0
    if own.error is None:
        return Slope(estimate=estimate, low=None, high=None, p=None)
    if own.error == 0 or own.df is None:
        return Slope(estimate=estimate, low=estimate, high=estimate, p=float(not estimate))
    error = own.error * fit.scale
    half = float(stdtrit(own.df, (1 + confidence) / 2)) * error
    p = min(1.0, 2 * float(stdtr(own.df, -abs(estimate) / error)))
    return Slope(estimate=estimate, low=estimate - half, high=estimate + half, p=p)
