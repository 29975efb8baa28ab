"""Variance remembered from earlier sessions on the same machine, moderated by what the present run shows.

The scaled inverse chi-square prior of limma (Smyth 2004), with its weight set by how far variances move from session
to session, a factor for a host that is noisier as a whole, and tests that give the memory up (docs/method.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from typing import Literal, get_args

import msgspec
import numpy as np

from gate.model import FindingMemory, Layouts, RelativeVariance, Remembered
from gate.stats.levels import Tops, matched, paired_units
from gate.stats.ratio import MeanPair, variance_of_mean
from gate.stats.special import fdtrc, fdtri, polygamma, psi, trigamma_inverse
from gate.writing.units import when

Kind = Literal["contrast", "build"]
"""What is remembered: the variance over rounds of head_r/y - base_r/x, or that of a build's relative mean."""

MOST_DF = 20.0
"""Degrees that a memory is worth at most."""
HALF_LIFE = 90.0
"""Days in which a memory loses half of its degrees."""
FALL_BACK = 0.10
"""p below which the present run is too noisy for its memory."""
FALL_BACK_BY_ROUND = 0.075
"""The same where two tests ask, of the contrast and of the sides: together they give up a right memory in a tenth."""
FALL_BACK_UNLIKE = 0.02
"""p below which one side is too noisy to share a variance with the other: docs/method.md has what other levels cost."""
FEWEST_MODERATED = 3
"""Builds a side that memory does not stand in for: with 2, nothing shows that head is noisier than remembered."""
FEWEST_COMMON = 5
"""Checks whose layouts were common, before their contrasts moderate."""
NOISIER = 0.01
"""p below which a report says so."""
NU_UNKNOWN = 12.0
"""Degrees that stand for how far variances move from session to session while too few sessions tell."""
FEWEST_FOR_FACTOR = 5
"""Findings that it takes to tell a noisy host from noisy cases."""

_ALIKE = 1.5
"""Ratio of counts up to which a variance without its levels stands for another plan."""
_FEWEST_DF_FOR_NU = 8.0
"""A session with fewer degrees says next to nothing of how far variances move: psi'(d/2) hides it."""


class Prior(msgspec.Struct, frozen=True):
    """What is remembered for the present plan."""

    variance: float
    """S0, relative to the squared mean."""
    df: float
    """D0, what it is worth in degrees."""
    sessions: int
    """How many it rests on."""
    first: str
    last: str
    """first and last: their days, as 2026-11-20."""


class Moderated(msgspec.Struct, frozen=True):
    """A variance and its degrees after a memory, or other cases, were asked."""

    variance: float
    df: float
    used: bool
    """Whether what was asked counts in them; else they are the run's, or the case's, own."""
    noisier: bool = False
    """Whether a report should say that the run is noisier than remembered."""
    unlike: bool = False
    """Whether one side is so much noisier than the other that there is no common variance."""


# --- what one session gives, taken to another plan --------------------------------------------------------------------


def _for_plan(session: Remembered, kind: Kind, executions: float, iterations: float) -> RelativeVariance | None:
    """Take a session's variance to the counts of another plan; None where that cannot be known.

    With S of each level, n the session's counts and m the plan's, m2 executions of m1 iterations: the top's
    S + S2 (1/m2 - 1/n2) + S1 (1/(m1 m2) - 1/(n1 m2)) is T2[3] + T2[2]/m2 + T2[1]/(m1 m2) written out, signs kept, and
    just the top's S when the plans agree. A contrast holds the levels below the top twice. Degrees by Satterthwaite.
    """
    top = session.contrast if kind == "contrast" else session.build
    if top is None or not (top.value > 0 and top.df > 0):
        return None
    lower = [
        (square, n, m)
        for square, n, m in (
            (session.iteration, session.iterations, iterations),
            (session.execution, session.executions, executions),
        )
        if square is not None
    ]
    if not _comparable(session, executions, iterations):
        return None
    twice = 2.0 if kind == "contrast" else 1.0
    parts = [(1.0, top)]
    above = 1.0
    for square, n, m in reversed(lower):
        parts.append((twice * (1 / m - 1 / n) / above, square))
        above *= m
    if all(math.isclose(n, m, rel_tol=1e-6) for _, n, m in lower):
        return top
    value = sum(weight * square.value for weight, square in parts)
    error = sum((weight * square.value) ** 2 / square.df for weight, square in parts if square.df > 0)
    lowest = lower[0][0]
    floor = twice * lowest.value / above
    if value >= floor:
        return RelativeVariance(value=value, df=value**2 / error)
    return RelativeVariance(value=floor, df=min(floor**2 / error, lowest.df)) if floor > 0 else None


