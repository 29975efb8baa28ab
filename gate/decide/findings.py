"""A judged subject -> its finding: the verdict, the interval that decided, and why."""

from __future__ import annotations

from gate.decide import reasons
from gate.decide.design import Design
from gate.decide.lacking import more_builds
from gate.decide.summaries import memory_use, ratio_interval, side_summary, variances
from gate.decide.walk import Acceptance, Judged, acceptance, decided_alpha, limits_of
from gate.model import DecidedAt, Finding, Verdict
from gate.stats import diagnostics
from gate.stats.family import Tested


def finding_of(judged: Judged, design: Design) -> Finding:
    """Give a judged subject its verdict and describe it."""
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
    return Finding(
        benchmark=case.benchmark,
        metric=case.metric,
        unit=case.unit,
        better=case.better,
        statistic=subject.statistic,
        factors=case.factors,
        base=side_summary(found.base, found.reduced.base, found.reduced.x, judged.nominal_alpha),
        head=side_summary(found.head, found.reduced.head, found.reduced.y, judged.nominal_alpha),
        ratio=ratio_interval(found, judged.nominal_alpha),
        decided_at=DecidedAt(
            confidence=1 - alpha,
            low=decided.low,
            high=decided.high,
            look=judged.look + 1,
            looks=max(len(design.looks), 1),
        ),
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
                position=judged.position,
                min_builds=design.policy.config.gate.min_builds,
                accepted=accept,
                exceeded=known.exceeded,
            )
        ),
        warnings=_warnings(judged, verdict, design),
        not_worse=judged.position.not_worse,
        more_builds=more_builds(judged, design) if verdict == "inconclusive" else None,
        variance=variances(found),
        memory=memory_use(found, judged.nominal_alpha, design),
    )


def _verdict(judged: Judged) -> Verdict:
    position = judged.position
    if judged.regression.rejected:
        return "regression"
    if judged.improvement.rejected:
        return "improvement"
    return "unchanged" if position.not_worse and position.not_better else "inconclusive"


def _warnings(judged: Judged, verdict: Verdict, design: Design) -> list[str]:
    found = judged.estimated
    texts = [*judged.subject.case.warnings, *found.warnings]
    if found.exact:
        return texts
    if verdict in ("regression", "improvement"):
        is_regression = verdict == "regression"
        tested, p = (judged.regression, judged.p) if is_regression else (judged.improvement, judged.p_improvement)
        texts += reasons.normality(found, tested, p)
        if judged.look + 1 < len(design.looks):
            rounds = f"round {design.looks[judged.look]} of {design.looks[-1]}"
            texts.append(f"stopped at {rounds}: an estimate at an early stop tends to exaggerate")
    if found.moderation is not None and found.moderation.result is not None and found.moderation.result.noisier:
        texts.append("noisier than calibrated: the remembered variance is not used")
    if judged.subject.tau is None:
        texts += diagnostics.warnings(found.base, found.head, judged.subject.case.unit)
    return texts
