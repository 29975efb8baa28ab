"""Bencher: head's number against those of earlier runs of the base branch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import stdev

from scipy import stats

from benchmarks.trial.comparisons import Comparison, mean
from benchmarks.trial.rules.rule import SIZE, Call, Judge, Rule, Sized, Source, build_seconds, enough, warm

RUN = 1.0
"""Seconds of a run: what most harnesses that it reads take by default."""
SAMPLE, BOUNDARY, PERCENTAGE = 64, 0.99, 0.25
_AT = "https://github.com/bencherdev/bencher/blob/8d75325c3bc59403a2186a056b472c4f49d42838/"
_DOCS = f"{_AT}services/console/src/chunks/docs-how-to/"


def t_limit(history: Sequence[float], boundary: float = BOUNDARY) -> float | None:
    """Return the upper limit of the t-test threshold: the end of a one-sided prediction interval.

    None: fewer than two earlier values, or all the same, for which it takes no limit.
    """
    n = len(history)
    deviation = stdev(history) if n > 1 else 0.0
    if not deviation:
        return None
    return mean(history) + float(stats.t.ppf(boundary, n - 1)) * deviation * math.sqrt(1 + 1 / n)


def percentage_limit(history: Sequence[float], percentage: float = PERCENTAGE) -> float:
    """Return the upper limit of the percentage threshold: so much above the mean of earlier values."""
    return mean(history) * (1 + percentage)


def _statistical(comparison: Comparison, seconds: float | None) -> Call:
    # base was measured when it was merged: only head is built and run
    building = build_seconds(comparison) / 2
    passes = enough(warm(comparison.head.long), RUN if seconds is None else seconds - building)
    limit = t_limit(comparison.history[-SAMPLE:])
    return Call(limit is not None and mean(passes) > limit, building + sum(passes), inconclusive=limit is None)


def _relative(percentage: float) -> Judge:
    return lambda comparison, seconds: _beside(comparison, seconds, percentage)


def _beside(comparison: Comparison, seconds: float | None, percentage: float) -> Call:
    building = build_seconds(comparison)
    each = RUN if seconds is None else (seconds - building) / 2
    base, head = (enough(warm(side.long), each) for side in (comparison.base, comparison.head))
    return Call(mean(head) > percentage_limit([mean(base)], percentage), building + sum(base) + sum(head))


RULES = (
    Rule(
        "Bencher t-test",
        "Head's number is above the 99% prediction limit of up to 64 earlier numbers of base.",
        "one run of head of a second, against the history of base",
        "a longer run of head",
        (
            Source("the limit", f"{_AT}lib/bencher_boundary/src/limits/mod.rs#L91-L123"),
            Source("its documented settings", f"{_DOCS}github-actions/base-branch-code.mdx"),
        ),
        0.0,
        "Takes the noise from days of history; the history here is of minutes on one machine, which favours it.",
        _statistical,
    ),
    Rule(
        "Bencher relative",
        "Head's number is more than 25% above that of base, both run in one job.",
        "one run of a second a side",
        "longer runs",
        (
            Source("the limit", f"{_AT}lib/bencher_boundary/src/limits/limit.rs"),
            Source("its documented settings", f"{_DOCS}track-benchmarks/run-feature-relative.mdx"),
        ),
        PERCENTAGE,
        "Its documented setting for noisy CI runners.",
        _relative(PERCENTAGE),
        Sized("Bencher relative", f"`--threshold-upper-boundary {SIZE:g}`", _relative(SIZE)),
    ),
)