def _comparable(session: Remembered, executions: float, iterations: float) -> bool:
    """Return whether every count that has no level of its own in the session is about the same in the plan."""

    def alike(one: float, other: float) -> bool:
        return max(one, other) <= _ALIKE * min(one, other)

    if session.iteration is None and session.execution is None:
        return alike(executions * iterations, session.executions * session.iterations)
    if session.iteration is None:
        return alike(iterations, session.iterations)
    return session.execution is not None or alike(executions, session.executions)


# --- how much it is worth ---------------------------------------------------------------------------------------------


def nu_of(memories: Sequence[FindingMemory], kind: Kind) -> float | None:
    """Return the degrees that say how far variances move from session to session on a host; None: infinitely many.

    Few sessions cannot show that variances stand still: NU_UNKNOWN below 10 degrees of this comparison, at most 30
    below 40.

    Args:
        memories: of all findings of the host. z = ln s2 - psi(d/2) + ln(d/2) has variance psi'(d/2) about the session's
            own variance; what it varies beyond that over a finding's sessions is psi'(nu/2) (limma's fitFDist, Smyth
            2004). Contrasts of common and of independent layouts are two variances, each about its own.
    """
    weight, excess = 0, 0.0
    groups = [
        own
        for memory in memories
        for own in ([memory.sessions] if kind == "build" else [with_layouts(memory, of) for of in get_args(Layouts)])
    ]
    for sessions in groups:
        # all to the plan of the one that has most rounds
        plan = max(sessions, key=lambda s: (s.rounds, s.created), default=None)
        known = [_for_plan(s, kind, plan.executions, plan.iterations) for s in sessions] if plan is not None else []
        squares = [s for s in known if s is not None and s.df >= _FEWEST_DF_FOR_NU]
        if len(squares) < 2:
            continue
        z = [math.log(s.value) - float(psi(s.df / 2)) + math.log(s.df / 2) for s in squares]
        expected = float(np.mean([polygamma(1, s.df / 2) for s in squares]))
        weight += len(squares) - 1
        excess += (len(squares) - 1) * (float(np.var(z, ddof=1)) - expected)
    if weight < 10:
        return NU_UNKNOWN
    nu = math.inf if excess <= 0 else 2 * trigamma_inverse(excess / weight)
    if weight < 40:
        nu = min(nu, 30.0)
    return nu if math.isfinite(nu) else None


def prior_of(
    memory: FindingMemory, *, kind: Kind, executions: float, iterations: float, nu: float | None, now: datetime,
    layouts: Layouts,
) -> Prior | None:  # fmt: skip
    """Return what is remembered of a finding for the present plan; None where nothing can be used.

    The weight is 1/d0 = 1/D + (1 + 1/K)/nu, with D the sessions' degrees and K their number, or the number of equal
    ones that would weigh as much; at most MOST_DF, halved every HALF_LIFE days of their mean age. Sessions so old that
    the memory is worth more without them are left out, by their dates and degrees alone.

    Args:
        executions: per build, iterations: per execution, of the present run.
        nu: as nu_of gives it for this kind.
        layouts: of both sides of a round of the present run: a contrast is that of a session like it, and where layouts
            are common there must be FEWEST_COMMON of them.
    """
    sessions = memory.sessions if kind == "build" else with_layouts(memory, layouts)
    if kind == "contrast" and layouts == "common" and len(sessions) < FEWEST_COMMON:
        return None
    dated = []
    for session in sessions:
        square, created = _for_plan(session, kind, executions, iterations), when(session.created)
        dated += [] if square is None or created is None else [(created, square)]
    dated.sort(key=lambda pair: pair[0], reverse=True)
    if not dated:
        return None
    weights = [_weight(dated[:count], nu, now) for count in range(1, len(dated) + 1)]
    # of equal ones the longest
    best = max(range(len(weights)), key=lambda i: (math.prod(weights[i]), i))
    kept, (fresh, share) = dated[: best + 1], weights[best]
    degrees = sum(square.df for _, square in kept)
    return Prior(
        variance=sum(square.df * square.value for _, square in kept) / degrees,
        df=min(fresh, MOST_DF) * share,
        sessions=len(kept),
        first=f"{kept[-1][0]:%Y-%m-%d}",
        last=f"{kept[0][0]:%Y-%m-%d}",
    )


