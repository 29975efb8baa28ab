"""Evidence -> estimates with intervals: what decide does, without a gate's corrections, curves and interactions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from gate.config.rules import Policy
from gate.decide.design import design_of, statistics_of, subject_of
from gate.decide.findings import findings_of, ratio_interval, side_summary
from gate.decide.looks import walk
from gate.decide.overall import overall_of
from gate.decide.troubles import trouble_of
from gate.model import Case, Evidence, Finding, Overall, RatioInterval, SideSummary, Verdict, reasons
from gate.model.case import MEAN, CaseId, case_id
from gate.model.warnings import AnyWarning
from gate.words import numbers

if TYPE_CHECKING:
    from gate.decide.design import Design
    from gate.decide.looks import Judged, Walk

EXTREMES = ("min", "max")
"""Statistics that have no interval: of more values they are only more extreme."""


class Estimate(msgspec.Struct, frozen=True, eq=False):
    """One case and statistic of two columns."""

    case: Case
    statistic: str
    """Of an extreme its name, where all else is of the mean."""
    base: SideSummary
    head: SideSummary
    ratio: RatioInterval
    """With the interval that is shown."""
    verdict: Verdict
    """On which side of no change the interval lies, as a gate with a threshold of 0 says it."""
    reason: reasons.Reason
    warnings: list[AnyWarning]
    finding: Finding | None
    """None: it has no interval, and so no more is to be said of it."""

    @property
    def key(self) -> CaseId:
        """Its identity among the findings of a gate."""
        return case_id(self.case, self.statistic)


class _Walked(msgspec.Struct, frozen=True, eq=False):
    walked: Walk
    design: Design


def estimates(evidence: Evidence, policy: Policy, statistics: Sequence[str]) -> list[Estimate]:
    """Estimate every case.

    Args:
        statistics: of all of them; (): those that the rules name, otherwise the mean.
    """
    return [each for statistic in statistics or (None,) for each in _estimates(evidence, policy, statistic)]


def _estimates(evidence: Evidence, policy: Policy, statistic: str | None) -> list[Estimate]:
    found = _walked(evidence, policy, statistic)
    judged = found.walked.judged
    # what has no interval needs none of the diagnostics, which take most of the time and memory
    able = [each for each in judged if not each.estimated.reduced.trouble]
    findings = iter(findings_of(able, found.design, len(judged)))
    made = [
        _in_trouble(each, found.design) if each.estimated.reduced.trouble else _of(each.subject.case, next(findings))
        for each in judged
    ]
    if statistic in EXTREMES:
        return [msgspec.structs.replace(each, statistic=statistic) for each in made]
    return made


def _of(case: Case, finding: Finding) -> Estimate:
    return Estimate(
        case=case, statistic=finding.statistic, base=finding.base, head=finding.head, ratio=numbers.shown(finding),
        verdict=finding.verdict, reason=finding.reason, warnings=finding.warnings, finding=finding,
    )  # fmt: skip


def _in_trouble(judged: Judged, design: Design) -> Estimate:
    subject, estimated = judged.subject, judged.estimated
    return Estimate(
        case=subject.case,
        statistic=subject.statistic,
        base=side_summary(estimated, "base", design.alpha),
        head=side_summary(estimated, "head", design.alpha),
        ratio=ratio_interval(estimated, design.alpha),
        verdict="inconclusive",
        reason=trouble_of(estimated.reduced, subject, estimated.machines),
        warnings=[*subject.case.warnings, *estimated.warnings],
        finding=None,
    )


def overall(evidence: Evidence, policy: Policy, group_of: Callable[[Case], str | None]) -> list[Overall]:
    """Estimate the geometric means of the means, over all cases and over groups of them."""
    found = _walked(evidence, policy, MEAN)
    named = {case.benchmark for case in evidence.cases}
    failed = dict.fromkeys(f.benchmark for f in evidence.failures if f.benchmark and f.benchmark not in named)
    return overall_of(found.walked.judged, list(failed), found.design, group_of)


def _walked(evidence: Evidence, policy: Policy, statistic: str | None) -> _Walked:
    def names(case: Case) -> Sequence[str]:
        if statistic is None:
            return statistics_of(policy.config, case.benchmark, case.metric)
        return [MEAN if statistic in EXTREMES else statistic]

    subjects = [subject_of(case, name, policy, {}) for case in evidence.cases for name in names(case)]
    design = design_of(evidence, policy, subjects)
    return _Walked(walk(subjects, design, []), design)
