"""What an interaction comes to: where head's change is worse, by how much, and whether it is there alone."""

from __future__ import annotations

from collections.abc import Sequence

from gate.decide.interaction_tests import Crossed
from gate.decide.sides import Confined, Sides, mean_ratio
from gate.model import Finding, outcomes


def outcome_of(own: Sides, crossed: Crossed, confined: Confined | None = None) -> outcomes.Outcome:
    """Say what an interaction comes to; confined: to what combination it comes."""
    if crossed.trouble is not None:
        return crossed.trouble
    if confined is not None:
        return outcomes.ChangedOnlyUnder(settings=confined.settings, span=_span(confined.findings))
    if own.proven:
        return _proven(own)
    over = list(own.over)
    if own.verdict == "same":
        return outcomes.Same(over=over)
    low, high = crossed.nominal.low, crossed.nominal.high
    looks_real = low is not None and high is not None and not low <= 1 <= high
    return outcomes.Open(
        over=over, looks_real=looks_real, few_builds=crossed.builds if looks_real and crossed.held else None
    )


def _proven(own: Sides) -> outcomes.Outcome:
    at: outcomes.At = "setting" if own.worse_at else "others"
    worse, better = mean_ratio(own.worse), mean_ratio(own.better)
    if worse is not None and better is not None:
        if own.only_worse and own.only_better:
            return outcomes.Opposite(worse=at, worse_span=_span(own.every_worse), better_span=_span(own.every_better))
        if own.only_worse:
            span = _span(own.every_worse)
            return _alone(own, own.worse_setting, span) if own.worse_named else outcomes.ChangedNotUnder(span=span)
        if own.only_better:
            span = _span(own.every_better)
            return _alone(own, own.better_setting, span) if own.better_named else outcomes.ChangedNotUnder(span=span)
    known = worse is not None and better is not None
    return outcomes.Differs(
        worse=at,
        worse_ratio=worse if known else None,
        better_ratio=better if known else None,
        over=list(own.over),
        both_regress=own.both_regress,
        matters=own.matters,
    )


def _alone(own: Sides, setting: object, span: outcomes.Span | None) -> outcomes.ChangedOnlyUnder:
    return outcomes.ChangedOnlyUnder(settings={own.factor: setting}, span=span)


def _span(findings: Sequence[Finding]) -> outcomes.Span | None:
    """Give the ratios of the smallest and the largest change of findings that all changed in one direction."""
    ratios = sorted((f.ratio.estimate for f in findings if f.ratio.estimate is not None), key=lambda r: abs(r - 1))
    return outcomes.Span(least=ratios[0], most=ratios[-1]) if ratios else None
