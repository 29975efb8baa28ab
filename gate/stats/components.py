"""Variance components: S2 and T2 by level, what a session tells of a finding, and several for planning.

Kalibera and Jones 2012 (K&J), sections 6.1 and 7.6. All variances are relative: divided by the squared mean. For
planning levels that add nothing are left out.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import msgspec
import numpy as np

from gate.model import LEVELS, Layouts, Level, RelativeVariance, Remembered, Sample
from gate.model.case import TYPICAL, Center
from gate.stats.centers import noise_of_starts, quantile_pair
from gate.stats.diagnostics import SMALLEST_CORRELATION, lag_one
from gate.stats.levels import Tops, is_by_session, matched, mean_of, starts, tops_of, typical_pair
from gate.stats.planning import Components
from gate.stats.prior import contrast_variance, sides_variance
from gate.stats.ratio import rounds_of, variance_of_mean
from gate.stats.rounding import Array, Ints, same

if TYPE_CHECKING:
    from gate.model import RelativeVariance, Remembered, Sample

PlannedLevel = Literal["iteration", "execution", "build"]


def variances(sample: Sample, *, sessions: bool = False) -> dict[Level, tuple[float, float]]:
    """Return S2 (K&J 6.1), biased by the levels below, and T2 (7.6) of each level alone, the lowest first.

    A level above the iterations at which no unit was repeated has no variance of its own and is dropped: K&J Table III
    becomes Table IV.

    Args:
        sample: N >= 1 values.
        sessions: whether session is a level, because one of the sides has several.
    """
    nested, names = [*sample.counts[:2], np.array([len(sample.counts[1])])], list(LEVELS[:3])
    if sessions:
        nested, names = [*sample.counts, np.array([len(sample.counts[2])])], list(LEVELS)
    # a level below the top at which every unit has one child merges with the level under it
    units = [len(sample.values), *map(len, nested)]
    kept = [k for k in range(len(nested)) if k == len(nested) - 1 or units[k] > units[k + 1]]
    means = sample.values
    found: dict[Level, tuple[float, float]] = {}
    # per unit whose mean stands in means: the squared error of that mean, estimated from its own children
    errors: Array | None = None
    for level, children in ((names[k], nested[k]) for k in kept):
        below, begin, repeated = means, starts(children), children > 1
        if len(below) == len(children):
            break  # one unit at the top: no variance there
        means = np.add.reduceat(below, begin) / children
        apart = below - means.repeat(children)
        s2_of = np.add.reduceat(apart * apart, begin) / np.maximum(children - 1, 1)
        s2 = mean_of(s2_of[repeated])
        lower = 0.0 if errors is None else mean_of((np.add.reduceat(errors, begin) / children)[repeated])
        # of the level alone it may be negative
        found[level] = s2, s2 - lower
        # a unit with one child takes its level's mean variance
        errors = np.where(repeated, s2_of, s2) / children
    return found


def level_variances(sample: Sample, tops: Tops) -> dict[Level, tuple[float, float]]:
    """Return the variances of a side by level: of a mean at each, of logarithms at the top level only."""
    if not tops.log:
        return variances(sample, sessions=is_by_session(tops))
    if tops.n < 2:
        return {}
    # of ln q, taken back to the metric's unit; what the levels below add to a quantile has no formula
    s2 = float(tops.values.var(ddof=1)) * math.exp(tops.mean) ** 2
    return {"session" if is_by_session(tops) else "build": (s2, math.nan)}


class Square(msgspec.Struct, frozen=True):
    """S2 of one level, as measured."""

    s2: float
    """Divided by the squared mean."""
    df: float
    """Its degrees of freedom."""
    n: float
    """Units of the level below in each unit, by which the variance below is divided in s2; 1 at the lowest level."""


def estimate(
    squares: Sequence[tuple[PlannedLevel, Square]], correlation: float = 0.0
) -> tuple[Components, dict[PlannedLevel, float]]:
    """Estimate the components from S2 per level; a level that adds nothing is dropped and the rest estimated again.

    Dropping a level pools its S2 with that of the level below by their degrees, which on balanced data is what K&J do
    when they turn Table III into Table IV (6.1).

    Args:
        squares: lowest level first, only levels that were repeated.
        correlation: lag-1, inside executions.

    Returns:
        The components, 0 of what was dropped, and T2 as it was first estimated, the lowest level first.
    """
    kept = list(squares)
    signed = dict(_components(kept, correlation))
    while True:
        t2 = _components(kept, correlation)
        k = next((k for k, (_, value) in enumerate(t2) if k > 0 and value <= 0), None)
        if k is None:
            break
        (level, below), (_, gone) = kept[k - 1], kept[k]
        df = below.df + gone.df
        s2 = (below.s2 * below.df + gone.n * gone.s2 * gone.df) / df
        above = [(name, msgspec.structs.replace(square, n=square.n * gone.n)) for name, square in kept[k + 1 : k + 2]]
        kept = [*kept[: k - 1], (level, Square(s2, df, below.n)), *above, *kept[k + 2 :]]
    by_level = dict(t2)
    components = Components(
        by_level.get("iteration", 0.0), by_level.get("execution", 0.0), by_level.get("build", 0.0), correlation
    )
    return components, signed


def _components(squares: Sequence[tuple[PlannedLevel, Square]], correlation: float) -> list[tuple[PlannedLevel, float]]:
    found = []
    below = 0.0
    for level, square in squares:
        found.append((level, square.s2 - below / square.n))
        below = square.s2
        if level == "iteration":
            below = Components(square.s2, 0.0, 0.0, correlation).effective_iteration
    return found


def squares_of(sessions: Sequence[Remembered]) -> list[tuple[PlannedLevel, Square]]:
    """Pool S2 per level over sessions by their degrees, lowest level first; [] where nothing is known of the builds.

    Only sessions of about the same repetitions can be pooled: of several kinds the one with most degrees counts.
    """
    groups: dict[tuple[int, int, bool, bool], list[Remembered]] = defaultdict(list)
    for session in sessions:
        if session.build is not None:
            counts = (round(math.log2(session.executions) * 2), round(math.log2(session.iterations) * 2))
            groups[(*counts, session.execution is None, session.iteration is None)].append(session)
    if not groups:
        return []
    chosen = max(groups.values(), key=lambda group: sum(s.build.df for s in group if s.build is not None))
    levels: list[tuple[PlannedLevel, list[tuple[RelativeVariance, float]]]] = [
        ("iteration", [(s.iteration, 1.0) for s in chosen if s.iteration is not None]),
        ("execution", [(s.execution, _below(s, "execution")) for s in chosen if s.execution is not None]),
        ("build", [(s.build, _below(s, "build")) for s in chosen if s.build is not None]),
    ]
    pooled = []
    for level, found in ((level, found) for level, found in levels if found):
        df = sum(square.df for square, _ in found)
        s2 = sum(square.df * square.value for square, _ in found) / df
        pooled.append((level, Square(s2, df, df / sum(square.df / n for square, n in found))))
    return pooled


def _below(session: Remembered, level: PlannedLevel) -> float:
    """Count the units of the next level that was repeated in each unit of this one."""
    inside = session.iterations if session.iteration is not None else 1.0
    if level == "execution":
        return inside
    return session.executions if session.execution is not None else inside


def shared_share(sessions: Sequence[Remembered]) -> float:
    """Return the share of the variance of a build's mean that base and head of one round have in common, 0 or more.

    One standard error is taken off, so that chance does not pass for it; 0 below 10 degrees together.

    Args:
        sessions: of all findings of the machine, since one by itself says little: with 5 rounds a correlation is known
            to 0.5.
    """
    shared, weight = 0.0, 0.0
    for session in sessions:
        if session.contrast is None or session.build is None or session.build.value <= 0:
            continue
        shared += session.contrast.df * (1 - session.contrast.value / (2 * session.build.value))
        weight += session.contrast.df
    if weight < _FEWEST_DF:
        return 0.0
    r = min(shared / weight, 0.99)
    return max(r - (1 - r * r) / math.sqrt(weight), 0.0)


def correlation_of(samples: Sequence[Sample]) -> float:
    """Return the correlation of an iteration with the one before it in the same execution; 0 if none is shown.

    The mean over samples of diagnostics.lag_one, by their values. It counts from SMALLEST_CORRELATION on, when it is
    three times its standard error without correlation, 1/sqrt(values): correcting for short executions adds to that.
    """
    found = [(r, len(sample.values)) for sample in samples if (r := lag_one(sample)) is not None]
    if not found:
        return 0.0
    total = sum(n for _, n in found)
    r = sum(r * n for r, n in found) / total
    return min(r, _LARGEST_CORRELATION) if r > max(SMALLEST_CORRELATION, 3 / math.sqrt(total)) else 0.0


_FEWEST_DF = 10
_LARGEST_CORRELATION = 0.95


# --- what one session tells of the variance of a finding --------------------------------------------------------------

FEWEST_FOR_CORRELATION = 4
"""Rounds below which Fisher's z has no error."""


def repetitions(samples: Sequence[Sample]) -> tuple[float, float]:
    """Return executions a build and iterations an execution of one or both sides; harmonic means where they differ."""
    executions, iterations = (_harmonic(np.concatenate([side.counts[level] for side in samples])) for level in (1, 0))
    return executions, iterations


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


def _positive(value: float, df: float) -> RelativeVariance | None:
    return RelativeVariance(value=value, df=float(df)) if 0 < value < np.inf else None


def _level(sides: Sequence[Sample], level: Level) -> RelativeVariance | None:
    """Pool S2 of a level below the builds, relative to the means; None where a side has not repeated it."""
    weighted, degrees = 0.0, 0.0
    for side in sides:
        of_levels = variances(side)
        if level not in of_levels:
            return None
        s2, _ = of_levels[level]
        # the degrees of a mean of variances: m (n - 1) for m equal units, less where they differ
        children = side.counts[0 if level == "iteration" else 1]
        own = children[children > 1] - 1
        df = len(own) * _harmonic(own)
        weighted += df * s2 / tops_of(side).mean ** 2
        degrees += df
    return RelativeVariance(value=weighted / degrees, df=degrees)
