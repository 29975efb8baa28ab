"""Which cases get a quantile-effect curve: those of which a quantile is decided, and those that matter most."""

from __future__ import annotations

from collections.abc import Sequence

from gate.decide.design import Subject
from gate.importance import MOST, ordered
from gate.model import Case, Finding, QuantileCurve
from gate.stats.quantile import quantile_curve


def curves_of(subjects: Sequence[Subject], findings: Sequence[Finding]) -> list[QuantileCurve]:
    """Draw up the curves of a report, in the order of its cases.

    subjects, findings: one of each for every statistic that is decided, in the same order.
    """
    most = {id(finding) for finding in ordered(findings)[:MOST]}
    cases = {
        id(subject.case): subject.case
        for subject, finding in zip(subjects, findings, strict=True)
        if subject.tau is not None or id(finding) in most
    }
    curves = [_curve(case) for case in cases.values() if _has_curve(case)]
    return [curve for curve in curves if curve.effects]


def _has_curve(case: Case) -> bool:
    # an exact metric has no distribution
    return not case.exact and bool(min(case.base.values.min(), case.head.values.min()) > 0)


def _curve(case: Case) -> QuantileCurve:
    effects = list(quantile_curve(case.base, case.head))
    return QuantileCurve(benchmark=case.benchmark, metric=case.metric, factors=case.factors, effects=effects)
