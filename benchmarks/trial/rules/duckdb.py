"""DuckDB's regression runner: the median of the ratios of paired runs, and an order-statistic interval of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from scipy import stats

from benchmarks.trial.comparisons import Comparison
from benchmarks.trial.rules.rule import Call, Judge, Rule, Source, pairs, spent, times

LIMIT, NOISE = 0.10, 0.02
LEAST, MOST, BATCH = 20, 100, 5
_AT = "https://github.com/duckdb/duckdb/blob/01339a0aafd1adce6e2193e796cad2101e246bd3/scripts/regression/"
_NOW = "https://github.com/duckdb/duckdb/blob/044a04a7cd39e6e8235f756597ae42dde084e5e5/scripts/regression/"


@dataclass(frozen=True)
class Paired:
    """The median ratio of pairs, and the interval of that of all pairs."""

    ratio: float
    low: float
    high: float


def paired(base: Sequence[float], head: Sequence[float]) -> Paired:
    """Return the median of head/base, and the narrowest pair of order statistics that covers it in 95%.

    With fewer than six pairs there is none, and the interval is the whole line.
    """
    ratios = sorted(other / one for one, other in zip(base, head, strict=True))
    count = len(ratios)
    # of the limit, from its end: the chance that the median of all lies beyond it is below 2.5%
    place = int(stats.binom.ppf(0.025, count, 0.5))
    if not place:
        return Paired(median(ratios), -math.inf, math.inf)
    return Paired(median(ratios), ratios[place - 1], ratios[count - place])


def goes_on(found: Paired, limit: float) -> bool:
    """Return whether more pairs are taken: the median is beyond the noise, and the interval does not say what it is."""
    change = found.ratio - 1
    if abs(change) <= NOISE:
        return False
    if change < 0:
        return found.high >= 1 - NOISE
    return found.low <= 1 + (limit if change > limit else NOISE)


def _sampled(comparison: Comparison, seconds: float | None, limit: float) -> tuple[Paired, int]:
    most = len(pairs(comparison, seconds, MOST)[0])
    count = min(LEAST, most)
    while True:
        found = paired(*(times(side[:count]) for side in comparison.turns))
        if count >= most or not goes_on(found, limit):
            return found, count
        count = min(count + BATCH, most)


def _judged(*, by_interval: bool) -> Judge:
    def judge(comparison: Comparison, seconds: float | None, limit: float) -> Call:
        found, count = _sampled(comparison, seconds, limit)
        slower = (found.low if by_interval else found.ratio) > 1 + limit
        return Call(slower, comparison.building + spent(*(side[:count] for side in comparison.turns)))

    return judge


_PLAN = f"{LEAST} to {MOST} pairs, until the interval says on which side it is"
_SOURCES = (
    Source("interval", f"{_AT}comparison.py#L23-L91"),
    Source("limit", f"{_AT}test_runner.py"),
    Source("now", f"{_NOW}test_runner.py"),
)
_SET = "limit"
RULES = (
    Rule(
        "DuckDB", "The median ratio of paired runs is above 1.1.", _SET, LIMIT, _PLAN,
        "As of 4 August 2026; now the ratio of medians decides. Left out: its floor of 50 ms, which passes all here.",
        _SOURCES, _judged(by_interval=False), percent=False,
    ),
    Rule(
        "DuckDB, by its interval", "The 95% interval of that median lies above 1.1.", _SET, LIMIT,
        "the same", "Ours: DuckDB only stops by it.", (),
        _judged(by_interval=True), percent=False,
    ),
)  # fmt: skip
