"""A linear model with fixed columns and nested random groups, for data that are not balanced: REML.

y = X b + Z1 u1 + Z2 u2 + ... + e, the groups of Z2 within those of Z1, all random effects normal and independent. The
variances maximise the restricted likelihood (Patterson and Thompson 1971; Bates et al. 2015, section 3), never below 0;
tests have Satterthwaite's degrees of freedom (Giesbrecht and Burns 1985; Fai and Cornelius 1996; Kuznetsova et al.
2017). statsmodels' MixedLM has neither those degrees nor several nested groups at this speed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from gate.stats.design.layers import Groups
from gate.stats.special import fdtrc

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

_STEP = 1e-3
"""Relative step of numeric derivatives: in the middle between rounding and curvature."""
_BOUNDARY = 1e-8
"""A variance below this share of the residual one is 0."""


class FTest(msgspec.Struct, frozen=True):
    """An F test; f None: the error is 0."""

    f: float
    df: int
    error_df: float
    p: float


class Mixed(msgspec.Struct, frozen=True, eq=False):
    """A fit. components: variance of each of the groups, then the residual one. covariance: of the coefficients."""

    y: Array
    x: Array
    nested: tuple[Groups, ...]
    coefficients: Array
    covariance: Array
    components: Array
    spread: Array
    """Covariance of the variances that are not 0, whose numbers are in `free`."""
    free: tuple[int, ...]
    slopes: tuple[Array, ...]
    """Derivatives of the covariance of the coefficients by these variances."""

    def error_df(self, weights: Array) -> float:
        """Return Satterthwaite's degrees of freedom of a sum of coefficients, shape (p,)."""
        if not self.nested or self.free == (len(self.nested),):
            return float(len(self.y) - self.x.shape[1])
        variance = float(weights @ self.covariance @ weights)
        slope = np.array([float(weights @ each @ weights) for each in self.slopes])
        spread = float(slope @ self.spread @ slope)
        return 2 * variance * variance / spread if spread > 0 else math.inf

    def test(self, start: int, stop: int) -> FTest:
        """Test that coefficients start..stop are all 0 (Fai and Cornelius 1996)."""
        df = stop - start
        own, vectors = np.linalg.eigh(self.covariance[start:stop, start:stop])
        along = vectors.T @ self.coefficients[start:stop]
        f = float((along**2 / own).sum()) / df
        each = []
        for vector in vectors.T:
            weights = np.zeros(len(self.coefficients))
            weights[start:stop] = vector
            each.append(self.error_df(weights))
        error_df = _joint(each)
        return FTest(f, df, error_df, float(fdtrc(df, error_df, f)))


def _joint(df: Sequence[float]) -> float:
    """Join the degrees of freedom of independent parts of an F test."""
    if max(df) - min(df) < 1e-6 * max(df) or not math.isfinite(max(df)):
        return min(df)
    expected = sum(each / (each - 2) for each in df if each > 2)
    # fewer than two degrees have no mean: the F is then not told from a heavier one
    return max(2 * expected / (expected - len(df)) if expected > len(df) else 0.0, min(df))


def reml(y: Array, x: Array, nested: Sequence[Groups]) -> Mixed:
    """Fit.

    y: shape (n,), x: shape (n, p) of full rank, n > p; nested: from the coarsest groups to the finest.
    """
    inner = tuple(nested)
    n, p = x.shape
    both = np.column_stack((x, y))
    ratios = _best(both, inner) if inner else np.zeros(0)
    own = _solved(both, inner, ratios)
    variance = own.squares / (n - p)
    components = np.append(ratios * variance, variance)
    free = tuple(k for k in range(len(components)) if components[k] > 0)
    if not inner or variance <= 0 or free == (len(inner),):
        return Mixed(y, x, inner, own.beta, own.inverse * variance, components, np.zeros((0, 0)), free, ())
    return Mixed(
        y, x, inner, own.beta, own.inverse * variance, components, _spread(both, inner, components, free), free,
        tuple(_slope(both, inner, components, k) for k in free),
    )  # fmt: skip


