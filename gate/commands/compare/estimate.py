"""Estimates: of one build a column, without loading statistics; and of one run by itself, as its gate decides.

Loading the arrays takes longer than reading and comparing small files. The numbers of plain estimates are those of
intervals.py.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import msgspec

from gate.cli.groups import RulesOptions
from gate.commands.compare.pairs import Pair
from gate.commands.compare.table import Cell
from gate.config.rules import Policy, benchmark_rules
from gate.decide.policy import policy_of
from gate.evidence.records import Located
from gate.model import Case, Execution, Finding, RatioInterval, Recorded, Report, Sample, Verdict, reasons
from gate.model.case import MEAN, CaseId, case_id, quantile_of
from gate.model.warnings import AnyWarning
from gate.units import ratio_of, to_base, whole_of

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

    @property
    def key(self) -> CaseId:
        """Its identity among the findings of a gate."""
        return case_id(self.case, self.statistic)


_FEW = 50_000
"""Values of a column; of more the arrays save more time than they take."""


class _Values(array):  # type: ignore[type-arg]  # it takes no argument before Python 3.12
    """Values with what the evidence asks of arrays."""

    def mean(self) -> float:
        """Return their mean."""
        return math.fsum(self) / len(self)


class _Plain(msgspec.Struct, frozen=True, eq=False):
    """A sample without arrays."""

    values: _Values
    sizes: list[int]
    """Of each execution."""
    builds: tuple[tuple[int, int], ...]
    step: float = 0.0


def is_plain(records: Sequence[Located], policy: Policy) -> bool:
    """Return whether values are of one build, few, and no rules are of their benchmarks."""
    executions = [located.record for located in records if isinstance(located.record, Execution)]
    if len({(e.session, e.build) for e in executions}) != 1:
        return False
    if sum(len(metric.values) for e in executions for metric in e.metrics.values()) > _FEW:
        return False
    return not any(benchmark_rules(policy.config, name) for name in {e.benchmark for e in executions})


def sample_of(executions: list[Execution], metric: str) -> Sample:
    """Keep the values of one side as they are."""
    values = _Values("d")
    for e in executions:
        measured = e.metrics[metric]
        scale = to_base(measured.unit)[1]
        # arrays of another kind cannot be joined to one of doubles
        values.extend([value * scale for value in measured.values])
    builds = Counter((e.session, e.build) for e in executions)
    found: Any = _Plain(values, [len(e.metrics[metric].values) for e in executions], tuple(builds))
    # it has what the evidence and this module ask of a sample
    return found  # type: ignore[no-any-return]


def estimates(cases: Sequence[Case], policy: Policy, statistics: Sequence[str]) -> list[Estimate]:
    """Estimate every case: of each statistic, in that order."""
    alpha = 1 - policy.config.gate.confidence
    return [_estimate(case, statistic, alpha) for statistic in statistics or (MEAN,) for case in cases]


def _estimate(case: Case, statistic: str, alpha: float) -> Estimate:
    base, head = (_cell(side, statistic) for side in (case.base, case.head))
    reason: reasons.Reason = reasons.OneUnit(unit="build", sides=["base", "head"])
    x, y = (_mean(side) for side in (case.base, case.head))
    if min(min(case.base.values), min(case.head.values)) < 0:
        reason = reasons.NegativeValues()
    elif statistic not in (MEAN, *EXTREMES) and min(base.value, head.value) <= 0:
        reason = reasons.ZeroQuantile()
    elif x == 0 and y and whole_of(case.metric, case.unit) is None:
        reason = reasons.ZeroBase(floor=None, unit=case.unit)
    known = isinstance(reason, reasons.OneUnit)
    ratio = RatioInterval(
        estimate=ratio_of(case.metric, case.unit, base.value, head.value) if known else None,
        low=None, high=None, confidence=1 - alpha, method="none", df=None, kind="withheld",
    )  # fmt: skip
    return Estimate(case, statistic, base, head, ratio, "inconclusive", reason, case.warnings)


def _cell(sample: Any, statistic: str) -> Cell:
    values = sample.values
    middle = values.mean()
    sd = math.sqrt(math.fsum((v - middle) ** 2 for v in values) / (len(values) - 1)) if len(values) > 1 else None
    found = {"min": min, "max": max}.get(statistic)
    tau = None if found or statistic == MEAN else quantile_of(statistic)
    value = found(values) if found else _mean(sample) if tau is None else _type8(sorted(values), tau)
    return Cell(value=value, sd=sd, builds=1, executions=len(sample.sizes), values=len(values))


def _mean(sample: Any) -> float:
    """Average the means of the executions, as a build's mean is defined."""
    ends = list(accumulate(sample.sizes))
    means = [
        math.fsum(sample.values[end - size : end]) / size for size, end in zip(sample.sizes, ends, strict=True) if size
    ]
    return math.fsum(means) / len(means)


