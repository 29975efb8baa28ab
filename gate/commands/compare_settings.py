"""How two runs were set up differently, beside what they measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gate.model import Run

_TABLES = {
    "plan": ("executions", "iterations"),
    "build": ("setup", "command", "perturb", "overlay", "share"),
    "env": ("pass", "set"),
}
_BENCHMARK = ("command", "instrument", "warmup", "service", "load", "cpus", "priority")
_NAMED = 3


def setting_differences(base: Run | None, head: Run | None) -> list[str]:
    """Say which settings of two runs differ, by name; what only one of them records is not spoken of."""
    one, other = ((run.config if run else None) or {} for run in (base, head))
    keys = [
        f"[{table}] {key}"
        for table, names in _TABLES.items()
        for key in _differing(one.get(table), other.get(table), names)
    ]
    benchmarks = [_by_name(config) for config in (one, other)]
    found: dict[str, list[str]] = {}
    for name in benchmarks[0]:
        for key in _differing(benchmarks[0][name], benchmarks[1].get(name), _BENCHMARK):
            found.setdefault(key, []).append(name)
    keys += [f"{key} of {_listed(names)}" for key, names in found.items()]
    return [f"the two runs are set up differently, which the ratio holds too: {'; '.join(keys)}"] if keys else []


def _differing(one: object, other: object, keys: tuple[str, ...]) -> list[str]:
    if not isinstance(one, Mapping) or not isinstance(other, Mapping):
        return []
    return [key for key in keys if key in one and key in other and one[key] != other[key]]


def _by_name(config: Mapping[str, Any]) -> dict[str, Any]:
    tables = config.get("benchmark")
    return {str(t.get("name")): t for t in tables if isinstance(t, Mapping)} if isinstance(tables, list) else {}


def _listed(names: list[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
