"""Whether what a look has shown can still become a regression, were the change one that the whole plan would find.

By Brownian motion: z-scale of the test at the look, drift of the change, boundary of the last look. It needs no
variance. Not binding: the boundaries of the looks stay as they are, so false alarms cannot rise (Lan, Simon and
Halperin 1982; docs/method.md, no sign).
"""

from __future__ import annotations

import math

from gate.stats.special import ndtri

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
