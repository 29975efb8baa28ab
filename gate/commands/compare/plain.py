"""Estimates of result files with one build a column: no interval is possible, so no statistics are loaded.

Loading the arrays takes longer than reading and comparing small files. The numbers are those of estimating.py.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import msgspec

from gate.commands.compare.estimate import EXTREMES, Estimate
from gate.commands.compare.table import Cell
from gate.config.rules import Policy, benchmark_rules
from gate.model import Case, Execution, RatioInterval, Sample, reasons
from gate.model.case import MEAN, quantile_of
from gate.units import ratio_of, to_base, whole_of

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


def is_plain(executions: Sequence[Execution], policy: Policy) -> bool:
    """Return whether values are of one build, few, and no rules are of their benchmarks."""
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
    trouble = _trouble(case, statistic, base, head)
    known = isinstance(trouble, reasons.OneUnit)
    ratio = ratio_of(case.metric, case.unit, base.value, head.value) if known else None
    return Estimate(
        case=case,
        statistic=statistic,
        base=base,
        head=head,
        ratio=RatioInterval(
            estimate=ratio, low=None, high=None, confidence=1 - alpha, method="none", df=None, kind="withheld"
        ),
        verdict="inconclusive",
        reason=trouble,
        warnings=case.warnings,
    )


def _trouble(case: Case, statistic: str, base: Cell, head: Cell) -> reasons.Trouble:
    if min(min(case.base.values), min(case.head.values)) < 0:
        return reasons.NegativeValues()
    if statistic not in (MEAN, *EXTREMES) and min(base.value, head.value) <= 0:
        return reasons.ZeroQuantile()
    x, y = (_mean(side) for side in (case.base, case.head))
    if x == 0 and y and whole_of(case.metric, case.unit) is None:
        return reasons.ZeroBase(floor=None, unit=case.unit)
    return reasons.OneUnit(unit="build", sides=["base", "head"])


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
