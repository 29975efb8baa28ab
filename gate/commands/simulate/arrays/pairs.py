"""The intervals of gate.stats.ratio on arrays: any number of comparisons at once.

All arrays of a function broadcast against each other; builds are the last axis of samples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from gate.stats.prior import FALL_BACK, FALL_BACK_BY_ROUND, FALL_BACK_UNLIKE, FEWEST_FOR_FACTOR
from gate.stats.special import fdtrc, fdtri, ndtri, stdtr, stdtrit

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
    Mask = npt.NDArray[np.bool_]

Interval = Literal[
    "fieller",
    "fieller-kj",
    "fieller-paired",
    "fieller-moderated",
    "fieller-moderated-unpaired",
    "paired",
    "paired-shared",
]
"""Names as in the configuration; what is moderated is the round contrast, or each side by itself."""


def is_moderated(interval: Interval) -> bool:
    """Return whether an interval needs a memory."""
    return interval in ("fieller-moderated", "fieller-moderated-unpaired")


def by_round(interval: Interval) -> bool:
    """Return whether an interval rests on the contrast of the sides in each round."""
    return interval in ("fieller-paired", "fieller-moderated", "paired", "paired-shared")


def is_logarithmic(interval: Interval) -> bool:
    """Return whether an interval is of the mean logarithm of each round's ratio."""
    return interval in ("paired", "paired-shared")


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """Limits of ratios; unbounded sets have no limits (NaN)."""

    low: Array
    high: Array


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Means of base (x) and head (y), the variances and covariance of these means, and their degrees of freedom."""

    x: Array
    y: Array
    v_xx: Array
    v_yy: Array
    v_xy: Array
    df: Array

    def p_above(self, theta: float) -> Array:
        """Return the p of "the ratio is above theta", as MeanPair.p; 1 where the estimate lies below."""
        return _two_sided(self._t(theta, 1.0), self.df)

    def p_below(self, theta: float) -> Array:
        """Return the p of "the ratio is below theta"."""
        return _two_sided(self._t(theta, -1.0), self.df)

    def z_above(self, theta: float) -> Array:
        """Return the z-score of "the ratio is above theta", one-sided."""
        return _z(self._t(theta, 1.0), self.df)

    def _t(self, theta: float, sign: float) -> Array:
        # rounding leaves a hair below 0 where both sides move alike
        sd = np.sqrt(np.maximum(self.v_yy + theta**2 * self.v_xx - 2 * theta * self.v_xy, 0.0))
        beyond = sign * (self.y - theta * self.x) / sd
        # the larger of two p on the same degrees belongs to the smaller t: base's mean must differ from 0 too
        smaller: Array = np.minimum(beyond, self.x / np.sqrt(self.v_xx))
        return smaller

    def detectable(self, noncentrality: Array, share: float, theta: float) -> Array:
        """Return the ratio above theta that a test finds with that noncentrality, as worse_ratio; else NaN.

        Args:
            share: what the variances are multiplied by.
        """
        t2 = noncentrality**2 * share
        u_xx, u_yy, u_xy = self.v_xx / self.x**2, self.v_yy / self.y**2, self.v_xy / (self.x * self.y)
        a, b = 1 - t2 * u_yy, theta - theta * t2 * u_xy
        discriminant = b * b - a * theta * theta * (1 - t2 * u_xx)
        with np.errstate(divide="ignore", invalid="ignore"):
            root = (b + np.sqrt(discriminant)) / a
        return np.where((a > 0) & (discriminant >= 0), root, np.nan)

    def bounds(self, alpha: float) -> Bounds:
        """Return the Fieller sets at confidence 1 - alpha (K&J Lemma 7.7), as MeanPair.limits."""
        t2 = stdtrit(self.df, alpha / 2) ** 2
        a = self.x**2 - t2 * self.v_xx
        b = self.x * self.y - t2 * self.v_xy
        c = self.y**2 - t2 * self.v_yy
        with np.errstate(divide="ignore", invalid="ignore"):
            root = np.sqrt(np.maximum(b * b - a * c, 0.0))
            far = b + np.copysign(root, b)
            one, two = far / a, c / far
        bounded = a > 0
        return Bounds(np.where(bounded, np.minimum(one, two), np.nan), np.where(bounded, np.maximum(one, two), np.nan))


@dataclass(frozen=True, slots=True, eq=False)
class LogPairs:
    """The mean logarithm of each round's ratio, the variance of this mean, and its degrees of freedom."""

    ratio: Array
    variance: Array
    df: Array

    def p_above(self, theta: float) -> Array:
        """Return the p of "the ratio is above theta", as LogPair.p."""
        return _two_sided((self.ratio - math.log(theta)) / np.sqrt(self.variance), self.df)

    def p_below(self, theta: float) -> Array:
        """Return the p of "the ratio is below theta"."""
        return _two_sided((math.log(theta) - self.ratio) / np.sqrt(self.variance), self.df)

    def z_above(self, theta: float) -> Array:
        """Return the z-score of "the ratio is above theta", one-sided."""
        return _z((self.ratio - math.log(theta)) / np.sqrt(self.variance), self.df)

    def bounds(self, alpha: float) -> Bounds:
        """Return the t intervals at confidence 1 - alpha."""
        half = -stdtrit(self.df, alpha / 2) * np.sqrt(self.variance)
        return Bounds(np.exp(self.ratio - half), np.exp(self.ratio + half))

    def detectable(self, noncentrality: Array, share: float, theta: float) -> Array:
        """Return the ratio above theta that a test finds with that noncentrality."""
        found: Array = theta * np.exp(noncentrality * np.sqrt(share * self.variance))
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Either:
    """Each comparison from one of two kinds of estimates."""

    mask: Mask
    yes: Pairs | LogPairs
    no: Pairs | LogPairs

    @property
    def df(self) -> Array:
        """Degrees of freedom."""
        return np.where(self.mask, self.yes.df, self.no.df)

    def p_above(self, theta: float) -> Array:
        """Return the p of "the ratio is above theta"."""
        return np.where(self.mask, self.yes.p_above(theta), self.no.p_above(theta))

    def p_below(self, theta: float) -> Array:
        """Return the p of "the ratio is below theta"."""
        return np.where(self.mask, self.yes.p_below(theta), self.no.p_below(theta))

    def z_above(self, theta: float) -> Array:
        """Return the z-score of "the ratio is above theta", one-sided."""
        return np.where(self.mask, self.yes.z_above(theta), self.no.z_above(theta))

    def bounds(self, alpha: float) -> Bounds:
        """Return the intervals at confidence 1 - alpha."""
        yes, no = self.yes.bounds(alpha), self.no.bounds(alpha)
        return Bounds(np.where(self.mask, yes.low, no.low), np.where(self.mask, yes.high, no.high))

    def detectable(self, noncentrality: Array, share: float, theta: float) -> Array:
        """Return the ratio above theta that a test finds with that noncentrality."""
        both = (each.detectable(noncentrality, share, theta) for each in (self.yes, self.no))
        return np.where(self.mask, *both)


