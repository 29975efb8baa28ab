"""A judged subject -> its finding: the verdict, the interval that decided, and why."""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import comb
from typing import Literal

from gate.decide import reasons
from gate.decide.design import Design
from gate.decide.detectable import POWER, degrees, detectable
from gate.decide.estimates import Estimated, Moderation, needed_builds
from gate.decide.family import tails
from gate.decide.looks import Acceptance, Judged, acceptance, decided_alpha, limits_of
from gate.decide.machines import session_ratios
from gate.model import (
    Counts,
    DecidedAt,
    Finding,
    MemoryUse,
    RatioInterval,
    Side,
    SideSummary,
    Variance,
    Variances,
    Verdict,
)
from gate.model.warnings import AnyWarning
from gate.model.warnings.estimates import (
    EarlyStop,
    NoisierThanRemembered,
    NormalTail,
    RatioBySession,
    SessionsDiffer,
    UnlikeSpreads,
)
from gate.stats import diagnostics
from gate.stats.diagnostics.screen import suspects
from gate.stats.estimate import all_level_variances
from gate.stats.family import Tested
from gate.stats.fixed_sessions import side_over_machines, sides_of
from gate.stats.levels import LevelVariance
from gate.stats.ratio import WITHHELD, Ratio, side_limits, t_quantile
from gate.stats.spreads import wider

_WITH_A_RATIO = ("", "one-unit", "no-spread", "apart", "few-values", "no-rounds", "machine")
_OF_SAMPLED_SESSIONS = (SessionsDiffer, RatioBySession)


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


def side_summary(found: Estimated, side: Side, alpha: float) -> SideSummary:
    """Describe one side: its value, its own interval at confidence 1 - alpha, and its counts."""
    reduced = found.reduced
    sample, tops, value = (
        (found.base, reduced.base, reduced.x) if side == "base" else (found.head, reduced.head, reduced.y)
    )
    limits = WITHHELD
    # a mean stands in for a quantile that has no logarithm; its interval is not the quantile's
    if tops.log or math.isclose(tops.mean, value):
        machines = sides_of(found.machines, side)
        limits = side_over_machines(machines, alpha) if machines else side_limits(tops, alpha)
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


def variances(found: Sequence[Estimated]) -> list[Variances]:
    """Describe the variance by level of both sides of each finding."""
    sides = [(sample, tops) for each in found for sample, tops in (
        (each.base, each.reduced.base), (each.head, each.reduced.head),
    )]  # fmt: skip
    levels = iter(all_level_variances([sample for sample, _ in sides], [tops for _, tops in sides]))
    return [
        Variances(
            base=_variance(each, next(levels), each.reduced.x), head=_variance(each, next(levels), each.reduced.y)
        )
        for each in found
    ]


def _variance(found: Estimated, levels: tuple[LevelVariance, ...], value: float) -> list[Variance]:
    return [
        Variance(
            level=item.level,
            s2=item.s2,
            t2=None if math.isnan(item.t2) else item.t2,
            relative=math.sqrt(item.s2) / abs(value) if value else None,
        )
        for item in levels
        # of given machines nothing rests on how they differ
        if not (found.machines and item.level == "session")
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
        kind=_kind(moderation),
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
    )


def _kind(moderation: Moderation) -> Literal["alone", "moderated", "noisier", "disagrees", "unlike"]:
    result = moderation.result
    if result is None:
        return "alone"
    if result.used:
        return "moderated"
    return "noisier" if result.noisier else "unlike" if result.unlike else "disagrees"


MOST = 100
"""More builds than this are no advice."""


