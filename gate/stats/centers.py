"""Quantiles of builds, and how noisy a round's typical value and its mean are.

The verdict on a quantile rests on one number a build, its logarithm, as the verdict on the mean rests on the builds'
means. The picture is the quantile regression of log(value) on the side (Born de Oliveira et al. 2013, figure 7), which
for the side alone is the difference of the two sample quantiles.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from gate.model import QuantileEffect, RelativeVariance, Sample
from gate.model.case import TYPICAL, Center
from gate.model.warnings import AnyWarning
from gate.model.warnings.base import Said
from gate.stats.levels import (
    TRIMMED,
    Reduced,
    Tops,
    Unit,
    gap_of,
    of_starts,
    pairs_of_rounds,
    reduce,
    reduce_typical,
    starts,
    stepped,
    too_little,
    tops_of,
)
from gate.stats.rounding import ROUNDING, Array, Ints, smallest_step, unknown_rounding
from gate.stats.special import stdtrit
from gate.writing.units import plural

if TYPE_CHECKING:
    from collections.abc import Sequence


DEFAULT_TAUS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
UNEQUAL = 1.5
"""Counts per build that differ by more than this factor are cut: the bias of a sample quantile depends on the count."""
OF_QUANTILES = ("builds-cut", "builds-unlike", "few-executions")
"""Warnings about quantiles that matter where there is an interval."""
_FEWEST_EXECUTIONS = 3


def type8(values: Array, tau: float) -> float:
    """Return the quantile tau of values in any order, shape (n,), n >= 1, in their unit.

    Source: Hyndman and Fan 1996, definition 8: nearly unbiased for the median of the estimate, whatever the
    distribution.

    Raises: ValueError: no values, or tau outside 0 < tau < 1.
    """
    if not len(values) or not 0 < tau < 1:
        raise ValueError(f"a quantile needs values and 0 < tau < 1, not {len(values)} values and tau {tau}")
    return float(_quantiles(np.sort(values), np.array([tau]))[0])


def needed_values(tau: float) -> int:
    """Return how many values a quantile needs: 10 beyond it, on its thinner side.

    Args:
        tau: 0 < tau < 1; the decimal or fraction that was meant, which a float is not (99.9/100 is above 0.999).
    """
    exact = Fraction(tau).limit_denominator(10**9)
    return math.ceil(10 / min(exact, 1 - exact))


class QuantilePair(msgspec.Struct, frozen=True, eq=False):
    """The same quantile of both sides: ln q of each build, or its mean over the builds of each session."""

    base: Tops
    head: Tops
    fewest: int
    """The smallest count of values a build has."""
    fewest_executions: int
    """The smallest count of executions."""
    cut: bool
    """Whether executions were left out to make the counts alike."""
    unlike: bool
    """Whether the counts differ by more than UNEQUAL all the same, since whole executions cannot even them out."""


def quantile_pair(base: Sample, head: Sample, tau: float, *, sessions: bool) -> QuantilePair | None:
    """Reduce both sides to the logarithm of the quantile tau of each build; None where a quantile is not above 0.

    Args:
        sessions: whether session is a level; then there is one number a session, the mean over its builds. Where counts
            of values per build differ by more than UNEQUAL, every build is cut to the smallest count of all, by leaving
            out its last executions while at least so many values remain.

    Raises:
        ValueError: tau outside 0 < tau < 1.
    """
    counts = np.concatenate((_values_per_build(base), _values_per_build(head)))
    smallest, largest = int(counts.min()), int(counts.max())
    sizes = len(base.values) + len(head.values)
    if largest > UNEQUAL * smallest:
        base, head = _cut(base, smallest), _cut(head, smallest)
    x, y = _side(base, tau, sessions=sessions), _side(head, tau, sessions=sessions)
    if x is None or y is None:
        return None
    left = np.concatenate((_values_per_build(base), _values_per_build(head)))
    executions = min(int(side.counts[1].min()) for side in (base, head))
    cut, unlike = len(base.values) + len(head.values) < sizes, bool(left.max() > UNEQUAL * left.min())
    return QuantilePair(x, y, int(left.min()), executions, cut, unlike)


def _values_per_build(sample: Sample) -> Ints:
    return np.add.reduceat(sample.counts[0], starts(sample.counts[1]))


def _cut(sample: Sample, enough: int) -> Sample:
    """Keep of each build its first executions up to the one with which it has enough values."""
    iterations, executions = sample.counts[:2]
    before = starts(iterations)
    before -= np.repeat(before[starts(executions)], executions)
    return of_starts(sample, before < enough)


def _side(sample: Sample, tau: float, *, sessions: bool) -> Tops | None:
    counts = _values_per_build(sample)
    quantiles = np.array([type8(part, tau) for part in np.split(sample.values, np.cumsum(counts)[:-1])])
    if quantiles.min() <= 0:
        return None
    logs = np.log(quantiles)
    units: tuple[Unit, ...] = sample.builds
    if sessions:
        logs = np.add.reduceat(logs, starts(sample.counts[2])) / sample.counts[2]
        units = tuple(dict.fromkeys(session for session, _ in sample.builds))
    return Tops(logs, units, gap_of(sample) / math.exp(float(logs.mean())), log=True)


def reduce_to(base: Sample, head: Sample, center: Center, *, exact: bool, sessions: bool = False) -> Reduced:
    """Reduce both sides to one number for each top unit as `reduce` does, which is that for the mean (None).

    Source: docs/method.md, degenerate data and tails.

    Args:
        center: what is compared: a quantile, the typical value, or None.
        exact: the metric is declared exact; one that shows spread is treated as measured, with a warning.
        sessions: whether session is the top level, as it is anyway where a side has several.
    """
    if center == TYPICAL:
        return reduce_typical(base, head, exact=exact, sessions=sessions)
    warnings: tuple[AnyWarning, ...] = ()
    if center is None or exact:
        means = reduce(base, head, exact=exact, sessions=sessions)
        if center is None or means.exact:
            return means
        warnings = means.warnings
    several = max(len(base.counts[2]), len(head.counts[2])) > 1
    return _quantile(base, head, center, warnings, sessions=sessions or several)


def _quantile(base: Sample, head: Sample, tau: float, warnings: tuple[AnyWarning, ...], *, sessions: bool) -> Reduced:
    pair = quantile_pair(base, head, tau, sessions=sessions)
    negative = min(base.values.min(), head.values.min()) < 0
    if pair is None:
        x, y = (tops_of(side, sessions=sessions) for side in (base, head))
        values = type8(base.values, tau), type8(head.values, tau)
        return Reduced(x, y, *values, False, "negative" if negative else "zero-quantile", None, warnings)
    has, needs = pair.fewest, needed_values(tau)
    tops = stepped(pair.base, base), stepped(pair.head, head)
    trouble = "negative" if negative else "few-values" if has < needs else too_little(base, head, *tops)
    few = pair.fewest_executions < _FEWEST_EXECUTIONS
    if pair.cut:
        warnings += (Said("builds differ in their number of values: surplus starts are left out", "builds-cut"),)
    if pair.unlike:
        unlike = "builds differ by more than 1.5 times in their number of values, which biases a quantile"
        warnings += (Said(unlike, "builds-unlike"),)
    if few and not trouble:
        rests = f"the quantile of a build rests on {plural(pair.fewest_executions, 'start')}"
        warnings += (Said(f"{rests}: too few to show how starts differ", "few-executions"),)
    x_value, y_value = (math.exp(side.mean) for side in tops)
    # of values that are alike quantiles are too, however many values there are beside them
    one, other = (unknown_rounding(np.exp(own.values), side.step) for own, side in zip(tops, (base, head), strict=True))
    return Reduced(*tops, x_value, y_value, False, trouble, (has, needs), warnings, (one, other))


def quantile_curve(
    base: Sample, head: Sample, taus: Sequence[float] = DEFAULT_TAUS, confidence: float = 0.95
) -> tuple[QuantileEffect, ...]:
    """Return the ratio head/base of the quantiles tau of all values, with a band: a picture, not a test.

    Each side's quantile is that of ln(value), all its values counting alike: quantile regression on the side, to within
    the step between two neighbouring values. Left out: a tau for which a side has too few values in all, or whose
    quantile is not above 0. The band (pointwise, None with fewer than 2 builds on a side or without spread) leaves out
    one build at a time, Welch's t on builds. Such a jackknife fails for quantiles where it leaves out single values,
    not where it leaves out many (Shao and Wu 1989); builds of unequal size are weighted as Busing et al. 1999. To first
    order it is the clustered sandwich of Parente and Santos Silva 2016, with a density measured as far from the
    quantile as a build moves it. Where there are several sessions they take the place of builds, and pair both sides
    where both have the same.
    """
    sessions = max(len(base.counts[2]), len(head.counts[2])) > 1
    fewest = min(len(base.values), len(head.values))
    chosen = [tau for tau in taus if needed_values(tau) <= fewest]
    if not chosen:
        return ()
    x, y = (_pooled(side, np.array(chosen), sessions=sessions) for side in (base, head))
    difference = y.quantiles - x.quantiles
    half = _half_width(x, y, confidence)
    effects = []
    for tau, change, h in zip(chosen, difference.tolist(), half.tolist(), strict=True):
        if not math.isfinite(change):
            continue
        low, high = (_exp(change - h), _exp(change + h)) if math.isfinite(h) else (None, None)
        effects.append(QuantileEffect(tau=tau, ratio=_exp(change), low=low, high=high))
    return tuple(effects)


def _exp(log: float) -> float:
    # few clusters have intervals of any width
    return math.exp(min(max(log, -700.0), 700.0))


class _Pooled(msgspec.Struct, frozen=True, eq=False):
    """Quantiles of one side's ln(value), shape (taus,), and what each cluster adds to their error, (clusters, taus).

    The sum of the squared errors is the variance. Not finite where a logarithm would be of a value not above 0.
    """

    quantiles: Array
    errors: Array
    clusters: tuple[Unit, ...]
    least: Array
    """The variance that the instrument's smallest step leaves, shape (taus,)."""


