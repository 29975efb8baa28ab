"""Evidence -> estimates with intervals: what decide does, without a gate's corrections, curves and interactions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from gate.config.rules import Policy
from gate.decide.design import design_of, statistics_of, subject_of
from gate.decide.findings import findings_of
from gate.decide.looks import walk
from gate.decide.overall import overall_of
from gate.model import Case, Evidence, Finding, Overall
from gate.model.case import MEAN

if TYPE_CHECKING:
    from gate.decide.design import Design
    from gate.decide.looks import Walk

EXTREMES = ("min", "max")
"""Statistics that have no interval: of more values they are only more extreme."""


class Estimate(msgspec.Struct, frozen=True, eq=False):
    """One case and statistic of two columns."""

    case: Case
    finding: Finding
    statistic: str
    """Of an extreme its name, where the finding is about the mean."""


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
    findings = findings_of(judged, found.design, len(judged))
    own = statistic if statistic in EXTREMES else None
    return [
        Estimate(each.subject.case, finding, own or finding.statistic)
        for each, finding in zip(judged, findings, strict=True)
    ]


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