def more_builds(judged: Judged, design: Design) -> int | None:
    """Return how many builds a side, beyond those measured, would probably settle an inconclusive finding.

    Settled for the gate is a regression or "not worse", whichever the estimate lies on the side of, in a design of so
    many builds without looks. A test statistic grows with the square root of the builds and its degrees with their
    number; it is to be beyond its limit with POWER if estimate and noise are true. They are not, and so it is less
    often, but more often than not (tests/gate/decide/test_lacking.py). None: settled already, nothing is known of the
    noise, builds are not what it lacks, or it takes more than MOST.
    """
    found = judged.estimated
    df, builds = found.ratio.df, found.builds_each
    if judged.settled or judged.position.not_worse or found.exact or found.reduced.trouble or df is None:
        return None
    if design.sessions > 1 and not design.machines:
        # the unit is the session: builds of the same sessions tell little more
        return None
    beyond = _beyond(found)
    p = _p(found, beyond=beyond)
    alpha = judged.regression.alpha if beyond else design.alpha
    least = _least(found, design, beyond=beyond)
    if p is None:
        return None
    statistic = t_quantile(df, p / 2)
    for more in range(max(1, least - builds), MOST + 1):
        grown = builds + more
        grown_df = degrees(found, df, grown)
        wanted = t_quantile(grown_df, alpha / 2) + t_quantile(grown_df, 1 - POWER)
        if statistic * math.sqrt(grown / builds) > wanted:
            return more
    return None


def _beyond(found: Estimated) -> bool:
    """Return whether the estimate is what a regression would be: beyond threshold and floor."""
    subject, change = found.subject, found.ratio.y - found.ratio.x
    edge = _edge(found)
    if subject.lower:
        return found.ratio.y > edge * found.ratio.x and (subject.floor is None or change > subject.floor)
    return found.ratio.y < edge * found.ratio.x and (subject.floor is None or -change > subject.floor)


def _p(found: Estimated, *, beyond: bool) -> float | None:
    """Return the p of what is to be shown: beyond needs threshold and floor, not worse is either of them."""
    subject, ratio = found.subject, found.ratio
    worse, better = tails(subject)
    tail = worse if beyond else better
    p = ratio.p(_edge(found), tail)
    if subject.floor is None or p is None:
        return p
    p_floor = ratio.p_difference(subject.floor if subject.lower else -subject.floor, tail)
    return p if p_floor is None else max(p, p_floor) if beyond else min(p, p_floor)


def _edge(found: Estimated) -> float:
    edge = 1 + found.subject.threshold
    return edge if found.subject.lower else 1 / edge


def _least(found: Estimated, design: Design, *, beyond: bool) -> int:
    """Return the builds a side below which the rules would not call it, however clear it were."""
    # of each machine, where there are several
    needed = math.ceil(needed_builds(found, design.policy.config.gate) / max(1, len(found.machines)))
    if found.hold == "memory":
        return needed if beyond else 2
    return needed if found.hold == "builds" and beyond else 0


def findings_of(judged: Sequence[Judged], design: Design, comparisons: int) -> list[Finding]:
    """Give judged subjects their verdicts and describe them; comparisons: how many share the error."""
    estimated = [each.estimated for each in judged]
    suspicious = suspects([(found.base, found.head) for found in estimated])
    described = variances(estimated)
    return [_finding(*each, design, comparisons) for each in zip(judged, described, suspicious, strict=True)]


