"""One run by itself: the intervals that its gate decides by, in place of those of a comparison."""

from __future__ import annotations

import msgspec

from gate.cli.groups import RulesOptions
from gate.commands.compare.inputs import Pair
from gate.decide.measurements import decide_by
from gate.decide.policy import policy_of
from gate.model import Finding, Overall, RatioInterval, Recorded, Report, Verdict
from gate.model.case import case_id
from gate.words import numbers


def is_one_run(pair: Pair) -> bool:
    """Return whether a pair is what a gate decides: base and head of one run, each as itself."""
    return not (pair.apart or pair.twice) and (pair.base.side, pair.head.side) == ("base", "head")


def as_decided(report: Report, pair: Pair, rules: RulesOptions) -> Report:
    """Give a comparison the intervals that `perfgate decide` shows of the same run.

    They allow for looks, remembered variance and multiple comparisons, as those of a comparison do not. What the gate
    has no interval for (counts, values in trouble) stays.

    Raises:
        UserError: rules that cannot be read.
    """
    gate = decide_by(pair.base.inputs, policy_of(pair.base.run, rules), rules).report
    decided = {case_id(f, f.statistic): f for f in gate.findings if f.shown is not None}
    recorded = {case_id(r): r for r in gate.recorded}
    means = {(o.group, o.metric): o for o in gate.overall}
    return msgspec.structs.replace(
        report,
        findings=[
            _finding(f, decided.get(case_id(f, f.statistic)) or recorded.get(case_id(f))) for f in report.findings
        ],
        identical=gate.identical,
        overall=[_overall(o, means) for o in report.overall],
    )


def _finding(finding: Finding, gate: Finding | Recorded | None) -> Finding:
    if gate is None or gate.ratio.method == "exact":
        return finding
    interval = numbers.shown(gate)
    verdict = _verdict(interval, gate.better)
    own = gate if isinstance(gate, Finding) else msgspec.structs.replace(finding, shown="ratio")
    return msgspec.structs.replace(own, base=gate.base, head=gate.head, ratio=interval, verdict=verdict)


def _verdict(interval: RatioInterval, better: str) -> Verdict:
    """Say on which side of 1 an interval lies, as the verdicts of a comparison do."""
    low, high = interval.low, interval.high
    if interval.kind != "bounded" or low is None or high is None or low <= 1 <= high:
        return "inconclusive"
    return "regression" if (low > 1) == (better == "lower") else "improvement"


def _overall(overall: Overall, means: dict[tuple[str, str], Overall]) -> Overall:
    return means.get((overall.group, overall.metric), overall)
