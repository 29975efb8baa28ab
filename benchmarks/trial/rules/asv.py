"""asv continuous: medians apart by a factor, and a Mann-Whitney test at 0.2%."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from statistics import median

from benchmarks.trial import plan
from benchmarks.trial.comparisons import Comparison, Process, mean
from benchmarks.trial.rules.rule import SIZE, Call, Judge, Rule, Sized, Source, build_seconds

FACTOR, ALPHA = 1.1, 0.002
ROUNDS, REPEAT, SAMPLE_SECONDS, WARM_UP = 2, 5, 0.01, 0.1
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


def samples(process: Process) -> list[float]:
    """Take the samples of one round from the passes of a process, as asv_runner times a benchmark.

    Warm-up lasts 0.1 s and finds how many passes take 10 ms; then come up to five samples of so many passes.
    """
    passes, at, number, begun = process.passes, 0, 1, 0.0
    while at + number <= len(passes):
        taken = sum(passes[at : at + number])
        at, begun = at + number, begun + taken
        if taken < SAMPLE_SECONDS:
            number = max(number + 1, int(min(10.0, max(1.1, SAMPLE_SECONDS / taken)) * number))
        elif begun > WARM_UP:
            break
    rest = [passes[k : k + number] for k in range(at, len(passes) - number + 1, number)]
    return [mean(each) for each in rest[:REPEAT]]


def _judged(factor: float) -> Judge:
    return lambda comparison, seconds: _judge(comparison, seconds, factor)


def _judge(comparison: Comparison, seconds: float | None, factor: float) -> Call:
    building = build_seconds(comparison)
    sides = (comparison.base, comparison.head)
    longer = [side.starts[:: plan.LONG_START_EVERY] for side in sides]
    each = mean([base.seconds + head.seconds for base, head in zip(*longer, strict=True)])
    rounds = ROUNDS if seconds is None else max(ROUNDS, min(len(longer[0]), int((seconds - building) / each)))
    base, head = ([value for process in side[:rounds] for value in samples(process)] for side in longer)
    return Call(slower(base, head, factor), building + rounds * each)


RULES = (
    Rule(
        "asv",
        "Head's median is more than 10% above that of base, and a Mann-Whitney test has p < 0.002.",
        "`asv continuous`: 2 processes a side by turns, 5 samples of at least 10 ms in each",
        "more rounds (`-a rounds=N`), at least two",
        (
            Source("factor and test", f"{_AT}asv/commands/compare.py#L77-L103"),
            Source("the test", f"{_AT}asv/_stats.py#L30-L70"),
            Source("samples", f"{_RUNNER}asv_runner/benchmarks/time.py#L137-L151"),
        ),
        FACTOR - 1,
        "Made to gate: it ends with 1 if a benchmark is slower. Besides perfgate the only rule with a size, a test and "
        "several processes.",
        _judged(FACTOR),
        Sized("asv", f"`--factor {1 + SIZE:g}`", _judged(1 + SIZE)),
    ),
)
