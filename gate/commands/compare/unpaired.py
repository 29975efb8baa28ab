"""Differences between two runs: benchmarks, metrics and settings of one side alone, other units, other directions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import msgspec

from gate.config.rules import better_of
from gate.config.types import Config
from gate.directions import told_or_known
from gate.evidence.factors import at, failed_at
from gate.evidence.records import Located
from gate.model import SIDES, Execution, Failure, Run, Side
from gate.model.case import CaseId, canonical
from gate.model.warnings.measured import DifferingKey, NotComparable, SetUpDifferently
from gate.units import to_base


@dataclass(frozen=True, slots=True)
class Unpaired:
    """What has no partner, in words."""

    only: dict[Side, list[str]]
    """By the side that has it."""
    failures: list[Failure]
    """Those that are left: what one side never had is no failure of a comparison."""


@dataclass(frozen=True, slots=True)
class Comparable:
    """What can be compared, or is of one side alone, and what is in several units or directions."""

    records: list[Located]
    unlike: list[NotComparable]
    gone: Set[str | None]
    """Benchmarks and suites of which no value is left."""


def comparable(records: Sequence[Located], config: Config) -> Comparable:
    """Take the metrics away that have one unit or direction on one side and another on the other.

    Args:
        config: the rules; a direction that they name is that of both sides.
    """
    measured: dict[CaseId, list[Execution]] = defaultdict(list)
    for e in _executions(records):
        factors = canonical(e.factors)
        for name, metric in e.metrics.items():
            if metric.values:
                measured[CaseId(e.benchmark, name, factors)].append(e)
    found = {key: unlike for key in sorted(measured) if (unlike := _unlike(key, measured[key], config))}
    names: dict[NotComparable, list[str]] = defaultdict(list)
    for key, unlike in found.items():
        names[unlike].append(key.benchmark + at(key))
    kept = [left for r in records if (left := _without(r, found))] if found else list(records)
    gone = _names(_executions(records)) - _names(_executions(kept))
    return Comparable(kept, [msgspec.structs.replace(unlike, names=tuple(own)) for unlike, own in names.items()], gone)


def _executions(records: Sequence[Located]) -> list[Execution]:
    return [r.record for r in records if isinstance(r.record, Execution)]


def _names(executions: Sequence[Execution]) -> set[str | None]:
    return {name for e in executions for name in (e.benchmark, e.suite)}


def _unlike(key: CaseId, executions: Sequence[Execution], config: Config) -> NotComparable | None:
    if len({e.side for e in executions}) < 2:
        return None
    metrics = [(e.side, e.metrics[key.metric]) for e in executions]
    units = {side: tuple(sorted({to_base(m.unit)[0] for s, m in metrics if s == side})) for side in SIDES}
    if len({*units["base"], *units["head"]}) > 1:
        return NotComparable(key.metric, "unit", units["base"], units["head"], ())
    known = [(side, told_or_known(m.better, key.metric, m.unit)) for side, m in metrics]
    ways = {side: tuple(sorted({better for s, better in known if s == side and better})) for side in SIDES}
    if len({*ways["base"], *ways["head"]}) > 1 and better_of(config, key.benchmark, key.metric) is None:
        return NotComparable(key.metric, "direction", ways["base"], ways["head"], ())
    return None


def _without(located: Located, away: Mapping[CaseId, object]) -> Located | None:
    """Leave metrics out of an execution; None: no value is left of it."""
    e = located.record
    if not isinstance(e, Execution):
        return located
    factors = canonical(e.factors)
    kept = {name: metric for name, metric in e.metrics.items() if CaseId(e.benchmark, name, factors) not in away}
    if len(kept) == len(e.metrics):
        return located
    left = any(metric.values for metric in kept.values())
    return Located(msgspec.structs.replace(e, metrics=kept), located.path, located.line) if left else None


def unpaired(executions: Sequence[Execution], failures: Sequence[Failure], promised: Set[str]) -> Unpaired:
    """Find what one side alone has.

    Args:
        executions: of both sides.
        promised: benchmarks that both runs were to measure; one of them that is missing did fail.
    """
    names: dict[Side, set[str]] = {side: {e.benchmark for e in executions if e.side == side} for side in SIDES}
    both = names["base"] & names["head"]
    left = [f for f in failures if f.kind != "missing" or f.benchmark is None or f.benchmark in promised - both]
    failed = failed_at(left)
    has: dict[Side, set[CaseId]] = {side: set() for side in SIDES}
    for e in executions:
        if not failed(e.benchmark, e.factors, e.suite):
            has[e.side] |= {
                CaseId(e.benchmark, m, canonical(e.factors)) for m, metric in e.metrics.items() if metric.values
            }
    common = has["base"] & has["head"]
    return Unpaired(
        only={
            side: [
                *sorted({key.benchmark for key in has[side]} - both),
                *(
                    f"{key.benchmark}: metric {key.metric}{at(key)}"
                    for key in sorted(has[side] - common)
                    if key.benchmark in both
                ),
            ]
            for side in SIDES
        },
        failures=left,
    )


_TABLES = {
    "plan": ("executions", "iterations"),
    "build": ("setup", "command", "perturb", "overlay", "share"),
    "env": ("pass", "set"),
}
_BENCHMARK = ("command", "instrument", "warmup", "service", "load", "cpus", "priority")


def setting_differences(base: Run | None, head: Run | None) -> list[SetUpDifferently]:
    """Name the settings in which two runs differ; what only one of them records is not spoken of."""
    one, other = ((run.config if run else None) or {} for run in (base, head))
    settings = tuple(
        f"[{table}] {key}"
        for table, names in _TABLES.items()
        for key in _differing(one.get(table), other.get(table), names)
    )
    benchmarks = [_by_name(config) for config in (one, other)]
    found: dict[str, list[str]] = {}
    for name in benchmarks[0]:
        for key in _differing(benchmarks[0][name], benchmarks[1].get(name), _BENCHMARK):
            found.setdefault(key, []).append(name)
    keys = tuple(DifferingKey(key, tuple(names)) for key, names in found.items())
    return [SetUpDifferently(settings, keys)] if settings or keys else []


def _differing(one: object, other: object, keys: tuple[str, ...]) -> list[str]:
    if not isinstance(one, Mapping) or not isinstance(other, Mapping):
        return []
    return [key for key in keys if key in one and key in other and one[key] != other[key]]


def _by_name(config: Mapping[str, Any]) -> dict[str, Any]:
    tables = config.get("benchmark")
    return {str(t.get("name")): t for t in tables if isinstance(t, Mapping)} if isinstance(tables, list) else {}