Estimates = Pairs | LogPairs | Either


def _two_sided(t: Array, df: Array) -> Array:
    # only where it is positive is p below 1, and only there it costs something
    on_side = t > 0
    p = np.ones(t.shape)
    p[on_side] = 2 * stdtr(np.broadcast_to(df, t.shape)[on_side], -t[on_side])
    return p


def _z(t: Array, df: Array) -> Array:
    upper = stdtr(df, -np.abs(t))
    z: Array = np.where(t > 0, -1.0, 1.0) * ndtri(np.maximum(upper, 1e-300))
    return z


def choose(mask: Mask, yes: Pairs, no: Pairs | LogPairs) -> Estimates:
    """Take each comparison from one of two."""
    if isinstance(no, LogPairs):
        return Either(mask, yes, no)
    return Pairs(
        np.where(mask, yes.x, no.x),
        np.where(mask, yes.y, no.y),
        np.where(mask, yes.v_xx, no.v_xx),
        np.where(mask, yes.v_yy, no.v_yy),
        np.where(mask, yes.v_xy, no.v_xy),
        np.where(mask, yes.df, no.df),
    )


@dataclass(frozen=True, slots=True, eq=False)
class LogMoments:
    """Of the logarithms of both sides of rounds: mean and variance of head less base, variance of the sum."""

    ratio: Array
    contrast: Array
    total: Array
    rounds: Array

    def pairs(self) -> LogPairs:
        """Estimate by this data alone."""
        return LogPairs(self.ratio, self.contrast / self.rounds, self.rounds - 1)


