"""Estimates with intervals, which load the arrays and all that is computed on them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import msgspec

from gate.commands.compare.estimate import EXTREMES, Estimate
from gate.commands.compare.table import Cell
from gate.config.rules import Policy
from gate.decide.design import design_of, subject_of
from gate.decide.findings import findings_of, ratio_interval
from gate.decide.looks import walk
from gate.decide.overall import overall_of, without_case
from gate.decide.reasons import trouble_of
from gate.decide.sides import side_summary
from gate.decide.views import questions_of, statistics_of
from gate.model import Case, Evidence, Overall, Sample, SideSummary
from gate.model.case import MEAN, quantile_of
from gate.stats.quantile import type8
from gate.writing.amounts import known

if TYPE_CHECKING:
    from gate.decide.design import Design
    from gate.decide.looks import Judged, Walk


def estimates(evidence: Evidence, policy: Policy, statistics: Sequence[str]) -> list[Estimate]:
    """Estimate every case; statistics: of all of them; (): those that the rules name, otherwise the mean."""
    made: list[Estimate] = []
    for statistic in statistics or (None,):
        walked, design = _walked(evidence, policy, statistic)
        # what has no interval needs none of the diagnostics, which take most of the time and memory
        able = [each for each in walked.judged if not each.estimated.reduced.trouble]
        findings = iter(findings_of(able, design, len(walked.judged)))
        for each in walked.judged:
            case = each.subject.case
            if each.estimated.reduced.trouble:
                own = _in_trouble(each, design)
            else:
                f = next(findings)
                base, head = _cell(f.base, case.base, f.statistic), _cell(f.head, case.head, f.statistic)
                own = Estimate(case, f.statistic, base, head, f.ratio, f.verdict, f.reason, f.warnings, f)
            if statistic is not None and statistic in EXTREMES:
                # an extreme in the place of the mean, which has no interval
                sides = []
                for cell, sample in ((own.base, case.base), (own.head, case.head)):
                    value = float(sample.values.min() if statistic == "min" else sample.values.max())
                    sides.append(msgspec.structs.replace(cell, value=value, low=None, high=None))
                own = msgspec.structs.replace(own, statistic=statistic, base=sides[0], head=sides[1])
            made.append(own)
    return made


def _in_trouble(judged: Judged, design: Design) -> Estimate:
    subject, estimated = judged.subject, judged.estimated
    case, statistic = subject.case, subject.statistic
    base = _cell(side_summary(estimated, "base", design.alpha), case.base, statistic)
    head = _cell(side_summary(estimated, "head", design.alpha), case.head, statistic)
    return Estimate(
        case=case, statistic=statistic, base=base, head=head, ratio=ratio_interval(estimated, design.alpha),
        verdict="inconclusive", reason=trouble_of(estimated.reduced, subject, estimated.machines),
        warnings=[*case.warnings, *estimated.warnings],
    )  # fmt: skip


def _cell(side: SideSummary, sample: Sample, statistic: str) -> Cell:
    one, tau = len(sample.builds) == 1, quantile_of(statistic)
    # of one build the same without the rounding of logarithms
    value = type8(sample.values, tau) if one and tau is not None else side.value
    return Cell(
        value=value,
        low=side.low if known(side.low) else None,
        high=side.high if known(side.high) else None,
        sd=float(sample.values.std(ddof=1)) if one and len(sample.values) > 1 else None,
        builds=side.counts.build,
        executions=side.counts.execution,
        values=side.counts.iteration,
    )


def overall(evidence: Evidence, policy: Policy, group_of: Callable[[Case], str | None]) -> list[Overall]:
    """Estimate the geometric means of the means, over all cases and over groups of them."""
    walked, design = _walked(evidence, policy, MEAN)
    return overall_of(walked.judged, without_case(evidence), design, group_of)


def _walked(evidence: Evidence, policy: Policy, statistic: str | None) -> tuple[Walk, Design]:
    asked: dict[int, list[str]] = defaultdict(list)
    for case, name in chain.from_iterable(questions_of(evidence.cases, policy.config)):
        asked[id(case)].append(name)

    def names(case: Case) -> Sequence[str]:
        if statistic is None:
            # views are shown side by side: nothing is decided here
            return asked[id(case)] or statistics_of(policy.config, case.benchmark, case.metric)
        return [MEAN if statistic in EXTREMES else statistic]

    subjects = [subject_of(case, name, policy, {}) for case in evidence.cases for name in names(case)]
    design = design_of(evidence, policy, subjects)
    return walk(subjects, design), design
