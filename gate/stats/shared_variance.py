"""The variance of rounds' log ratios that the cases of a report share (paired-shared).

Nothing betters the mean of complete rounds; only its variance can be known better, from the other cases. The prior is
limma's (Smyth 2004), taken twice: of the variances themselves, and of what they are relative to the spread of both
sides together. Where cases differ much in noise, limma's alone covers too little in the noisiest; so the larger of the
two holds, its weight has a cap, and a case that is too noisy for it goes by its own rounds (docs/method.md, shared
variance).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from gate.stats.prior import Moderated
from gate.stats.ratio import Rounds
from gate.stats.rounding import Array
from gate.stats.special import fdtrc, polygamma, psi, trigamma_inverse

Key = TypeVar("Key", bound=Hashable)
FEWEST_CASES = 5
"""Cases that it takes."""
MOST_DF = 8.0
"""Degrees that the others are worth at most."""
TOO_NOISY = 0.10
"""p below which a case is too noisy for the others."""
FEWEST_BUILDS = 4
"""Builds a side that a regression needs where variance is shared."""


def expected_degrees(cases: int, builds: int) -> float:
    """Return what the other cases are worth in a plan, in degrees; 0 for too few cases or builds.

    Half of the most that they could be: that the larger of two priors holds costs about as much as half of the degrees
    (simulated: docs/method.md, shared variance).
    """
    if cases < FEWEST_CASES or builds < 2:
        return 0.0
    return 0.5 / (1 / MOST_DF + 2 / (cases * (builds - 1)))


def share_variance(cases: Sequence[Rounds]) -> list[Moderated] | None:
    """Weigh the variance of each case with that of all; None where there are too few to tell.

    Args:
        cases: with two complete rounds and a variance above 0, each.
    """
    if len(cases) < FEWEST_CASES:
        return None
    degrees = np.array([case.df for case in cases], dtype=np.float64)
    own = np.array([case.contrast for case in cases])
    totals = np.array([case.total for case in cases])
    plain, relative = fitted_prior(own, degrees), fitted_prior(own / totals, degrees)
    size = np.maximum(plain[1], relative[1] * totals)
    df = 1 / (1 / min(plain[0], relative[0], MOST_DF) + 2 / float(degrees.sum()))
    found = []
    for v, d, s0 in zip(own.tolist(), degrees.tolist(), size.tolist(), strict=True):
        if float(fdtrc(d, df, v / s0)) < TOO_NOISY:
            found.append(Moderated(v, d, used=False))
        else:
            found.append(Moderated((df * s0 + d * v) / (df + d), df + d, used=True))
    return found


def shared_of(rounds: Mapping[Key, Rounds], kind: Callable[[Key], object]) -> dict[Key, Moderated]:
    """Weigh the variance of each case with those of its kind; only of those in which the others count."""
    found: dict[Key, Moderated] = {}
    for one in dict.fromkeys(map(kind, rounds)):
        own = {key: each for key, each in rounds.items() if kind(key) == one}
        shared = zip(own, share_variance([*own.values()]) or (), strict=False)
        found |= {key: each for key, each in shared if each.used}
    return found


def fitted_prior(variances: Array, degrees: Array) -> tuple[float, float]:
    """Fit limma's prior to variances (fitFDist, Smyth 2004): its degrees, and its size.

    The degrees are infinite where the variances do not differ.
    """
    # logarithms, freed of what their degrees add
    e = np.log(variances) - psi(degrees / 2) + np.log(degrees / 2)
    excess, mean = float(e.var(ddof=1) - polygamma(1, degrees / 2).mean()), float(e.mean())
    if excess <= 0:
        return math.inf, math.exp(mean)
    df = 2 * trigamma_inverse(excess)
    return df, math.exp(mean + float(psi(df / 2)) - math.log(df / 2))


# --- sides whose builds spread unlike ---------------------------------------------------------------------------------
