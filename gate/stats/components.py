"""Variance components for planning: what several sessions of measuring tell, without levels that add nothing.

Kalibera and Jones 2012 (K&J), sections 6.1 and 7.6. All variances are relative: divided by the squared mean.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from gate.stats.diagnostics import SMALLEST_CORRELATION, lag_one
from gate.stats.planning import Components

if TYPE_CHECKING:
    from gate.model import MeanSquare, Remembered, Sample

PlannedLevel = Literal["iteration", "execution", "build"]


class Square(msgspec.Struct, frozen=True):
    """S2 of one level, as measured."""

    s2: float
    """Divided by the squared mean."""
    df: float
    """Its degrees of freedom."""
    n: float
    """Units of the level below in each unit, by which the variance below is divided in s2; 1 at the lowest level."""


class Estimated(msgspec.Struct, frozen=True):
    """What planning goes by: components without negative ones, and how they came about."""

    components: Components
    signed: tuple[tuple[PlannedLevel, float], ...]
    """T2 as first estimated, lowest level first."""
    dropped: tuple[PlannedLevel, ...]
    """The levels that add nothing, whose T2 was not above 0: they are left out and the others estimated again."""


def estimate(squares: Sequence[tuple[PlannedLevel, Square]], correlation: float = 0.0) -> Estimated:
    """Estimate the components from S2 per level; a level that adds nothing is dropped and the rest estimated again.

    Dropping a level pools its S2 with that of the level below by their degrees, which on balanced data is what K&J do
    when they turn Table III into Table IV (6.1).

    Args:
        squares: lowest level first, only levels that were repeated.
        correlation: lag-1, inside executions.
    """
    kept = list(squares)
    signed = _components(kept, correlation)
    dropped: list[PlannedLevel] = []
    while True:
        t2 = _components(kept, correlation)
        k = next((k for k, (_, value) in enumerate(t2) if k > 0 and value <= 0), None)
        if k is None:
            break
        dropped.append(kept[k][0])
        (level, below), (_, gone) = kept[k - 1], kept[k]
        df = below.df + gone.df
        s2 = (below.s2 * below.df + gone.n * gone.s2 * gone.df) / df
        above = [(name, msgspec.structs.replace(square, n=square.n * gone.n)) for name, square in kept[k + 1 : k + 2]]
        kept = [*kept[: k - 1], (level, Square(s2, df, below.n)), *above, *kept[k + 2 :]]
    by_level = dict(t2)
    components = Components(
        by_level.get("iteration", 0.0), by_level.get("execution", 0.0), by_level.get("build", 0.0), correlation
    )
    return Estimated(components, tuple(signed), tuple(dropped))


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
    levels: list[tuple[PlannedLevel, list[tuple[MeanSquare, float]]]] = [
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
