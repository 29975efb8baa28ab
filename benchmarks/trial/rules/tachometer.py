"""tachometer: samples by turns until the interval of the difference holds no horizon."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scipy import stats

from benchmarks.trial.comparisons import Comparison, mean
from benchmarks.trial.rules.rule import Call, Rule, Source, pairs, spent, times

SAMPLES, MORE = 50, 10
HORIZON = 0.0
_AT = "https://github.com/google/tachometer/blob/705d64846f8ffc67981eab9fb240cf2cb222d6db/"


@dataclass(frozen=True)
class Interval:
    """The 95% interval of the relative difference of means."""

    low: float
    high: float


def interval(base: Sequence[float], head: Sequence[float]) -> Interval:
    """Return the 95% interval of (head - base) / base: Student's t with one less degree than the smaller sample."""
    a, b = mean(base), mean(head)
    # the delta method
    spread = (_variance(base, a) / len(base) * b**2 + _variance(head, b) / len(head) * a**2) / a**4
    margin = float(stats.t.ppf(0.975, min(len(base), len(head)) - 1)) * math.sqrt(spread)
    return Interval((b - a) / a - margin, (b - a) / a + margin)


def _variance(values: Sequence[float], of: float) -> float:
    return sum((value - of) ** 2 for value in values) / (len(values) - 1)


def resolved(found: Interval, horizon: float = HORIZON) -> bool:
    """Return whether an interval, and that of the opposite comparison, lies on one side of a horizon."""
    return not found.low <= horizon <= found.high


def sampled(base: Sequence[float], head: Sequence[float], least: int = SAMPLES, horizon: float = HORIZON) -> int:
    """Return how many samples a side are taken: at least so many, then ten more until it is resolved or all are."""
    count = min(least, len(base))
    while count < len(base) and not _both_resolved(base[:count], head[:count], horizon):
        count = min(count + MORE, len(base))
    return count


def _both_resolved(base: Sequence[float], head: Sequence[float], horizon: float) -> bool:
    return resolved(interval(base, head), horizon) and resolved(interval(head, base), horizon)


def _judge(comparison: Comparison, seconds: float | None, horizon: float) -> Call:
    sides = pairs(comparison, seconds, len(comparison.turns[0]))
    base, head = map(times, sides)
    count = sampled(base, head, horizon=horizon)
    slower = interval(base[:count], head[:count]).low > horizon
    return Call(slower, comparison.building + spent(*(side[:count] for side in sides)))


RULES = (
    Rule(
        "tachometer",
        "The 95% interval of the difference lies above 0.",
        "horizon",
        HORIZON,
        "50 samples a side by turns, then ten more until the interval excludes 0",
        "Made for pages in browsers.",
        (
            Source("interval", f"{_AT}src/stats.ts#L164-L182"),
            Source("stopping", f"{_AT}src/runner.ts#L208-L250"),
            Source("defaults", f"{_AT}src/defaults.ts#L16-L18"),
        ),
        _judge,
    ),
)
