"""asv continuous: medians apart by a factor, and a Mann-Whitney test at 0.2%."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from statistics import median

from benchmarks.trial.comparisons import Comparison, mean
from benchmarks.trial.rules.rule import Call, Rule, Source, pairs, spent, times

FACTOR, ALPHA = 1.1, 0.002
ROUNDS, REPEAT, SAMPLE_SECONDS = 2, 5, 0.01
_EXACT = 20
_AT = "https://github.com/airspeed-velocity/asv/blob/7032df701a969fa61f4c819ce9f71fb2e66f5a62/"
_RUNNER = "https://github.com/airspeed-velocity/asv_runner/blob/01d4a2556932ca63e8d7df6536551c6107397e66/"


def p_value(base: Sequence[float], head: Sequence[float]) -> float:
    """Return the two-sided p of asv's Mann-Whitney test: exact up to 20 values a side, ties taken conservatively."""
    m, n = len(base), len(head)
    u = sum(one > other for one in base for other in head)
    ties = sum(one == other for one in base for other in head)
    middle = m * n // 2
    if u <= middle <= u + ties:
        ties = middle - u
    smaller = max(min(u, m * n - u), min(u + ties, m * n - u - ties))
    if max(m, n) > _EXACT:
        z = (smaller - m * n / 2) / math.sqrt(m * n * (m + n + 1) / 12)
        return math.erfc(-z / math.sqrt(2))
    upper = 1 - sum(_orders(m, n, k) for k in range(max(middle, m * n - smaller - 1) + 1)) / math.comb(m + n, m)
    return sum(_orders(m, n, k) for k in range(smaller + 1)) / math.comb(m + n, m) + upper


@cache
def _orders(m: int, n: int, u: int) -> int:
    """Count the orders of m and n values in which u pairs are turned around."""
    if u < 0:
        return 0
    if m == 0 or n == 0:
        return int(u == 0)
    return _orders(m, n - 1, u) + _orders(m - 1, n, u - n)


def slower(base: Sequence[float], head: Sequence[float], factor: float = FACTOR) -> bool:
    """Call head worse if its median is more than 10% (factor) above that of base, and the samples differ at p < 0.002.

    The test needs enough samples to be able to say so (asv: 1 / C(m + n, m) < 0.002, from 6 a side); with fewer asv
    compares intervals, and this says no.
    """
    m, n = len(base), len(head)
    if 1 / math.comb(m + n, min(m, n)) >= ALPHA or p_value(base, head) >= ALPHA:
        return False
    return median(base) < median(head) / factor


def _judge(comparison: Comparison, seconds: float | None, size: float) -> Call:
    # as many starts a sample as take 10 ms, five samples a round
    each = math.ceil(SAMPLE_SECONDS / median(times(comparison.turns[0])))
    base, head = pairs(comparison, seconds, ROUNDS * REPEAT * each)
    count = max(each, len(base) // each * each)
    values = [[mean(times(side[k : k + each])) for k in range(0, count, each)] for side in (base, head)]
    called = slower(values[0], values[1], 1 + size)
    return Call(called, comparison.building + spent(base[:count], head[:count]))


RULES = (
    Rule(
        "asv",
        "Head's median is more than 10% above base's, and a rank test has p < 0.002.",
        "`--factor`",
        FACTOR - 1,
        "2 rounds by turns, 5 samples of 10 ms in each",
        "Left out: its warm-up of 0.1 s.",
        (
            Source("factor", f"{_AT}asv/commands/compare.py#L77-L103"),
            Source("test", f"{_AT}asv/_stats.py#L30-L70"),
            Source("samples", f"{_RUNNER}asv_runner/benchmarks/time.py#L137-L151"),
        ),
        _judge,
        percent=False,
        added=1.0,
    ),
)
