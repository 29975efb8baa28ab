"""A sample -> the means of its builds, or the typical values of its rounds, and whether both sides have a ratio at all.

Kalibera and Jones 2012, section 6.1, extended to unbalanced data: means are unweighted at each level.

The typical value is the trimmed mean of neighbours' log ratios in a round. Neighbours in time meet the same machine, so
what disturbs both cancels in their ratio, and the trimmed mean drops the pairs in which it hit one of them alone. The
difference of two sides' own medians or trimmed means would keep it: they do not know which executions are neighbours.
Source: docs/method.md, the typical value.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import msgspec
import numpy as np

from gate.model import Sample
from gate.model.bounds import COARSE
from gate.model.warnings import AnyWarning
from gate.model.warnings.estimates import NotExact
from gate.stats.rounding import ROUNDING, Array, Flags, Ints, same, smallest_step, unknown_rounding

Unit = tuple[int, int] | int
"""A unit of the top level: (session, build), or the session alone where session is a level."""


@dataclass(frozen=True, slots=True, eq=False)
class Tops:
    """One number for each unit of the top level, which is what every interval rests on."""

    values: Array
    """Float64, shape (n,): means of builds (or of sessions), or logarithms."""
    units: tuple[Unit, ...]
    """Which build or session each is of."""
    gap: float
    """The smallest distance that the instrument can tell, on the same scale, less where the executions of a unit round
    it each in its own way; 0 when all values of each session are equal.
    """
    log: bool
    """Whether values are logarithms."""
    mean: float = field(init=False)
    """The unweighted mean of the units."""

    def __post_init__(self) -> None:
        # once: it is asked for a dozen times; there are no units where both sides share no round
        mean = mean_of(self.values) if len(self.values) else math.nan
        object.__setattr__(self, "mean", mean)

    @property
    def n(self) -> int:
        """Units at the top level."""
        return len(self.values)


def mean_of(values: Array) -> float:
    """Return the mean, as numpy's to the last bit, in a fifth of its time on few values."""
    return float(np.add.reduce(values) / len(values))


def variance(values: Array) -> float:
    """Return the sample variance, as numpy's var with ddof=1 to the last bit, in a third of its time on few values."""
    apart = values - mean_of(values)
    return float(np.add.reduce(apart * apart) / (len(values) - 1))


def tops_of(sample: Sample, *, sessions: bool = False) -> Tops:
    """Reduce a sample to its top level's means, unweighted at each level (K&J 6.1)."""
    means = sample.values
    for children in (*sample.counts[:2], *((sample.counts[2],) if sessions else ())):
        means = _by_parent(means, children) / children
    units: tuple[Unit, ...] = tuple(dict.fromkeys(s for s, _ in sample.builds)) if sessions else sample.builds
    return Tops(means, units, _step_of(sample, len(units)), log=False)


