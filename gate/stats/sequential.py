"""How one alpha is shared: over looks between rounds, when they come, and over the findings of a report.

Error spending of O'Brien-Fleming type (Lan and DeMets 1983), boundaries by the recursion of Armitage, McPherson and
Rowe (1969) for Brownian motion. All levels that go in and out are two-sided, as everywhere; inside they are one-sided.

A long design has two stages: most of alpha is spent by round 12 as if nothing came after, and the rest later. So what
shows early is called early, however long measuring may go on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import Literal

import msgspec
import numpy as np

from gate.stats.rounding import Array
from gate.stats.special import log_ndtr, ndtr, ndtri, ndtri_exp

FEWEST_BUILDS = 3
"""Builds a side without which nothing is given up, and nothing said of what would have shown."""
FUTILE = 0.15
"""The conditional probability below which a case is given up."""
FOUND = 0.8
"""How often the whole plan finds the change that is meant."""
_Z_FOUND = float(ndtri(FOUND))


def z_of(upper_tail: float) -> float:
    """Return the z-score of a one-sided p; finite also where p is 0 or 1 as a float."""
    if upper_tail > 0.5:
        return -z_of(1 - upper_tail) if upper_tail < 1 else -40.0
    return -float(ndtri(upper_tail)) if upper_tail > 0 else 40.0


def largest_futile(time: float, last_level: float) -> float:
    """Return the z, of the present test of the threshold, below which a look gives a case up.

    There the last look rejects with the probability FUTILE, given what the present one shows and the change that is
    meant: 1 - Phi((c - z sqrt(t) - theta (1 - t))/sqrt(1 - t)) with c the z-score of the last look's level and theta =
    c + z(FOUND), the drift of a change that the whole plan finds in FOUND of the runs.

    Args:
        time: the present look's share of the planned rounds, 0 < t < 1.
        last_level: one-sided level of the last look.
    """
    critical = z_of(last_level)
    theta = critical + _Z_FOUND
    return (critical - theta * (1 - time) + float(ndtri(FUTILE)) * math.sqrt(1 - time)) / math.sqrt(time)


FIRST_STAGE = 12
"""Rounds by which a longer design has spent most of alpha."""
LATER = (18, 28, 56, 112, 224, 448, 896)
"""Rounds of the looks after the first stage."""
_FIRST_SHARE = 0.8
"""What of alpha is spent by the first stage of a longer design."""
_FIRST_LOOKS = 4
PAIRED_SHARE = 0.9
"""What of alpha intervals paired by round may spend: their t on few rounds crosses a little too often (simulated)."""

_NODES = 160
_REACH = 8.5
_DEGREE = 40
_LARGEST_Z = 8.0
_BISECTIONS, _NEWTONS = 14, 5


def look_rounds(minimum: int, maximum: int) -> tuple[int, ...]:
    """Place the looks from minimum to maximum rounds: at most four by round 12, in about equal ratios, then few.

    4 to 12 rounds have 4, 6, 8, 12; up to 30 rounds 18, 28 and 30 follow.
    """
    if minimum >= maximum:
        return (maximum,)
    end = min(maximum, max(minimum, FIRST_STAGE))
    steps = _FIRST_LOOKS - 1
    first = {round(minimum * (end / minimum) ** (k / steps)) for k in range(steps + 1)}
    return tuple(sorted({*first, *(rounds for rounds in LATER if end < rounds < maximum), maximum}))


class Spending(msgspec.Struct, frozen=True, eq=False):
    """The levels of the looks of one design."""

    looks: tuple[int, ...]
    """Rounds at each look, ascending."""
    coefficients: tuple[Array, ...]
    """Per look the Chebyshev series of z(p_k) over z(a), where a is the one-sided alpha that all looks spend together
    and p_k the nominal one-sided level at look k.
    """

    def nominal(self, k: int, alpha: float, *, paired: bool = False) -> float:
        """Return the two-sided level at look k (from 0) when the looks together spend a two-sided alpha.

        Args:
            paired: the interval is paired by round, and spends 0.9 of it.
        """
        if len(self.looks) == 1:
            return alpha
        share = PAIRED_SHARE if paired else 1.0
        return 2 * float(ndtr(-self._z_of_look(k, -float(ndtri(share * alpha / 2)))))

    def spent(self, k: int, p: float, *, paired: bool = False) -> float:
        """Return the two-sided alpha at which a two-sided p would just cross at look k: the inverse of nominal.

        It is what families share: p crosses at nominal(k, alpha) exactly when spent(k, p) < alpha.
        """
        if len(self.looks) == 1 or p <= 0:
            return max(p, 0.0)
        share = PAIRED_SHARE if paired else 1.0
        target = -float(ndtri(p / 2))
        low, high = 0.0, _LARGEST_Z
        if target <= self._z_of_look(k, low):
            return 1.0
        while self._z_of_look(k, high) < target:
            low, high = high, 2 * high
        # by the Illinois form of regula falsi: the boundary is almost a line
        below, above = self._z_of_look(k, low) - target, self._z_of_look(k, high) - target
        side, z = 0, high
        for _ in range(100):
            if high - low < 1e-14 * high or above == below:
                break
            z = (low * above - high * below) / (above - below)
            value = self._z_of_look(k, z) - target
            if abs(value) < 1e-14 * max(target, 1.0):
                break
            if value < 0:
                low, below, above = z, value, above / 2 if side < 0 else above
                side = -1
            else:
                high, above, below = z, value, below / 2 if side > 0 else below
                side = 1
        return min(1.0, 2 * float(ndtr(-z)) / share)

    def _z_of_look(self, k: int, z: float) -> float:
        series = self.coefficients[k]
        inside = min(z, _LARGEST_Z)
        x = 2 * inside / _LARGEST_Z - 1
        # Clenshaw's recurrence
        one, two = 0.0, 0.0
        for c in reversed(series[1:].tolist()):
            one, two = 2 * x * one - two + c, one
        value = float(x * one - two + series[0])
        if z > _LARGEST_Z:
            # far out the boundary grows in proportion: sqrt(1/t) of the spending function
            value *= z / _LARGEST_Z
        return value


@lru_cache(maxsize=512)
def spending(looks: tuple[int, ...]) -> Spending:
    """Compute the levels of a design with looks after these rounds; about 50 ms, then remembered.

    Raises: ValueError: looks that are not ascending from 1.
    """
    if not looks or looks[0] < 1 or any(a >= b for a, b in pairwise(looks)):
        raise ValueError(f"looks must be ascending rounds from 1, got {looks}")
    # Chebyshev nodes on 0 .. largest z, so that the series is the interpolant
    angles = np.pi * (np.arange(_DEGREE) + 0.5) / _DEGREE
    z = (np.cos(angles) + 1) / 2 * _LARGEST_Z
    cosines = np.cos(np.outer(np.arange(_DEGREE), angles))
    found = []
    for values in _boundaries(ndtr(-z), looks):
        series = 2 / _DEGREE * (cosines @ values)
        series[0] /= 2
        found.append(series)
    return Spending(looks, tuple(found))


def log_spent_by(alpha: Array, rounds: int, last: int) -> Array:
    """Return the logarithm of what of a one-sided alpha is spent by some of the rounds of a design.

    A(t) = 2 (1 - Phi(z_{alpha/2}/sqrt(t))) (Lan-DeMets, O'Brien-Fleming type) with t the share of the rounds of the
    first stage. Of a longer design the first stage spends 0.8 alpha, and the rest grows with the logarithm of rounds.
    """
    long = last > FIRST_STAGE
    if long and rounds > FIRST_STAGE:
        late = math.log(rounds / FIRST_STAGE) / math.log(last / FIRST_STAGE)
        return np.asarray(np.log(alpha * (_FIRST_SHARE + (1 - _FIRST_SHARE) * late)))
    time = rounds / (FIRST_STAGE if long else last)
    share = _FIRST_SHARE if long else 1.0
    return np.asarray(math.log(2) + log_ndtr(ndtri(share * alpha / 2) / math.sqrt(time)))


def _boundaries(alpha: Array, looks: tuple[int, ...]) -> list[Array]:
    """Return per look the z of p_k for each one-sided alpha.

    The density of paths that have not crossed is carried from look to look on Gauss-Legendre nodes below the boundary.
    """
    # in logarithms: an early look spends less of a small alpha than a float can hold
    first = -ndtri_exp(log_spent_by(alpha, looks[0], looks[-1]))
    found = [first]
    times = [rounds / looks[-1] for rounds in looks]
    if len(times) == 1:
        return found
    x, mass = _grid(first * math.sqrt(times[0]), math.sqrt(times[0]))
    mass = mass * np.exp(-(x**2) / (2 * times[0])) / math.sqrt(2 * math.pi * times[0])
    for (before, now), (rounds_before, rounds) in zip(pairwise(times), pairwise(looks), strict=True):
        sd = math.sqrt(now - before)
        spent = log_spent_by(alpha, rounds, looks[-1])
        increment = spent + np.log1p(-np.exp(log_spent_by(alpha, rounds_before, looks[-1]) - spent))
        boundary = _solve(x, mass, sd, increment, math.sqrt(now))
        found.append(boundary / math.sqrt(now))
        if len(found) == len(times):
            break
        y, weight = _grid(boundary, math.sqrt(now))
        kernel = np.exp(-(((y[:, :, None] - x[:, None, :]) / sd) ** 2) / 2) / (sd * math.sqrt(2 * math.pi))
        mass = weight * np.einsum("aij,aj->ai", kernel, mass)
        x = y
    return found


# they take longer than all that is done on them
_legendre = cache(np.polynomial.legendre.leggauss)


def _grid(boundary: Array, sd: float) -> tuple[Array, Array]:
    # shape (alphas, nodes): from far below up to the boundary of each alpha, or to where no path gets
    nodes, weights = _legendre(_NODES)
    low = -_REACH * sd
    half = (np.minimum(boundary, (_REACH + 1) * sd) - low)[:, None] / 2
    return low + half * (nodes + 1), half * weights


def _solve(x: Array, mass: Array, sd: float, increment: Array, scale: float) -> Array:
    """Find the boundary that an increment of alpha crosses: by bisection, and from close by with Newton's steps.

    Args:
        increment: its logarithm.
    """
    low, high = np.full(len(increment), -1.0) * scale, np.full(len(increment), 60.0) * scale
    log_mass = np.log(np.maximum(mass, 1e-300))
    at = (low + high) / 2
    for step in range(_BISECTIONS + _NEWTONS):
        z = (x - at[:, None]) / sd
        terms = log_mass + log_ndtr(z)
        top = terms.max(axis=1)
        log_p = top + np.log(np.exp(terms - top[:, None]).sum(axis=1))
        above = log_p > increment
        low, high = np.where(above, at, low), np.where(above, high, at)
        at = (low + high) / 2
        if step >= _BISECTIONS:
            densities = log_mass - z**2 / 2 - math.log(sd * math.sqrt(2 * math.pi))
            slope = np.exp(densities - log_p[:, None]).sum(axis=1)
            near = np.where(above, low, high) + (log_p - increment) / slope
            at = np.where((near >= low) & (near <= high), near, at)
    return at


# --- hypotheses -------------------------------------------------------------------------------------------------------


class Tested(msgspec.Struct, frozen=True):
    """What one hypothesis gets: its adjusted p, the alpha at which it was tested, and whether it is rejected."""

    p_adjusted: float
    alpha: float
    rejected: bool


def holm(p: Sequence[float], alpha: float) -> list[Tested]:
    """Share alpha by Holm's step-down procedure (Holm 1979): weighted_holm with equal weights.

    A rejected hypothesis was tested at alpha/(m - j), j rejected before it; all others at the level at which the
    procedure stopped, so that rejected == (p < its own alpha).

    Args:
        p: one per hypothesis, all of the family.
    """
    return weighted_holm(p, [1.0] * len(p), alpha)


def weighted_holm(p: Sequence[float], weights: Sequence[float], alpha: float) -> list[Tested]:
    """Share alpha by weights (Holm 1979, section 3): each is tested at alpha times its share of what is left.

    The closed test whose parts are weighted Bonferroni tests. Returned in the order of p.

    Args:
        p: one per hypothesis, all of the family.
        weights: positive, in the order of p.
    """
    order = sorted(range(len(p)), key=lambda i: p[i] / weights[i])
    shares: dict[int, Tested] = {}
    adjusted, left = 0.0, sum(weights)
    stopped: float | None = None
    for i in order:
        adjusted = min(1.0, max(adjusted, p[i] * left / weights[i]))
        if stopped is None and not p[i] < alpha * weights[i] / left:
            stopped = left
        shares[i] = Tested(adjusted, alpha * weights[i] / (left if stopped is None else stopped), stopped is None)
        left -= weights[i]
    return [shares[i] for i in range(len(p))]


def bh(p: Sequence[float], alpha: float) -> list[Tested]:
    """Control the share of false findings among all findings at alpha (Benjamini and Hochberg 1995).

    With R rejected of m, all were tested at alpha R/m, the level of their intervals (Benjamini and Yekutieli 2005);
    with none rejected at alpha/m.

    Args:
        p: one per hypothesis, all of the family.
    """
    m = len(p)
    order = sorted(range(m), key=lambda i: p[i])
    count = max((rank for rank, i in enumerate(order, 1) if p[i] < alpha * rank / m), default=0)
    level = alpha * max(count, 1) / max(m, 1)
    adjusted = [1.0] * m
    least = 1.0
    for rank, i in reversed([*enumerate(order, 1)]):
        adjusted[i] = least = min(least, m * p[i] / rank)
    rejected = set(order[:count])
    return [Tested(adjusted[i], level, i in rejected) for i in range(m)]


def within(question: Tested, p: Sequence[float], weights: Sequence[float], alpha: float) -> list[Tested]:
    """Share what a question gets over its hypotheses, by weights that sum to 1 (weighted Bonferroni).

    Args:
        question: tested with the smallest of p over its weight.
        p: one per hypothesis, in the order of weights.
        alpha: of the family.
    """
    if len(p) == 1:
        return [question]
    found = []
    weighted = [value / weight for value, weight in zip(p, weights, strict=True)]
    for value, weight in zip(weighted, weights, strict=True):
        others = 0.0 if value == min(weighted) else min(1.0, value * alpha / question.alpha)
        rejected = question.rejected and value < question.alpha
        found.append(Tested(max(question.p_adjusted, others), question.alpha * weight, rejected))
    return found


def share(method: Literal["holm", "bh", "none"], p: Sequence[float], alpha: float) -> list[Tested]:
    """Share alpha over hypotheses by the named method; none: each gets all of it."""
    if method == "none":
        return [Tested(value, alpha, value < alpha) for value in p]
    return holm(p, alpha) if method == "holm" else bh(p, alpha)
