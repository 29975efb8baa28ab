"""One ratio over given machines, from the rounds of each: nothing is said of a machine that did not measure.

D = ln(head/base) of a round, of its builds' means or quantiles. Machine m has b_m complete rounds, with mean L_m and
variance v_m = s^2/b_m. Over M machines L is the plain mean of the L_m, with the variance V = sum v_m/M^2 and
Satterthwaite's (1946) degrees V^2/sum((v_m/M^2)^2/(b_m - 1)). Whether machines differ is Welch's F (1951). Weights by
inverse variance would cover too little (docs/method.md, fixed sessions).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np

from gate.model import Case, Sample, Side
from gate.model.case import Center
from gate.model.warnings.estimates import DependsOnMachine
from gate.stats.centers import reduce_to
from gate.stats.diagnostics import LEVEL, SMALLEST
from gate.stats.levels import Reduced, Tops, Trouble, matched, of_session
from gate.stats.ratio import WITHHELD, Limits, LogPair, MeanPair, logs_of, paired, t_limits, variance_of_mean
from gate.stats.special import fdtrc
from gate.writing import phrases
from gate.writing.units import format_share

FEWEST_ROUNDS = 3
"""Complete rounds below which a machine has no interval."""

MachineTrouble = Literal["", "few-rounds", "negative", "zero-value", "few-values", "no-spread"]
_SAME: dict[Trouble, MachineTrouble] = {
    "negative": "negative", "zero-base": "zero-value", "zero-quantile": "zero-value", "few-values": "few-values",
}  # fmt: skip


class Mean(msgspec.Struct, frozen=True):
    """A mean with the variance of that mean; df: its degrees, None when nothing varies."""

    value: float
    variance: float
    df: float | None


class OneSession(msgspec.Struct, frozen=True, eq=False):
    """One session by itself."""

    session: int
    rounds: int
    """That both sides have."""
    reduced: Reduced | None
    """By build; None: no round is complete."""
    pair: LogPair | None
    """None: there is no ratio."""
    trouble: MachineTrouble
    """What stands in the way of its interval, "" when nothing does."""


def machine(session: int, base: Sample, head: Sample, center: Center, *, exact: bool) -> OneSession:
    """Reduce one session to its ratio and that ratio's variance over rounds.

    Args:
        base, head: the complete rounds of all sessions.
        center: what is compared.
        exact: the metric is declared exact, and a machine on which it does not vary has a ratio without variance.
    """
    rounds = sum(own == session for own, _ in base.builds)
    if not rounds:
        return OneSession(session, 0, None, None, "few-rounds")
    reduced = reduce_to(of_session(base, session), of_session(head, session), center, exact=exact)
    x, y = logs_of(reduced.base), logs_of(reduced.head)
    if x is None or y is None:
        return OneSession(session, rounds, reduced, None, _SAME.get(reduced.trouble, "zero-value"))
    pair = MeanPair(x.mean, y.mean, 0.0, 0.0, 0.0, None) if reduced.exact else paired(x, y)
    trouble: MachineTrouble = "few-rounds" if rounds < FEWEST_ROUNDS else "no-spread" if pair.df is None else ""
    return OneSession(
        session, rounds, reduced, LogPair(pair), _SAME.get(reduced.trouble, "" if reduced.exact else trouble)
    )


def over_machines(machines: Sequence[OneSession]) -> LogPair | None:
    """Combine the ratios of all machines; None where one of them has none, without degrees where one is in trouble."""
    pairs = [each.pair.logs for each in machines if each.pair is not None]
    if len(pairs) < len(machines):
        return None
    found = of_pairs(pairs)
    trouble = any(each.trouble for each in machines)
    return LogPair(msgspec.structs.replace(found, df=None) if trouble else found)


def of_pairs(pairs: Sequence[MeanPair]) -> MeanPair:
    """Combine the logarithms of machines, which count alike; no degrees where nothing varies on any of them.

    What both sides have in common is that of a machine in the middle, so that a difference is one there.
    """
    found = average([effect(each) for each in pairs])
    common = sum(pair.x + pair.y for pair in pairs) / len(pairs) / 2
    share = found.variance / 4
    return MeanPair(common - found.value / 2, common + found.value / 2, share, share, -share, found.df)


def by_machine(base: Tops, head: Tops) -> LogPair | None:
    """Return the same ratio of logarithms by build; None where a machine has fewer than FEWEST_ROUNDS, or no spread."""
    base, head = matched(base, head)
    places: dict[int, list[int]] = {}
    for i, unit in enumerate(base.units):
        places.setdefault(unit[0] if isinstance(unit, tuple) else unit, []).append(i)
    pairs = []
    for own in places.values():
        units = tuple(base.units[i] for i in own)
        pair = paired(*(Tops(side.values[own], units, side.gap, log=True) for side in (base, head)))
        if len(own) < FEWEST_ROUNDS or pair.df is None:
            return None
        pairs.append(pair)
    return LogPair(of_pairs(pairs)) if pairs else None


def effect(logs: MeanPair) -> Mean:
    """Return L and v of one machine."""
    return Mean(logs.y - logs.x, max(logs.v_xx + logs.v_yy - 2 * logs.v_xy, 0.0), logs.df)


def average(parts: Sequence[Mean]) -> Mean:
    """Return the plain mean of independent means, with its variance and Satterthwaite's degrees."""
    count = len(parts)
    value = sum(part.value for part in parts) / count
    total = sum(part.variance for part in parts)
    if total <= 0:
        return Mean(value, 0.0, None)
    # shares of the total, so that squares of tiny variances do not vanish
    inverse = sum((part.variance / total) ** 2 / part.df for part in parts if part.df is not None)
    return Mean(value, total / count**2, 1 / inverse)


