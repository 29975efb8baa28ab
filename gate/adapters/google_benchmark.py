"""The JSON of Google Benchmark (--benchmark_out_format=json, 1.4 to 1.9) -> values."""

from __future__ import annotations

import math
from typing import Any, TypeGuard

import msgspec

from gate.adapters.suites import Suite, add, read_json
from gate.adapters.values import OutputError, Series
from gate.model import Better
from gate.model.visible import visible

Row = dict[str, Any]

_SCALES = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_AGGREGATES = ("mean", "median", "stddev", "cv")
_COMPLEXITY = ("big_o", "rms")
# numbers that describe a row, and the name that real_time gets here
_OF_ROW = {
    "family_index", "per_family_instance_index", "repetitions", "repetition_index", "threads", "iterations",
    "real_time", "cpu_time", "time",
}  # fmt: skip
_UNITS = {
    "items_per_second": "1/s",
    "bytes_per_second": "B/s",
    "max_bytes_used": "B",
    "total_allocated_bytes": "B",
}


class _Report(msgspec.Struct):
    benchmarks: list[Row]


def parse(data: bytes) -> Suite:
    """Read one value of each metric for each repetition; aggregates and fitted complexities are passed over.

    Metrics: "time" (real_time, which UseManualTime sets) and "cpu_time" in seconds; items_per_second and
    bytes_per_second, where more is better; and each counter under its own name, where less is. A counter that is not a
    finite number in every repetition is left out.
    A benchmark that was skipped without an error is left out, like a test that is skipped.

    Raises:
        OutputError: not such a file.
    """
    rows = read_json(data, _Report, "Google Benchmark's JSON").benchmarks
    suite = Suite({}, {})
    names = {_name(row) for row in rows}
    measured = [row for row in rows if not _is_summary(row, names)]
    for (name, *_), found in _by_benchmark(measured).items():
        if any(row.get("skipped") for row in found):
            continue
        try:
            add(suite, name, _series(found))
        except OutputError as error:
            suite.errors[visible(name)] = str(error)
    known = {_name(row) for row in measured}
    for row in rows:
        owner = row.get("run_name")
        if isinstance(owner, str) and owner not in known and row.get("aggregate_name") in _AGGREGATES:
            suite.errors[visible(owner)] = "only aggregates were reported: take ReportAggregatesOnly out of its code"
    return suite


def _name(row: Row) -> str:
    name = row.get("name")
    if not isinstance(name, str):
        raise OutputError("Google Benchmark's JSON holds a row without a name")
    return name


def _is_summary(row: Row, names: set[str]) -> bool:
    if "run_type" in row:
        return bool(row["run_type"] != "iteration")
    # before 1.5 only the name tells
    stem, _, end = _name(row).rpartition("_")
    return (end in _AGGREGATES and stem in names) or any(key in row for key in _COMPLEXITY)


def _by_benchmark(rows: list[Row]) -> dict[tuple[str, ...], list[Row]]:
    # the indices tell apart two benchmarks of one name
    grouped: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        key = (_name(row), str(row.get("family_index")), str(row.get("per_family_instance_index")))
        grouped.setdefault(key, []).append(row)
    return grouped


def _series(rows: list[Row]) -> dict[str, Series]:
    for row in rows:
        if row.get("error_occurred"):
            raise OutputError(visible(str(row.get("error_message") or "it reports an error")))
    series = {name: _times(rows, key) for name, key in (("time", "real_time"), ("cpu_time", "cpu_time"))}
    # in every repetition, or its values would not belong to those of the others
    counters = {key for key in rows[0] if all(_is_counter(key, row.get(key)) for row in rows)}
    for key in sorted(counters):
        better: Better = "higher" if key in ("items_per_second", "bytes_per_second") else "lower"
        series[visible(key)] = Series(_UNITS.get(key, ""), [float(row[key]) for row in rows], better)
    return series


def _times(rows: list[Row], key: str) -> Series:
    values = []
    for row in rows:
        value, unit = row.get(key), str(row.get("time_unit"))
        if not _is_number(value) or unit not in _SCALES:
            raise OutputError(f"its {key} is {visible(repr(value))} in {visible(unit)}, which is not a time")
        values.append(value * _SCALES[unit])
    return Series("s", values)


def _is_counter(key: str, value: Any) -> bool:
    return key not in _OF_ROW and _is_number(value) and math.isfinite(value)


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