def log_moments(base: Array, head: Array) -> LogMoments:
    """Reduce rounds (last axis, at least two) to what the intervals of logarithms need."""
    # components of absurd size give values below 0 now and then, which no measurement has
    x, y = (np.log(np.maximum(side, 1e-9)) for side in (base, head))
    difference = y - x
    n = np.full(difference.shape[:-1], float(base.shape[-1]))
    return LogMoments(difference.mean(axis=-1), difference.var(axis=-1, ddof=1), (x + y).var(axis=-1, ddof=1), n)


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """What the intervals need of the builds of both sides: means, sample variances and covariance of the builds."""

    x: Array
    y: Array
    s_xx: Array
    s_yy: Array
    s_xy: Array
    builds: Array
    logs: LogMoments | None
    """None where they are not asked for."""

    @property
    def own(self) -> Array:
        """The relative variance of a build's mean, pooled over the sides."""
        return (self.s_xx / self.x**2 + self.s_yy / self.y**2) / 2

    @property
    def contrast(self) -> Array:
        """The variance over rounds of head_r/y - base_r/x."""
        return self.s_xx / self.x**2 + self.s_yy / self.y**2 - 2 * self.s_xy / (self.x * self.y)


def moments(base: Array, head: Array, *, logs: bool = False) -> Moments:
    """Reduce builds (last axis, at least two) to moments; logs: those of logarithms too."""
    n = base.shape[-1]
    x, y = base.mean(axis=-1), head.mean(axis=-1)
    dx, dy = base - x[..., None], head - y[..., None]
    s_xx, s_yy, s_xy = (np.einsum("...i,...i->...", a, b) / (n - 1) for a, b in ((dx, dx), (dy, dy), (dx, dy)))
    return Moments(x, y, s_xx, s_yy, s_xy, np.full(x.shape, float(n)), log_moments(base, head) if logs else None)


def unmoderated(m: Moments, interval: Interval) -> Pairs | LogPairs:
    """Estimate by this data alone: fieller, fieller-kj, fieller-paired or paired."""
    if is_logarithmic(interval):
        if m.logs is None:
            raise ValueError(f"{interval} needs logarithms")
        return m.logs.pairs()
    n = m.builds
    v_xx, v_yy = m.s_xx / n, m.s_yy / n
    zero = np.zeros(m.x.shape)
    if interval == "fieller-paired":
        return Pairs(m.x, m.y, v_xx, v_yy, m.s_xy / n, n - 1)
    if interval == "fieller-kj":
        return Pairs(m.x, m.y, v_xx, v_yy, zero, n - 1)
    w_xx = (m.y / m.x) ** 2 * v_xx
    df = (n - 1) * (w_xx + v_yy) ** 2 / (w_xx**2 + v_yy**2)
    return Pairs(m.x, m.y, v_xx, v_yy, zero, df)


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """What calibration has found, every array of the shape of what it is compared with."""

    variance: Array
    """Of the round contrast, or of a build's mean where the interval is not by round."""
    df: float
    """Its degrees."""
    sides: Array | None
    """Of a build's mean in the same calibration, sides_df its degrees; where the interval is by round."""
    sides_df: float

    def at(self, where: Mask) -> Memory:
        """Take some of them."""
        sides = None if self.sides is None else self.sides[where]
        return Memory(self.variance[where], self.df, sides, self.sides_df)


@dataclass(frozen=True, slots=True, eq=False)
class Moderated:
    """The estimates, and where they use the memory: not where the present data is noisier than it allows."""

    pairs: Estimates
    used: Mask


@dataclass(frozen=True, slots=True, eq=False)
class Factors:
    """How many times noisier than remembered the host is: by the variance that decides, and by that of the sides."""

    deciding: Array
    sides: Array

    def at(self, reports: npt.NDArray[np.intp]) -> Factors:
        """Take those of the reports of some findings."""
        return Factors(self.deciding[reports], self.sides[reports])


