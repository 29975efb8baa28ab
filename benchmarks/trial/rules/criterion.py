"""criterion.rs: a bootstrapped t-test, and a bootstrapped interval of the ratio beyond a noise threshold."""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from benchmarks.trial.comparisons import Comparison, mean
from benchmarks.trial.rules.rule import Call, Rule, Source, blocks, spent, times

RESAMPLES, SAMPLES = 100_000, 100
FEWER = 10_000
"""Resamples in the trial, which asks so often: the ends of an interval differ by a few hundredths of its width."""
WARM_UP, MEASURING = 3.0, 5.0
SIGNIFICANCE, CONFIDENCE, NOISE = 0.05, 0.95, 0.01
_AT = "https://github.com/bheisler/criterion.rs/blob/567405d25363804dd1e6d440a0c9d6612c4cecd8/"
_BATCH = 4000
Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """The interval of the relative change of means."""

    low: float
    high: float


def regressed(base: Sequence[float], head: Sequence[float], resamples: int = RESAMPLES, noise: float = NOISE) -> bool:
    """Return whether criterion prints "Performance has regressed."."""
    # of both conditions the cheaper one first
    return interval(base, head, resamples).low > noise and p_value(base, head, resamples) < SIGNIFICANCE


def interval(base: Sequence[float], head: Sequence[float], resamples: int = RESAMPLES) -> Interval:
    """Return percentiles of the relative change of means.

    Each of about sqrt(resamples) resamples of head meets as many of base.
    """
    one, other, draw = _taken(base, head)
    chunks = math.ceil(math.sqrt(resamples))
    heads = np.repeat(one[draw.integers(len(one), size=(chunks, len(one)))].mean(axis=1), math.ceil(resamples / chunks))
    bases = [other[draw.integers(len(other), size=(size, len(other)))].mean(axis=1) for size in _batches(resamples)]
    tail = 50 * (1 - CONFIDENCE)
    low, high = np.percentile(heads[:resamples] / np.concatenate(bases) - 1, [tail, 100 - tail])
    return Interval(float(low), float(high))


def p_value(base: Sequence[float], head: Sequence[float], resamples: int = RESAMPLES) -> float:
    """Return the two-sided p of head's t over base among those of pooled resamples: a mixed bootstrap."""
    one, other, draw = _taken(base, head)
    found = _t(one[None], other[None])[0]
    pooled = np.concatenate([one, other])
    spread = np.concatenate([_mixed(pooled, len(one), size, draw) for size in _batches(resamples)])
    spread = spread[np.isfinite(spread)]
    below = int((spread < found).sum())
    return 2 * min(below, len(spread) - below) / len(spread)


def _taken(base: Sequence[float], head: Sequence[float]) -> tuple[Array, Array, np.random.Generator]:
    one, other = np.asarray(head, dtype=float), np.asarray(base, dtype=float)
    # the same draws for the same values, whatever ran before
    return one, other, np.random.default_rng(zlib.crc32(one.tobytes() + other.tobytes()))


def _batches(resamples: int) -> list[int]:
    return [min(_BATCH, resamples - done) for done in range(0, resamples, _BATCH)]


def _mixed(pooled: Array, size: int, count: int, draw: np.random.Generator) -> Array:
    drawn = pooled[draw.integers(len(pooled), size=(count, len(pooled)))]
    with np.errstate(divide="ignore", invalid="ignore"):
        return _t(drawn[:, :size], drawn[:, size:])


def _t(a: Array, b: Array) -> Array:
    means = a.mean(axis=1) - b.mean(axis=1)
    found: Array = means / np.sqrt(a.var(axis=1, ddof=1) / a.shape[1] + b.var(axis=1, ddof=1) / b.shape[1])
    return found


def samples(passes: Sequence[float], warm_up: float = WARM_UP, measuring: float = MEASURING) -> list[float]:
    """Cut passes into a sample of mean times, as criterion counts its iterations.

    After the warm-up sample k of 100 has k x d iterations (linear), or all have as many (flat, where linear ones would
    take more than twice the time).
    """
    first = sum(total < warm_up for total in accumulate(passes)) + 1
    rest = passes[first:]
    each = mean(passes[:first])
    total = SAMPLES * (SAMPLES + 1) // 2
    d = max(1, math.ceil(measuring / each / total))
    if total * d * each > 2 * measuring:
        counts = [max(1, math.ceil(measuring / SAMPLES / each))] * SAMPLES
    else:
        counts = [d * k for k in range(1, SAMPLES + 1)]
    found: list[float] = []
    at = 0
    for count in counts:
        if at + count > len(rest):
            break
        found.append(mean(rest[at : at + count]))
        at += count
    return found


@cache
def _beyond(base: tuple[float, ...], head: tuple[float, ...]) -> float:
    """Return the noise threshold up to which it has regressed; below 0: it has not, by the t-test."""
    low = interval(base, head, FEWER).low
    return low if low > 0 and p_value(base, head, FEWER) < SIGNIFICANCE else -1.0


def _judge(comparison: Comparison, seconds: float | None, noise: float) -> Call:
    base, head = blocks(comparison, seconds, WARM_UP + MEASURING)
    took = comparison.building + spent(base, head)
    found = []
    for side in (base, head):
        # of shorter times warm-up and measuring keep their shares
        share = min(1.0, spent(side) / (WARM_UP + MEASURING))
        found.append(tuple(samples(times(side), share * WARM_UP, share * MEASURING)))
    if min(map(len, found)) < 2:
        return Call(False, took, inconclusive=True)
    return Call(_beyond(found[0], found[1]) > noise, took)


RULES = (
    Rule(
        "criterion.rs",
        "A bootstrapped t-test has p < 0.05, and the interval of the change lies above 1%.",
        "`noise_threshold`",
        NOISE,
        "3 s of warm-up, 5 s for 100 samples",
        "Here 10,000 instead of 100,000 resamples. Its FAQ advises against it on CI.",
        (
            Source("test", f"{_AT}src/analysis/compare.rs#L71-L144"),
            Source("defaults", f"{_AT}src/lib.rs#L384-L413"),
            Source("FAQ", f"{_AT}book/src/faq.md"),
        ),
        _judge,
        percent=False,
    ),
)
