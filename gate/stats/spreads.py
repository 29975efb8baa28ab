"""Whether the builds of one side spread more than those of the other, so that a mean tells less of it."""

from __future__ import annotations

import math

import msgspec
import numpy as np

from gate.model import Side
from gate.stats.levels import Tops
from gate.stats.ratio import variance_of_mean
from gate.stats.rounding import ROUNDING, Array
from gate.stats.special import fdtr, fdtrc

FEWEST = 5
"""Units a side below which the tests warn too often or never."""
F_LEVEL, DISTANCE_LEVEL = 0.01, 0.02
"""Both tests must agree: F alone takes a rare layout for a spread, distances from the median alone see too little."""


class Wider(msgspec.Struct, frozen=True):
    """The side whose units spread more, and how many times as much; None: the other's do not spread."""

    side: Side
    times: float | None


def wider(base: Tops, head: Tops) -> Wider | None:
    """Return the side that spreads more, as a share of its mean; None where that is not shown.

    F of the variances and Brown and Forsythe's (1974) test of the distances from the median, both two-sided
    (docs/method.md has their false and true warnings).
    """
    if min(base.n, head.n) < FEWEST or not (base.log or min(base.mean, head.mean) > 0):
        return None
    x, y = (1.0, 1.0) if base.log else (base.mean, head.mean)
    own, other = (variance_of_mean(side) * side.n / scale**2 for side, scale in ((base, x), (head, y)))
    if max(own, other) <= ROUNDING**2 or _p_variances(own, other, base.n - 1, head.n - 1) >= F_LEVEL:
        return None
    if _p_distances(deviations(np.sort(base.values / x)), deviations(np.sort(head.values / y))) >= DISTANCE_LEVEL:
        return None
    small, large = sorted((own, other))
    return Wider("head" if other > own else "base", math.sqrt(large / small) if small > ROUNDING**2 else None)


def _p_variances(one: float, other: float, d_one: int, d_other: int) -> float:
    if min(one, other) <= 0:
        return 0.0
    f = one / other
    return 2 * float(min(fdtr(d_one, d_other, f), fdtrc(d_one, d_other, f)))


def _p_distances(one: Array, other: Array) -> float:
    """Return the p of equal means, by analysis of variance of two groups."""
    means = one.mean(), other.mean()
    within = float(((one - means[0]) ** 2).sum() + ((other - means[1]) ** 2).sum())
    between = float((means[0] - means[1]) ** 2 * len(one) * len(other) / (len(one) + len(other)))
    df = len(one) + len(other) - 2
    if within <= 0:
        return 0.0 if between > 0 else 1.0
    return float(fdtrc(1, df, between / (within / df)))


def deviations(group: Array) -> Array:
    """Return the distances from the median, without structural zeros.

    In a group of an odd count the median itself is no deviation, and in one of an even count the two next to it are
    one: without these structural zeros the test keeps its level at few units (Hines and O'Hara Hines 2000, Biometrics
    56).

    Args:
        group: sorted, 3 values or more.
    """
    apart = np.sort(np.abs(group - np.median(group)))
    if len(apart) % 2 == 0:
        apart[1] *= math.sqrt(2)
    return apart[1:]
