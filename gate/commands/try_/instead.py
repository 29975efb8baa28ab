"""What to measure instead of time, where the host is unfit for times."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from gate.commands.try_.result import Proposal, Tried
from gate.config.rules import is_decided
from gate.config.types import Benchmark, Config
from harness.host.native import is_native
from harness.instruments.declaration import Found, declared
from harness.process.execute import clean_environment

_COUNTS = "callgrind"
_LONGEST = 120.0
"""Seconds that one execution may take where instructions are counted."""
_CPU_TIME = "user"
"""The metric of hyperfine and spawn; of perf_stat, task-clock is CPU time already."""


def proposals(config: Config, rules: Config, tried: Sequence[Tried], directory: Path) -> tuple[Proposal, ...]:
    """Propose counting instructions for native programs that are short enough, and CPU time for the others.

    Args:
        config: of head.
        rules: of the gate.
        tried: what came of each benchmark.
        directory: where head stands, built.
    """
    environment = clean_environment(os.environ, config.env.pass_, config.env.set)
    seconds = {
        each.benchmark: min((case.mean for case in each.cases if case.metric == "time"), default=None) for each in tried
    }
    timed = [b for b in config.benchmark if b.instrument in ("hyperfine", "spawn") and seconds.get(b.name) is not None]
    native = [b for b in timed if is_native(b.command, environment, directory)]
    counter = declared(_COUNTS)
    counted: list[Benchmark] = []
    if native and isinstance(counter.find(os.environ), Found):
        counted = [b for b in native if (seconds[b.name] or 0.0) * counter.slower <= _LONGEST]
    found = []
    if counted:
        names = tuple(b.name for b in counted)
        found.append(Proposal(kind="count", benchmarks=names, place="benchmark", toml=f'instrument = "{_COUNTS}"\n'))
    sharp = {each.benchmark for each in tried if each.by_active}
    rest = tuple(b.name for b in timed if b not in counted and b.name not in sharp)
    if rest:
        decided = {case.metric for each in tried if each.benchmark not in rest for case in each.cases if case.decided}
        alone = "time" not in decided
        # [plan] metrics holds for every benchmark: where another one decides on a time, CPU time is decided beside it
        metrics = json.dumps([_CPU_TIME, *sorted(decided)], ensure_ascii=False)
        toml = f"[plan]\nmetrics = {metrics}\n" if alone else f"[benchmark.metric.{_CPU_TIME}]\n"
        if not all(is_decided(rules, name, _CPU_TIME) for name in rest):
            place: Literal["file", "benchmark"] = "file" if alone else "benchmark"
            found.append(Proposal(kind="cpu-time", benchmarks=rest, place=place, toml=toml))
    return tuple(found)
