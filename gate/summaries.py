"""Samples and estimates -> the parts of a finding that only describe: sides, intervals, variance by level."""

from __future__ import annotations

import math

from gate.config.types import Gate
from gate.model import Counts, RatioInterval, Sample, SideSummary, Variance, Variances
from gate.stats.estimate import Estimate
from gate.stats.levels import Summary
from gate.stats.ratio import Limits, Method, mean_limits, ratio_limits


def method_of(gate: Gate) -> Method:
    """Return the interval that a gate uses; "auto" is fieller in this version."""
    return "fieller" if gate.interval == "auto" else gate.interval


def limits_of(found: Estimate, alpha: float) -> Limits:
    """Return the limits of the ratio at confidence 1 - alpha: withheld in trouble, a point for exact metrics."""
    if found.trouble:
        return Limits("withheld", None, None)
    if found.exact:
        ratio = found.pair.y / found.pair.x
        return Limits("bounded", ratio, ratio)
    return ratio_limits(found.pair, alpha)


def ratio_interval(found: Estimate, alpha: float, method: Method) -> RatioInterval:
    """Describe the interval of the ratio at confidence 1 - alpha."""
    limits = limits_of(found, alpha)
    has_ratio = found.trouble in ("", "one-unit", "no-spread", "apart")
    return RatioInterval(
        estimate=found.pair.y / found.pair.x if has_ratio else None,
        low=limits.low,
        high=limits.high,
        confidence=1 - alpha,
        method="exact" if found.exact else method,
        df=found.pair.df if not found.exact else None,
        kind=limits.kind,
    )


def side_summary(sample: Sample, summary: Summary, alpha: float) -> SideSummary:
    """Describe one side: its mean, its own interval at confidence 1 - alpha, and its counts."""
    limits = mean_limits(summary, alpha)
    return SideSummary(
        value=summary.mean,
        low=limits.low,
        high=limits.high,
        counts=Counts(
            session=len(sample.counts[2]),
            build=len(sample.builds),
            execution=len(sample.counts[0]),
            iteration=len(sample.values),
        ),
    )


def variances(found: Estimate) -> Variances:
    """Describe the variance by level of both sides."""
    return Variances(base=_variance(found.base), head=_variance(found.head))


def _variance(summary: Summary) -> list[Variance]:
    return [
        Variance(
            level=item.level,
            s2=item.s2,
            t2=item.t2,
            relative=math.sqrt(item.s2) / abs(summary.mean) if summary.mean else None,
        )
        for item in summary.variances
    ]
