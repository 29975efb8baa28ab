"""Whether the builds of one side spread more than those of the other, so that a mean tells less of it."""

from __future__ import annotations

import math

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


def wider(base: Tops, head: Tops) -> tuple[Side, float | None] | None:
    """Return the side that spreads more, as a share of its mean, and how many times as much; None: not shown.

    F of the variances and Brown and Forsythe's (1974) test of the distances from the median, both two-sided
    (docs/method.md has their false and true warnings). No times: the other side's units do not spread.
    """
    if min(base.n, head.n) < FEWEST or not (base.log or min(base.mean, head.mean) > 0):
        return None
    x, y = (1.0, 1.0) if base.log else (base.mean, head.mean)
    own, other = (variance_of_mean(side) * side.n / scale**2 for side, scale in ((base, x), (head, y)))
    if max(own, other) <= ROUNDING**2:
        return None
    if min(own, other) > 0:
        degrees = base.n - 1, head.n - 1, own / other
        if 2 * min(fdtr(*degrees), fdtrc(*degrees)) >= F_LEVEL:
            return None
    # analysis of variance of two groups of distances
    away = deviations(np.sort(base.values / x)), deviations(np.sort(head.values / y))
    means, (n, m) = [each.mean() for each in away], map(len, away)
    within = sum(float(((each - mean) ** 2).sum()) for each, mean in zip(away, means, strict=True))
    between = float((means[0] - means[1]) ** 2 * n * m / (n + m))
    alike = between <= 0 if within <= 0 else fdtrc(1, n + m - 2, between / (within / (n + m - 2))) >= DISTANCE_LEVEL
    if alike:
        return None
    small, large = sorted((own, other))
    return "head" if other > own else "base", math.sqrt(large / small) if small > ROUNDING**2 else None


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
