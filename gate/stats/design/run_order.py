"""Whether residuals depend on when they were measured: on the one before, and on time."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from gate.stats.design.checks import Finding, untested
from gate.stats.special import betainc, stdtr

if TYPE_CHECKING:
    import numpy.typing as npt

    from gate.stats.design.least_squares import Fit

    Array = npt.NDArray[np.float64]
    Integers = npt.NDArray[np.int64]

CORRELATION = 0.1
"""Below it units are worth more than 80% of as many independent ones."""
DRIFT = 0.25
"""Smallest change over the run, in residual standard deviations, that is worth a word."""
UNKNOWN = "the file does not say in which order it was measured"


class Course(msgspec.Struct, frozen=True, eq=False):
    """When units were measured: their position in the run, and the session."""

    order: Integers
    session: Integers
    unit: str
    """What one of them is, in words."""
    shares: bool
    """Whether a share of the mean says something; of logarithms it does not."""

    @property
    def known(self) -> bool:
        """Whether there is an order at all."""
        return bool((self.order >= 0).all())


def independence(fit: Fit, course: Course) -> Finding:
    """Test lag-1 correlation of the residuals in the order of the run, within sessions: Durbin and Watson's d.

    Its mean and variance are exact for this design under independence; p is of the beta distribution that has them
    (Durbin and Watson 1951), two-sided. The correlation said is half of what d lacks to its mean.
    """
    name = "independence in time"
    if not course.known:
        return untested(name, UNKNOWN)
    rank = np.lexsort((course.order, course.session))
    follows = np.diff(course.session[rank]) == 0
    if fit.residual_df < 3 or not fit.residual_ss or int(follows.sum()) < 3:
        return untested(name, "too few units in a session")
    residuals = fit.residuals[rank]
    d = float((np.diff(residuals)[follows] ** 2).sum() / (residuals @ residuals))
    moments = _moments(fit, rank, follows)
    if moments is None:
        return untested(name, "the design leaves no room for it")
    r = (moments.mean - d) / 2
    below = float(betainc(moments.a, moments.b, d / 4))
    alike = "are alike" if r > 0 else "alternate"
    told = "they carry less information than as many independent ones, so the intervals are too narrow" if r > 0 else (
        "they are not independent, and the intervals are not to be trusted"
    )  # fmt: skip
    return Finding(
        name=name,
        statistic=d,
        df=(float(fit.residual_df),),
        p=min(1.0, 2 * min(below, 1 - below)),
        large=abs(r) >= CORRELATION,
        good=f"no sign that {course.unit}s that follow each other depend on each other",
        bad=f"{course.unit}s that follow each other {alike}",
        figures=f"Durbin-Watson d {d:.3g} where {moments.mean:.3g} is expected, lag-1 correlation {r:.2f}",
        warning=f"{course.unit}s that follow each other {alike} (lag-1 correlation {r:.2f}): {told}",
    )


class _Moments(msgspec.Struct, frozen=True):
    """Of d under independence."""

    mean: float
    a: float
    b: float
    """a and b: of the beta distribution of d/4 that has them."""


def _moments(fit: Fit, rank: Integers, follows: npt.NDArray[np.bool_]) -> _Moments | None:
    """Durbin and Watson 1950: d = e'Ae/e'e, A the sum of squared differences, e = My.

    E d = tr(MA)/v and var d = 2 (tr(MAMA) - tr(MA)^2/v)/(v (v + 2)), v the residual degrees of freedom.
    """
    x = fit.coded.matrix[fit.design.place[rank]]
    steps = np.diff(x, axis=0) * follows[:, None]
    ax = np.zeros_like(x)
    ax[1:] += steps
    ax[:-1] -= steps
    once = fit.covariance @ (x.T @ ax)
    twice = fit.covariance @ (ax.T @ ax)
    count, pairs = int(follows.sum()), int((follows[1:] & follows[:-1]).sum())
    v = fit.residual_df
    trace = 2 * count - float(np.trace(once))
    square = 4 * count + 2 * pairs - 2 * float(np.trace(twice)) + float(np.trace(once @ once))
    mean, variance = trace / v, 2 * (square - trace**2 / v) / (v * (v + 2))
    if not (0 < mean < 4 and variance > 1e-9):
        return None
    m = mean / 4
    size = m * (1 - m) / (variance / 16) - 1
    return _Moments(mean, m * size, (1 - m) * size) if size > 0 else None


def drift(fit: Fit, course: Course) -> Finding:
    """Test a straight line over the order of the run, one slope for all sessions, beside the terms of the model."""
    name = "no drift"
    if not course.known:
        return untested(name, UNKNOWN)
    design = fit.design
    _, own = np.unique(course.session, return_inverse=True)
    own = own.reshape(len(own))
    time = course.order.astype(np.float64)
    time -= (np.bincount(own, weights=time) / np.bincount(own))[own]
    x = fit.coded.matrix
    apart = time - (x @ (fit.covariance @ (x.T @ design.totals(time))))[design.place]
    room = float(apart @ apart)
    if fit.residual_df < 3 or not fit.residual_ss or room <= 1e-9 * float(time @ time) or not time.any():
        return untested(name, "too few units to separate it from the factors")
    slope = float(apart @ fit.residuals) / room
    left = max(fit.residual_ss - slope**2 * room, 0.0)
    df = fit.residual_df - 1
    error = sqrt(left / df / room)
    t = slope / error if error else None
    span = max(float(np.ptp(time[own == s])) for s in range(int(own.max()) + 1))
    change = slope * span
    deviations = change / sqrt(fit.residual_ss / fit.residual_df)
    amount = _amount(fit, change) if course.shares else ""
    said = f"from the first {course.unit} to the last by {amount}{abs(deviations):.1f} residual sd"
    way = "up" if change > 0 else "down"
    return Finding(
        name=name,
        statistic=t,
        df=(float(df),),
        p=float(2 * stdtr(df, -abs(t))) if t is not None else 0.0,
        large=abs(deviations) >= DRIFT,
        good="no sign of a drift",
        bad=f"values drift {way}",
        figures=said + (f", t {t:.2f}" if t is not None else ""),
        warning=f"values drift {way} over the run: {said}; random order keeps it out of the effects, but it is part of "
        "what is unexplained",
    )


def _amount(fit: Fit, change: float) -> str:
    """Say a change as a share of the mean, where there is one."""
    return f"{abs(change) * fit.scale / fit.location:.1%} of the mean, " if fit.location > 0 else ""