def _finding(judged: Judged, variance: Variances, suspicious: bool, design: Design, comparisons: int) -> Finding:
    found, subject, case = judged.estimated, judged.subject, judged.subject.case
    verdict = _verdict(judged)
    # "unchanged" is decided at the nominal level, without the family
    unshared = Tested(1.0, design.alpha, rejected=False)
    tested = {"improvement": judged.improvement, "unchanged": unshared}.get(verdict, judged.regression)
    alpha = decided_alpha(judged, tested, design)
    decided = limits_of(found, alpha)
    known = acceptance(judged, design) if verdict == "regression" else Acceptance(None, None)
    accept = known.covers
    called = not found.hold and judged.p is not None
    more = more_builds(judged, design) if verdict == "inconclusive" else None
    shown: Literal["ratio", "decided_at"] = "decided_at" if verdict in ("regression", "improvement") else "ratio"
    return Finding(
        benchmark=case.benchmark,
        metric=case.metric,
        unit=case.unit,
        better=case.better,
        statistic=subject.statistic,
        factors=case.factors,
        base=side_summary(found, "base", judged.nominal_alpha),
        head=side_summary(found, "head", judged.nominal_alpha),
        ratio=ratio_interval(found, judged.nominal_alpha),
        sessions=session_ratios(found.machines, subject, judged.nominal_alpha),
        decided_at=DecidedAt(
            confidence=1 - alpha,
            low=decided.low,
            high=decided.high,
            look=judged.look + 1,
            looks=max(len(design.looks), 1),
        ),
        shown=None if found.exact or found.reduced.trouble else shown,
        threshold=subject.threshold,
        floor=subject.floor,
        p=judged.p,
        p_adjusted=judged.regression.p_adjusted if called else None,
        p_improvement=judged.p_improvement,
        p_improvement_adjusted=judged.improvement.p_adjusted if called else None,
        verdict="accepted" if accept else verdict,
        accepted=accept,
        reason=reasons.finding(
            reasons.Facts(
                verdict=verdict,
                found=found,
                nominal=judged.nominal,
                decided=decided,
                confidence=1 - alpha,
                corrected=alpha < judged.nominal_alpha,
                comparisons=comparisons,
                position=judged.position,
                min_builds=needed_builds(found, design.policy.config.gate),
                more_builds=more,
                accepted=accept,
                exceeded=known.exceeded,
            )
        ),
        where=[],
        warnings=_warnings(judged, verdict, suspicious, design),
        not_worse=judged.position.not_worse,
        more_builds=more,
        stopped="settled" if judged.settled and judged.look + 1 < len(design.looks) else None,
        detectable=detectable(found, design) if verdict in ("inconclusive", "unchanged") else None,
        identical=None,
        variance=variance,
        memory=memory_use(found, judged.nominal_alpha, design),
    )


def _verdict(judged: Judged) -> Verdict:
    position = judged.position
    if judged.regression.rejected:
        return "regression"
    if judged.improvement.rejected:
        return "improvement"
    return "unchanged" if position.not_worse and position.not_better else "inconclusive"


def _warnings(judged: Judged, verdict: Verdict, suspicious: bool, design: Design) -> list[AnyWarning]:
    found = judged.estimated
    told = [*judged.subject.case.warnings, *found.warnings]
    if found.exact:
        return told
    if verdict in ("regression", "improvement"):
        is_regression = verdict == "regression"
        tested, p = (judged.regression, judged.p) if is_regression else (judged.improvement, judged.p_improvement)
        told += _normality(found, tested, p)
        if judged.look + 1 < len(design.looks):
            told.append(EarlyStop(design.looks[judged.look], design.looks[-1]))
    spread = None if found.reduced.trouble else wider(found.reduced.base, found.reduced.head)
    if spread is not None:
        told.append(UnlikeSpreads(spread.side, spread.times, found.unit))
    if found.moderation is not None and found.moderation.result is not None and found.moderation.result.noisier:
        told.append(NoisierThanRemembered())
    if suspicious and judged.subject.tau is None:
        of_values = diagnostics.warnings(found.base, found.head, judged.subject.case.unit)
        # fixed sessions may differ in level; whether the change differs between them has a warning of its own
        told += [each for each in of_values if not (found.machines and isinstance(each, _OF_SAMPLED_SESSIONS))]
    return told


def _normality(found: Estimated, tested: Tested, p: float | None) -> list[NormalTail]:
    """Warn when a p is smaller than any rearrangement of the builds could give: it rests on normal build effects."""
    base, head = len(found.base.builds), len(found.head.builds)
    if p is None or not tested.rejected or p >= 1 / comb(base + head, base):
        return []
    return [NormalTail(base, head)]
