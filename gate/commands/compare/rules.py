"""The rules for comparing two runs: their own, without those that only a gate uses."""

from __future__ import annotations

from typing import Any

import msgspec

from gate.cli.groups import RulesOptions
from gate.config.rules import Policy
from gate.config.types import Benchmark, Config, Interval
from gate.decide.policy import policy_of
from gate.model import Run, UserError
from gate.units import Quantity, Share

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
    policy = policy_of(_together(base, head), options)
    return Policy(_opened(policy.config, apart=apart), f"{policy.source}, to compare by", policy.today)


def _together(base: Run | None, head: Run | None) -> Run | None:
    """Give a run with head's rules, and the benchmarks of both."""
    configs = [run.config for run in (head, base) if run is not None and run.config is not None]
    if not configs:
        return None
    config: dict[str, Any] = dict(configs[0])
    benchmarks = {_name(b): b for each in reversed(configs) for b in each.get("benchmark") or ()}
    names = dict.fromkeys(_name(b) for each in configs for b in each.get("benchmark") or ())
    config["benchmark"] = [benchmarks[name] for name in names]
    return Run(config=config)


def _name(benchmark: object) -> str:
    return str(benchmark.get("name")) if isinstance(benchmark, dict) else ""


def _opened(config: Config, *, apart: bool) -> Config:
    gate = config.gate
    interval: Interval = gate.interval if gate.interval != "fieller-moderated" else "auto"
    if apart and interval not in _UNPAIRED:
        interval = "fieller"
    return msgspec.structs.replace(
        config,
        gate=msgspec.structs.replace(
            gate,
            threshold=Share(0.0),
            implausible=Share(0.0),
            floor=Quantity.parse("0"),
            family="none",
            min_builds=2,
            # only whether an interval excludes 1 is asked
            show="not-worse",
            interval=interval,
            # of two runs no round has both sides on one machine
            sessions="random" if apart else gate.sessions,
        ),
        override=[],
        accept=[],
        benchmark=[_without_limits(benchmark) for benchmark in config.benchmark],
    )


def _without_limits(benchmark: Benchmark) -> Benchmark:
    metrics = {
        name: msgspec.structs.replace(rules, threshold=None, floor=None) for name, rules in benchmark.metric.items()
    }
    return msgspec.structs.replace(benchmark, metric=metrics)
