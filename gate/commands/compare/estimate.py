"""The evidence of two columns -> rows with intervals: by rules without a threshold, or as a run's gate has them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import msgspec

from gate.commands.compare.rows import Cell, Change, Row, Shown
from gate.config.rules import Policy
from gate.decide.design import Design, design_of, statistics_of
from gate.decide.estimates import questions_of, subject_of
from gate.decide.looks import Judged, Walk, ratio_interval, side_summary, walk
from gate.decide.reasons import trouble_of
from gate.decide.report import findings_of
from gate.model import Case, Evidence, Finding, RatioInterval, Recorded, Report, Sample, SideSummary, Verdict, reasons
from gate.model.case import MEAN, CaseId, case_id, quantile_of
from gate.model.warnings import AnyWarning
from gate.stats.centers import OF_QUANTILES, type8
from gate.units import ratio_of
from gate.words import views
from gate.writing.amounts import known
from gate.writing.plain import visible

EXTREMES = ("min", "max")
"""Statistics that have no interval: of more values they are only more extreme."""
_SHOWN: dict[Verdict, Shown] = {
    "regression": "worse", "accepted": "worse", "improvement": "better", "unchanged": "same",
}  # fmt: skip
_NO_RATIO = "the base is 0, so there is no ratio"
_EXTREME = "an extreme has no interval"


class _Estimate(NamedTuple):
    """One case and statistic of two columns."""

    base: SideSummary
    head: SideSummary
    ratio: RatioInterval
    """With the interval that is shown."""
    verdict: Verdict
    """On which side of no change the interval lies, as a gate with a threshold of 0 says it."""
    reason: reasons.Reason
    warnings: list[AnyWarning]
    by: str
    """Which view decides, and why; "" where nobody needs to be told."""


def estimates(
    evidence: Evidence, policy: Policy, statistics: Sequence[str], titles: Sequence[str], gate: Report | None = None
) -> Iterator[Row]:
    """Yield a row of two cells for every case.

    Args:
        statistics: of all of them; (): those that the rules name, otherwise the mean.
        titles: of base and of head.
        gate: what `perfgate decide` says of the same run, whose intervals are shown, with what is remembered; what it
            has none for (counts, values in trouble, other statistics) has one of its own.
    """
    shown: dict[CaseId, Finding | Recorded] = {}
    if gate is not None:
        shown |= {case_id(r, MEAN): r for r in gate.recorded if r.statistic == MEAN}
        shown |= {case_id(v, v.statistic): v for f in gate.findings for v in f.views if v.shown is not None}
    for statistic in statistics or (None,):
        walked, design = _walk_of(evidence, policy, statistic)
        # what has no interval needs none of the diagnostics, which take most of the time and memory
        able = [each for each in walked.judged if not each.estimated.reduced.trouble]
        findings = iter(findings_of(able, design, len(walked.judged)))
        for each in walked.judged:
            case = each.subject.case
            # an extreme stands in the place of the mean
            name = statistic if statistic in EXTREMES else each.subject.statistic
            finding = None if each.estimated.reduced.trouble else next(findings)
            found = _estimate(each, finding, shown.get(case_id(case, name)), design)
            cells = _cell(found.base, case.base, name), _cell(found.head, case.head, name)
            yield Row(
                benchmark=case.benchmark, factors=dict(case.factors), metric=case.metric, statistic=name,
                unit=case.unit, better=case.better, cells=[*cells],
                changes=[None, _change(case, name, cells, found, titles)],
            )  # fmt: skip


def _estimate(each: Judged, finding: Finding | None, own: Finding | Recorded | None, design: Design) -> _Estimate:
    """Take what is shown of a case; own: what the gate of its run shows."""
    found = each.estimated
    if finding is None:
        made = _Estimate(
            side_summary(found, "base", design.alpha), side_summary(found, "head", design.alpha),
            ratio_interval(found, design.alpha), "inconclusive",
            trouble_of(found.reduced, each.subject, found.machines), [*each.subject.case.warnings, *found.warnings], "",
        )  # fmt: skip
    else:
        made = _Estimate(
            finding.base, finding.head, finding.ratio, finding.verdict, finding.reason, finding.warnings,
            views.clause(finding),
        )  # fmt: skip
    if own is None or own.ratio.method == "exact":
        return made
    verdict: Verdict = "inconclusive"
    low, high = own.ratio.low or 1.0, own.ratio.high or 1.0
    if own.ratio.kind == "bounded" and not low <= 1 <= high:
        verdict = "regression" if (low > 1) == ((own.better or "lower") == "lower") else "improvement"
    made = made._replace(base=own.base, head=own.head, ratio=own.ratio, verdict=verdict)
    if isinstance(own, Finding):
        return made._replace(reason=own.reason, warnings=own.warnings, by=views.clause(own))
    return made


def _change(case: Case, statistic: str, cells: tuple[Cell, Cell], found: _Estimate, titles: Sequence[str]) -> Change:
    base, head = cells
    ratio = ratio_of(case.metric, case.unit, base.value, head.value)
    changes: dict[str, Any] = {}
    if statistic in EXTREMES:
        change = Change(estimate=ratio, confidence=found.ratio.confidence, method="none", notes=(_EXTREME,))
    else:
        change = _with_interval(case, found)
        if change.kind != "withheld":
            return change
        if base.value == 0 and change.estimate is None:
            # a gate may have a floor for such a case, a comparison has none
            both = head.value == 0
            changes = {"method": "exact", "shown": "both 0" if both else "", "notes": () if both else (_NO_RATIO,)}
        elif base.builds == head.builds == 1 and change.estimate is not None and base.value > 0:
            changes = {"estimate": ratio}
    few = [title for title, cell in zip(titles, cells, strict=True) if cell.builds == 1]
    if few and isinstance(found.reason, (reasons.OneUnit, reasons.FewValues)):
        # first that there is one build, where that is why there is no interval: more values would not help
        of = "of each" if len(few) == 2 else f"of {visible(few[0])}"
        said = f"one build {of}: no interval, since the variation between builds is unknown"
        kept = [w.sentence() for w in found.warnings if getattr(w, "what", "") not in OF_QUANTILES]
        changes["notes"] = (said, *kept)
    return msgspec.structs.replace(change, **changes)


def _with_interval(case: Case, found: _Estimate) -> Change:
    ratio = found.ratio
    shown: Shown = "" if ratio.kind == "withheld" else _SHOWN.get(found.verdict, "not shown")
    if case.better is None and shown in ("worse", "better"):
        shown = "differs"
    notes = [] if ratio.kind == "bounded" else [found.reason.sentence()]
    # where the gate decides a run, the row of the view that decided says so
    notes += [f"the gate decides {found.by}"] if found.by else []
    return Change(
        estimate=ratio.estimate if known(ratio.estimate) else None,
        low=ratio.low if known(ratio.low) else None,
        high=ratio.high if known(ratio.high) else None,
        kind=ratio.kind,
        confidence=float(f"{ratio.confidence:.12g}"),
        method=ratio.method,
        shown=shown,
        notes=(*notes, *(warning.sentence() for warning in found.warnings)),
    )


def _cell(side: SideSummary, sample: Sample, statistic: str) -> Cell:
    value, low, high = side.value, side.low, side.high
    one = len(sample.builds) == 1
    sd = float(sample.values.std(ddof=1)) if one and len(sample.values) > 1 else None
    if sd and sample.values.min() == sample.values.max():
        # the mean of equal values is rounded
        sd = 0.0
    if statistic in EXTREMES:
        value, low, high = float(sample.values.min() if statistic == "min" else sample.values.max()), None, None
    elif one and (tau := quantile_of(statistic)) is not None:
        # of one build the same without the rounding of logarithms
        value = type8(sample.values, tau)
    return Cell(
        value=value,
        low=low if known(low) else None,
        high=high if known(high) else None,
        sd=sd,
        builds=side.counts.build,
        executions=side.counts.execution,
        values=side.counts.iteration,
    )


def _walk_of(evidence: Evidence, policy: Policy, statistic: str | None) -> tuple[Walk, Design]:
    """Judge every case by a statistic; None: by those that the rules name."""
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