def moderated(m: Moments, memory: Memory, factors: Factors, fallback: Interval) -> Moderated:
    """Moderate variances by remembered ones (limma's scaled inverse chi-square prior), unless an F test refuses.

    By round both the contrast and the variance within the sides must look like what is remembered, as in
    gate.stats.prior.moderate.

    Args:
        fallback: the interval without memory.
    """
    by_round = memory.sides is not None
    variance, df = _deciding(m, by_round=by_round)
    scaled = factors.deciding * memory.variance
    level = FALL_BACK_BY_ROUND if by_round else FALL_BACK
    used = fdtrc(df, memory.df, variance / scaled) >= level
    if memory.sides is not None:
        sides = fdtrc(_sides_df(m), memory.sides_df, m.own / (factors.sides * memory.sides))
        used = np.logical_and(used, sides >= level)
    known = (factors.sides * memory.sides, memory.sides_df) if memory.sides is not None else (scaled, memory.df)
    used = np.logical_and(used, _p_unlike(m, *known) >= FALL_BACK_UNLIKE)
    s2 = (memory.df * scaled + df * variance) / (memory.df + df)
    n = m.builds
    own = m.own if by_round else s2
    v_xy = (own - s2 / 2) * m.x * m.y / n if by_round else np.zeros(m.x.shape)
    pairs = Pairs(m.x, m.y, own * m.x**2 / n, own * m.y**2 / n, v_xy, memory.df + df)
    return Moderated(choose(used, pairs, unmoderated(m, fallback)), used)


def _p_unlike(m: Moments, remembered: Array, known: float) -> Array:
    """Return the p of the noisier side's variance against the other's and the remembered one: prior.unlike_sides."""
    base, head = m.s_xx / m.x**2, m.s_yy / m.y**2
    d = m.builds - 1
    expected = (known * remembered + d * np.minimum(base, head)) / (known + d)
    return np.asarray(fdtrc(d, known + d, np.maximum(base, head) / expected), dtype=np.float64)


def _deciding(m: Moments, *, by_round: bool) -> tuple[Array, Array]:
    return (m.contrast, m.builds - 1) if by_round else (m.own, _sides_df(m))


def _sides_df(m: Moments) -> Array:
    return 2 * (m.builds - 1)


def host_factors(m: Moments, memory: Memory, active: Mask) -> Factors:
    """Tell the noise of the host of each report from its active cases.

    Returned shape: (reports,).

    Args:
        active: shape (reports, cases).
        m, memory: of those that are, in their order.
    """
    variance, df = _deciding(m, by_round=memory.sides is not None)
    deciding = _factor(_relative(variance, df, memory.variance, memory.df), active)
    if memory.sides is None:
        return Factors(deciding, np.ones(deciding.shape))
    return Factors(deciding, _factor(_relative(m.own, _sides_df(m), memory.sides, memory.sides_df), active))


def _relative(variance: Array, df: Array, remembered: Array, remembered_df: float) -> Array:
    """Return present over remembered variance, over the median that chance gives this ratio."""
    found, inverse = np.unique(df, return_inverse=True)
    # fdtri is slow, and there are only as many degrees as looks
    medians = fdtri(found, remembered_df, 0.5)[inverse].reshape(df.shape)
    noise: Array = variance / remembered / medians
    return noise


def _factor(noise: Array, active: Mask) -> Array:
    every = np.full(active.shape, np.nan)
    every[active] = noise.ravel()
    return host_factor(every)


def host_factor(noise: Array) -> Array:
    """Return how much noisier the host is than remembered: max(1, median over cases); 1 below five cases.

    Source: docs/method.md, remembered variance.

    Args:
        noise: shape (reports, cases), NaN for cases that do not count.
    """
    ordered = np.sort(noise, axis=1)  # NaN last
    n = np.isfinite(noise).sum(axis=1)
    middle = np.maximum(np.stack([(n - 1) // 2, n // 2], axis=1), 0)
    median = np.take_along_axis(ordered, middle, axis=1).mean(axis=1)
    factor: Array = np.where(n >= FEWEST_FOR_FACTOR, np.maximum(1.0, median), 1.0)
    return factor
