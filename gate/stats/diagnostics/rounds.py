"""What happens over, inside and between rounds: a drift of both sides, a side that gains by its place, and sessions.

A session is a boot of the machine in NIST TN 1855, section 4.5.1.
"""

from __future__ import annotations

import math

import msgspec
import numpy as np

from gate.model import SIDES, Sample, Side
from gate.model.warnings.estimates import CarryOver, Drift, OrderEffect, RatioBySession, SessionsDiffer
from gate.stats.diagnostics.testing import SMALLEST, Sides, Test, beginnings, deviation_between, t_test
from gate.stats.rounding import Array, Flags, Ints
from gate.stats.typical import squared_error, trimmed_mean

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
        change = _change(side, sample, side_at)
        if change is not None and abs(change) > SMALLEST:
            found.append(CarryOver(side, change))
    return max(found, key=lambda each: abs(each.change), default=None)


def _places(sample: Sample) -> list[tuple[int, int]]:
    sessions = np.repeat([session for session, _ in sample.builds], sample.counts[1])
    orders = [] if sample.orders is None else sample.orders.tolist()
    return list(zip(sessions.tolist(), orders, strict=True))


def _change(side: Side, sample: Sample, side_at: dict[tuple[int, int], str]) -> float | None:
    iterations, executions = sample.counts[:2]
    means = np.add.reduceat(sample.values, np.cumsum(iterations) - iterations) / iterations
    if means.min() <= 0:
        return None
    logs = np.log(means)
    parts = np.split(logs, np.cumsum(executions)[:-1])
    away = np.concatenate([part - np.median(part) for part in parts])
    before = np.array([side_at.get((session, order - 1), "") for session, order in _places(sample)])
    other, same = away[(before != side) & (before != "")], away[before == side]
    if min(len(other), len(same)) < FEWEST:
        return None
    difference = trimmed_mean(other) - trimmed_mean(same)
    error = math.sqrt(squared_error(other) + squared_error(same))
    return math.expm1(difference) if abs(difference) > ERRORS * error else None


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
    """Fit a straight line to what both sides have in common, round by round, within each session."""
    test = _slope([[(r.build, r.level) for r in session] for session in by_session(rounds)])
    return Drift(test.mean, unit) if test is not None and test.speaks else None


def _slope(series: list[list[tuple[int, float]]]) -> Test | None:
    """Test a common slope of series of (time, value), each with its own level; the mean is the change over the longest.

    Least squares with one level a series and one slope, t on what is left of the degrees.
    """
    tt = tv = vv = span = 0.0
    df = -1
    for points in series:
        n = len(points)
        at, level = sum(t for t, _ in points) / n, sum(v for _, v in points) / n
        tt += sum((t - at) ** 2 for t, _ in points)
        tv += sum((t - at) * (v - level) for t, v in points)
        vv += sum((v - level) ** 2 for _, v in points)
        span = max(span, points[-1][0] - points[0][0])
        df += n - 1
    if df < 2 or tt == 0:
        return None
    slope = tv / tt
    error = math.sqrt(max(vv - slope * tv, 0.0) / df / tt)
    return Test(slope * span, error * span, df)


def order(sides: Sides, unit: str) -> OrderEffect | None:
    """Compare the differences of the sides in blocks with base first and with head first.

    A block is the k-th execution of both sides in a round. Half of the difference is what it costs to be the second.
    """
    blocks = _blocks(sides)
    if blocks is None:
        return None
    differences, base_first, counts = blocks
    starts = beginnings(counts)
    first = np.add.reduceat(base_first.astype(np.float64), starts)
    second = counts - first
    after_base = np.add.reduceat(np.where(base_first, differences, 0.0), starts) / first
    after_head = np.add.reduceat(np.where(base_first, 0.0, differences), starts) / second
    both = (first > 0) & (second > 0)
    if both.sum() > 2:
        test = t_test([((after_base - after_head)[both] / 2).tolist()])
    else:  # one execution a round: rounds with base first against rounds with head first
        test = t_test([after_base[second == 0].tolist(), (-after_head[first == 0]).tolist()], every=True)
    return OrderEffect(test.mean, unit) if test is not None and test.speaks else None


def _blocks(sides: Sides) -> tuple[Array, Flags, Ints] | None:
    """Pair the executions of the rounds in which both sides have as many; None where there are none, or no orders.

    Both samples are in the order of session, build and execution. Returned are of each block head - base as a share of
    the round's mean and whether base came first, and how many blocks each round has.
    """
    base, head = sides
    if base.sample.orders is None or head.sample.orders is None:
        return None
    counts = dict(zip(head.sample.builds, head.sample.counts[1].tolist(), strict=True))
    pairs = zip(base.sample.builds, base.sample.counts[1].tolist(), strict=True)
    rounds = {unit: count for unit, count in pairs if counts.get(unit) == count}
    if not rounds:
        return None
    of_base, of_head = (np.array([unit in rounds for unit in side.sample.builds]) for side in sides)
    in_base, in_head = np.repeat(of_base, base.sample.counts[1]), np.repeat(of_head, head.sample.counts[1])
    per_round = np.array(list(rounds.values()))
    level = np.repeat((base.builds[of_base] + head.builds[of_head]) / 2, per_round)
    differences = (head.executions[in_head] - base.executions[in_base]) / level
    return differences, base.sample.orders[in_base] < head.sample.orders[in_head], per_round


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
