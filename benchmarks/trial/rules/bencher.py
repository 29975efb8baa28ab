"""Bencher: head's number against those of earlier runs of the base branch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import stdev

from scipy import stats

from benchmarks.trial.comparisons import Comparison, mean
from benchmarks.trial.rules.rule import Call, Rule, Source, blocks, enough, spent, times

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


def _statistical(comparison: Comparison, seconds: float | None, boundary: float) -> Call:
    # base was measured when it was merged: only head is built and run
    building = comparison.building / 2
    head = enough(comparison.blocks[1], RUN if seconds is None else seconds - building)
    limit = t_limit(comparison.history[-SAMPLE:], boundary)
    slower = limit is not None and mean(times(head)) > limit
    return Call(slower, building + spent(head), inconclusive=limit is None)


def _relative(comparison: Comparison, seconds: float | None, percentage: float) -> Call:
    base, head = blocks(comparison, seconds, RUN)
    slower = mean(times(head)) > percentage_limit([mean(times(base))], percentage)
    return Call(slower, comparison.building + spent(base, head))


RULES = (
    Rule(
        "Bencher t-test",
        "Head's number exceeds the 99% prediction limit of base's last 64.",
        "`upper-boundary`",
        BOUNDARY,
        "a second of head",
        "The history is of the bundles before.",
        (
            Source("limit", f"{_AT}lib/bencher_boundary/src/limits/mod.rs#L91-L123"),
            Source("settings", f"{_DOCS}github-actions/base-branch-code.mdx"),
        ),
        _statistical,
        levels=(0.8, 0.9, 0.95, 0.98, 0.99, *(1 - 10 ** -(k / 2) for k in range(5, 21))),
        percent=False,
    ),
    Rule(
        "Bencher relative",
        "Head's number is more than 25% above base's.",
        "`upper-boundary`",
        PERCENTAGE,
        "a second a side",
        "Documented for noisy runners.",
        (
            Source("limit", f"{_AT}lib/bencher_boundary/src/limits/limit.rs"),
            Source("settings", f"{_DOCS}track-benchmarks/run-feature-relative.mdx"),
        ),
        _relative,
        percent=False,
    ),
)
