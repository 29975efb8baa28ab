"""Bootstrap intervals of a ratio head/base and the tests that agree with them: percentile and BCa.

Kalibera and Jones 2012, 7.3.1 and Fig. 2 (percentile), NIST TN 1855, 3.6 (BCa, number of replicates), Efron 1987 (BCa).
Fig. 2 draws value by value, one replicate after the other; here many replicates descend a level at once.
"""

from __future__ import annotations

import math
import os
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import msgspec
import numpy as np

from gate.model import Sample
from gate.model.warnings import AnyWarning
from gate.model.warnings.base import Said
from gate.model.warnings.estimates import Unit
from gate.stats.ratio import WITHHELD, Limits, Tail
from gate.stats.rounding import Array, Ints, same
from gate.stats.special import ndtr, ndtri
from gate.writing.units import plural

CAP = 50_000
"""Most replicates: the constant number of NIST TN 1855, Fig. 10."""
WORK = 2e9
"""Most values to draw for one ratio, some twenty seconds of a core: large ones get fewer replicates."""
PRECISION = 0.0005
"""Largest Monte Carlo standard error of a limit: a change has one decimal, so half of what a report can show."""
_RANK = 10
"""Replicates beyond the limits at the strictest level before their error can be told."""
_WIDE = 1.5
"""Variance of RRR's replicates over that of the mean of top units, above which it is too wide to pass unmentioned."""
_FEW = 10
"""Units at the top below which an interval may be too narrow by more than passes unmentioned."""


class Distribution(msgspec.Struct, frozen=True, eq=False):
    """Replicates of an estimate, with the limits and p that follow from them.

    The limits are replicates, never between two: with R replicates the lower limit of the percentile interval is the
    k-th smallest, k the largest integer below (R + 1) alpha/2, and the upper one the k-th largest (Davison and Hinkley
    1997, 5.2.1, with k rounded down); BCa puts its own level in the place of alpha/2. So there is no limit for alpha up
    to 2/(R + 1), and p is never below that.
    """

    values: Array
    """Float64, sorted."""
    undefined: int
    """Replicates without a value; they count against whatever is claimed."""
    bias: float
    acceleration: float
    """bias and acceleration: z0 and a of BCa; both are 0 for the percentile interval."""

    @property
    def replicates(self) -> int:
        """R, undefined ones included."""
        return len(self.values) + self.undefined

    def p(self, theta: float, tail: Tail) -> float:
        """Return the smallest alpha at which limits(alpha) lies above (below) theta: p < alpha exactly when it does."""
        if tail == "above":
            against = int(np.searchsorted(self.values, theta, side="right"))
        else:
            against = len(self.values) - int(np.searchsorted(self.values, theta, side="left"))
        return self._p(against + self.undefined, tail)

    def limits(self, alpha: float) -> Limits:
        """Return the interval at confidence 1 - alpha; a limit is None beyond the replicates there are."""
        low, high = self._limit(alpha, "above"), self._limit(alpha, "below")
        if low is None and high is None:
            return Limits("line", None, None)
        return Limits("half-line" if low is None or high is None else "bounded", low, high)

    def errors(self, alpha: float) -> Iterator[tuple[float, float]]:
        """Yield (limit, Monte Carlo standard error) of both limits; the error of one that is missing is infinite.

        The error of a quantile from its neighbours, the rank's standard error away. BCa's level moves with z0, which is
        estimated from the same replicates (delta method). A limit that undefined replicates deny is left out.
        """
        for tail in ("above", "below"):
            rank = self._rank(alpha, tail)
            limit = self._limit(alpha, tail)
            if limit is not None:
                yield limit, self._error(rank, alpha, tail)
            elif rank == 0:
                yield math.nan, math.inf

    def _p(self, against: int, tail: Tail) -> float:
        """Return the p where that many replicates are against a claim; it rises with their number."""
        least = 2 / (self.replicates + 1)
        if against >= self.replicates:
            return 1.0
        level = (against + 1) / (self.replicates + 1)
        z0, a = self._mirrored(tail)
        if z0 or a:
            # level = ndtr(z0 + w/(1 - a w)), solved for w = z0 + ndtri(alpha/2)
            u = float(ndtri(level)) - z0
            if 1 + a * u <= 0:
                return least if u < 0 else 1.0
            level = float(ndtr(u / (1 + a * u) - z0))
        return min(1.0, max(least, 2 * level))

    def _mirrored(self, tail: Tail) -> tuple[float, float]:
        return (self.bias, self.acceleration) if tail == "above" else (-self.bias, -self.acceleration)

    def _rank(self, alpha: float, tail: Tail) -> int:
        """Return k: the limit is the k-th replicate from its end, 0 when there is none."""
        return bisect_left(range(self.replicates), alpha, key=lambda against: self._p(against, tail))

    def _limit(self, alpha: float, tail: Tail) -> float | None:
        at = self._rank(alpha, tail) - 1 - self.undefined
        if at < 0:
            return None
        return float(self.values[at if tail == "above" else -1 - at])

    def _error(self, rank: int, alpha: float, tail: Tail) -> float:
        total = self.replicates
        f1 = rank / (total + 1)
        variance = f1 * (1 - f1)
        z0, a = self._mirrored(tail)
        if z0 or a:
            f0 = float(ndtr(z0))
            w = z0 + float(ndtri(alpha / 2))
            slope = (1 + 1 / (1 - a * w) ** 2) * math.exp((z0**2 - float(ndtri(f1)) ** 2) / 2)
            variance += slope**2 * f0 * (1 - f0) - 2 * slope * min(f0, f1) * (1 - max(f0, f1))
        spread = math.sqrt(max(variance, 0.0) * total)
        at = rank - 1 - self.undefined
        step = max(1, round(spread))
        near, far = max(at - step, 0), min(at + step, len(self.values) - 1)
        if near == far:
            return 0.0
        values = self.values if tail == "above" else self.values[::-1]
        return abs(float(values[far] - values[near])) / (far - near) * spread


