"""benchstat of golang.org/x/perf: medians, and an exact Mann-Whitney test."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import numpy as np
from scipy import stats

from benchmarks.trial.comparisons import Comparison, Start, mean
from benchmarks.trial.rules.rule import Call, Rule, Source, blocks, pairs, spent, times

ALPHA = 0.05
RUNS = 10
BENCHTIME = 1.0
_AT = "https://github.com/golang/perf/blob/712aea8b47053b2e77c04820a5032254b347cf96/"
_EXACT, _EXACT_WITH_TIES = 50, 25


def p_value(base: Sequence[float], head: Sequence[float]) -> float:
    """Return the two-sided p of the Mann-Whitney test as go-moremath takes it.

    Exact up to 50 values a side, 25 where values are tied; otherwise normal, with corrections for ties and continuity.
    All values equal: 1, since benchstat reports the error as no difference.
    """
    both = np.concatenate([base, head])
    ranks = stats.rankdata(both)
    counts = np.unique(both, return_counts=True)[1]
    n, m = len(base), len(head)
    u = float(ranks[:n].sum()) - n * (n + 1) / 2
    if len(counts) == 1:
        return 1.0
    if max(n, m) <= (_EXACT_WITH_TIES if counts.max() > 1 else _EXACT):
        return _exact(ranks, n, u)
    total = n + m
    ties = float((counts**3 - counts).sum())
    deviation = float(np.sqrt(n * m * (total + 1 - ties / (total * (total - 1))) / 12))
    above = u - n * m / 2
    z = (above - 0.5 * float(np.sign(above))) / deviation
    return 2 * float(min(stats.norm.cdf(z), stats.norm.sf(z)))


def _exact(ranks: np.ndarray[tuple[int], np.dtype[np.float64]], n: int, u: float) -> float:
    """Count the ways to draw n of the ranks whose sum is as small as the smaller of both U."""
    m = len(ranks) - n
    if u == n * m - u:
        return 1.0
    # twice the ranks are whole numbers, ties or none
    whole = np.rint(2 * ranks).astype(int)
    ways = np.zeros((n + 1, int(whole.sum()) + 1))
    ways[0, 0] = 1
    for rank in whole:
        ways[1:, rank:] += ways[:-1, : ways.shape[1] - rank].copy()
    limit = round(2 * (min(u, n * m - u) + n * (n + 1) / 2))
    return 2 * float(ways[n, : limit + 1].sum() / ways[n].sum())


def slower(base: Sequence[float], head: Sequence[float], size: float = 0.0) -> bool:
    """Call head slower unless benchstat would print ~ (p > 0.05), if its median is larger by more than a size."""
    return p_value(base, head) <= ALPHA and median(head) > (1 + size) * median(base)


def in_runs(starts: Sequence[Start], runs: int) -> list[float]:
    """Cut starts into runs of as many each, as far as they go: the mean of each, as ns/op is one."""
    each = len(starts) // runs
    if not each:
        return times(starts)
    return [mean(times(starts[k * each : (k + 1) * each])) for k in range(runs)]


def _judge(comparison: Comparison, base: Sequence[Start], head: Sequence[Start], size: float) -> Call:
    called = slower(in_runs(base, RUNS), in_runs(head, RUNS), size)
    return Call(called, comparison.building + spent(base, head))


def _in_a_row(comparison: Comparison, seconds: float | None, size: float) -> Call:
    return _judge(comparison, *blocks(comparison, seconds, RUNS * BENCHTIME), size)


def _by_turns(comparison: Comparison, seconds: float | None, size: float) -> Call:
    return _judge(comparison, *pairs(comparison, seconds, len(comparison.turns[0])), size)


_SAYS = "An exact rank test over ten runs has p <= 0.05."
_SOURCES = (
    Source("test", f"{_AT}benchmath/anone.go#L111-L134"),
    Source("level", f"{_AT}benchmath/sample.go#L59-L61"),
    Source("plan", f"{_AT}cmd/benchstat/main.go#L363-L399"),
)
RULES = (
    Rule(
        "benchstat", _SAYS, "", 0.0,
        "`-count=10`, a second each",
        "Scripts compare what it prints.",
        _SOURCES, _in_a_row,
    ),
    Rule(
        "benchstat by turns", _SAYS, "", 0.0,
        "by turns, as its tips advise", "", _SOURCES[2:], _by_turns,
    ),
)  # fmt: skip
