"""Estimates -> the parts of a finding that only describe: sides, intervals, variance by level, what memory did."""

from __future__ import annotations

import math

from gate.decide.design import Design
from gate.decide.estimates import Estimated, Moderation
from gate.decide.walk import limits_of
from gate.model import Counts, MemoryUse, RatioInterval, Sample, SideSummary, Variance, Variances
from gate.stats.estimate import level_variances
from gate.stats.levels import LevelVariance, Tops
from gate.stats.ratio import WITHHELD, Ratio, side_limits
from gate.units import format_number, format_share

_WITH_A_RATIO = ("", "one-unit", "no-spread", "apart", "few-values", "no-rounds")


def ratio_interval(found: Estimated, alpha: float) -> RatioInterval:
    """Describe the interval of the ratio at confidence 1 - alpha."""
    return _interval(found, found.ratio, found.method, alpha)


def _interval(found: Estimated, ratio: Ratio, method: str, alpha: float) -> RatioInterval:
    limits = limits_of(found, alpha) if ratio is found.ratio else ratio.limits(alpha)
    return RatioInterval(
        estimate=ratio.y / ratio.x if found.reduced.trouble in _WITH_A_RATIO and ratio.x else None,
        low=limits.low,
        high=limits.high,
        confidence=1 - alpha,
        method=method,
        df=ratio.df if not found.exact else None,
        kind=limits.kind,
    )


def side_summary(sample: Sample, tops: Tops, value: float, alpha: float) -> SideSummary:
    """Describe one side: its value, its own interval at confidence 1 - alpha, and its counts."""
    # a mean stands in for a quantile that has no logarithm; its interval is not the quantile's
    limits = side_limits(tops, alpha) if tops.log or math.isclose(tops.mean, value) else WITHHELD
    return SideSummary(
        value=value,
        low=limits.low,
        high=limits.high,
        counts=Counts(
            session=len(sample.counts[2]),
            build=len(sample.builds),
            execution=len(sample.counts[0]),
            iteration=len(sample.values),
        ),
    )


def variances(found: Estimated) -> Variances:
    """Describe the variance by level of both sides."""
    reduced = found.reduced
    base, head = level_variances(found.base, reduced.base), level_variances(found.head, reduced.head)
    return Variances(base=_variance(base, reduced.x), head=_variance(head, reduced.y))


def _variance(levels: tuple[LevelVariance, ...], value: float) -> list[Variance]:
    return [
        Variance(
            level=item.level,
            s2=item.s2,
            t2=None if math.isnan(item.t2) else item.t2,
            relative=math.sqrt(item.s2) / abs(value) if value else None,
        )
        for item in levels
    ]


def memory_use(found: Estimated, alpha: float, design: Design) -> MemoryUse | None:
    """Describe what remembered variance did for a finding, with the interval as it would be without it."""
    moderation = found.moderation
    if moderation is None:
        return None
    prior, result = moderation.prior, moderation.result
    used = result is None or result.used
    without = moderation.without.limits(alpha)
    return MemoryUse(
        used=used,
        df=prior.df,
        sessions=prior.sessions,
        first=prior.first,
        last=prior.last,
        remembered=math.sqrt(prior.variance),
        present=None if moderation.present is None else math.sqrt(moderation.present),
        without=RatioInterval(
            estimate=moderation.without.y / moderation.without.x,
            low=without.low,
            high=without.high,
            confidence=1 - alpha,
            method=design.method,
            df=moderation.without.df,
            kind=without.kind,
        ),
        note=_note(moderation),
    )


def _note(moderation: Moderation) -> str:
    prior, result, present = moderation.prior, moderation.result, moderation.present
    remembered = format_share(math.sqrt(prior.variance))
    when = prior.last if prior.first == prior.last else f"{prior.first} to {prior.last}"
    count = f"{prior.sessions} session{'s' if prior.sessions != 1 else ''}, {when}"
    worth = f"{format_number(prior.df, 3)} degrees"
    if result is None or present is None:
        return f"the interval is from remembered variance alone: {remembered} ({worth}, {count})"
    now = format_share(math.sqrt(present))
    if result.used:
        return f"moderated by remembered variance: {remembered} ({worth}, {count}), now {now}"
    if result.noisier:
        return f"noisier than calibrated: {now} now, {remembered} remembered ({count}); the memory is not used"
    return f"remembered variance is not used: {now} now does not go with {remembered} ({count})"
