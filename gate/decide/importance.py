"""Which findings matter most: the order that reports show and count them in, and how many get more room than a line."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from gate.decide.design import Subject
from gate.model import Finding, QuantileCurve, Verdict
from gate.stats.centers import quantile_curve

MOST = 20
"""Findings that get curves and pictures."""


def ordered(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings with those that matter first, and among equals the largest change first."""

    def rank(finding: Finding) -> tuple[int, bool, bool, int, float]:
        # of noise what may be a regression is the worst, and what is shown to be none the best
        noise = 0 if not finding.is_noise or finding.may_regress else 2 if finding.not_worse else 1
        estimate, size = finding.ratio.estimate, math.inf
        if finding.base.value == finding.head.value == 0:
            size = 0.0
        elif estimate is not None and math.isfinite(estimate) and estimate > 0:
            size = abs(math.log(estimate))
        return _ORDER.index(finding.verdict), finding.is_noise, not finding.is_hidden, noise, -size

    return sorted(findings, key=rank)


_ORDER: tuple[Verdict, ...] = (
    "regression", "improvement", "accepted", "inconclusive", "unchanged", "no-sign", "identical",
)  # fmt: skip
"""What changed stands before what noise leaves open."""


def plain(finding: Finding) -> bool:
    """Return whether a finding needs no words of its own: unchanged or no sign of a change, by its threshold alone."""
    return finding.verdict in ("unchanged", "no-sign") and not finding.is_bound_by_floor


def is_changed(finding: Finding) -> bool:
    """Return whether a finding comes before those that noise leaves open: it changed, or something else is missing."""
    return not plain(finding) and not finding.is_noise


def curves_of(subjects: Sequence[Subject], findings: Sequence[Finding]) -> list[QuantileCurve]:
    """Draw up the curves of a report, in the order of its cases.

    subjects, findings: one of each for every statistic that is decided, in the same order.
    """
    most = {id(finding) for finding in ordered(findings)[:MOST]}
    cases = {
        id(subject.case): subject.case
        for subject, finding in zip(subjects, findings, strict=True)
        if isinstance(subject.center, float) or id(finding) in most
    }
    curves = [
        QuantileCurve(
            benchmark=c.benchmark, metric=c.metric, factors=c.factors, effects=[*quantile_curve(c.base, c.head)]
        )
        for c in cases.values()
        # an exact metric has no distribution
        if not c.exact and min(c.base.values.min(), c.head.values.min()) > 0
    ]
    return [curve for curve in curves if curve.effects]