# a value of 0 has no logarithm, and its quantile no interval
@np.errstate(invalid="ignore")
def _half_width(x: _Pooled, y: _Pooled, confidence: float) -> Array:
    """Return the half-width of the band of y - x, shape (taus,), NaN where nothing is known of it."""
    if min(len(x.clusters), len(y.clusters)) < 2:
        return np.full(len(x.quantiles), np.nan)
    if isinstance(x.clusters[0], int) and x.clusters == y.clusters:
        # what a session does it does to both sides
        variance = np.maximum(((y.errors - x.errors) ** 2).sum(axis=0), x.least + y.least)
        df = np.full(len(variance), len(x.clusters) - 1.0)
    else:
        v_x, v_y = (np.maximum((side.errors**2).sum(axis=0), side.least) for side in (x, y))
        variance = v_x + v_y
        a, b = v_x / np.maximum(v_x, v_y), v_y / np.maximum(v_x, v_y)
        df = (a + b) ** 2 / (a**2 / (len(x.clusters) - 1) + b**2 / (len(y.clusters) - 1))
    variance[variance <= ROUNDING**2] = np.nan
    return np.asarray(-stdtrit(df, (1 - confidence) / 2) * np.sqrt(variance), dtype=np.float64)


@np.errstate(invalid="ignore")  # as above
def _pooled(sample: Sample, taus: Array, *, sessions: bool) -> _Pooled:
    # the clusters are builds, or sessions where there are several
    sizes = _values_per_build(sample)
    clusters: tuple[Unit, ...] = sample.builds
    if sessions:
        sizes = np.add.reduceat(sizes, starts(sample.counts[2]))
        clusters = tuple(dict.fromkeys(session for session, _ in sample.builds))
    groups = len(clusters)
    order = np.argsort(sample.values)
    ordered, label = sample.values[order], np.repeat(np.arange(groups), sizes)[order]
    # logarithms of ascending values, -inf for those not above 0
    logs = np.log(ordered, out=np.full(len(ordered), -np.inf), where=ordered > 0)
    quantiles = _quantiles(logs, taus)
    step = gap_of(sample) if len(sample.counts[2]) > 1 else smallest_step(ordered)
    least = (step / np.exp(quantiles)) ** 2 / (12 * groups)
    if groups < 2:
        return _Pooled(quantiles, np.zeros((groups, len(taus))), clusters, least)
    without = np.array([_quantiles(logs[label != k], taus) for k in range(groups)])
    times = (len(ordered) / sizes)[:, None]
    # in differences, so that equal quantiles leave exactly 0
    moved = quantiles - without
    errors = ((times - 1) * moved - ((1 - 1 / times) * moved).sum(axis=0)) / np.sqrt(groups * (times - 1))
    return _Pooled(quantiles, errors, clusters, least)