def with_layouts(memory: FindingMemory, layouts: Layouts) -> list[Remembered]:
    """Return the sessions whose contrast is of such rounds."""
    return [each for each in memory.sessions if each.layouts == layouts and each.contrast is not None]


def remembered_correlation(memories: Sequence[FindingMemory], layouts: Layouts) -> float | None:
    """Return the lower 10% limit of the correlation of both sides over rounds; None where too little is remembered.

    Fisher's z, weighted by rounds - 3 over the sessions of a finding. Findings of a session share its rounds, so many
    of them know no more than one.
    """
    scores, weights = [], []
    for memory in memories:
        own = [
            (each.rounds - 3, math.atanh(min(max(each.correlation, -0.999), 0.999)))
            for each in with_layouts(memory, layouts)
            if each.correlation is not None and each.rounds > 3
        ]
        weight = sum(rounds for rounds, _ in own)
        if weight:
            weights.append(weight)
            scores.append(sum(rounds * z for rounds, z in own) / weight)
    if not weights:
        return None
    return least_correlation(math.tanh(float(np.mean(scores))), round(float(np.mean(weights))) + 3)


def least_correlation(correlation: float, pairs: int) -> float:
    """Return the lower 10% limit of a correlation over so many rounds, by Fisher's z (Fisher 1921); 0 at the least."""
    if pairs < 4:
        return 0.0
    z = math.atanh(min(max(correlation, -0.999999), 0.999999)) - 1.2815515655446004 / math.sqrt(pairs - 3)
    return max(math.tanh(z), 0.0)


def _weight(
    sessions: Sequence[tuple[datetime, RelativeVariance]], nu: float | None, now: datetime
) -> tuple[float, float]:
    """Return the degrees that sessions are worth while fresh, and the share of them that their age leaves."""
    total = sum(square.df for _, square in sessions)
    # sessions of unlike weight average less than as many equal ones
    alike = total**2 / sum(square.df**2 for _, square in sessions)
    degrees = 1 / (1 / total + (0.0 if nu is None else (1 + 1 / alike) / nu))
    seconds = sum(square.df * max((now - when).total_seconds(), 0.0) for when, square in sessions)
    return degrees, float(0.5 ** (seconds / total / 86_400 / HALF_LIFE))


# --- the present run --------------------------------------------------------------------------------------------------


def contrast_variance(base: Tops, head: Tops) -> float:
    """Return the variance over matched rounds of head_r/y - base_r/x; of logarithms, of their difference.

    n - 1 degrees for n >= 2 matched rounds. Not below what the timers' gaps leave; infinite where a mean is 0, so that
    no memory matches it.
    """
    base, head = matched(base, head)
    x, y = _scales(base, head)
    if x == 0 or y == 0:
        return math.inf
    variance = float((head.values / y - base.values / x).var(ddof=1))
    return max(variance, ((base.gap / x) ** 2 + (head.gap / y) ** 2) / 12)


def sides_variance(base: Tops, head: Tops) -> float:
    """Return the variance of a build's relative mean, pooled over both sides; base.n + head.n - 2 degrees.

    Not below what the timers' gaps leave; infinite where a mean is 0.
    """
    x, y = _scales(base, head)
    if x == 0 or y == 0:
        return math.inf
    degrees = (base.n - 1, head.n - 1)
    squares = (variance_of_mean(side) * side.n / scale**2 for side, scale in ((base, x), (head, y)))
    return sum(d * s for d, s in zip(degrees, squares, strict=True)) / sum(degrees)


def _scales(base: Tops, head: Tops) -> tuple[float, float]:
    return (1.0, 1.0) if base.log else (base.mean, head.mean)


def host_factor(ratios_s_over_s0: Sequence[tuple[float, float, Prior]]) -> float:
    """Return how much noisier the whole host is than remembered, at least 1; 1 for fewer than FEWEST_FOR_FACTOR.

    Args:
        ratios_s_over_s0: of each finding that is not exact its present variance s, the degrees d of s, and its memory:
            k = max(1, median of (s/s0) / F_0.5(d, d0)).
    """
    scaled = [
        s / prior.variance / float(fdtri(d, prior.df, 0.5))
        for s, d, prior in ratios_s_over_s0
        if d > 0 and prior.df > 0
    ]
    if len(scaled) < FEWEST_FOR_FACTOR:
        return 1.0
    # infinite where the mean of a side is 0
    median = float(np.median(scaled))
    return max(1.0, median) if math.isfinite(median) else 1.0


