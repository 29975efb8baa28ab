"""A proof that a benchmark is the same on both sides -> its findings, one for each metric and statistic decided."""

from __future__ import annotations

from gate.config.instruments import COMMAND_METRICS, command_metrics
from gate.config.rules import (
    Policy,
    benchmark_rules,
    better_of,
    floor_of,
    is_decided,
    metric_rules,
    named_metrics,
    threshold_of,
)
from gate.config.types import Config
from gate.decide.views import statistics_of
from gate.directions import direction
from gate.model import Evidence, Identical, reasons
from gate.units import to_base

_UNITS = COMMAND_METRICS | {"task-clock": "s"}


def identical_of(evidence: Evidence, policy: Policy) -> list[Identical]:
    """Make the findings of everything that is proved, in the order of the benchmarks."""
    place = {benchmark.name: number for number, benchmark in enumerate(policy.config.benchmark)}
    # the probe takes them in any order
    proofs = sorted(evidence.identical, key=lambda same: place.get(same.benchmark, len(place)))
    found = []
    for same in proofs:
        for metric in _metrics(policy.config, same.benchmark):
            rules = metric_rules(policy.config, same.benchmark, metric)
            unit, _ = to_base(rules.unit if rules.unit is not None else _UNITS.get(metric, ""))
            better = better_of(policy.config, same.benchmark, metric) or direction(metric, unit)
            for statistic in statistics_of(policy.config, same.benchmark, metric):
                names = (policy.config, same.benchmark, metric, statistic)
                reason = reasons.SameProgram(differ=same.differ_count, read=same.read_count)
                found.append(
                    Identical(
                        benchmark=same.benchmark, metric=metric, unit=unit, better=better, statistic=statistic,
                        threshold=threshold_of(*names), floor=floor_of(*names, unit), reason=reason,
                        identical=same.proof,
                    )
                )  # fmt: skip
    return found


def _metrics(config: Config, benchmark: str) -> list[str]:
    """Name the metrics that would have been decided, as far as the rules tell: a suite's own only its tool knows."""
    rules = benchmark_rules(config, benchmark)
    if rules is None:
        return ["time"]
    chief = rules.measured.chief
    default = chief[0] if chief else "time"
    # a value of a benchmark that declares no metric is a time
    own = command_metrics(rules.instrument) or ([] if rules.metric else [default])
    found = [metric for metric in dict.fromkeys([*own, *rules.metric]) if is_decided(config, benchmark, metric)]
    named = named_metrics(config, benchmark)
    if (named is None or "active" not in named) and "active" not in rules.metric and "time" in found:
        # another view of the same question, which has one answer
        found = [metric for metric in found if metric != "active"]
    return found or [default]
