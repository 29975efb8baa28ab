"""The variance of one finding in one session, relative to its mean, as it is remembered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gate.model import Layouts, Level, MeanSquare, Remembered, Sample
from gate.model.case import TYPICAL, Center
from gate.stats.levels import Tops, tops_of, variances
from gate.stats.prior import contrast_variance, sides_variance
from gate.stats.quantile import quantile_pair
from gate.stats.ratio import matched, variance_of_mean
from gate.stats.round_ratio import rounds_of
from gate.stats.rounding import Ints, same
from gate.stats.typical import noise_of_starts, typical_pair

FEWEST_FOR_CORRELATION = 4
"""Rounds below which Fisher's z has no error."""


class Repetitions(NamedTuple):
    """Executions per build and iterations per execution; harmonic means where they differ, as variances ask for."""

    executions: float
    iterations: float


def repetitions(samples: Sequence[Sample]) -> Repetitions:
    """Count the repetitions of one or both sides of a case."""
    return Repetitions(*(_harmonic(np.concatenate([side.counts[level] for side in samples])) for level in (1, 0)))


def _harmonic(counts: Ints) -> float:
    if counts.min() == counts.max():
        return float(counts[0])
    return float(len(counts) / (1 / counts).sum())


def remember(
    base: Sample, head: Sample | None, center: Center, *, session: str, created: str, layouts: Layouts = "independent",
    programs: bool = False, view_of: str | None = None,
) -> Remembered | None:  # fmt: skip
    """Return the relative variances of a finding by level, pooled over the sides, and of the round contrast.

    Args:
        base, head: of one commit measured against itself; head None: only base can be used, and there is no contrast.
        center: what is compared; of a quantile the logarithm per build has no levels below, and of the typical value
            the executions of a round.
        session: id of the run, created: its time as ISO 8601.
        layouts: of both sides of a round.
        programs: base and head are two programs: of head only the contrast is used.
        view_of: the metric that this one is a view of.

    Returns:
        None where there is nothing to remember: fewer than two builds, several sessions, a mean that is not above 0,
        values below 0, or no spread at all.
    """
    sides = [base] if head is None or programs else [base, head]
    every = sides if head is None else [base, head]
    if any(len(side.counts[2]) != 1 or len(side.builds) < 2 or side.values.min() < 0 for side in every):
        return None
    if all(same(side.values) for side in sides):
        return None
    every_top: Sequence[Tops] = ()
    if center is None:
        every_top = [tops_of(side) for side in every]
    elif center != TYPICAL:
        pair = quantile_pair(base, every[-1], center, sessions=False)
        every_top = () if pair is None else (pair.base, pair.head)[: len(every)]
    elif head is not None:
        # of one side alone there is none
        every_top = typical_pair(base, head, sessions=False) or ()
    tops = every_top[: len(sides)]
    # a typical value is of the builds that both sides have
    if not tops or any(side.n < 2 or (not side.log and side.mean <= 0) for side in every_top):
        return None
    if len(tops) == 2:
        build = sides_variance(*tops)
    else:
        build = variance_of_mean(tops[0]) * tops[0].n / (1.0 if tops[0].log else tops[0].mean ** 2)
    shared = matched(every_top[0], every_top[-1])[0].n
    rounds = None if head is None else rounds_of(*every_top)
    executions, iterations = repetitions(sides)
    starts = noise_of_starts(base, head) if center == TYPICAL and head is not None else None
    return Remembered(
        session=session,
        created=created,
        rounds=len(base.builds) if head is None else len(set(base.builds) & set(head.builds)),
        executions=executions,
        iterations=iterations,
        iteration=_level(sides, "iteration") if center is None else None,
        execution=_level(sides, "execution") if center is None else starts,
        build=_positive(build, sum(side.n - 1 for side in tops)),
        contrast=None if head is None or shared < 2 else _positive(contrast_variance(*every_top), shared - 1),
        layouts=layouts,
        correlation=None if rounds is None or rounds.count < FEWEST_FOR_CORRELATION else rounds.correlation,
        view_of=view_of,
    )


def _positive(value: float, df: float) -> MeanSquare | None:
    return MeanSquare(value=value, df=float(df)) if 0 < value < np.inf else None


def _level(sides: Sequence[Sample], level: Level) -> MeanSquare | None:
    """Pool S2 of a level below the builds, relative to the means; None where a side has not repeated it."""
    weighted, degrees = 0.0, 0.0
    for side in sides:
        s2 = next((v.s2 for v in variances(side) if v.level == level), None)
        if s2 is None:
            return None
        # the degrees of a mean of variances: m (n - 1) for m equal units, less where they differ
        children = side.counts[0 if level == "iteration" else 1]
        own = children[children > 1] - 1
        df = len(own) * _harmonic(own)
        weighted += df * s2 / tops_of(side).mean ** 2
        degrees += df
    return MeanSquare(value=weighted / degrees, df=degrees)
