"""The ratio of a round: D = ln(head/base) of what both sides gave, its mean by t, and what is known of its variance.

The estimand is exp(E ln(head/base)), at the layout that both sides of a round share. Source: docs/method.md, the log
ratio of rounds, and the rule that says beforehand whether rounds are paired.

Nothing betters the mean of complete rounds; only its variance can be known better, from the other cases of the report
(paired-shared). The prior is limma's (Smyth 2004), taken twice: of the variances themselves, and of what they are
relative to the spread of both sides together. Where cases differ much in noise, limma's alone covers too little in the
noisiest; so the larger of the two holds, its weight has a cap, and a case that is too noisy for it goes by its own
rounds (docs/method.md, shared variance).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeVar

import msgspec
import numpy as np

from gate.model import Side
from gate.stats.levels import Tops, mean_of, variance
from gate.stats.ratio import LogPair, MeanPair, matched, t_quantile, variance_of_mean
from gate.stats.rounding import ROUNDING, Array
from gate.stats.special import fdtr, fdtrc, polygamma, psi, trigamma_inverse

ALWAYS_PAIRED = 6
"""Rounds from which on pairing costs less than layouts and drift that both sides share can save."""
KEYED, INDEPENDENT, UNKNOWN = 0.6, 0.4, 0.3
"""The correlation of base and head over rounds that a short plan goes by: where both sides share orders keyed by names,
where layouts are drawn independently, and where nothing is known."""
LEAST_COMPLETE = 2 / 3
"""The share of rounds that both sides must have for the others to be left out."""


class Rounds(msgspec.Struct, frozen=True, eq=False):
    """What complete rounds tell of a ratio."""

    center: float
    """Mean of the logarithms of both sides."""
    ratio: float
    """Mean of D."""
    contrast: float
    """Variance of D over rounds, not below what the timers' gaps leave."""
    total: float
    """Variance over rounds of the sum of both logarithms."""
    base: float
    head: float
    """base and head: variance over rounds of each side's logarithm."""
    count: int

    @property
    def df(self) -> int:
        """Degrees of the contrast."""
        return self.count - 1

    @property
    def correlation(self) -> float | None:
        """Return the correlation of the logarithms of base and head; None where one side does not vary."""
        if not (self.base > 0 and self.head > 0):
            return None
        shared = (self.total - self.base - self.head) / 2
        return min(max(shared / math.sqrt(self.base * self.head), -1.0), 1.0)

    def pair(self, contrast: float, df: float) -> LogPair:
        """Return the ratio with a variance of D on so many degrees; without any where that is 0.

        What both sides have in common is that of a round in the middle, so that a difference is one there.
        """
        share = contrast / self.count / 4
        known = df if contrast > 0 else None
        return LogPair(
            MeanPair(self.center - self.ratio / 2, self.center + self.ratio / 2, share, share, -share, known)
        )


def rounds_of(base: Tops, head: Tops) -> Rounds | None:
    """Take the logarithms of complete rounds; None where a side has a value that is not above 0, or none is complete.

    A single round has no variance (0).
    """
    x, y = map(logs_of, matched(base, head))
    if x is None or y is None:
        return None
    n, center, ratio = x.n, (x.mean + y.mean) / 2, y.mean - x.mean
    if n < 2:
        return Rounds(center, ratio, 0.0, 0.0, 0.0, 0.0, n)
    least = (x.gap**2 + y.gap**2) / 12
    contrast = max(variance(y.values - x.values), least)
    total = max(variance(y.values + x.values), least)
    return Rounds(center, ratio, contrast, total, variance(x.values), variance(y.values), n)


def logs_of(side: Tops) -> Tops | None:
    """Return the logarithms of top units, with the gap that they have in the middle; None where one is not above 0."""
    if not side.n or (not side.log and side.values.min() <= 0):
        return None
    logs: Array = side.values if side.log else np.log(side.values)
    # an instrument's step is the same in its unit, whatever the machine's speed: sessions add the squares of its shares
    step = side.gap * math.exp(side.mean) if side.log else side.gap
    gap = math.sqrt(mean_of((step / np.exp(logs)) ** 2))
    return Tops(logs, side.units, gap, log=True)


def is_paired(rounds: int, alpha: float, family: int, correlation: float) -> bool:
    """Say by the plan alone whether rounds are paired: always from ALWAYS_PAIRED on, else where it will pay.

    Unpaired, Satterthwaite's degrees of two like sides of n builds are 2n(n - 1)/(n + 1) on the average.

    Args:
        rounds: planned. family: findings that share alpha.
        correlation: of the means of both sides over rounds, as assumed beforehand.
    """
    if rounds < 2:
        return False
    if rounds >= ALWAYS_PAIRED:
        return True
    tail = alpha / (2 * max(family, 1))
    apart = t_quantile(2 * rounds * (rounds - 1) / (rounds + 1), tail)
    return correlation > 1 - (apart / t_quantile(rounds - 1, tail)) ** 2


def least_correlation(correlation: float, pairs: int) -> float:
    """Return the lower 10% limit of a correlation over so many rounds, by Fisher's z (Fisher 1921); 0 at the least."""
    if pairs < 4:
        return 0.0
    z = math.atanh(min(max(correlation, -0.999999), 0.999999)) - 1.2815515655446004 / math.sqrt(pairs - 3)
    return max(math.tanh(z), 0.0)


# --- the variance that cases share ------------------------------------------------------------------------------------

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


class Shared(msgspec.Struct, frozen=True):
    """A variance of D and its degrees after the other cases were asked.

    used: whether they count in it; else it is the case's own.
    """

    variance: float
    df: float
    used: bool


def share_variance(cases: Sequence[Rounds]) -> list[Shared] | None:
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
            found.append(Shared(v, d, used=False))
        else:
            found.append(Shared((df * s0 + d * v) / (df + d), df + d, used=True))
    return found


def shared_of(rounds: Mapping[Key, Rounds], kind: Callable[[Key], object]) -> dict[Key, Shared]:
    """Weigh the variance of each case with those of its kind; only of those in which the others count."""
    found: dict[Key, Shared] = {}
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
