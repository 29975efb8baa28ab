"""Intervals of means by resampling: how large a sample must be, and each treatment's mean with its BCa interval.

The units of one treatment are taken for the population: of subsamples of each size, how wide are the intervals of the
mean, and how many hold the mean of all units (NIST TN 1855, 4.7.1, Fig. 10 and 11; for the means 3.6 and Fig. 1)?
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import median
from typing import TYPE_CHECKING, Literal

import msgspec
import numpy as np

from gate.model.study import Block, Error, Factor, MainEffect, MeanInterval, SampleSize, SampleSizes
from gate.stats.design.aliases import saturated
from gate.stats.design.cells import HAIR, Codes, cells, mean, settings
from gate.stats.design.claims import FEWEST_CONTRASTS, INTERACTION_OF_MEAN, INTERACTION_OF_QUANTILE, QUANTILE
from gate.stats.design.coding import addends, coded, lay_out
from gate.stats.design.layers import layers
from gate.stats.design.strata import stratified
from gate.stats.ratio import t_quantile
from gate.stats.rounding import Array, Ints
from gate.stats.special import nctdtr, ndtr, ndtri, stdtrit

if TYPE_CHECKING:
    import pandas as pd

FEWEST = 40
"""Units of a treatment below which there is nothing to subsample."""
SMALLEST = 5
LARGEST = 2560
"""Sizes double from the smallest; NIST needed hundreds."""
SHARE = 4
"""A subsample holds at most a quarter of the units; larger ones are too much alike to stand for new samples."""
SUBSAMPLES = {"t": 2000, "bca": 1000}
REPLICATES = 2000
"""Bootstrap replicates of a subsample: a limit's level is known to 0.35 points at 95%."""
WORK = 4e8
"""Most products of a size's bootstrap; larger sizes get fewer subsamples."""


