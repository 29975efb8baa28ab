"""tachometer: samples by turns until the interval of the difference holds no horizon."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scipy import stats

from benchmarks.trial.comparisons import Comparison, Process, mean
from benchmarks.trial.rules.rule import SIZE, Call, Judge, Rule, Sized, Source, build_seconds

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


def _value(process: Process) -> float:
    return process.passes[1]


def _judged(horizon: float) -> Judge:
    return lambda comparison, seconds: _judge(comparison, seconds, horizon)


def _judge(comparison: Comparison, seconds: float | None, horizon: float) -> Call:
    building = build_seconds(comparison)
    pairs = list(zip(comparison.base.starts, comparison.head.starts, strict=True))
    base, head = ([_value(pair[k]) for pair in pairs] for k in (0, 1))
    # the processes that go on for others are no part of its plan
    each = mean(sorted(one.seconds + other.seconds for one, other in pairs)[: len(pairs) * 9 // 10])
    if seconds is not None:
        most = max(2, min(len(pairs), int((seconds - building) / each)))
        base, head = base[:most], head[:most]
    count = sampled(base, head, horizon=horizon)
    return Call(interval(base[:count], head[:count]).low > horizon, building + count * each)


RULES = (
    Rule(
        "tachometer",
        "The 95% interval of the relative difference lies above 0.",
        "50 samples a side by turns, a process each, then ten more at a time until the interval excludes 0; here up to "
        "100, as three minutes hold of pages that take a second",
        "as many samples as fit",
        (
            Source("the interval", f"{_AT}src/stats.ts#L164-L182"),
            Source("until it is resolved", f"{_AT}src/runner.ts#L208-L250"),
            Source("defaults", f"{_AT}src/defaults.ts#L16-L18"),
        ),
        0.0,
        "Made for pages in browsers, to be read by people; it fails no job.",
        _judged(HORIZON),
        Sized("tachometer", f"`--auto-sample-conditions=+{SIZE:.0%}`", _judged(SIZE)),
    ),
)
