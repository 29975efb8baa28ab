"""Benchmarks that head runs under another name than base: they are measured, and neither missing nor new."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import msgspec

from gate.config.schema import to_tables
from gate.config.types import Benchmark, Config
from gate.model import SIDES, Side
from gate.model.warnings.setup import Renamed

_RUN = (
    "command",
    "instrument",
    "service",
    "load",
    "format",
    "column",
    "unit_column",
    "metric_column",
    "include",
    "exclude",
)
"""Keys that say what runs and how its values are read; all else may change with the name, and is said."""
_VALUES = ("unit", "better", "exact")
"""Keys of a metric that say what kind of values it has."""


def paired(sides: dict[Side, Config], rules: Config) -> tuple[dict[Side, Config], list[Renamed]]:
    """Give a benchmark that only base has and one that only head has one name, where they are surely the same.

    They run the same command by the same instrument and have the same kind of values, and no other benchmark of either
    side does so. The name is the one that the rules know: neither does a rename evade what base's rules say of a
    benchmark, nor does head choose which of them count. The cases of a suite are not paired: two of them have one
    command and one kind of values, so that nothing tells a renamed case from another one.
    """
    alike: dict[str, dict[Side, list[str]]] = defaultdict(lambda: {side: [] for side in SIDES})
    for side in SIDES:
        for benchmark in sides[side].benchmark:
            alike[_identity(benchmark)][side].append(benchmark.name)
    names = {side: {b.name for b in sides[side].benchmark} for side in SIDES}
    ones = [(*each["base"], *each["head"]) for each in alike.values() if all(len(each[side]) == 1 for side in SIDES)]
    pairs = [(was, now) for was, now in ones if was not in names["head"] and now not in names["base"]]
    known = {b.name for b in rules.benchmark}
    called: dict[Side, dict[str, str]] = {side: {} for side in SIDES}
    for was, now in pairs:
        if was in known and now not in known:
            called["head"][now] = was
        else:
            called["base"][was] = now
    return {side: _called(sides[side], called[side]) for side in SIDES}, [Renamed(*pair) for pair in pairs]


def _identity(benchmark: Benchmark) -> str:
    table: Mapping[str, Any] = to_tables(benchmark)
    metrics = {name: [each.get(key) for key in _VALUES] for name, each in table["metric"].items()}
    return msgspec.json.encode([[table.get(key) for key in _RUN], metrics], order="sorted").decode()


def _called(config: Config, names: Mapping[str, str]) -> Config:
    benchmarks = [msgspec.structs.replace(b, name=names.get(b.name, b.name)) for b in config.benchmark]
    return msgspec.structs.replace(config, benchmark=benchmarks)
