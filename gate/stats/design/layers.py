"""How units lie in sessions, rounds of builds, iterations of the design and builds: the strata of an experiment.

In a round every variant of the build is made once, and in each iteration of the design (a replicate) every treatment is
executed once. So rounds and replicates are blocks; builds are the whole plots of factors that vary by build, sessions
those of factors that vary by session (Montgomery, Design and Analysis of Experiments, 14.4; NIST TN 1855, 4.5). Where a
build executes a treatment more than once, what it does to that treatment is the error, not its executions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from gate.model.study import Block, Error, Factor, Varies
from gate.stats.rounding import Array, Ints
from gate.stats.special import fdtrc

if TYPE_CHECKING:
    import pandas as pd

RANK: dict[Varies, int] = {"execution": 0, "build": 1, "session": 2}
NESTED: tuple[Error, ...] = ("session", "build", "build x treatment")
"""The errors above that of units, each within the one before it."""


class Groups(msgspec.Struct, frozen=True, eq=False):
    """Which group each unit is in, numbered from 0, and the sizes of the groups."""

    of: Ints
    sizes: Ints

    @property
    def count(self) -> int:
        """How many groups there are."""
        return len(self.sizes)

    def means(self, values: Array) -> Array:
        """Return the mean of each unit's group; values: shape (n,) or (n, k)."""
        shape = (self.count, *(1,) * (values.ndim - 1))
        found: Array = (self.sums(values) / self.sizes.reshape(shape))[self.of]
        return found

    def sums(self, values: Array) -> Array:
        """Return the sum of each group; values: shape (n,) or (n, k)."""
        columns = values.reshape(len(values), -1).T
        sums = [np.bincount(self.of, weights=own, minlength=self.count) for own in columns]
        return np.array(sums, dtype=np.float64).T.reshape(self.count, *values.shape[1:])


class Layers(msgspec.Struct, frozen=True, eq=False):
    """The groups of units, from the coarsest to the finest.

    block: what executions are compared within; blocks: its groups. rounds: blocks of builds, None where a round does
    not hold all of them. errors: the random groups, whose luck terms are tested against: sessions and builds where a
    factor varies by those, builds by treatment where builds repeat treatments.
    """

    block: Block | None
    blocks: Groups
    rounds: Groups | None
    errors: dict[Error, Groups]

    @property
    def plain(self) -> bool:
        """Whether units are independent, so that there is one error."""
        return self.blocks.count == 1 and not self.errors

    @property
    def cells(self) -> bool:
        """Whether a build executes treatments more than once."""
        return "build x treatment" in self.errors

    def held(self, error: Error) -> list[Groups]:
        """Return the groups whose differences are no part of an error, the finest of each kind."""
        session, build = self.errors.get("session"), self.errors.get("build")
        upper = [session] if session is not None else []
        if error == "session":
            return []
        if error == "build":
            return [self.rounds] if self.rounds is not None else upper
        plots = [build] if build is not None else upper
        # a replicate runs through all builds of its round, so neither holds the other
        return [*plots, *([self.blocks] if self.block_at(error) and self.blocks.count > 1 else [])]

    def shared(self) -> Groups | None:
        """Return the groups that both whole plots and the blocks across them lie in; None: the whole."""
        return self.rounds if self.rounds is not None and "build" in self.errors else self.errors.get("session")

    def dimension(self, error: Error) -> int:
        """Return how many independent means of groups are held, the whole's among them."""
        held = self.held(error)
        if len(held) < 2:
            return held[0].count if held else 1
        shared = self.shared()
        return sum(each.count for each in held) - (1 if shared is None else shared.count)

    def block_at(self, error: Error) -> bool:
        """Return whether blocks are beside whole plots, not the same or above them."""
        if "build" not in self.errors:
            return True
        return self.block == "replicate" and error == "execution"


def groups(*columns: Ints) -> Groups:
    """Number the combinations of columns in standard order, the last fastest: rows of many are slow to compare."""
    keys = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        place = np.unique(column, return_inverse=True)[1].reshape(len(keys))
        keys = np.unique(keys * (int(place.max()) + 1) + place, return_inverse=True)[1].reshape(len(keys))
    return Groups(keys, np.bincount(keys))


def layers(units: pd.DataFrame, factors: Sequence[Factor], block: Block | None, *, repeated: bool = True) -> Layers:
    """Lay out units by what the design says: what factors vary by, and the block.

    units: with session, round, build and replicate, numbered over the whole data, and of a fraction that is folded over
    the fold, which is a block of its own. repeated: False where units are taken
    for independent within builds.
    """
    columns = {name: units[name].to_numpy(dtype=np.int64) for name in ("session", "round", "build", "replicate")}
    columns["fold"] = units["fold"].to_numpy(dtype=np.int64) if "fold" in units else np.zeros(len(units), np.int64)
    codes = [units[f"f{i}"].to_numpy(dtype=np.int64) for i in range(len(factors))]
    own = {level: [c for c, f in zip(codes, factors, strict=True) if f.varies == level] for level in RANK}
    errors: dict[Error, Groups] = {}
    if own["session"]:
        errors["session"] = groups(columns["session"], *own["session"])
    if own["build"]:
        errors["build"] = groups(columns["session"], columns["build"], *own["build"], *own["session"])
    rounds: Groups | None = groups(columns["session"], columns["round"])
    if rounds is not None and own["build"]:
        # rounds hold all settings that builds differ by, and there are several of these in each
        variants = groups(*own["build"])
        held = groups(rounds.of, variants.of)
        whole = (np.bincount(_first(held, rounds)) == variants.count).mean() > 0.5
        rounds = rounds if held.count > rounds.count and whole else None
    if rounds is None and block in ("replicate", "build"):
        block = None
    cells = groups(columns["session"], columns["build"], *codes)
    treatments = groups(np.zeros(len(units), dtype=np.int64), *codes)
    several = int(np.bincount(_first(cells, treatments)).min()) > 1 if len(cells.sizes) else False
    if repeated and several and int(cells.sizes.max()) > 1:
        errors["build x treatment"] = cells
        # the means of a build's executions of a treatment hold all replicates of their round alike
        block = "build" if block == "replicate" else block
    names = {"replicate": ("session", "round", "replicate"), "build": ("session", "round"), "session": ("session",)}
    blocks = groups(columns["fold"], *(columns[each] for each in (names[block] if block else ())))
    return Layers(block, blocks, rounds, errors)