def _type8(ordered: Sequence[float], tau: float) -> float:
    """Interpolate a quantile (Hyndman and Fan 1996, definition 8), as gate.stats.quantile does."""
    place = (len(ordered) + 1 / 3) * tau + 1 / 3
    below = min(max(math.floor(place + 1e-12), 1), len(ordered))
    above = min(below + 1, len(ordered))
    share = min(max(place - below, 0.0), 1.0)
    low, high = ordered[below - 1], ordered[above - 1]
    return low + share * (high - low)


def is_one_run(pair: Pair) -> bool:
    """Return whether a pair is what a gate decides: base and head of one run, each as itself."""
    ours = pair.base.ours and pair.head.ours and len(pair.base.pieces) == 1
    return ours and not (pair.apart or pair.twice) and (pair.base.side, pair.head.side) == ("base", "head")


def gate_of(pair: Pair, rules: RulesOptions) -> Report:
    """Decide a run as `perfgate decide` does. Raises UserError: rules that cannot be read."""
    from gate.planning.deciding import decide_by

    return decide_by(pair.base.inputs, policy_of(pair.base.run, rules), rules).report


def as_decided(found: Sequence[Estimate], gate: Report) -> list[Estimate]:
    """Give estimates the intervals that `perfgate decide` shows of the same run.

    They allow for remembered variance, as those of a comparison do not. What the gate
    has no interval for (counts, values in trouble, other statistics) stays.
    """
    decided = {case_id(v, v.statistic): v for f in gate.findings for v in f.views if v.shown is not None}
    recorded = {case_id(r, MEAN): r for r in gate.recorded if r.statistic == MEAN}

    return [_shown(each, decided.get(each.key) or recorded.get(each.key)) for each in found]


def _shown(own: Estimate, gate: Finding | Recorded | None) -> Estimate:
    if gate is None or gate.ratio.method == "exact":
        return own
    ratio, verdict = gate.ratio, "inconclusive"
    low, high = ratio.low or 1.0, ratio.high or 1.0
    if ratio.kind == "bounded" and not low <= 1 <= high:
        verdict = "regression" if (low > 1) == ((gate.better or "lower") == "lower") else "improvement"
    sides = [
        msgspec.structs.replace(
            cell, value=side.value, low=side.low, high=side.high, builds=side.counts.build,
            executions=side.counts.execution, values=side.counts.iteration,
        )
        for cell, side in ((own.base, gate.base), (own.head, gate.head))
    ]  # fmt: skip
    changes: dict[str, Any] = {"base": sides[0], "head": sides[1], "ratio": ratio, "verdict": verdict}
    if isinstance(gate, Finding):
        changes |= {"reason": gate.reason, "warnings": gate.warnings, "finding": gate}
    elif own.finding is not None:
        changes["finding"] = msgspec.structs.replace(own.finding, ratio=ratio, shown="ratio")
    return msgspec.structs.replace(own, **changes)
