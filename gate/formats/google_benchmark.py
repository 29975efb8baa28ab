"""Google Benchmark's JSON (1.0 to 1.9)."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterator
from typing import Any, TypeGuard

import msgspec

from gate.formats.parts.output import OutputError
from gate.formats.parts.result import About, FailedResult, Format, ProcessValues, Result, ToolAggregate
from gate.formats.parts.source import Source
from gate.model import Metric
from gate.model.bounds import number
from gate.writing.plain import visible

FORMAT = Format(title="Google Benchmark (`--benchmark_out=FILE`, its JSON)")
_Row = dict[str, Any]
_SCALES = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_AGGREGATES = ("mean", "median", "stddev", "cv")
_COMPLEXITY = ("big_o", "rms")
# numbers that describe a row, and the name that real_time gets here
_OF_ROW = {
    "family_index", "per_family_instance_index", "repetitions", "repetition_index", "threads", "iterations",
    "real_time", "cpu_time", "time",
}  # fmt: skip
_OWN_CLOCK = {"real_time", "manual_time"}
"""In a name: its author says that another time than the thread's counts, since it waits or has threads of its own."""
UNITS = {"items_per_second": "1/s", "bytes_per_second": "B/s", "max_bytes_used": "B", "total_allocated_bytes": "B"}
_SPREADS = ("stddev", "cv")
_OF_CONTEXT = ("date", "host_name", "executable", "caches", "load_avg", "json_schema_version", "library_version")
_NUMBERS = (float, int)
_TIMES = {"real_time": "time", "cpu_time": "cpu_time"}
_INDICES = ("family_index", "per_family_instance_index")


class _File(msgspec.Struct):
    benchmarks: list[Any]


_Key = tuple[str, str, str]
"""The name of a row, and its indices."""


def recognises(source: Source) -> bool:
    """Return whether it is JSON with "benchmarks" that have a "cpu_time"."""
    found = source.head.json
    if not isinstance(found, dict):
        return False
    rows, context = found.get("benchmarks"), found.get("context")
    first = source.head.element("benchmarks")
    if "name" in first:
        return "cpu_time" in first or "error_occurred" in first or "skipped" in first or first.get("rms") is not None
    return rows in ([], None) and isinstance(context, dict) and "num_cpus" in context


def read(source: Source) -> Iterator[Result]:
    """Yield the repetitions of each benchmark, and the aggregates of those that report nothing else."""
    if not isinstance(source.head.json, dict):
        return
    context = source.head.json.get("context")
    found = source.document(_File, "Google Benchmark's JSON")
    yield _about(context if isinstance(context, dict) else {})
    groups: dict[_Key, list[_Row]] = {}
    for place, row in enumerate(found.benchmarks):
        name = row.get("name") if isinstance(row, dict) else None
        if isinstance(name, str):
            first, second = (str(row.get(index)).removesuffix(".0") for index in _INDICES)
            groups.setdefault((name, first, second), []).append(row)
        else:
            groups["", str(place), ""] = []
    names = {name for name, *_ in groups}
    summaries = [own[0] for own in groups.values() if own and _is_summary(own[0], names)]
    measured = names - {row["name"] for row in summaries}
    times = Counter(name for name, *_ in groups)
    for (name, *indices), own in groups.items():
        if name in measured and not any(row.get("skipped") for row in own):
            # two benchmarks of one name
            yield _one(name, own, dict(zip(_INDICES, indices, strict=True)) if times[name] > 1 or not own else {})
    for owner, statistics in _by_owner(summaries).items():
        if owner not in measured:
            yield from _aggregates(owner, statistics)


def _one(name: str, rows: list[_Row], labels: dict[str, str]) -> ProcessValues | FailedResult:
    """Give the repetitions of a benchmark; of what has no name there are none, and its labels say where it stands."""
    if not rows:
        return FailedResult(benchmark=None, status=f"benchmarks[{labels[_INDICES[0]]}] has no name")
    try:
        numbers = list(map(_numbers, rows))
    except OutputError as error:
        return FailedResult(benchmark=name or None, status=str(error), labels=labels if name else {})
    # a counter of some repetitions only would shift the others
    whole = set(numbers[0]).intersection(*numbers)
    sharp = is_sharp(name)
    metrics = {
        _TIMES.get(key) or key: Metric(
            unit="s" if key in _TIMES else UNITS.get(key, ""),
            values=array("d", (row[key] for row in numbers)),
            view_of="time" if key == "cpu_time" else None,
            sharp=sharp and key == "cpu_time",
        )
        for key in sorted(whole, key=lambda key: (key not in _TIMES, key == "cpu_time", key))
    }
    return ProcessValues(benchmark=name, metrics=metrics, labels=labels)