def _first(inner: Groups, outer: Groups) -> Ints:
    """Return the outer group of each inner one."""
    found = np.zeros(inner.count, dtype=np.int64)
    found[inner.of] = outer.of
    return found


def complete_within(units: pd.DataFrame, factors: Sequence[Factor]) -> Block | None:
    """Return the lowest of builds and sessions that execute every treatment, where no design says it; None: neither.

    Only builds and sessions: a number of an execution does not say what ran beside it.
    """
    codes = [units[f"f{i}"].to_numpy(dtype=np.int64) for i in range(len(factors))]
    if not len(units) or all(f.varies != "execution" for f in factors):
        return None
    session, round_ = (units[name].to_numpy(dtype=np.int64) for name in ("session", "round"))
    treatments = groups(*codes)
    upper = groups(np.zeros_like(session), *(c for c, f in zip(codes, factors, strict=True) if f.varies == "session"))
    every = np.bincount(_first(treatments, upper))
    candidates: tuple[tuple[Block, Groups], ...] = (("build", groups(session, round_)), ("session", groups(session)))
    for name, own in candidates:
        held = groups(own.of, treatments.of)
        if own.count > 1 and bool((np.bincount(_first(held, own)) == every[_first(own, upper)]).all()):
            return name
    return None


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
        # of independent parts of an F test
        error_df = min(each)
        if max(each) - error_df >= 1e-6 * max(each) and math.isfinite(max(each)):
            expected = sum(own / (own - 2) for own in each if own > 2)
            # fewer than two degrees have no mean: the F is then not told from a heavier one
            error_df = max(2 * expected / (expected - df) if expected > df else 0.0, error_df)
        return FTest(f, df, error_df, float(fdtrc(df, error_df, f)))


def reml(y: Array, x: Array, nested: Sequence[Groups]) -> Mixed:
    """Fit.

    y: shape (n,), x: shape (n, p) of full rank, n > p; nested: from the coarsest groups to the finest.
    """
    inner = tuple(nested)
    n, p = x.shape
    both = np.column_stack((x, y))
    ratios = _best(both, inner) if inner else np.zeros(0)
    inverse, beta, squares, _ = _solved(both, inner, ratios)
    variance = squares / (n - p)
    components = np.append(ratios * variance, variance)
    free = tuple(k for k in range(len(components)) if components[k] > 0)
    if not inner or variance <= 0 or free == (len(inner),):
        return Mixed(y, x, inner, beta, inverse * variance, components, np.zeros((0, 0)), free, ())
    slopes = []
    for k in free:
        step, ends = components[k] * _STEP, []
        for sign in (1, -1):
            moved = components.copy()
            moved[k] += sign * step
            ends.append(_solved(both, inner, moved[:-1] / moved[-1])[0] * moved[-1])
        slopes.append((ends[0] - ends[1]) / (2 * step))
    spread = _spread(both, inner, components, free)
    return Mixed(y, x, inner, beta, inverse * variance, components, spread, free, tuple(slopes))


def _best(both: Array, nested: Sequence[Groups]) -> Array:
    """Return the ratios of variances to the residual one at which the likelihood is greatest."""
    from scipy import optimize

    bounds = [(0.0, 1e4)] * len(nested)

    def deviance(roots: Any) -> float:
        # -2 log restricted likelihood at the best residual variance, but for a constant
        _, _, squares, logs = _solved(both, nested, np.square(np.atleast_1d(roots)))
        df = both.shape[0] - both.shape[1] + 1
        return logs + df * math.log(squares) if squares > 0 else -math.inf

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


def _solved(both: Array, nested: Sequence[Groups], ratios: Array) -> tuple[Array, Array, float, float]:
    """Return for V = I + the groups by their ratios (X'V^-1 X)^-1, coefficients, r'V^-1 r, log |V| + log |X'V^-1 X|."""
    # V^-1 values and log det V: one group after another, from the finest (Sherman and Morrison)
    whitened, ones, log_v = both, np.ones(len(both)), 0.0
    for own, ratio in zip(reversed(nested), reversed(ratios.tolist()), strict=True):
        if ratio:
            sums = own.sums(ones)
            share = ratio / (1 + ratio * sums)
            whitened = whitened - ones[:, None] * (share[:, None] * own.sums(whitened))[own.of]
            log_v += float(np.log1p(ratio * sums).sum())
            ones = ones / (1 + ratio * sums[own.of])
    p = both.shape[1] - 1
    products = both.T @ whitened
    inner, cross = products[:p, :p], products[:p, p]
    sign, log_x = np.linalg.slogdet(inner)
    inverse = np.asarray(np.linalg.inv(inner), dtype=np.float64)
    beta = inverse @ cross
    squares = max(float(products[p, p] - cross @ beta), 0.0)
    return inverse, beta, squares, log_v + float(log_x) if sign > 0 else math.inf


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
        _, _, squares, logs = _solved(both, nested, moved[:-1] / residual)
        return float(logs + (both.shape[0] - both.shape[1] + 1) * math.log(residual) + squares / residual)

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