def surprise(s: float, d: float, prior: Prior, factor: float) -> float:
    """Return the p of a variance as large as s on d degrees if the memory times factor is right: F on (d, d0)."""
    return float(fdtrc(d, prior.df, s / (factor * prior.variance))) if d > 0 else 1.0


def unlike_sides(base: Tops, head: Tops, prior: Prior | None, factor: float) -> float:
    """Return the p of the noisier side's variance, were it that of the other side and of the memory.

    F of a side's relative variance on n - 1 degrees against the other's and the remembered one times factor, weighted
    by their degrees; the smaller p of both sides. Without what is remembered of a build's mean (prior is None), against
    the other side alone.
    """
    x, y = _scales(base, head)
    if x == 0 or y == 0:
        return 0.0
    squares = [variance_of_mean(side) * side.n / scale**2 for side, scale in ((base, x), (head, y))]
    known, remembered = (0.0, 0.0) if prior is None else (prior.df, factor * prior.variance)
    found = []
    for own, other, d, d_other in ((*squares, base.n - 1, head.n - 1), (*squares[::-1], head.n - 1, base.n - 1)):
        expected = (known * remembered + d_other * other) / (known + d_other)
        found.append(float(fdtrc(d, known + d_other, own / expected)) if expected > 0 else float(own == 0))
    return min(found)


def moderate(
    s: float, d: float, prior: Prior, factor: float, *, p_sides: float | None = None, p_unlike: float = 1.0
) -> Moderated:
    """Weigh the present variance with what is remembered, or fall back to it alone where it is too large for that.

    Args:
        s: the present variance on d degrees; d = 0: one build a side, the memory stands alone and cannot be checked.
        factor: of the host.
        p_sides: where s is of the contrast, the surprise of the variance within the sides, which has twice the degrees
            and so sees a noisy case better (docs/method.md has the coverage with and without it); None: not asked.
        p_unlike: that both sides have one variance (unlike_sides).
    """
    expected = factor * prior.variance
    if d <= 0:
        return Moderated(expected, prior.df, used=True)
    p = surprise(s, d, prior, factor)
    level = FALL_BACK if p_sides is None else FALL_BACK_BY_ROUND
    p = p if p_sides is None else min(p, p_sides)
    # infinite where the mean of a side is 0
    noisy, unlike = p < level or not math.isfinite(s), p_unlike < FALL_BACK_UNLIKE
    if noisy or unlike:
        return Moderated(s, d, used=False, noisier=p < NOISIER, unlike=unlike)
    total = prior.df + d
    return Moderated((prior.df * expected + d * s) / total, total, used=True)


def moderated_pair(base: Tops, head: Tops, contrast: float, df: float) -> MeanPair:
    """Make the pair of means whose contrast over rounds has a moderated variance; matched rounds only.

    Each side keeps its present variance u, pooled over both; the covariance is what makes the contrast's: v_xy = (u -
    contrast/2) x y/B.

    Args:
        contrast: relative variance of head_r/y - base_r/x, df: its degrees.
    """
    base, head = matched(base, head)
    x, y = _scales(base, head)
    u = sides_variance(base, head)
    n = base.n
    return MeanPair(base.mean, head.mean, u * x * x / n, u * y * y / n, (u - contrast / 2) * x * y / n, df)


def moderated_sides(base: Tops, head: Tops, variance: float, df: float) -> MeanPair:
    """Make the pair of means of sides that share no rounds: each build's relative mean has the moderated variance."""
    x, y = _scales(base, head)
    return MeanPair(base.mean, head.mean, variance * x * x / base.n, variance * y * y / head.n, 0.0, df)


def prior_pair(base: Tops, head: Tops, variance: float, df: float) -> MeanPair:
    """Make the pair of means from memory alone, for a run without a variance of its own.

    Args:
        variance: of the round contrast where both sides have the same rounds, else of a build's mean.
    """
    return moderated_sides(base, head, variance / 2 if paired_units(base, head) else variance, df)