class BootstrapRatio(msgspec.Struct, frozen=True, eq=False):
    """The ratio of means by bootstrap: a gate.stats.ratio.Ratio."""

    x: float
    y: float
    """x and y: means of base and head, unweighted at every level (as gate.stats.levels.tops_of)."""
    ratio: Distribution | None
    difference: Distribution | None
    """ratio and difference: replicates of head/base and of head - base; None when nothing is known of the variance
    (fewer than two top units on a side, or all resamples equal).
    """
    warnings: tuple[AnyWarning, ...]
    """What a reader of the interval must know."""

    @property
    def df(self) -> None:
        """The bootstrap has no degrees of freedom."""
        return

    def limits(self, alpha: float) -> Limits:
        """Return the interval of the ratio at confidence 1 - alpha."""
        return self.ratio.limits(alpha) if self.ratio else WITHHELD

    def p(self, theta: float, tail: Tail) -> float | None:
        """Return the p of "the ratio is above (below) theta"; p < alpha exactly when limits(alpha) lies beyond it."""
        return self.ratio.p(theta, tail) if self.ratio else None

    def difference_limits(self, alpha: float) -> Limits:
        """Return the interval of head - base in the metric's unit, from the same replicates."""
        return self.difference.limits(alpha) if self.difference else WITHHELD

    def p_difference(self, floor: float, tail: Tail) -> float | None:
        """Return the p of "head - base is above (below) floor"."""
        return self.difference.p(floor, tail) if self.difference else None


