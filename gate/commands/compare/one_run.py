"""One run by itself: the intervals that its gate decides by, in place of those of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from gate.cli.groups import RulesOptions
from gate.commands.compare.estimate import Estimate
from gate.commands.compare.pairs import Pair
from gate.commands.compare.table import Cell
from gate.decide.policy import policy_of
from gate.model import Finding, Overall, RatioInterval, Recorded, Report, SideSummary, Verdict
from gate.model.case import MEAN, case_id


def is_one_run(pair: Pair) -> bool:
    """Return whether a pair is what a gate decides: base and head of one run, each as itself."""
    ours = pair.base.ours and pair.head.ours and len(pair.base.pieces) == 1
    return ours and not (pair.apart or pair.twice) and (pair.base.side, pair.head.side) == ("base", "head")


def gate_of(pair: Pair, rules: RulesOptions) -> Report:
    """Decide a run as `perfgate decide` does.

    Raises:
        UserError: rules that cannot be read.
    """
    from gate.decide.measurements import decide_by

    return decide_by(pair.base.inputs, policy_of(pair.base.run, rules), rules).report


def as_decided(found: Sequence[Estimate], gate: Report) -> list[Estimate]:
    """Give estimates the intervals that `perfgate decide` shows of the same run.

    They allow for remembered variance, as those of a comparison do not. What the gate
    has no interval for (counts, values in trouble, other statistics) stays.
    """
    decided = {case_id(f, f.statistic): f for f in gate.findings if f.shown is not None}
    recorded = {case_id(r, MEAN): r for r in gate.recorded if r.statistic == MEAN}

    return [_shown(each, decided.get(each.key) or recorded.get(each.key)) for each in found]


def overall_as_decided(found: Sequence[Overall], gate: Report) -> list[Overall]:
    """Do the same for geometric means."""
    means = {(o.group, o.metric): o for o in gate.overall}
    return [means.get((each.group, each.metric), each) for each in found]


def _shown(own: Estimate, gate: Finding | Recorded | None) -> Estimate:
    if gate is None or gate.ratio.method == "exact":
        return own
    ratio = gate.ratio
    changes: dict[str, Any] = {
        "base": _cell(own.base, gate.base),
        "head": _cell(own.head, gate.head),
        "ratio": ratio,
        "verdict": _verdict(ratio, gate.better or "lower"),
    }
    if isinstance(gate, Finding):
        changes |= {"reason": gate.reason, "warnings": gate.warnings, "finding": gate}
    elif own.finding is not None:
        changes["finding"] = msgspec.structs.replace(own.finding, ratio=ratio, shown="ratio")
    return msgspec.structs.replace(own, **changes)


def _cell(own: Cell, gate: SideSummary) -> Cell:
    counts = gate.counts
    return msgspec.structs.replace(
        own, value=gate.value, low=gate.low, high=gate.high, builds=counts.build, executions=counts.execution,
        values=counts.iteration,
    )  # fmt: skip


def _verdict(interval: RatioInterval, better: str) -> Verdict:
    """Say on which side of 1 an interval lies, as the verdicts of a comparison do."""
    low, high = interval.low, interval.high
    if interval.kind != "bounded" or low is None or high is None or low <= 1 <= high:
        return "inconclusive"
    return "regression" if (low > 1) == (better == "lower") else "improvement"
