"""Two columns -> estimates with their intervals: by rules without a threshold, or as a run's own gate has them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain

import msgspec

from gate.cli.groups import RulesOptions
from gate.commands.compare.pairs import Pair
from gate.commands.compare.table import Cell
from gate.config.rules import Policy
from gate.config.types import Config, Detectable, Interval
from gate.decide.design import Design, design_of, questions_of, statistics_of, subject_of
from gate.decide.findings import findings_of, ratio_interval
from gate.decide.looks import Walk, side_summary, walk
from gate.decide.policy import policy_of
from gate.decide.reasons import trouble_of
from gate.model import (
    Case,
    Evidence,
    Finding,
    RatioInterval,
    Recorded,
    Report,
    Run,
    Sample,
    SideSummary,
    UserError,
    Verdict,
    reasons,
)
from gate.model.case import MEAN, CaseId, case_id, quantile_of
from gate.model.warnings import AnyWarning
from gate.stats.centers import type8
from gate.units import Quantity, Share
from gate.writing.amounts import known

EXTREMES = ("min", "max")
"""Statistics that have no interval: of more values they are only more extreme."""


class Estimate(msgspec.Struct, frozen=True, eq=False):
    """One case and statistic of two columns."""

    case: Case
    statistic: str
    base: Cell
    head: Cell
    ratio: RatioInterval
    """With the interval that is shown."""
    verdict: Verdict
    """On which side of no change the interval lies, as a gate with a threshold of 0 says it."""
    reason: reasons.Reason
    warnings: list[AnyWarning]
    finding: Finding | None = None
    """None: it has no interval, and so no more is to be said of it."""


def estimates(
    evidence: Evidence, policy: Policy, statistics: Sequence[str], gate: Report | None = None
) -> list[Estimate]:
    """Estimate every case.

    Args:
        statistics: of all of them; (): those that the rules name, otherwise the mean.
        gate: what `perfgate decide` says of the same run, whose intervals are shown, with what is remembered; what it
            has none for (counts, values in trouble, other statistics) has one of its own.
    """
    made: list[Estimate] = []
    verdict: Verdict
    reason: reasons.Reason
    warnings: list[AnyWarning]
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
            found, case = each.estimated, each.subject.case
            # an extreme stands in the place of the mean
            name = statistic if statistic in EXTREMES else each.subject.statistic
            finding = None if found.reduced.trouble else next(findings)
            if finding is None:
                base, head = side_summary(found, "base", design.alpha), side_summary(found, "head", design.alpha)
                ratio, verdict = ratio_interval(found, design.alpha), "inconclusive"
                reason = trouble_of(found.reduced, each.subject, found.machines)
                warnings = [*case.warnings, *found.warnings]
            else:
                base, head, ratio, verdict = finding.base, finding.head, finding.ratio, finding.verdict
                reason, warnings = finding.reason, finding.warnings
            own = shown.get(case_id(case, name))
            if own is not None and own.ratio.method != "exact":
                base, head, ratio = own.base, own.head, own.ratio
                low, high, verdict = ratio.low or 1.0, ratio.high or 1.0, "inconclusive"
                if ratio.kind == "bounded" and not low <= 1 <= high:
                    worse = (low > 1) == ((own.better or "lower") == "lower")
                    verdict = "regression" if worse else "improvement"
                if isinstance(own, Finding):
                    finding, reason, warnings = own, own.reason, own.warnings
                elif finding is not None:
                    finding = msgspec.structs.replace(finding, ratio=ratio, shown="ratio")
            cells = _cell(base, case.base, name), _cell(head, case.head, name)
            made.append(Estimate(case, name, *cells, ratio, verdict, reason, warnings, finding))
    return made


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


def is_one_run(pair: Pair) -> bool:
    """Return whether a pair is what a gate decides: base and head of one run, each as itself."""
    ours = pair.base.ours and pair.head.ours and len(pair.base.pieces) == 1
    return ours and not (pair.apart or pair.twice) and (pair.base.side, pair.head.side) == ("base", "head")


_OF_GATES = ("threshold", "floor", "family", "min_builds", "inconclusive", "missing", "implausible")
_UNPAIRED: tuple[Interval, ...] = ("fieller", "fieller-kj", "bootstrap", "bootstrap-bca")


def rules_of(base: Run | None, head: Run | None, options: RulesOptions, *, apart: bool) -> Policy:
    """Settle the rules: those that the options name, otherwise those of the runs; head's where they differ.

    What is left of them is confidence, interval, statistics, units, directions and exactness. The threshold is 0, there
    is no floor and no family: a finding's verdict is regression or improvement when its own interval excludes 1.

    Args:
        apart: the two were measured at different times, so that no round has both and nothing can be paired.

    Raises:
        UserError: rules that cannot be read, or a rule of gates that was set for this command.
    """
    for each in options.sets:
        key = each.partition("=")[0].strip()
        if key in {f"gate.{name}" for name in _OF_GATES} or key.partition(".")[0] in ("override", "accept"):
            raise UserError(f"--set {key}: compare has no gate and shows every change; use `perfgate decide`")
    # head's rules, and the benchmarks of both
    configs = [run.config for run in (head, base) if run is not None and run.config is not None]
    named = [
        {str(b.get("name")) if isinstance(b, dict) else "": b for b in each.get("benchmark") or ()} for each in configs
    ]
    together = None
    if configs:
        together = Run(config={**configs[0], "benchmark": [*{**named[0], **named[-1], **named[0]}.values()]})
    policy = policy_of(together, options)
    return Policy(_opened(policy.config, apart=apart), f"{policy.source}, to compare by", policy.today)


def _opened(config: Config, *, apart: bool) -> Config:
    gate, replace = config.gate, msgspec.structs.replace
    interval: Interval = gate.interval if gate.interval != "fieller-moderated" else "auto"
    if apart and interval not in _UNPAIRED:
        interval = "fieller"
    opened = replace(
        gate,
        threshold=Share(0.0),
        implausible=Share(0.0),
        floor=Quantity.parse("0"),
        family="none",
        min_builds=2,
        # only whether an interval excludes 1 is asked
        detectable=Detectable(0),
        interval=interval,
        # of two runs no round has both sides on one machine
        sessions="random" if apart else gate.sessions,
    )
    benchmarks = [
        replace(own, metric={name: replace(m, threshold=None, floor=None) for name, m in own.metric.items()})
        for own in config.benchmark
    ]
    return replace(config, gate=opened, override=[], accept=[], benchmark=benchmarks)
