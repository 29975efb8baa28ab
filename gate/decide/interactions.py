"""Tested interactions -> what the report says of them, and what they add to the reasons of findings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Any

import msgspec

from gate.decide.interaction_sides import REGRESSED, Confined, Sides, is_clear, is_no_better, matters, mean_ratio
from gate.decide.interaction_tests import Crossed
from gate.decide.looks import Walk
from gate.model import Finding, RatioInterval, outcomes
from gate.model.case import CaseId
from gate.model.report import Interaction, InteractionVerdict


def confined(group: Sequence[Finding], sides: Sequence[Sides]) -> list[Confined]:
    """Find where one case and statistic regressed, and where it improved, when that is a combination of settings.

    group: all its findings. sides: its interactions; every factor named must have one that is shown, and be worse (or
    better) at the setting named.
    """
    found = []
    if not any(own.only_worse for own in sides):
        named = [(own.factor, own.worse_setting) for own in sides if own.worse_named]
        found += _confined(group, sides, named, lambda f: f.verdict in REGRESSED, is_clear, worse=True)
    if not any(own.only_better for own in sides):
        named = [(own.factor, own.better_setting) for own in sides if own.better_named]
        found += _confined(group, sides, named, lambda f: f.verdict == "improvement", is_no_better, worse=False)
    return found


def _confined(
    group: Sequence[Finding],
    sides: Sequence[Sides],
    named: Collection[tuple[str, Any]],
    changed: Callable[[Finding], bool],
    clear: Callable[[Finding], bool],
    *,
    worse: bool,
) -> list[Confined]:
    there = [f for f in group if changed(f)]
    settings = {factor: setting for factor, setting in named if all(f.factors[factor] == setting for f in there)}
    if not there or len(settings) < 2:
        return []
    rest = [f for f in group if not all(f.factors[factor] == setting for factor, setting in settings.items())]
    if len(there) + len(rest) != len(group) or not all(map(clear, rest)):
        return []
    here, elsewhere = mean_ratio(there), mean_ratio(rest)
    if here is None or elsewhere is None or not matters(here / elsewhere, sides[0].subject):
        return []
    return [Confined(dict(sorted(settings.items(), key=lambda item: _place(there[0], item[0]))), there, worse)]


def _place(finding: Finding, factor: str) -> int:
    return list(finding.factors).index(factor)


class Explained(msgspec.Struct, frozen=True, eq=False):
    """The findings with what interactions say of them. only: id of a finding -> the settings under which alone."""

    findings: list[Finding]
    interactions: list[Interaction]
    only: dict[int, dict[str, Any]]


class _Asked(msgspec.Struct, frozen=True, eq=False):
    """An interaction that was tested, and the combination that it is a part of."""

    crossed: Crossed
    own: Sides
    confined: Confined | None


def explained(walked: Walk, findings: Sequence[Finding]) -> Explained:
    """Describe the interactions, and name in a regression's reason the settings that it is confined to, or worse at.

    findings: one for each that was judged, in the same order.
    """
    asked = _asked(walked, findings)
    where: dict[int, list[outcomes.Where]] = {}
    for note in (_note(each) for each in asked):
        for finding in note.findings if note is not None else ():
            own = where.setdefault(id(finding), [])
            # both interactions of a combination say the same
            if finding.verdict in REGRESSED and note is not None and note.where not in own:
                own.append(note.where)
    told = [msgspec.structs.replace(f, where=where.get(id(f), [])) for f in findings]
    only = {id(f): each.settings for f in told for each in f.where if isinstance(each, outcomes.OnlyUnder)}
    return Explained(findings=told, interactions=[_interaction(each) for each in asked], only=only)


def _asked(walked: Walk, findings: Sequence[Finding]) -> list[_Asked]:
    of = {id(j.subject): f for j, f in zip(walked.judged, findings, strict=True)}
    groups: dict[Hashable, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(_group(finding), []).append(finding)
    sides: dict[Hashable, list[Sides]] = {}
    pairs = []
    for crossed in walked.crossed:
        group = _group(of[id(crossed.contrast.subject)])
        own = _sides(crossed, of, groups[group])
        sides.setdefault(group, []).append(own)
        pairs.append((crossed, own, group))
    combinations = {group: confined(groups[group], each) for group, each in sides.items()}
    return [_Asked(crossed, own, _combination(own, combinations[group])) for crossed, own, group in pairs]


def _group(finding: Finding) -> Hashable:
    """Tell one case and statistic, at any settings of the same factors, from others."""
    return CaseId(finding.benchmark, finding.metric, statistic=finding.statistic), frozenset(finding.factors)


def _combination(own: Sides, found: Sequence[Confined]) -> Confined | None:
    """Return the combination that an interaction names a setting of."""
    for each in found:
        named, setting = (own.worse_named, own.worse_setting) if each.worse else (own.better_named, own.better_setting)
        if named and own.factor in each.settings and each.settings[own.factor] == setting:
            return each
    return None


class _Note(msgspec.Struct, frozen=True, eq=False):
    """What those of some findings that regressed are confined to, or larger at."""

    where: outcomes.Where
    findings: Sequence[Finding]


def _note(each: _Asked) -> _Note | None:
    own, combination = each.own, each.confined
    if combination is not None and combination.worse:
        return _Note(outcomes.OnlyUnder(settings=combination.settings), combination.findings)
    if not own.worse_named:
        # another of the same factor's interactions names its setting
        return None
    at = {own.factor: own.worse_setting}
    if own.only_worse:
        return _Note(outcomes.OnlyUnder(settings=at), own.every_worse)
    if own.matters and own.both_regress:
        return _Note(outcomes.MoreUnder(settings=at, ratio=own.worse_ratio, over=list(own.over)), own.worse)
    return None


def _sides(crossed: Crossed, of: dict[int, Finding], group: Sequence[Finding]) -> Sides:
    contrast, subject = crossed.contrast, crossed.contrast.subject
    at, there = ([of[id(p.subject)] for p in contrast.parts if (p.weight > 0) == each] for each in (True, False))
    setting = contrast.setting
    return Sides(
        subject=subject,
        factor=contrast.factor,
        setting=setting,
        against=contrast.against,
        over=_over(contrast.factor, at),
        at=at,
        there=there,
        every_at=[f for f in group if f.factors[contrast.factor] == setting],
        every_there=[f for f in group if f.factors[contrast.factor] != setting],
        ratio=_estimate(crossed),
        verdict=_verdict(crossed),
        matters=matters(_estimate(crossed), subject),
    )


def _over(factor: str, at: Sequence[Finding]) -> tuple[str, ...]:
    """Name the other factors that have several settings among findings."""
    first = at[0].factors
    return tuple(name for name in first if name != factor and any(f.factors[name] != first[name] for f in at))


def _estimate(crossed: Crossed) -> float | None:
    return crossed.ratio.y / crossed.ratio.x if crossed.ratio is not None else None


def _verdict(crossed: Crossed) -> InteractionVerdict:
    if crossed.regression.rejected:
        return "worse"
    if crossed.improvement.rejected:
        return "better"
    if crossed.exact:
        return "same"
    low, high, edge = crossed.nominal.low, crossed.nominal.high, 1 + crossed.contrast.subject.threshold
    return "same" if low is not None and high is not None and low > 1 / edge and high < edge else "inconclusive"


def _interaction(each: _Asked) -> Interaction:
    crossed, own = each.crossed, each.own
    contrast, subject, case = crossed.contrast, crossed.contrast.subject, crossed.contrast.subject.case
    # two-sided and of 1, so that the smaller of both directions is the p
    worse = crossed.p is not None and crossed.p <= (1.0 if crossed.p_improvement is None else crossed.p_improvement)
    p, tested = (crossed.p, crossed.regression) if worse else (crossed.p_improvement, crossed.improvement)
    return Interaction(
        benchmark=case.benchmark,
        metric=case.metric,
        unit=case.unit,
        better=subject.better,
        statistic=subject.statistic,
        factor=contrast.factor,
        setting=contrast.setting,
        against=list(contrast.against),
        ratio=RatioInterval(
            estimate=own.ratio,
            low=crossed.nominal.low,
            high=crossed.nominal.high,
            confidence=1 - crossed.nominal_alpha,
            method=crossed.method,
            df=crossed.ratio.df if crossed.ratio is not None else None,
            kind=crossed.nominal.kind,
        ),
        threshold=subject.threshold,
        p=p,
        p_adjusted=tested.p_adjusted if p is not None and not crossed.held else None,
        verdict=own.verdict,
        only=own.only_worse or own.only_better,
        outcome=outcome_of(own, crossed, each.confined),
    )


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
        both_improve=own.both_improve,
        matters=own.matters,
        shown=own.shown,
    )


def _alone(own: Sides, setting: object, span: outcomes.Span | None) -> outcomes.ChangedOnlyUnder:
    return outcomes.ChangedOnlyUnder(settings={own.factor: setting}, span=span)


def _span(findings: Sequence[Finding]) -> outcomes.Span | None:
    """Give the ratios of the smallest and the largest change of findings that all changed in one direction."""
    ratios = sorted((f.ratio.estimate for f in findings if f.ratio.estimate is not None), key=lambda r: abs(r - 1))
    return outcomes.Span(least=ratios[0], most=ratios[-1]) if ratios else None