def _quantiles(ordered: Array, taus: Array) -> Array:
    """Return quantiles of ascending values by Hyndman and Fan's definition 8."""
    at = np.clip((len(ordered) + 1 / 3) * taus + 1 / 3, 1, len(ordered)) - 1
    first = at.astype(np.int64)
    low, high = ordered[first], ordered[np.minimum(first + 1, len(ordered) - 1)]
    # equal neighbours give exactly themselves
    return low + (at - first) * (high - low)


# --- how noisy a round is ----------------------------------------------------------------------------------

FEWEST_PAIRS = 4
"""Pairs of a round below which nothing is said of its noise."""


def squared_error(values: Array) -> float:
    """Return the squared standard error of a trimmed mean of two values or more (Yuen 1974)."""
    n, cut = len(values), int(TRIMMED * len(values))
    ordered = np.sort(values)
    winsorized = np.clip(ordered, ordered[cut], ordered[n - 1 - cut])
    kept = n - 2 * cut
    return float(winsorized.var(ddof=1)) * (n - 1) / (kept * (kept - 1))


def first_round_noise(base: Sample, head: Sample, center: Center) -> float | None:
    """Return the standard error of ln(head/base) in the first round that both sides have; None: it is not known.

    It tells how sharp a view is: by the ratios of pairs for the typical value, otherwise by the differences of pairs,
    each side as a share of its mean. How large the change is does not enter.
    """
    pairs = next(iter(pairs_of_rounds(base, head).values()), None)
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


def noise_of_starts(base: Sample, head: Sample) -> RelativeVariance | None:
    """Return the variance that one execution of a side adds to a round's typical value, with its degrees.

    It is half of that of a pair, which has two: n pairs add twice its n-th part to D. The mean over rounds; None where
    none has pairs enough, or a value is not above 0.
    """
    pairs = pairs_of_rounds(base, head).values()
    found = [np.log(y / x) for x, y in pairs if len(x) >= FEWEST_PAIRS and min(x.min(), y.min()) > 0]
    if not found:
        return None
    degrees = [len(each) - 2 * int(TRIMMED * len(each)) - 1 for each in found]
    total = sum(degrees)
    value = sum(df * len(each) * squared_error(each) / 2 for df, each in zip(degrees, found, strict=True)) / total
    return RelativeVariance(value=value, df=float(total)) if value > 0 else None