def p_alike(parts: Sequence[Mean]) -> float | None:
    """Return the p of "all means are the same", for unequal variances; None where one is without variance.

    Source: Welch 1951, eq. 24 and 28.
    """
    count = len(parts)
    if count < 2 or any(part.df is None or part.variance <= 0 for part in parts):
        return None
    weights = np.array([1 / part.variance for part in parts])
    values = np.array([part.value for part in parts])
    degrees = np.array([part.df for part in parts], dtype=np.float64)
    shares = weights / weights.sum()
    between = float((weights * (values - (shares * values).sum()) ** 2).sum()) / (count - 1)
    lack = float(((1 - shares) ** 2 / degrees).sum()) / (count**2 - 1)
    return float(fdtrc(count - 1, 1 / (3 * lack), between / (1 + 2 * (count - 2) * lack)))


def stacked(machines: Sequence[OneSession]) -> Reduced:
    """Bring machines together as one case whose top units are the sessions: for the values of each side.

    Args:
        machines: at least one of them with rounds.
    """
    sessions = tuple(each.session for each in machines if each.reduced is not None)
    reduced = [each.reduced for each in machines if each.reduced is not None]
    log = all(each.base.log for each in reduced)

    def stack(sides: Sequence[Tops], values: Sequence[float]) -> Tops:
        return Tops(np.array([side.mean for side in sides] if log else values), sessions, _gap(sides), log=log)

    base = stack([each.base for each in reduced], [each.x for each in reduced])
    head = stack([each.head for each in reduced], [each.y for each in reduced])
    x, y = (math.exp(side.mean) if log else side.mean for side in (base, head))
    warnings = tuple(dict.fromkeys(warning for each in reduced for warning in each.warnings))
    trouble: Trouble = "machine" if any(each.trouble for each in machines) else ""
    # machines count alike, each by its share
    shares = [(own.rounding[0] / own.x, own.rounding[1] / own.y) for own in reduced if own.x > 0 and own.y > 0]
    unknown = [sum(own) / len(shares) for own in zip(*shares, strict=True)] or [0.0, 0.0]
    exact = all(each.exact for each in reduced)
    return Reduced(base, head, x, y, exact, trouble, None, warnings, (x * unknown[0], y * unknown[1]))


def _gap(sides: Sequence[Tops]) -> float:
    return min((side.gap for side in sides if side.gap > 0), default=0.0)


def together(machines: Sequence[OneSession], side: Side) -> Tops:
    """Return one side's builds of all machines, as far as they have any."""
    tops = sides_of(machines, side)
    values = np.concatenate([each.values for each in tops]) if tops else np.array([])
    units = tuple(unit for each in tops for unit in each.units)
    return Tops(values, units, _gap(tops), log=all(each.log for each in tops))


def sides_of(machines: Sequence[OneSession], side: Side) -> list[Tops]:
    """Return one side of each machine that has rounds, by build."""
    known = [each.reduced for each in machines if each.reduced is not None]
    return [each.base if side == "base" else each.head for each in known]


def side_over_machines(sides: Sequence[Tops], alpha: float) -> Limits:
    """Return the interval of one side's value over machines, by build each; withheld where one has a single build."""
    if any(side.n < 2 for side in sides):
        return WITHHELD
    found = average([Mean(side.mean, variance_of_mean(side), side.n - 1.0) for side in sides])
    return t_limits(found.value, found.variance, found.df or 1.0, alpha, log=sides[0].log)


def depends(found: Sequence[OneSession], case: Case) -> tuple[DependsOnMachine, ...]:
    """Warn where the change differs from machine to machine, by Welch's F; of counts, where it does at all."""
    pairs = {each.session: each.pair for each in found if each.pair is not None and not each.trouble}
    if len(pairs) < len(found):
        return ()
    p = p_alike([effect(pair.logs) for pair in pairs.values()])
    exact = all(each.reduced is not None and each.reduced.exact for each in found)
    ratios = {session: pair.y / pair.x for session, pair in pairs.items()}
    least, most = (choose(ratios, key=ratios.__getitem__) for choose in (min, max))
    if not (exact or (p is not None and p < LEVEL)) or ratios[most] < ratios[least] * (1 + SMALLEST):
        return ()
    shown = (format_share(ratios[at] - 1, sign=True) for at in (least, most))
    where = (phrases.machine(at, case.hosts.get(at)) for at in (least, most))
    return (DependsOnMachine(*(f"{ratio} on {at}" for ratio, at in zip(shown, where, strict=True))),)
