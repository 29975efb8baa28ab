"""decide(evidence, policy) -> Report: the only place where a verdict is made.

The rules are those of docs/method.md. With r = head/base where lower is better and its
inverse where higher is better, and d the threshold: regression when the interval at the family's level lies above
1 + d, improvement when it lies below 1/(1 + d), unchanged when the nominal interval lies between, else inconclusive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gate import reasons
from gate.config.rules import Policy, accepts_of, floor_of, threshold_of
from gate.config.schema import to_tables
from gate.model import (
    SCHEMA,
    Accepted,
    Case,
    DecidedAt,
    Evidence,
    Family,
    Finding,
    PolicyFacts,
    Recorded,
    Report,
    ReportVerdict,
    RunFacts,
    Verdict,
)
from gate.stats.estimate import Estimate, estimate
from gate.stats.family import Tested, share
from gate.stats.ratio import Limits, Tail, difference_limits, p_difference, p_ratio
from gate.summaries import limits_of, method_of, ratio_interval, side_summary, variances

EXIT_CODES: dict[ReportVerdict, int] = {"pass": 0, "regression": 1, "inconclusive": 3, "error": 4}
STATISTIC = "mean"


@dataclass(frozen=True, slots=True)
class _Judged:
    """A case with its estimate and rules, before the family shares its error."""

    case: Case
    estimate: Estimate
    threshold: float
    floor: float | None
    p: float | None
    p_improvement: float | None
    callable: bool
    """Whether a regression or an improvement may be called: enough builds, and an interval."""


def decide(evidence: Evidence, policy: Policy) -> Report:
    """Judge every case of the evidence and the report as a whole; pure.

    evidence: samples in base units. policy: the rules, with today's date for accepts.
    """
    judged = [_judge(case, policy) for case in evidence.cases if case.decided]
    alpha = 1 - policy.config.gate.confidence
    regressions, improvements = _share(judged, "p", policy), _share(judged, "p_improvement", policy)
    findings = [
        _finding(j, regression, improvement, policy, alpha)
        for j, regression, improvement in zip(judged, regressions, improvements, strict=True)
    ]
    verdict = _report_verdict(findings, evidence, policy)
    run = evidence.run
    gate = policy.config.gate
    return Report(
        schema=SCHEMA,
        verdict=verdict,
        exit_code=_exit_code(verdict, findings, policy),
        summary=reasons.summary(verdict, findings, evidence),
        run=RunFacts(
            id=run.id if run else None,
            created=run.created if run else None,
            perfgate=run.perfgate if run else None,
            seed=run.seed if run else None,
            base=run.base if run else None,
            head=run.head if run else None,
            chosen=run.chosen if run else None,
            host=run.host if run else None,
            rounds=evidence.rounds,
            seconds=evidence.seconds,
            commands=run.commands if run else None,
        ),
        policy=PolicyFacts(
            source=policy.source,
            gate=to_tables(gate),
            override=[to_tables(item) for item in policy.config.override],
            accept=[to_tables(item) for item in policy.config.accept],
        ),
        family=Family(method=gate.family, size=sum(not j.estimate.exact for j in judged)),
        findings=findings,
        recorded=[_recorded(case, policy, alpha) for case in evidence.cases if not case.decided],
        failures=evidence.failures,
        overall=[],
        new=evidence.new,
        warnings=[*evidence.warnings, *_expired(policy)],
    )


def _judge(case: Case, policy: Policy) -> _Judged:
    found = estimate(case.base, case.head, method_of(policy.config.gate), exact=case.exact)
    threshold = threshold_of(policy.config, case.benchmark, case.metric, STATISTIC)
    floor = floor_of(policy.config, case.benchmark, case.metric, STATISTIC, case.unit)
    lower = case.better == "lower"
    worse, better = (1 + threshold, 1 / (1 + threshold)) if lower else (1 / (1 + threshold), 1 + threshold)
    worse_tail, better_tail = _tails(case)
    p, p_improvement = None, None
    if found.exact and found.trouble == "":
        ratio = found.pair.y / found.pair.x
        p = float(not (_beyond(ratio, worse, worse_tail) and _beyond_floor(found, floor, lower=lower)))
        p_improvement = float(not _beyond(ratio, better, better_tail))
    elif found.trouble == "":
        p, p_improvement = p_ratio(found.pair, worse, worse_tail), p_ratio(found.pair, better, better_tail)
    elif found.trouble == "zero-base" and floor is not None and lower and found.exact:
        p, p_improvement = float(not found.pair.y > floor), 1.0
    elif found.trouble == "zero-base" and floor is not None and lower:
        p, p_improvement = p_difference(found.pair, floor, "above"), 1.0
    builds = min(len(case.base.builds), len(case.head.builds))
    enough = found.exact or builds >= policy.config.gate.min_builds
    return _Judged(case, found, threshold, floor, p, p_improvement, enough and p is not None)


def _tails(case: Case) -> tuple[Tail, Tail]:
    return ("above", "below") if case.better == "lower" else ("below", "above")


def _beyond(value: float, limit: float, tail: Tail) -> bool:
    # of numbers written in decimals: a hair of rounding is not beyond
    hair = 1e-12 * limit
    return value > limit + hair if tail == "above" else value < limit - hair


def _beyond_floor(found: Estimate, floor: float | None, *, lower: bool) -> bool:
    change = found.pair.y - found.pair.x
    return floor is None or (change if lower else -change) > floor


def _effective(judged: _Judged, which: str) -> float:
    """Return the p that the family shares: 1 where nothing may be called, the floor's too where there is one.

    The floor is an intersection of tests, so the larger p stands for both (docs/method.md).
    """
    p = judged.p if which == "p" else judged.p_improvement
    if p is None or not judged.callable:
        return 1.0
    if which == "p" and judged.floor is not None and not judged.estimate.exact:
        tail = _tails(judged.case)[0]
        limit = judged.floor if tail == "above" else -judged.floor
        p_floor = p_difference(judged.estimate.pair, limit, tail)
        return 1.0 if p_floor is None else max(p, p_floor)
    return p


def _share(judged: Sequence[_Judged], which: str, policy: Policy) -> list[Tested]:
    """Share the error over all measured findings; exact ones decide as numbers and take no share."""
    alpha = 1 - policy.config.gate.confidence
    members = [i for i, j in enumerate(judged) if not j.estimate.exact]
    shared = share(policy.config.gate.family, [_effective(judged[i], which) for i in members], alpha)
    tested = [Tested(p, alpha, p < alpha) for p in (_effective(j, which) for j in judged)]
    for i, result in zip(members, shared, strict=True):
        tested[i] = result
    return tested


def _finding(judged: _Judged, regression: Tested, improvement: Tested, policy: Policy, alpha: float) -> Finding:
    case, found = judged.case, judged.estimate
    nominal = limits_of(found, alpha)
    position = _position(judged, nominal, alpha)
    verdict: Verdict = (
        "regression" if regression.rejected
        else "improvement" if improvement.rejected
        else "unchanged" if position.not_worse and position.not_better
        else "inconclusive"
    )  # fmt: skip
    # "unchanged" is decided at the nominal level, without the family
    unshared = Tested(1.0, alpha, rejected=False)
    tested = {"improvement": improvement, "unchanged": unshared}.get(verdict, regression)
    decided = limits_of(found, tested.alpha)
    accepted = _accepted(judged, tested, policy) if verdict == "regression" else None
    warnings = [*case.warnings, *found.warnings]
    if verdict in ("regression", "improvement") and not found.exact:
        warnings += reasons.normality(tested, judged.p if verdict == "regression" else judged.p_improvement, case)
    return Finding(
        benchmark=case.benchmark,
        metric=case.metric,
        unit=case.unit,
        better=case.better,
        statistic=STATISTIC,
        factors=case.factors,
        base=side_summary(case.base, found.base, alpha),
        head=side_summary(case.head, found.head, alpha),
        ratio=ratio_interval(found, alpha, method_of(policy.config.gate)),
        decided_at=DecidedAt(confidence=1 - tested.alpha, low=decided.low, high=decided.high, look=1, looks=1),
        threshold=judged.threshold,
        floor=judged.floor,
        p=judged.p,
        p_adjusted=regression.p_adjusted if judged.callable else None,
        p_improvement=judged.p_improvement,
        p_improvement_adjusted=improvement.p_adjusted if judged.callable else None,
        verdict="accepted" if accepted else verdict,
        accepted=accepted,
        reason=reasons.finding(
            reasons.Facts(
                verdict=verdict,
                case=case,
                estimate=found,
                nominal=nominal,
                decided=decided,
                confidence=1 - tested.alpha,
                threshold=judged.threshold,
                floor=judged.floor,
                within_floor=position.within_floor,
                not_worse=position.not_worse,
                needs_builds=None if judged.callable else policy.config.gate.min_builds,
                accepted=accepted,
            )
        ),
        warnings=warnings,
        not_worse=position.not_worse,
        variance=variances(found),
    )


@dataclass(frozen=True, slots=True)
class _Position:
    """Where the nominal interval lies: shown not to be worse, shown not to be better, shown to be within the floor."""

    not_worse: bool
    not_better: bool
    within_floor: bool


def _position(judged: _Judged, nominal: Limits, alpha: float) -> _Position:
    found, d = judged.estimate, judged.threshold
    if found.exact and not found.trouble and judged.p is not None and judged.p_improvement is not None:
        # numbers: what is not beyond is within, the threshold itself included
        return _Position(
            not_worse=judged.p > 0, not_better=judged.p_improvement > 0, within_floor=_within_floor(judged)
        )
    if found.trouble == "zero-base" and found.pair.y == 0 and found.exact:
        return _Position(not_worse=True, not_better=True, within_floor=False)
    if nominal.kind != "bounded" or nominal.low is None or nominal.high is None:
        return _Position(not_worse=False, not_better=False, within_floor=False)
    below, above = nominal.high < 1 + d, nominal.low > 1 / (1 + d)
    not_worse, not_better = (below, above) if judged.case.better == "lower" else (above, below)
    within_floor = False
    if judged.floor is not None:
        difference = difference_limits(found.pair, alpha)
        if difference.low is not None and difference.high is not None:
            up, down = difference.high < judged.floor, difference.low > -judged.floor
            # a change must be beyond threshold and floor to be worth failing for: below the floor it is not worse
            not_worse = not_worse or (up if judged.case.better == "lower" else down)
            within_floor = up and down and not (below and above)
            not_better = not_better or within_floor
    return _Position(not_worse, not_better, within_floor)


def _within_floor(judged: _Judged) -> bool:
    """Tell whether an exact change is beyond the threshold, but no larger than the floor."""
    pair, d = judged.estimate.pair, judged.threshold
    beyond = _beyond(pair.y / pair.x, 1 + d, "above") or _beyond(pair.y / pair.x, 1 / (1 + d), "below")
    return judged.floor is not None and beyond and abs(pair.y - pair.x) <= judged.floor


def _accepted(judged: _Judged, tested: Tested, policy: Policy) -> Accepted | None:
    """Return the accept entry that covers a regression: not shown, at the level that decided, to exceed its size."""
    case, found = judged.case, judged.estimate
    for accept in accepts_of(policy.config, case.benchmark, case.metric, STATISTIC):
        if accept.until < policy.today or found.trouble:
            continue
        limit = 1 + float(accept.up_to) if case.better == "lower" else 1 / (1 + float(accept.up_to))
        tail = _tails(case)[0]
        if found.exact:
            exceeds = _beyond(found.pair.y / found.pair.x, limit, tail)
        else:
            p = p_ratio(found.pair, limit, tail)
            exceeds = p is not None and p < tested.alpha
        if not exceeds:
            return Accepted(up_to=float(accept.up_to), until=accept.until.isoformat(), reason=accept.reason)
    return None


def _expired(policy: Policy) -> list[str]:
    return [
        f"the accept of {a.benchmark} ended on {a.until.isoformat()} and no longer counts: remove it ({a.reason})"
        for a in policy.config.accept
        if a.until < policy.today
    ]


def _recorded(case: Case, policy: Policy, alpha: float) -> Recorded:
    found = estimate(case.base, case.head, method_of(policy.config.gate), exact=case.exact)
    return Recorded(
        benchmark=case.benchmark,
        metric=case.metric,
        unit=case.unit,
        better=case.better,
        factors=case.factors,
        base=side_summary(case.base, found.base, alpha),
        head=side_summary(case.head, found.head, alpha),
        ratio=ratio_interval(found, alpha, method_of(policy.config.gate)),
        warnings=[*case.warnings, *found.warnings],
    )


def _report_verdict(findings: Sequence[Finding], evidence: Evidence, policy: Policy) -> ReportVerdict:
    if any(f.verdict == "regression" for f in findings):
        return "regression"
    # a whole shard or session that is missing is no matter of policy
    counted = [
        f
        for f in evidence.failures
        if f.kind != "missing" or f.benchmark is None or policy.config.gate.missing == "fail"
    ]
    if counted or not findings:
        return "error"
    if any(f.verdict == "inconclusive" for f in findings):
        return "inconclusive"
    return "pass"


def _exit_code(verdict: ReportVerdict, findings: Sequence[Finding], policy: Policy) -> int:
    # a finding that is shown not to be worse never fails, even where inconclusive ones do
    open_ones = any(f.verdict == "inconclusive" and not f.not_worse for f in findings)
    if verdict == "inconclusive" and not (policy.config.gate.inconclusive == "fail" and open_ones):
        return 0
    return EXIT_CODES[verdict]