def _about(context: dict[str, Any]) -> About:
    plain = {k: v for k, v in context.items() if k not in _OF_CONTEXT and isinstance(v, (str, int, float))}
    # where a file holds NaN, all of its numbers are read as fractions
    host = {k: int(v) if isinstance(v, float) and v.is_integer() else v for k, v in plain.items()}
    if isinstance(name := context.get("host_name"), str):
        host = {"hostname": name, **host}
    # write the caches in a line: "L1 Data 32 KiB, L2 Unified 1024 KiB"
    found = context.get("caches")
    own = [c for c in found if isinstance(c, dict)] if isinstance(found, list) else []
    sizes = [(c, size) for c in own if isinstance(size := c.get("size"), _NUMBERS)]
    if caches := ", ".join(f"L{c.get('level')} {c.get('type')} {size / 1024:g} KiB" for c, size in sizes):
        host["caches"] = caches
    created, version = context.get("date"), context.get("library_version")
    return About(
        host=host,
        created=created if isinstance(created, str) else None,
        tool=f"Google Benchmark {version.removeprefix('v')}" if isinstance(version, str) else "",
    )


def _is_summary(row: _Row, names: set[str]) -> bool:
    """Return whether a row sums others up: an aggregate or a fitted complexity; names: of all rows."""
    if "run_type" in row:
        return bool(row["run_type"] != "iteration")
    # before 1.5 only the name tells, and where aggregates alone were reported, only its companions
    stem, _, end = str(row["name"]).rpartition("_")
    is_aggregate = end in _AGGREGATES and (stem in names or {f"{stem}_mean", f"{stem}_stddev"} <= names)
    return is_aggregate or end in ("BigO", "RMS") or any(key in row for key in _COMPLEXITY)


def _by_owner(summaries: list[_Row]) -> dict[str, dict[str, _Row]]:
    owners: dict[str, dict[str, _Row]] = {}
    for row in summaries:
        stem, _, end = str(row["name"]).rpartition("_")
        if end not in (*_AGGREGATES, "BigO", "RMS"):
            # by a tool that only says that it is one
            stem, end = str(row["name"]), "value"
        owner, statistic = row.get("run_name", stem), row.get("aggregate_name", end)
        if isinstance(owner, str) and isinstance(statistic, str) and statistic not in ("BigO", "RMS"):
            owners.setdefault(owner, {})[statistic] = row
    return owners


def _aggregates(name: str, rows: dict[str, _Row]) -> Iterator[Result]:
    try:
        spreads = _numbers(rows["stddev"]) if "stddev" in rows else {}
    except OutputError:
        spreads = {}
    for statistic, row in rows.items():
        # of a share, such as cv or one of the user's, the time's unit does not hold
        if statistic in _SPREADS or row.get("aggregate_unit", "time") != "time":
            continue
        try:
            for key, value in _numbers(row).items():
                yield ToolAggregate(
                    benchmark=name, metric=_TIMES.get(key, key), statistic=statistic, value=value, sd=spreads.get(key),
                    unit="s" if key in _TIMES else UNITS.get(key, ""),
                    count=number(row.get("repetitions", row.get("iterations"))),
                )  # fmt: skip
        except OutputError as error:
            yield FailedResult(benchmark=name, status=f"{statistic}: {error}")


def is_sharp(name: str) -> bool:
    """Return whether the CPU time of a benchmark shows its work, by its name."""
    return not _OWN_CLOCK & {*name.split("/")}


def _numbers(row: _Row) -> dict[str, float]:
    """Read the times of a row in seconds, and its counters.

    Raises: OutputError: it reports an error, or one of its times is none.
    """
    if row.get("error_occurred"):
        raise OutputError(visible(str(row.get("error_message") or "it reports an error")))
    # before 1.1 it was always ns, and not said
    unit, found = str(row.get("time_unit", "ns")), dict[str, float]()
    for key in _TIMES:
        value = row.get(key)
        if not _is_number(value) or unit not in _SCALES:
            shown = "null" if value is None else visible(repr(value))
            raise OutputError(f"its {key} is {shown} in {visible(unit)}, which is not a time")
        found[key] = value * _SCALES[unit]
    # other numbers describe the row
    counters = {key: value for key, value in row.items() if key not in _OF_ROW and _is_number(value)}
    return found | {key: float(value) for key, value in counters.items() if math.isfinite(value)}


def _is_number(value: Any) -> TypeGuard[float]:
    """Return whether a value is a number, and no integer beyond all floats."""
    return isinstance(value, float) or (type(value) is int and abs(number(value) or 0.0) < math.inf)
