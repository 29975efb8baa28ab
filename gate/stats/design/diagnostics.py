"""Whether the linear model may be believed: its residuals, and what they say in words.

Born de Oliveira et al. 2013, section 5.1 and 5.2: residuals against fitted values (Fig. 3 and 5), normal probability
(Fig. 6), Cook's distance, and the share unexplained.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from gate.model.study import AnalysisUnit, Diagnostics, Residual, Scale
from gate.stats.design.checks import equal_variance, growth, judged, lack_of_fit, normality
from gate.stats.design.coding import lay_out
from gate.stats.design.least_squares import ROUNDING, least_squares
from gate.stats.design.run_order import Course, drift, independence
from gate.stats.special import ndtri, stdtr

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    from gate.model.study import Factor
    from gate.stats.design.least_squares import Fit

    Array = npt.NDArray[np.float64]
    Integers = npt.NDArray[np.int64]

MOST_RESIDUALS = 2000
LARGEST_RESIDUALS = 500
INFLUENTIAL = 0.5
"""Cook's distance that is worth a look (Cook and Weisberg 1999); with equal counts of all treatments the most is 1."""
UNEXPLAINED = 0.5
"""From this share on, what was not varied matters more than what was."""


def diagnostics(
    units: pd.DataFrame,
    factors: Sequence[Factor],
    order: int,
    unit_name: AnalysisUnit,
    confidence: float,
    scale: Scale = "value",
) -> Diagnostics:
    """Check the linear model of `linear_model` with the same units, factors and order.

    unit_name: what a row of units is. 1 - confidence is shared over the checks by Holm, so a model without fault is
    warned of with that chance at most; each check's own p is not adjusted. scale: what y is; of a logarithm no other is
    advised. Residuals and fitted values are in the unit of y.

    Raises:
        ValueError: no units, or a value that is not finite.
    """
    design = lay_out(units, factors)
    y = units["y"].to_numpy(dtype=np.float64)
    fit = least_squares(y, design, order)
    log_fit = least_squares(np.log(y), design, order) if scale == "value" and y.min() > 0 else None
    order_of, session = (units[name].to_numpy(dtype=np.int64) for name in ("order", "session"))
    course = Course(order_of, session, unit_name, shares=scale == "value")
    found = judged(
        [
            normality(fit),
            equal_variance(fit),
            growth(fit, log_fit),
            independence(fit, course),
            drift(fit, course),
            lack_of_fit(fit, design, order),
        ],
        1 - confidence,
    )
    cook = _cook(fit)
    worst = _worst(fit, cook, course)
    warnings = [*_scarce(fit), *(each.warning for each in found if each.warning is not None)]
    if worst is not None and worst.distance >= INFLUENTIAL and worst.p < 1 - confidence:
        warnings.append(
            f"one {unit_name} moves the effects by itself (Cook's distance {worst.distance:.2g}, {worst.where}): "
            "look at it, and measure more before you believe them"
        )
    return Diagnostics(
        checks=[each.check for each in found],
        residuals=_residuals(fit, cook, course),
        largest_cook=None if worst is None else worst.distance,
        where=None if worst is None else worst.where,
        warnings=[*warnings, *_unexplained(fit)],
    )


def _scarce(fit: Fit) -> list[str]:
    if not fit.total_ss:
        return ["all values are alike: there is nothing to explain (is the timer too coarse?)"]
    if not fit.residual_df:
        return ["one observation for each effect: nothing is left to estimate the noise from; measure replicates"]
    if not fit.residual_ss:
        return ["no spread within treatments: intervals have no width, which holds for exact values only"]
    return []


def _unexplained(fit: Fit) -> list[str]:
    if not fit.residual_ss or fit.residual_ss < UNEXPLAINED * fit.total_ss:
        return []
    return [
        "more is unexplained than explained: noise, or what was not varied, moves this response more than the factors"
    ]


def _cook(fit: Fit) -> Array:
    """Return Cook's distance of each unit; NaN where leverage leaves no residual, or nothing compares."""
    if not fit.variance:
        return np.full(len(fit.residuals), np.nan)
    h = fit.leverage[fit.design.place]
    room = np.where(1 - h > 1e-9, 1 - h, np.nan)
    found: Array = fit.residuals**2 * h / (room**2 * fit.p * fit.variance)
    return found


class _Worst(msgspec.Struct, frozen=True):
    """The unit with the largest Cook's distance; p: that one of all units stands so far out by chance."""

    distance: float
    where: str
    p: float


def _worst(fit: Fit, cook: Array, course: Course) -> _Worst | None:
    if np.isnan(cook).all():
        return None
    i = int(np.nanargmax(cook))
    where = f"{course.unit} at {fit.design.treatment(int(fit.design.place[i]))}"
    if np.ptp(course.session) > 0:
        where += f", session {course.session[i]}"
    if course.known:
        where += f", at {course.order[i]} in the order of the run"
    return _Worst(float(cook[i]), where, _outlying(fit, i))


def _outlying(fit: Fit, i: int) -> float:
    """Test one residual against the spread of the others, by Bonferroni over the units.

    High leverage alone is no fault of a unit, and with few degrees of freedom its distance is large whatever it is.
    """
    df = fit.residual_df - 1
    h = float(fit.leverage[fit.design.place[i]])
    square = float(fit.residuals[i]) ** 2 / ((fit.variance or 1.0) * (1 - h))
    if df < 1:
        return 1.0
    if square >= fit.residual_df * (1 - ROUNDING):
        return 0.0
    t = sqrt(square * df / (fit.residual_df - square))
    return min(1.0, len(fit.residuals) * 2 * float(stdtr(df, -t)))


def _residuals(fit: Fit, cook: Array, course: Course) -> list[Residual]:
    """Return the residuals in the order of the units, with normal scores at their ranks (Blom 1958)."""
    n = len(fit.residuals)
    rank = np.argsort(fit.residuals, kind="stable")
    scores = np.empty(n)
    scores[rank] = ndtri((np.arange(n) + 0.625) / (n + 0.25))
    return [
        Residual(
            fitted=fit.location + fit.scale * float(fit.fitted[i]),
            residual=fit.scale * float(fit.residuals[i]),
            quantile=float(scores[i]),
            cook=None if np.isnan(cook[i]) else float(cook[i]),
            order=int(course.order[i]) if course.known else None,
        )
        for i in _shown(fit.residuals, rank).tolist()
    ]


def _shown(residuals: Array, rank: Integers) -> Integers:
    """Choose what a picture shows: the largest, and the others evenly by rank, so that it keeps its shape."""
    n = len(residuals)
    if n <= MOST_RESIDUALS:
        return np.arange(n)
    by_size = np.argsort(np.abs(residuals), kind="stable")
    largest = np.zeros(n, dtype=np.bool_)
    largest[by_size[-LARGEST_RESIDUALS:]] = True
    others = rank[~largest[rank]]
    evenly = np.linspace(0, len(others) - 1, MOST_RESIDUALS - LARGEST_RESIDUALS).round().astype(np.int64)
    return np.sort(np.concatenate((np.flatnonzero(largest), others[evenly])))
