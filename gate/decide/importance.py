"""Which findings matter most: the order that reports show and count them in, and how many get more room than a line."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import msgspec

from gate.decide.design import Subject
from gate.model import Finding, QuantileCurve, Report, Verdict
from gate.stats.quantile import quantile_curve

MOST = 20
"""Findings that get curves and pictures."""


def ordered(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings with those that matter first, and among equals the largest change first."""
    return sorted(findings, key=lambda f: (_ORDER.index(f.verdict), f.is_noise, not f.is_hidden, -_size(f)))


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


def _size(finding: Finding) -> float:
    if finding.base.value == finding.head.value == 0:
        return 0.0
    estimate = finding.ratio.estimate
    known = estimate is not None and math.isfinite(estimate) and estimate > 0
    return abs(math.log(estimate)) if known and estimate is not None else math.inf


class Tally(msgspec.Struct, frozen=True):
    """How many findings have a verdict."""

    verdict: Verdict
    count: int
    not_worse: int = 0
    """Of the inconclusive ones, how many are shown not to be worse."""
    noisy: int = 0
    """Of these, how many noise alone leaves open."""


def tallies(report: Report) -> list[Tally]:
    """Count the findings of each verdict that occurs, in the order of importance."""
    found: dict[Verdict, list[Finding]] = {verdict: [] for verdict in _ORDER}
    for each in report.findings:
        found[each.verdict].append(each)
    told = [
        Tally(
            verdict,
            len(own),
            sum(f.not_worse for f in own if f.verdict == "inconclusive"),
            sum(f.is_noise for f in own),
        )
        for verdict, own in found.items()
        if own
    ]
    return [*told, *([Tally("identical", len(report.identical))] if report.identical else [])]


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