def sample_sizes(
    units: pd.DataFrame, factors: Sequence[Factor], confidence: float, seed: int, mains: Sequence[MainEffect],
    treatment: Codes | None = None,
) -> SampleSizes | None:  # fmt: skip
    """Study one treatment, by default that with the most units (of several the first); None: it has fewer than FEWEST.

    mains: the main effects found; the median over the factors of the largest difference between two settings is what
    widths are held against. seed: not negative. Intervals are Student's t and BCa of the mean (Efron 1987).

    Subsamples are drawn without replacement, so their means are closer to the mean of all units than those of new
    samples would be to the mean behind them, by sqrt(1 - size/units) (Cochran 1977, 2.6). For coverage that distance is
    therefore divided by this root; otherwise intervals would seem to hold more than they do.
    """
    of = [cell for cell in cells(units, factors) if treatment in (None, cell.codes)]
    largest = max(of, key=lambda cell: len(cell.y), default=None)
    if largest is None or len(largest.y) < FEWEST:
        return None
    sizes = [SMALLEST << k for k in range(32) if SMALLEST << k <= min(len(largest.y) // SHARE, LARGEST)]
    rows = [row for size in sizes for row in _rows(largest.y, size, confidence, seed)]
    means = [[point.mean for point in effect.points] for effect in mains if len(effect.points) > 1]
    effect = median(max(of) - min(of) for of in means) if means else None
    # the size from which on t intervals are narrower than an effect: with a rare mode widths grow at first
    enough = None
    for row in reversed([row for row in rows if row.method == "t"]):
        if effect is None or row.widths[1] >= effect:
            break
        enough = row.size
    return SampleSizes(
        settings=settings(factors, largest.codes), units=len(largest.y), confidence=confidence, rows=rows,
        median_effect=effect, enough=enough,
    )  # fmt: skip


def _rows(y: Array, size: int, confidence: float, seed: int) -> Iterator[SampleSize]:
    rng = np.random.default_rng((seed, size))
    drawn = subsamples(y, size, SUBSAMPLES["t"], rng)
    resampled = drawn[: min(SUBSAMPLES["bca"], int(WORK / REPLICATES / size))]
    of_t, of_bca = t_limits(drawn, confidence), bca_limits(resampled, confidence, rng)
    kinds: tuple[tuple[Literal["t", "bca"], Array, tuple[Array, Array]], ...] = (
        ("t", drawn, of_t), ("bca", resampled, of_bca),
    )  # fmt: skip
    for method, each, (low, high) in kinds:
        own = each.mean(axis=1)
        truth = own + (mean(y) - own) / math.sqrt(1 - size / len(y))
        hair = HAIR * float(np.abs(each).max())
        held = float(((low - hair <= truth) & (truth <= high + hair)).mean())
        first, middle, third = np.quantile(high - low, (0.25, 0.5, 0.75), method="median_unbiased").tolist()
        yield SampleSize(
            size=size, method=method, widths=(first, middle, third), coverage=held, subsamples=len(each)
        )  # fmt: skip


def subsamples(y: Array, size: int, count: int, rng: np.random.Generator) -> Array:
    """Draw subsamples without replacement, shape (count, size), size <= n.

    Each shuffle of the units gives as many as it has room for; those of one shuffle have no unit in common, which makes
    averages over subsamples the more precise.
    """
    room = len(y) // size
    shuffles = [rng.permutation(y)[: room * size].reshape(room, size) for _ in range(-(-count // room))]
    return np.concatenate(shuffles)[:count]


def t_limits(drawn: Array, confidence: float) -> tuple[Array, Array]:
    """Return Student's interval of the mean of each subsample, shape (count, size), size >= 2."""
    size = drawn.shape[1]
    own = drawn.mean(axis=1)
    half = t_quantile(size - 1, (1 - confidence) / 2) * drawn.std(axis=1, ddof=1) / math.sqrt(size)
    return own - half, own + half


def bca_limits(drawn: Array, confidence: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return the BCa interval of the mean of each subsample, shape (count, size), by REPLICATES resamples.

    As gate.stats.bootstrap.Distribution has it: limits are replicates, the k-th from their end, k the largest integer
    below (R + 1) times BCa's level. Subsamples are in random order, so they can share how often each place is drawn.
    """
    size = drawn.shape[1]
    picks = rng.integers(size, size=(REPLICATES, size)) + size * np.arange(REPLICATES)[:, None]
    times = np.bincount(picks.ravel(), minlength=REPLICATES * size).reshape(REPLICATES, size)
    return accelerated(drawn, (drawn - drawn.mean(axis=1, keepdims=True)) @ (times.T / size), confidence)


def accelerated(drawn: Array, replicates: Array, confidence: float) -> tuple[Array, Array]:
    """Return BCa's limits from what replicates of the mean, shape (count, REPLICATES), are away from the mean."""
    count = len(drawn)
    own = drawn.mean(axis=1)
    away = drawn - own[:, None]
    replicates = np.sort(replicates, axis=1)
    squares = (away**2).sum(axis=1)
    a = np.divide((away**3).sum(axis=1), 6 * squares**1.5, out=np.zeros(count), where=squares > 0)
    hair = HAIR * np.abs(drawn).max(axis=1, keepdims=True)
    below, above = (replicates < -hair).sum(axis=1), (replicates > hair).sum(axis=1)
    share = (REPLICATES + below - above) / (2 * REPLICATES)
    z0 = ndtri(np.clip(share, 1 / (REPLICATES + 1), REPLICATES / (REPLICATES + 1)))
    z = float(ndtri((1 - confidence) / 2))

    def rank(z0: Array, a: Array) -> Ints:
        # which replicate from its end is the limit; the outermost where BCa asks for one beyond
        w = z0 + z
        level = np.where(1 - a * w > 0, ndtr(z0 + w / (1 - a * w)), 0.0)
        found: Ints = np.ceil((REPLICATES + 1) * level).astype(np.int64) - 1
        return np.clip(found, 1, REPLICATES)

    rows = np.arange(count)
    return own + replicates[rows, rank(z0, a) - 1], own + replicates[rows, REPLICATES - rank(-z0, -a)]


_FEWEST_BCA = 3
"""Units below which a bootstrap has nothing to draw from."""
LARGE = 20_000
"""Units from which on Student's interval stands for BCa's, which it then is to the width of a line."""
_CHUNK = 2_000_000


def mean_intervals(units: pd.DataFrame, factors: Sequence[Factor], confidence: float, seed: int) -> list[MeanInterval]:
    """Return the mean of the units of each treatment in standard order, with its BCa interval (Efron 1987).

    No interval with fewer than 3 units or where all are the same. seed: not negative.
    """
    found = []
    for cell in cells(units, factors):
        low, high = None, None
        if len(cell.y) >= _FEWEST_BCA and cell.squares > 0:
            low, high = limits(cell.y, confidence, np.random.default_rng((seed, *cell.codes)))
        at = settings(factors, cell.codes)
        found.append(MeanInterval(settings=at, units=len(cell.y), mean=cell.mean, low=low, high=high))
    return found


def limits(y: Array, confidence: float, rng: np.random.Generator) -> tuple[float, float]:
    """Return the BCa limits of the mean of y, shape (n,), n >= 2."""
    if len(y) >= LARGE:
        found = t_limits(y[None, :], confidence)
    else:
        away = y - y.mean()
        rows = max(1, _CHUNK // len(y))
        means = [
            away[rng.integers(len(y), size=(min(rows, REPLICATES - done), len(y)))].mean(axis=1)
            for done in range(0, REPLICATES, rows)
        ]
        found = accelerated(y[None, :], np.concatenate(means)[None, :], confidence)
    return float(found[0][0]), float(found[1][0])


class Power(msgspec.Struct, frozen=True):
    """Of one factor. df: of its error, None: there is none. chances: of each size asked for, in the same order."""

    factor: str
    stratum: Error
    df: float | None
    chances: tuple[float, ...]
    lenth: bool = False
    """By Lenth's pseudo standard error, with about the power of its degrees of freedom."""


def power(
    units: pd.DataFrame, factors: Sequence[Factor], order: int, block: Block | None, sizes: Sequence[float], *,
    quantiles: int, alpha: float = 0.05,
) -> list[Power]:  # fmt: skip
    """Return the chance that a change is claimed, for each factor in the linear model.

    units: as for `layers`, of the whole design. sizes: of changes, in standard deviations of executions, or of means of
    builds or sessions where those are the error. quantiles: how many of p50, p90 and p99 will have their values.
    """
    design = lay_out(units, factors)
    model = coded(design.codes, design.sizes, order)
    lie = layers(units, factors, block)
    # of balanced designs any values tell the degrees of freedom, of others those of builds that differ like executions
    rng = np.random.default_rng(1)
    y = rng.normal(size=len(units)) + sum(rng.normal(size=own.count)[own.of] for own in lie.errors.values())
    found = stratified(y, design, model, factors, lie)
    # contrasts that Lenth's method would judge; 0: there are replicates, or other factors
    alone = saturated(design.codes, design.sizes) if design.counts.max() == 1 else None
    contrasts = 0 if alone is None else alone.matrix.shape[1] - 1
    contrasts = contrasts if contrasts >= FEWEST_CONTRASTS else 0
    terms = [len(t.factors) for t in model.terms[1:]]
    mains = sum(size == 1 for size in terms)
    more = len(terms) - mains
    spreads = sum(f.varies == "execution" and len(f.settings) == 2 for f in factors)
    level = alpha / (
        mains * (1 + quantiles * QUANTILE)
        + more * (INTERACTION_OF_MEAN + quantiles * INTERACTION_OF_QUANTILE)
        + spreads * QUANTILE
    )
    result = []
    for number, term in enumerate(model.terms[1:], 1):
        if len(term.factors) > 1:
            continue
        own = [a for a in addends(design, model) if a.number == number]
        test = found.tests[number - 1]
        name = design.names[term.factors[0]]
        if contrasts / 3 > (test.error_df if test else 0.0):
            chances = tuple(_chance(size * len(units) ** 0.5 / 2, contrasts / 3, level) for size in sizes)
            result.append(Power(name, found.of[number - 1], contrasts / 3, chances, lenth=True))
            continue
        if test is None or not own:
            result.append(Power(name, found.of[number - 1], None, tuple(0.0 for _ in sizes)))
            continue
        weights = 2 * own[0].weights if len(own) == 1 else own[-1].weights - own[0].weights
        # covariance of the coefficients for draws of variance 1: of executions, or of means of builds or sessions
        stratum = found.of[number - 1]
        drawn = lie.errors.get(stratum) if stratum in ("build", "session") else None
        each = np.ones(len(design.place)) if drawn is None else 1 / drawn.sizes[drawn.of]
        covariance = np.linalg.inv(model.matrix.T @ (model.matrix * design.totals(each)[:, None]))
        error = float(weights @ covariance @ weights) ** 0.5
        chances = tuple(_chance(size / error, test.error_df, level) for size in sizes)
        result.append(Power(name, found.of[number - 1], test.error_df, chances))
    return result


def _chance(shift: float, df: float, level: float) -> float:
    limit = float(stdtrit(df, 1 - level / 2))
    # far beyond both ends the distribution is 0 to a float, which the function does not say
    below, beyond = (np.nan_to_num(nctdtr(df, shift, end)) for end in (limit, -limit))
    return float(1 - below + beyond)
