"""What happens over, inside and between rounds: a drift of both sides, a side that gains by its place, and sessions.

A session is a boot of the machine in NIST TN 1855, section 4.5.1.
"""

from __future__ import annotations

import math

import msgspec
import numpy as np

from gate.model import SIDES, Sample
from gate.model.warnings.estimates import CarryOver, Drift, OrderEffect, RatioBySession, SessionsDiffer
from gate.stats.diagnostics.testing import SMALLEST, Sides, Test, deviation_between, t_test
from gate.stats.typical import by_build, squared_error, trimmed_mean

ERRORS = 3.0
"""Standard errors from which on there is a word about it."""
FEWEST = 10
"""Executions after either side below which nothing is said."""


def carry_over(base: Sample, head: Sample) -> CarryOver | None:
    """Return the larger carry-over of the two sides; None where neither is certain and above 0.5%, or not known.

    Compared are trimmed means of the logarithms after the other side and after itself, each less its build's median.
    Only executions that directly follow another of the benchmark count.
    """
    if base.orders is None or head.orders is None:
        return None
    side_at = dict.fromkeys(_places(base), "base") | dict.fromkeys(_places(head), "head")
    found: list[CarryOver] = []
    for side, sample in zip(SIDES, (base, head), strict=True):
        parts = [*by_build(sample).values()]
        if min(means.min() for means in parts) <= 0:
            continue
        away = np.concatenate([np.log(means) - np.median(np.log(means)) for means in parts])
        before = np.array([side_at.get((session, order - 1), "") for session, order in _places(sample)])
        other, same = away[(before != side) & (before != "")], away[before == side]
        if min(len(other), len(same)) < FEWEST:
            continue
        difference = trimmed_mean(other) - trimmed_mean(same)
        error = math.sqrt(squared_error(other) + squared_error(same))
        if abs(difference) > ERRORS * error and abs(math.expm1(difference)) > SMALLEST:
            found.append(CarryOver(side, math.expm1(difference)))
    return max(found, key=lambda each: abs(each.change), default=None)


def _places(sample: Sample) -> list[tuple[int, int]]:
    sessions = np.repeat([session for session, _ in sample.builds], sample.counts[1])
    orders = [] if sample.orders is None else sample.orders.tolist()
    return list(zip(sessions.tolist(), orders, strict=True))


class Round(msgspec.Struct, frozen=True):
    """A round that both sides have, in shares of their means: level is what they have in common."""

    session: int
    build: int
    level: float
    difference: float
    """Of head to base."""


def shared_rounds(sides: Sides) -> list[Round]:
    """Return the rounds that both sides have, in the order of base."""
    base, head = (dict(zip(side.sample.builds, side.builds.tolist(), strict=True)) for side in sides)
    units = [unit for unit in base if unit in head]
    if not units:
        return []
    x, y = (sum(side[unit] for unit in units) / len(units) for side in (base, head))
    shares = [(*unit, base[unit] / x, head[unit] / y) for unit in units]
    return [Round(session, build, (b + h) / 2, h - b) for session, build, b, h in shares]


def by_session(rounds: list[Round]) -> list[list[Round]]:
    """Sort rounds by session."""
    found: dict[int, list[Round]] = {}
    for each in rounds:
        found.setdefault(each.session, []).append(each)
    return list(found.values())


def drift(rounds: list[Round], unit: str) -> Drift | None:
    """Fit one straight line to what both sides have in common, round by round, with a level for each session.

    Least squares, t on what is left of the degrees; what is said is the change over the longest session.
    """
    tt = tv = vv = span = 0.0
    df = -1
    for session in by_session(rounds):
        n = len(session)
        at, level = sum(r.build for r in session) / n, sum(r.level for r in session) / n
        tt += sum((r.build - at) ** 2 for r in session)
        tv += sum((r.build - at) * (r.level - level) for r in session)
        vv += sum((r.level - level) ** 2 for r in session)
        span = max(span, session[-1].build - session[0].build)
        df += n - 1
    if df < 2 or tt == 0:
        return None
    slope = tv / tt
    test = Test(slope * span, math.sqrt(max(vv - slope * tv, 0.0) / df / tt) * span, df)
    return Drift(test.mean, unit) if test.speaks else None


def order(sides: Sides, unit: str) -> OrderEffect | None:
    """Compare the differences of the sides in blocks with base first and with head first.

    A block is the k-th execution of both sides in a round. Half of the difference is what it costs to be the second.
    """
    base, head = (side.ordered() for side in sides)
    within: list[float] = []
    base_first: list[float] = []
    head_first: list[float] = []
    for build, x in base.items():
        y = head.get(build, [])
        if len(x) != len(y):
            continue
        level = (sum(mean for _, mean in x) + sum(mean for _, mean in y)) / len(x) / 2
        first, second = (
            [(v - u) / level for (at, u), (other, v) in zip(x, y, strict=True) if (at < other) == leads]
            for leads in (True, False)
        )
        if first and second:
            within.append((sum(first) / len(first) - sum(second) / len(second)) / 2)
        elif first:
            base_first.append(sum(first) / len(first))
        else:
            head_first.append(-sum(second) / len(second))
    # with one execution a round: rounds with base first against rounds with head first
    test = t_test([within]) if len(within) > 2 else t_test([base_first, head_first], every=True)
    return OrderEffect(test.mean, unit) if test is not None and test.speaks else None


def between_sessions(rounds: list[Round]) -> list[SessionsDiffer | RatioBySession]:
    """Warn where sessions differ more than their builds do: in what both sides have in common, and in the difference.

    Sizes are standard deviations between sessions, of which the builds within them explain nothing.
    """
    sessions = by_session(rounds)
    if len(sessions) < 2:
        return []
    level = deviation_between([[r.level for r in session] for session in sessions])
    difference = deviation_between([[r.difference for r in session] for session in sessions])
    return [
        *([SessionsDiffer(level)] if level is not None and level >= SMALLEST else []),
        *([RatioBySession(difference)] if difference is not None and difference >= SMALLEST else []),
    ]
