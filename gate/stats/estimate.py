"""One case: both sides summarized, and whether their ratio can be estimated at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gate.model import Sample
from gate.stats.levels import Summary, summarize
from gate.stats.ratio import MeanPair, Method, mean_pair

Trouble = Literal["", "negative", "one-unit", "no-spread", "zero-base", "overflow", "apart"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is known of a case.

    exact: compared as numbers, without variance. trouble: why there is no ratio with an interval, "" when there is.
    """

    base: Summary
    head: Summary
    pair: MeanPair
    exact: bool
    trouble: Trouble
    warnings: list[str]


def estimate(base: Sample, head: Sample, method: Method, *, exact: bool) -> Estimate:
    """Estimate both means and say what stands in the way of a ratio (docs/method.md, degenerate data).

    exact: the metric is declared exact; one that shows spread is treated as measured, with a warning.
    """
    sessions = max(len(base.counts[2]), len(head.counts[2])) > 1
    x, y = summarize(base, sessions=sessions), summarize(head, sessions=sessions)
    pair = mean_pair(x, y, method)
    spread = x.gap > 0 or y.gap > 0
    warnings = ["declared exact, but it shows spread: treated as measured"] if exact and spread else []
    is_exact = exact and not spread
    return Estimate(x, y, pair, is_exact, _trouble(base, head, pair, x, y, is_exact), warnings)


def _trouble(base: Sample, head: Sample, pair: MeanPair, x: Summary, y: Summary, exact: bool) -> Trouble:
    if base.values.min() < 0 or head.values.min() < 0:
        return "negative"
    if not (_squares(pair.x) and _squares(pair.y)):
        return "overflow"
    if pair.x == 0:
        return "zero-base"
    if exact:
        return ""
    if not {session for session, _ in base.builds} & {session for session, _ in head.builds}:
        return "apart"
    if x.n < 2 or y.n < 2:
        return "one-unit"
    return "no-spread" if pair.df is None else ""


def _squares(value: float) -> bool:
    # Fieller's quadratic squares the means twice: beyond this range it would be inf or 0
    return value == 0 or 1e-70 < abs(value) < 1e70
