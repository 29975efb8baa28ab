"""The typical value: a round's trimmed mean of neighbours' log ratios, where base and head take turns.

Neighbours in time meet the same machine, so what disturbs both cancels in their ratio, and the trimmed mean drops the
pairs in which it hit one of them alone. The difference of two sides' own medians or trimmed means would keep it: they
do not know which executions are neighbours. Source: docs/method.md, the typical value.
"""

from __future__ import annotations

import math

import numpy as np

from gate.model import MeanSquare, Sample
from gate.model.case import TYPICAL, Center
from gate.stats.levels import Tops, Unit, gap_of, starts
from gate.stats.rounding import Array

TRIMMED = 0.2
"""The share of a round's pairs that is left out at each end."""
FEWEST_PAIRS = 4
"""Pairs of a round below which nothing is said of its noise."""


def trimmed_mean(values: Array) -> float:
    """Return the mean of all but the lowest and highest fifth, rounded down; of fewer than five values the mean."""
    cut = int(TRIMMED * len(values))
    kept = np.sort(values)[cut : len(values) - cut]
    return float(np.add.reduce(kept) / len(kept))


def squared_error(values: Array) -> float:
    """Return the squared standard error of a trimmed mean of two values or more (Yuen 1974)."""
    n, cut = len(values), int(TRIMMED * len(values))
    ordered = np.sort(values)
    winsorized = np.clip(ordered, ordered[cut], ordered[n - 1 - cut])
    kept = n - 2 * cut
    return float(winsorized.var(ddof=1)) * (n - 1) / (kept * (kept - 1))


def typical_pair(base: Sample, head: Sample, *, sessions: bool) -> tuple[Tops, Tops] | None:
    """Reduce both sides together; None where a value is not above 0, or no round has both sides.

    Logarithms of each side are the center of all pairs, less or plus half of D.

    Args:
        sessions: whether session is a level; then there is one number a session, the mean over its rounds.
    """
    rounds = _rounds(base, head)
    if not rounds or any(min(x.min(), y.min()) <= 0 for x, y in rounds.values()):
        return None
    logs = [(np.log(x), np.log(y)) for x, y in rounds.values()]
    ratios = np.array([trimmed_mean(y - x) for x, y in logs])
    middles = np.array([trimmed_mean((x + y) / 2) for x, y in logs])
    units: tuple[Unit, ...] = tuple(rounds)
    if sessions:
        own = np.array([session for session, _ in rounds])
        units = tuple(dict.fromkeys(own.tolist()))
        ratios, middles = (np.array([each[own == unit].mean() for unit in units]) for each in (ratios, middles))

    def tops(sample: Sample, logs: Array) -> Tops:
        return Tops(logs, units, gap_of(sample) / math.exp(float(logs.mean())), log=True)

    return tops(base, middles - ratios / 2), tops(head, middles + ratios / 2)


def first_round_noise(base: Sample, head: Sample, center: Center) -> float | None:
    """Return the standard error of ln(head/base) in the first round that both sides have; None: it is not known.

    It tells how sharp a view is: by the ratios of pairs for the typical value, otherwise by the differences of pairs,
    each side as a share of its mean. How large the change is does not enter.
    """
    pairs = next(iter(_rounds(base, head).values()), None)
    if pairs is None or len(pairs[0]) < FEWEST_PAIRS:
        return None
    x, y = pairs
    n = len(x)
    if center != TYPICAL:
        means = x.mean(), y.mean()
        return None if min(means) <= 0 else float((y / means[1] - x / means[0]).std(ddof=1)) / math.sqrt(n)
    if min(x.min(), y.min()) <= 0:
        return None
    return math.sqrt(squared_error(np.log(y / x)))


def noise_of_one(values: Array) -> float | None:
    """Return what a start adds to the error of a typical value, by one side's values in their order; None: too few.

    It is the standard deviation of ln(value) that n pairs with that error would have: neighbours of one side tell what
    those of both do, so neither bursts nor a drift of the host count as noise of each start.
    """
    if len(values) <= FEWEST_PAIRS or values.min() <= 0:
        return None
    ratios = np.diff(np.log(values))
    return math.sqrt(squared_error(ratios) * len(ratios) / 2)


def noise_of_starts(base: Sample, head: Sample) -> MeanSquare | None:
    """Return the variance that one execution of a side adds to a round's typical value, with its degrees.

    It is half of that of a pair, which has two: n pairs add twice its n-th part to D. The mean over rounds; None where
    none has pairs enough, or a value is not above 0.
    """
    found = [
        np.log(y / x) for x, y in _rounds(base, head).values() if len(x) >= FEWEST_PAIRS and min(x.min(), y.min()) > 0
    ]
    if not found:
        return None
    degrees = [len(each) - 2 * int(TRIMMED * len(each)) - 1 for each in found]
    total = sum(degrees)
    value = sum(df * len(each) * squared_error(each) / 2 for df, each in zip(degrees, found, strict=True)) / total
    return MeanSquare(value=value, df=float(total)) if value > 0 else None


def _rounds(base: Sample, head: Sample) -> dict[tuple[int, int], tuple[Array, Array]]:
    """Pair the executions of each build that both sides have, by their number: the means of base's and of head's."""
    of_head, found = by_build(head), {}
    for build, x in by_build(base).items():
        if build in of_head:
            y = of_head[build]
            fewest = min(len(x), len(y))
            found[build] = (x[:fewest], y[:fewest])
    return found


def by_build(sample: Sample) -> dict[tuple[int, int], Array]:
    """Split the means of executions by builds."""
    iterations, executions = sample.counts[:2]
    means = np.add.reduceat(sample.values, starts(iterations)) / iterations
    return dict(zip(sample.builds, np.split(means, np.cumsum(executions)[:-1]), strict=True))