def bootstrap_ratio(
    base: Sample, head: Sample, *, scheme: Scheme, bca: bool, seed: int, alphas: Sequence[float], sessions: bool,
    cap: int = CAP,
) -> BootstrapRatio:  # fmt: skip
    """Resample each side by itself until the limits at all alphas are known to PRECISION (NIST 3.6).

    Args:
        alphas: two-sided levels, the nominal one and the strictest that may be asked for.
        seed: not negative.
        cap: most replicates; they come in chunks of CHUNK, so at least one chunk.
        sessions: session is a level, the highest.
    """
    sides = [hierarchy(side, scheme, sessions=sessions) for side in (base, head)]
    tops = [hierarchy(side, "RNN", sessions=sessions).means() for side in (base, head)]
    x, y = (float(means.mean()) for means in tops)
    # what BCa leaves out one at a time
    units = [side.values for side in sides] if scheme == "FLAT" else tops
    unit: Unit = "session" if sessions else "build"
    if min(map(len, units)) < 2:
        return BootstrapRatio(x, y, None, None, (Said(f"one {unit} of each: how {unit}s vary is unknown", "one-unit"),))
    most = max(1, int(min(cap, WORK / (len(base.values) + len(head.values)))) // CHUNK)
    means = [np.empty(0), np.empty(0)]
    done, wanted = 0, math.ceil(2 * _RANK / min(alphas) / CHUNK)
    while done < most:
        end = min(max(wanted, done + 1), most)
        fresh = replicate_means(sides, seed, range(done, end))
        means = [np.concatenate((old, _rounded(new))) for old, new in zip(means, fresh, strict=True)]
        done = end
        worst = _worst(_distribution(_ratio, means, units, bca=bca), alphas)
        if worst <= 1:
            break
        # the error falls with the root of the replicates; a first guess of it may not ask for too many
        wanted = math.ceil(done * min(1.1 * worst**2, 4))
    if all(map(same, means)):
        return BootstrapRatio(x, y, None, None, (Said("no spread: all resamples are equal", "no-spread"),))
    ratio = _distribution(_ratio, means, units, bca=bca)
    difference = _distribution(lambda x, y: y - x, means, units, bca=bca)
    warnings = tuple(_warnings(tops, means, ratio, scheme=scheme, unit=unit, alphas=alphas))
    return BootstrapRatio(x, y, ratio, difference, warnings)


def _warnings(
    tops: list[Array], means: list[Array], ratio: Distribution, *, scheme: Scheme, unit: Unit, alphas: Sequence[float]
) -> Iterator[AnyWarning]:
    """Yield what is known to be wrong with intervals by this scheme from data like this, and what is not known."""
    n = min(map(len, tops))
    if scheme == "FLAT":
        narrow = f"the interval is too narrow where starts or {unit}s differ"
        yield Said(f"FLAT treats all values as independent: {narrow}", "flat-resampling")
    elif scheme == "RRR" and sum(side.var() for side in means) > _WIDE * sum(
        side.var(ddof=1) / len(side) for side in tops
    ):
        wide = "the interval is wider than its confidence says"
        yield Said(f"RRR counts the noise of lower levels twice: {wide}", "noise-counted-twice")
    elif n < _FEW:
        yield Said(f"a bootstrap over {plural(n, unit)} may cover only 80-90% instead of 95%", "few-units")
    if ratio.undefined:
        of = f"{ratio.undefined:,} of {plural(ratio.replicates, 'resample')}"
        yield Said(f"base's mean is not above 0 in {of}, which count against both limits", "undefined-resamples")
    for alpha in dict.fromkeys(alphas):
        if _worst(ratio, [alpha]) > 1:
            error = max(error for _, error in ratio.errors(alpha))
            known = f"known to ±{200 * error:.1f}% only" if error < math.inf else "not known"
            limits = f"{100 * (1 - alpha):.6g}% limits {known}"
            yield Said(f"{limits}: {plural(ratio.replicates, 'replicate')}", "imprecise-limits")


def _worst(ratio: Distribution, alphas: Sequence[float]) -> float:
    """Return the largest error of a limit, in units of what is allowed there."""
    found = [limit for alpha in alphas for limit in ratio.errors(alpha)]
    # a change of 100% and more has no decimals
    return max((error / (PRECISION if abs(limit - 1) < 1 else 10 * PRECISION) for limit, error in found), default=0.0)


def _rounded(means: Array | float) -> Array:
    """Round to 40 significant bits (Dekker 1971): equal resamples are equal, in whatever order they were summed."""
    scaled = np.asarray(means) * (2.0**13 + 1)
    return scaled - (scaled - means)


def _ratio(x: Array, y: Array) -> Array:
    """Return y/x, nan where a resample of base has no positive mean."""
    ratios: Array = np.divide(y, x, out=np.full(np.broadcast_shapes(x.shape, y.shape), np.nan), where=x > 0)
    return ratios


def _distribution(estimate: Callable[..., Array], means: list[Array], units: list[Array], *, bca: bool) -> Distribution:
    values = _rounded(estimate(*means))
    values = np.sort(values[~np.isnan(values)])
    undefined = len(means[0]) - len(values)
    if not bca or not len(values):
        return Distribution(values, undefined, 0.0, 0.0)
    center = [_rounded(side.mean()) for side in units]
    found = float(_rounded(estimate(*center)))
    below, upto = (int(np.searchsorted(values, found, side=side)) for side in ("left", "right"))
    total = len(values)
    share = min(max((below + upto) / 2 / total, 1 / (total + 1)), total / (total + 1))
    # a of BCa: a sixth of the skewness of the units' influence, over all samples (Davison and Hinkley 1997, 5.3.2, as
    # scipy has it), from the estimates without each unit of one of them; 0 where it is not known
    cubes, squares = 0.0, 0.0
    for k, side in enumerate(units):
        without = estimate(*center[:k], (side.sum() - side) / (len(side) - 1), *center[k + 1 :])
        influence = (without.mean() - without) * (len(without) - 1) / len(without)
        cubes += float((influence**3).sum())
        squares += float((influence**2).sum())
    acceleration = cubes / (6 * squares**1.5) if squares > 0 else 0.0
    return Distribution(values, undefined, float(ndtri(share)), acceleration)


# --- resamples --------------------------------------------------------------------------------------------------------

Scheme = Literal["RRR", "RRN", "RNN", "FLAT"]

CHUNK = 2000
"""Replicates that share a random stream: results do not depend on the number of cores."""
_PASS = 1 << 16
"""Values drawn at once: what bounds the memory, and fits the cache."""
_TABLE = 1 << 16
"""Most sums of a table: 512 KiB, which the cache of a core holds."""


class Hierarchy(msgspec.Struct, frozen=True, eq=False):
    """One side as a scheme resamples it."""

    values: Array
    """Float64, shape (N,), the units of level 0: values, or means of units whose inside is left as it is."""
    first: tuple[Ints, ...]
    """For each level above, int64, shape (units + 1,): where the children of each unit begin in the level below; they
    end where those of the next begin.
    """

    def means(self) -> Array:
        """Return the mean of each unit of the highest level, unweighted at every level."""
        means = self.values
        for first in self.first:
            means = _by_unit(means, first)
        return means


def hierarchy(sample: Sample, scheme: Scheme, *, sessions: bool) -> Hierarchy:
    """Reduce a sample to what a scheme resamples (K&J 8.3.3).

    RRR: every level. RRN: all but iterations, so means of executions. RNN: neither iterations nor executions, so means
    of builds. FLAT: all values of a side as one level. A level at which every unit has one child needs no draws and is
    dropped.

    Args:
        sessions: session is a level, above the build; all schemes but FLAT resample both.
    """
    values = np.asarray(sample.values, dtype=np.float64)
    if scheme == "FLAT":
        return Hierarchy(values, ())
    first = [np.concatenate(([0], np.cumsum(counts))) for counts in sample.counts[: 3 if sessions else 2]]
    for _ in range(("RRR", "RRN", "RNN").index(scheme)):
        values = _by_unit(values, first.pop(0))
    return Hierarchy(values, tuple(f for f in first if len(f) - 1 < f[-1]))


def _by_unit(values: Array, first: Ints) -> Array:
    means: Array = np.add.reduceat(values, first[:-1]) / np.diff(first)
    return means


def replicate_means(sides: Sequence[Hierarchy], seed: int, chunks: range) -> list[Array]:
    """Return for each side the means of CHUNK replicates for each chunk, in the order of chunks.

    A replicate draws as many units of the highest level as there are, with replacement, of each as many children as it
    has, and so on (K&J Fig. 2). Its mean is unweighted at every level, as the estimate is; on balanced data that is the
    mean of all values drawn.

    Args:
        seed: not negative; chunk c of side k is the same whatever else is asked for.
    """
    seeds = [np.random.SeedSequence(seed, spawn_key=(k, c)) for k in range(len(sides)) for c in chunks]
    asked = zip([side for side in sides for _ in chunks], seeds, strict=True)
    with ThreadPoolExecutor(usable_cores()) as pool:
        found = pool.map(lambda each: replicates(each[0], CHUNK, np.random.default_rng(each[1])), asked)
        return [*np.reshape([*found], (len(sides), -1))]


def replicates(side: Hierarchy, count: int, rng: np.random.Generator) -> Array:
    """Return the means of so many replicates of one side."""
    level, units = len(side.first), len(side.first[-1]) - 1 if side.first else len(side.values)
    means, tables = np.empty(count), _tables(side)
    step = max(1, _PASS // len(side.values))
    for begin in range(0, count, step):
        some = means[begin : begin + step]
        ids = rng.integers(units, size=len(some) * units)
        some[:] = _resampled(side, level, ids, tables, rng).reshape(-1, units).mean(axis=1)
    return means


def _tables(side: Hierarchy) -> list[tuple[int, Array]]:
    """Return what a mean of values is made of, where all units have as many: so many draws from which sums.

    One draw takes a tuple of k values, from the sums of all n^k tuples of a unit, which has the distribution of k draws
    with replacement; and one takes what k leaves of n.
    """
    sizes = np.diff(side.first[0]) if side.first else np.array([0])
    n = int(sizes[0])
    if n == 0 or (sizes != n).any():
        return []
    values = side.values.reshape(-1, n)
    sums = [np.zeros((len(values), 1)), values]
    while len(sums) <= n and sums[-1].size * n <= _TABLE:
        sums.append((sums[-1][:, :, None] + values[:, None, :]).reshape(len(values), -1))
    many, over = divmod(n, len(sums) - 1)
    return [(many, sums[-1]), (1, sums[over])]


def _resampled(
    side: Hierarchy, level: int, ids: Ints, tables: Sequence[tuple[int, Array]], rng: np.random.Generator
) -> Array:
    """Return for each unit of ids, which are of one level, the mean of its children, drawn anew each time."""
    if level == 0:
        values: Array = side.values.take(ids)
        return values
    first = side.first[level - 1]
    if level == 1 and tables:
        total = np.zeros(len(ids))
        rows = max(1, _PASS // len(ids))
        for many, sums in tables:
            # the narrower the type, the fewer random bits
            kind = np.uint16 if sums.shape[1] <= 1 << 16 else np.uint32
            for begin in range(0, many, rows):
                asked = min(rows, many - begin), len(ids)
                picks = rng.integers(sums.shape[1], size=asked, dtype=kind) + ids * sums.shape[1]
                total += sums.ravel().take(picks).sum(axis=0)
        total /= first[1]
        return total
    size = np.diff(first).take(ids)
    # below the size, since the largest double below 1 times n rounds to the one below n
    children = (rng.random(int(size.sum())) * np.repeat(size, size)).astype(np.int64)
    children += np.repeat(first.take(ids), size)
    of_children = _resampled(side, level - 1, children, tables, rng)
    means: Array = np.add.reduceat(of_children, np.cumsum(size) - size) / size
    return means


def usable_cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