def _step_of(sample: Sample, units: int) -> float:
    """Return the smallest step that counts for the mean of a unit.

    Where the values inside executions dither, so that their standard deviation (the median over executions, which an
    outlier does not move) is more than half a step, each execution rounds another way: their number counts instead of
    the units'. A timer's rounding averages out over what dithers it (Widrow and Kollar 2008; docs/method.md).
    """
    gap, sizes = gap_of(sample), sample.counts[0]
    if gap == 0 or len(sizes) == len(sample.values):
        return gap
    repeated = sizes > 1
    apart = sample.values - (_by_parent(sample.values, sizes) / sizes).repeat(sizes)
    spread = np.sort(_by_parent(apart * apart, sizes)[repeated] / (sizes[repeated] - 1))
    median = float(spread[(len(spread) - 1) // 2] + spread[len(spread) // 2]) / 2
    return gap * math.sqrt(units / len(sizes)) if math.sqrt(median) > gap / 2 else gap


def gap_of(sample: Sample) -> float:
    """Return the smallest distance between two distinct values of one session, 0 when all of each are equal.

    What values of two machines differ by tells nothing of the instrument. It is no less than the step that values are
    written to: the digits of some may be fewer.
    """
    gaps = [smallest_step(np.sort(values)) for values in sessions_of(sample)]
    gap = min((gap for gap in gaps if gap > 0), default=0.0)
    return max(gap, sample.step) if gap else 0.0


def sessions_of(sample: Sample) -> list[Array]:
    """Return the values of each session."""
    if len(sample.counts[2]) == 1:
        return [sample.values]
    sizes = sample.counts[0]
    for children in sample.counts[1:3]:
        sizes = np.add.reduceat(sizes, np.cumsum(children) - children)
    return np.split(sample.values, np.cumsum(sizes)[:-1])


def paired_units(base: Tops, head: Tops) -> bool:
    """Return whether every top unit of either side has its partner on the other: rounds are complete."""
    return base.units == head.units


Trouble = Literal[
    "", "negative", "zero-base", "zero-quantile", "apart", "one-unit", "few-values", "no-spread", "no-rounds", "machine"
]
"""What stands in the way of an interval; "machine": it is that of one of several, each by itself."""


class Reduced(msgspec.Struct, frozen=True):
    """Both sides of one case for one statistic, before a method makes an interval of them."""

    base: Tops
    head: Tops
    """base and head: the top units."""
    x: float
    y: float
    """x and y: the value of each side, in the metric's unit."""
    exact: bool
    """Compared as numbers."""
    trouble: Trouble
    """Why there is no ratio with an interval, "" when there is."""
    shortage: tuple[int, int] | None
    """Values per build that a quantile has, and that it needs; None: it is none."""
    warnings: tuple[AnyWarning, ...]
    rounding: tuple[float, float] = (0.0, 0.0)
    """How far x and y may be from what they were before the values were written, beside what averages out."""


def matched(base: Tops, head: Tops) -> tuple[Tops, Tops]:
    """Keep the units that both sides have, in the same order."""
    if paired_units(base, head):
        return base, head
    of_base = {unit: i for i, unit in enumerate(base.units)}
    of_head = {unit: i for i, unit in enumerate(head.units)}
    both = tuple(unit for unit in base.units if unit in of_head)
    return (
        Tops(base.values[[of_base[u] for u in both]], both, base.gap, base.log),
        Tops(head.values[[of_head[u] for u in both]], both, head.gap, head.log),
    )


def reduce(base: Sample, head: Sample, *, exact: bool, sessions: bool = False) -> Reduced:
    """Reduce both sides to the mean of each top unit, and say what stands in the way of a ratio.

    Source: docs/method.md, degenerate data.

    Args:
        exact: the metric is declared exact; one that shows spread is treated as measured, with a warning.
        sessions: whether session is the top level, as it is anyway where a side has several.
    """
    sessions = sessions or max(len(base.counts[2]), len(head.counts[2])) > 1
    x, y = tops_of(base, sessions=sessions), tops_of(head, sessions=sessions)
    differing: Literal["values", "ratio"] | None = None
    if exact and (x.gap > 0 or y.gap > 0):
        differing = "values"
    elif exact and is_by_session(x) and not _flat(x, y):
        # each session has one value a side
        together = measured_together(base, head)
        differing = "values" if not together else None if _one_ratio(x, y) else "ratio"
    if exact:
        # nothing rounds what is declared a count
        trouble, warnings = _trouble(base, head, x, y, exact=not differing), (NotExact(differing),) if differing else ()
        return Reduced(x, y, x.mean, y.mean, not differing, trouble, None, warnings)
    x, y = stepped(x, base), stepped(y, head)
    rounding = rounding_of(base), rounding_of(head)
    return Reduced(x, y, x.mean, y.mean, False, _trouble(base, head, x, y, exact=False), None, (), rounding)


def stepped(tops: Tops, sample: Sample) -> Tops:
    """Give a side without spread the step that its values are written to, where that is coarse enough to hide it."""
    value = math.exp(tops.mean) if tops.log else tops.mean
    if tops.gap > 0 or not sample.step or sample.step < COARSE * abs(value):
        return tops
    return Tops(tops.values, tops.units, sample.step / value if tops.log else sample.step, tops.log)


def rounding_of(sample: Sample) -> float:
    """Return how far the mean may be from what it was before the values were written, beside what averages out."""
    found = [unknown_rounding(values, sample.step) for values in sessions_of(sample)]
    return sum(found) / len(found)


def is_by_session(tops: Tops) -> bool:
    """Return whether the top units are sessions."""
    return not isinstance(tops.units[0], tuple)


def _flat(x: Tops, y: Tops) -> bool:
    return same(x.values, log=x.log) and same(y.values, log=y.log)


def _one_ratio(x: Tops, y: Tops) -> bool:
    """Return whether all units have the same ratio, to rounding; what is 0 on both sides contradicts none."""
    x_values, y_values = (side.values for side in matched(x, y))
    if x.log:
        return not len(x_values) or float(np.ptp(y_values - x_values)) <= ROUNDING
    across, back = y_values * x_values.sum(), x_values * y_values.sum()
    return bool((np.abs(across - back) <= ROUNDING * np.maximum(across, back)).all())


def _trouble(base: Sample, head: Sample, x: Tops, y: Tops, *, exact: bool) -> Trouble:
    if base.values.min() < 0 or head.values.min() < 0:
        return "negative"
    if x.mean == 0:
        return "zero-base"
    if exact:
        return "" if share_a_session(base, head) else "apart"
    return too_little(base, head, x, y)


def too_little(base: Sample, head: Sample, x: Tops, y: Tops) -> Trouble:
    """Say what of an interval lacks of values above 0: a session of both sides, two units a side, or a spread."""
    if not share_a_session(base, head):
        return "apart"
    if x.n < 2 or y.n < 2:
        return "one-unit"
    if x.gap > 0 or y.gap > 0:
        return ""
    # of machines that differ only the ratio is compared, and it may be the same on all
    pairs = is_by_session(x) and measured_together(base, head)
    return "no-spread" if _flat(x, y) or (pairs and _one_ratio(x, y)) else ""


def share_a_session(base: Sample, head: Sample) -> bool:
    """Return whether a session measured both sides."""
    return bool({session for session, _ in base.builds} & {session for session, _ in head.builds})


def _by_parent(values: Array, children: Ints) -> Array:
    return np.add.reduceat(values, starts(children))


def starts(children: Ints) -> Ints:
    """Return where each unit begins among its children."""
    return children.cumsum() - children


# --- the typical value of neighbours ----------------------------------------------------------------------------------

TRIMMED = 0.2
"""The share of a round's pairs that is left out at each end."""


def reduce_typical(base: Sample, head: Sample, *, exact: bool, sessions: bool = False) -> Reduced:
    """Reduce both sides to the typical value of each round, as `reduce` does to the mean of each top unit.

    Source: docs/method.md, degenerate data and the typical value.

    Args:
        exact: the metric is declared exact; one that shows spread is treated as measured, with a warning.
        sessions: whether session is the top level, as it is anyway where a side has several.
    """
    warnings: tuple[AnyWarning, ...] = ()
    if exact:
        means = reduce(base, head, exact=exact, sessions=sessions)
        if means.exact:
            return means
        warnings = means.warnings
    sessions = sessions or max(len(base.counts[2]), len(head.counts[2])) > 1
    pair = typical_pair(base, head, sessions=sessions)
    trouble: Trouble
    if base.values.min() < 0 or head.values.min() < 0:
        trouble = "negative"
    elif pair is not None:
        x, y = stepped(pair[0], base), stepped(pair[1], head)
        values, rounding = (math.exp(x.mean), math.exp(y.mean)), (rounding_of(base), rounding_of(head))
        return Reduced(x, y, *values, False, too_little(base, head, x, y), None, warnings, rounding)
    elif measured_together(base, head):
        trouble = "zero-quantile"
    else:
        trouble = "no-rounds" if share_a_session(base, head) else "apart"
    x, y = (tops_of(side, sessions=sessions) for side in (base, head))
    return Reduced(x, y, x.mean, y.mean, False, trouble, None, warnings)


def typical_pair(base: Sample, head: Sample, *, sessions: bool) -> tuple[Tops, Tops] | None:
    """Reduce both sides together; None where a value is not above 0, or no round has both sides.

    Logarithms of each side are the center of all pairs, less or plus half of D.

    Args:
        sessions: whether session is a level; then there is one number a session, the mean over its rounds.
    """
    rounds = pairs_of_rounds(base, head)
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


def trimmed_mean(values: Array) -> float:
    """Return the mean of all but the lowest and highest fifth, rounded down; of fewer than five values the mean."""
    cut = int(TRIMMED * len(values))
    kept = np.sort(values)[cut : len(values) - cut]
    return float(np.add.reduce(kept) / len(kept))


def pairs_of_rounds(base: Sample, head: Sample) -> dict[tuple[int, int], tuple[Array, Array]]:
    """Pair the executions of each build that both sides have: the means of base's and of head's, in the same order.

    Those of one number, as long as none is missing; otherwise those that follow each other in the run, where it is
    known and most have such a partner.
    """
    of_head, found = by_build(head), {}
    for build, x in by_build(base).items():
        if build not in of_head:
            continue
        y = of_head[build]
        fewest = min(len(x), len(y))
        pairs = _neighbours(_places(base, build), _places(head, build)) if len(x) != len(y) else []
        first, second = zip(*pairs, strict=True) if 2 * len(pairs) > fewest else (range(fewest), range(fewest))
        found[build] = (x[list(first)], y[list(second)])
    return found


def _places(sample: Sample, build: tuple[int, int]) -> list[int]:
    """Return the positions of a build's executions in the run; none where they are not known."""
    first = starts(sample.counts[1])[at := sample.builds.index(build)]
    return [] if sample.orders is None else sample.orders[first : first + sample.counts[1][at]].tolist()


def _neighbours(base: list[int], head: list[int]) -> list[tuple[int, int]]:
    """Pair executions of both sides that follow each other directly, each once: by their numbers on base and head."""
    turns = sorted((at, side, i) for side, places in enumerate((base, head)) for i, at in enumerate(places))
    found: list[tuple[int, int]] = []
    waiting: tuple[int, int] | None = None
    for _, side, i in turns:
        if waiting is None or waiting[0] == side:
            waiting = side, i
            continue
        found.append((waiting[1], i) if side else (i, waiting[1]))
        waiting = None
    return found


def by_build(sample: Sample) -> dict[tuple[int, int], Array]:
    """Split the means of executions by builds."""
    iterations, executions = sample.counts[:2]
    means = np.add.reduceat(sample.values, starts(iterations)) / iterations
    return dict(zip(sample.builds, np.split(means, np.cumsum(executions)[:-1]), strict=True))


# --- parts of a sample ------------------------------------------------------------------------------------------------

EXPECTED = 0.025
"""Share of controls that alarm by chance: a regression at threshold 0, 2.5% a side."""
BEYOND = 20.0
"""Of the product over runs: where nothing is wrong it is ever larger in 5% of all histories at most."""


def halves(sample: Sample) -> tuple[Sample, Sample] | None:
    """Deal the starts of each build out by turns, odd and even, in the same builds; None: no build has two.

    Which half is called odd alternates from round to round, so that a start's place in its build, such as the first
    after the other side, counts on both. A start without a partner is left out.
    """
    executions = sample.counts[1]
    starts = executions // 2 * 2
    if not starts.any():
        return None
    place = np.arange(len(sample.counts[0])) - np.repeat(np.cumsum(executions) - executions, executions)
    paired = place < np.repeat(starts, executions)
    numbers = np.array([number for _, number in sample.builds])
    even = (place + np.repeat(numbers, executions)) % 2 == 1

    def dealt(half: Flags) -> Sample:
        # all builds are those of one session, since both halves share what a machine does
        own = of_starts(sample, paired & half)
        names = tuple((0, number) for number in range(len(own.builds)))
        return msgspec.structs.replace(own, builds=names, counts=(*own.counts[:2], np.array([len(names)])))

    return dealt(~even), dealt(even)


_CAUTION = 1 / EXPECTED - 2
"""The best share of a single control is 1 in 39 where twice as many alarm (Kelly 1956)."""


def e_value(alarmed: int, count: int) -> float:
    """Return the e-value of a run; of several controls a larger share may be bet, since they rarely all lose."""
    share = count / (count + _CAUTION)
    return 1 - share + share * alarmed / (count * EXPECTED)


def of_builds(sample: Sample, wanted: Callable[[tuple[int, int]], bool]) -> Sample:
    """Keep the builds, by (session, number), that are wanted; the sample itself where all are."""
    kept = np.array([wanted(build) for build in sample.builds], dtype=bool)
    if kept.all():
        return sample
    return of_starts(sample, np.repeat(kept, sample.counts[1]))


def of_starts(sample: Sample, kept: Flags) -> Sample:
    """Keep some executions, and the builds and sessions that have any of them."""
    build = np.repeat(np.arange(len(sample.builds)), sample.counts[1])[kept]
    counts = np.bincount(build, minlength=len(sample.builds))
    names = tuple(name for name, count in zip(sample.builds, counts.tolist(), strict=True) if count)
    sessions = [session for session, _ in names]
    return Sample(
        sample.values[np.repeat(kept, sample.counts[0])],
        (
            sample.counts[0][kept],
            counts[counts > 0],
            np.array([sessions.count(s) for s in dict.fromkeys(sessions)], dtype=np.int64),
        ),
        names,
        None if sample.orders is None else sample.orders[kept],
        sample.step,
    )


def by_session(base: Sample, head: Sample) -> dict[int, tuple[Sample, Sample]]:
    """Give base and head of each session that has both, by itself."""
    both = dict.fromkeys(session for session, _ in base.builds if session in {own for own, _ in head.builds})
    return {at: (of_session(base, at), of_session(head, at)) for at in both}


def of_session(sample: Sample, wanted: int) -> Sample:
    """Keep the builds of one session."""
    return of_builds(sample, lambda build: build[0] == wanted)


def measured_together(base: Sample, head: Sample) -> bool:
    """Return whether a round has both sides; of two runs, each with its sessions, session 0 is not one session."""
    return not set(base.builds).isdisjoint(head.builds)


def of_shared_sessions(base: Sample, head: Sample) -> tuple[Sample, Sample, tuple[int, ...]]:
    """Leave out the sessions that one side lacks, and name them: such a machine is no part of a ratio.

    Both sides stay whole where fewer than two sessions would remain, since there is no interval then, and where they
    were not measured together.
    """
    first, second = ({session for session, _ in side.builds} for side in (base, head))
    both, lacking = first & second, tuple(sorted(first ^ second))
    if len(both) < 2 or not lacking or not measured_together(base, head):
        return base, head, ()
    return of_builds(base, lambda build: build[0] in both), of_builds(head, lambda build: build[0] in both), lacking


def of_rounds(sample: Sample, rounds: int | None) -> Sample:
    """Keep the builds of the first rounds of each session; None, or where these have no values: of all."""
    if rounds is None or all(build >= rounds for _, build in sample.builds):
        return sample
    return of_builds(sample, lambda build: build[1] < rounds)


def of_complete_rounds(base: Sample, head: Sample) -> tuple[Sample, Sample, tuple[int, ...]]:
    """Leave out the rounds that one side lacks, and name their sessions; both stay whole where no round is complete."""
    both = set(base.builds) & set(head.builds)
    lacking = tuple(sorted({session for session, _ in set(base.builds) ^ set(head.builds)}))
    if not both or not lacking:
        return base, head, ()
    return of_builds(base, both.__contains__), of_builds(head, both.__contains__), lacking