def _best(both: Array, nested: Sequence[Groups]) -> Array:
    """Return the ratios of variances to the residual one at which the likelihood is greatest."""
    from scipy import optimize

    bounds = [(0.0, 1e4)] * len(nested)

    def deviance(roots: Any) -> float:
        # -2 log restricted likelihood at the best residual variance, but for a constant
        own, df = _solved(both, nested, np.square(np.atleast_1d(roots))), both.shape[0] - both.shape[1] + 1
        if own.squares <= 0:
            return -math.inf
        return own.log_v + own.log_x + float(df * math.log(own.squares))

    if len(nested) == 1:
        # a share of 0 to 1 stands for roots of all sizes
        share = float(
            optimize.minimize_scalar(
                lambda u: deviance(u / (1 - u)), bounds=(0, 0.99), method="bounded", options={"xatol": 1e-9}
            ).x
        )
        ratio = min((0.0, share / (1 - share)), key=deviance) ** 2
        return np.array([ratio if ratio >= _BOUNDARY else 0.0])
    # likelihoods of few groups may have a second top at 0
    starts: list[Any] = [np.full(len(nested), start) for start in (1.0, 0.1)]
    tops = [optimize.minimize(deviance, start, method="L-BFGS-B", bounds=bounds).x for start in starts]
    top = min(tops, key=deviance)
    polished = optimize.minimize(
        deviance, top, method="Nelder-Mead", bounds=bounds, options={"xatol": 1e-7, "fatol": 1e-10, "maxiter": 2000}
    ).x
    found = np.square(min((top, polished), key=deviance))
    return np.where(found < _BOUNDARY, 0.0, found)


class _Solved(msgspec.Struct, frozen=True, eq=False):
    """For V = I + the groups by their ratios: (X'V^-1 X)^-1, coefficients, r'V^-1 r, and log determinants of both."""

    inverse: Array
    beta: Array
    squares: float
    log_v: float
    log_x: float


def _solved(both: Array, nested: Sequence[Groups], ratios: Array) -> _Solved:
    whitened, log_v = _without_groups(both, nested, ratios)
    p = both.shape[1] - 1
    products = both.T @ whitened
    inner, cross = products[:p, :p], products[:p, p]
    sign, log_x = np.linalg.slogdet(inner)
    inverse = np.asarray(np.linalg.inv(inner), dtype=np.float64)
    beta = inverse @ cross
    squares = max(float(products[p, p] - cross @ beta), 0.0)
    return _Solved(inverse, beta, squares, log_v, float(log_x) if sign > 0 else math.inf)


def _without_groups(values: Array, nested: Sequence[Groups], ratios: Array) -> tuple[Array, float]:
    """Return V^-1 values and log det V: one group after another, from the finest (Sherman and Morrison)."""
    found, ones, log_v = values, np.ones(len(values)), 0.0
    for own, ratio in zip(reversed(nested), reversed(ratios.tolist()), strict=True):
        if not ratio:
            continue
        sums = own.sums(ones)
        share = ratio / (1 + ratio * sums)
        found = found - ones[:, None] * (share[:, None] * own.sums(found))[own.of]
        log_v += float(np.log1p(ratio * sums).sum())
        ones = ones / (1 + ratio * sums[own.of])
    return found, log_v


def _spread(both: Array, nested: Sequence[Groups], components: Array, free: Sequence[int]) -> Array:
    """Return the covariance of variances: twice the inverse of the curvature of the deviance."""
    steps = components * _STEP
    size = len(free)
    curvature = np.empty((size, size))

    def at(*moves: tuple[int, float]) -> float:
        moved = components.copy()
        for k, sign in moves:
            moved[k] += sign * steps[k]
        # it at given variances
        residual = float(moved[-1])
        own, df = _solved(both, nested, moved[:-1] / residual), both.shape[0] - both.shape[1] + 1
        return own.log_v + own.log_x + float(df * math.log(residual)) + own.squares / residual

    middle = at()
    for a, i in enumerate(free):
        curvature[a, a] = (at((i, 1)) - 2 * middle + at((i, -1))) / steps[i] ** 2
        for b, j in list(enumerate(free))[:a]:
            mixed = at((i, 1), (j, 1)) - at((i, 1), (j, -1)) - at((i, -1), (j, 1)) + at((i, -1), (j, -1))
            curvature[a, b] = curvature[b, a] = mixed / (4 * steps[i] * steps[j])
    own, vectors = np.linalg.eigh(curvature)
    kept = own > 1e-10 * max(float(own.max()), 1e-300)
    found: Array = 2 * (vectors[:, kept] / own[kept]) @ vectors[:, kept].T
    return found


def _slope(both: Array, nested: Sequence[Groups], components: Array, k: int) -> Array:
    """Return the derivative of the covariance of the coefficients by one variance."""
    step = components[k] * _STEP
    ends = []
    for sign in (1, -1):
        moved = components.copy()
        moved[k] += sign * step
        ends.append(_solved(both, nested, moved[:-1] / moved[-1]).inverse * moved[-1])
    found: Array = (ends[0] - ends[1]) / (2 * step)
    return found
