"""The JSON of Google Benchmark (--benchmark_out_format=json, 1.4 to 1.9) -> values."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, TypeGuard

import msgspec

from gate.formats.live.suites import Suite, add, read_json
from gate.formats.live.values import OutputError, Series
from gate.model.bounds import number
from gate.model.visible import visible

Row = dict[str, Any]

SCALES = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
AGGREGATES = ("mean", "median", "stddev", "cv")
COMPLEXITY = ("big_o", "rms")
# numbers that describe a row, and the name that real_time gets here
_OF_ROW = {
    "family_index", "per_family_instance_index", "repetitions", "repetition_index", "threads", "iterations",
    "real_time", "cpu_time", "time",
}  # fmt: skip
_OWN_CLOCK = {"real_time", "manual_time"}
"""In a name: its author says that another time than the thread's counts, since it waits or has threads of its own."""
UNITS = {
    "items_per_second": "1/s",
    "bytes_per_second": "B/s",
    "max_bytes_used": "B",
    "total_allocated_bytes": "B",
}


class _Report(msgspec.Struct):
    benchmarks: list[Row]


def parse(data: bytes) -> Suite:
    """Read one value of each metric for each repetition; aggregates and fitted complexities are passed over.

    Metrics: "time" (real_time, which UseManualTime sets) and its view "cpu_time" in seconds; items_per_second and
    bytes_per_second; and each counter under its own name. A counter that is not a finite number in every repetition is
    left out.
    A benchmark that was skipped without an error is left out, like a test that is skipped.

    Raises:
        OutputError: not such a file.
    """
    rows = read_json(data, _Report, "Google Benchmark's JSON").benchmarks
    suite = Suite({}, {})
    names = {row_name(row) for row in rows}
    measured = [row for row in rows if not is_summary(row, names)]
    for (name, *_), found in by_benchmark(measured).items():
        if any(row.get("skipped") for row in found):
            continue
        try:
            add(suite, name, series(found))
        except OutputError as error:
            suite.errors[visible(name)] = str(error)
    known = {row_name(row) for row in measured}
    for row in rows:
        owner = row.get("run_name")
        if isinstance(owner, str) and owner not in known and row.get("aggregate_name") in AGGREGATES:
            suite.errors[visible(owner)] = "only aggregates were reported: take ReportAggregatesOnly out of its code"
    return suite


def row_name(row: Row) -> str:
    """Return what a row is called.

    Raises:
        OutputError: it has no name.
    """
    name = row.get("name")
    if not isinstance(name, str):
        raise OutputError("Google Benchmark's JSON holds a row without a name")
    return name


def is_summary(row: Row, names: set[str]) -> bool:
    """Return whether a row sums others up: an aggregate or a fitted complexity; names: of all rows."""
    if "run_type" in row:
        return bool(row["run_type"] != "iteration")
    # before 1.5 only the name tells
    stem, _, end = row_name(row).rpartition("_")
    return (end in AGGREGATES and stem in names) or any(key in row for key in COMPLEXITY)


def by_benchmark(rows: list[Row]) -> dict[tuple[str, ...], list[Row]]:
    """Put the rows of each benchmark together, by its name and its indices."""
    # the indices tell apart two benchmarks of one name
    grouped: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        key = (row_name(row), str(row.get("family_index")), str(row.get("per_family_instance_index")))
        grouped.setdefault(key, []).append(row)
    return grouped


def series(rows: list[Row]) -> dict[str, Series]:
    """Read one value of each metric for each row of a benchmark, as `parse` says.

    Raises:
        OutputError: a row reports an error, or its time is none.
    """
    for row in rows:
        if row.get("error_occurred"):
            raise OutputError(visible(str(row.get("error_message") or "it reports an error")))
    found = {"time": _times(rows, "real_time"), "cpu_time": _times(rows, "cpu_time")}
    found["cpu_time"] = replace(found["cpu_time"], view_of="time", sharp=is_sharp(row_name(rows[0])))
    # in every repetition, or its values would not belong to those of the others
    counters = {key for key in rows[0] if all(is_counter(key, row.get(key)) for row in rows)}
    for key in sorted(counters):
        found[visible(key)] = Series(UNITS.get(key, ""), [float(row[key]) for row in rows])
    return found


def is_sharp(name: str) -> bool:
    """Return whether the CPU time of a benchmark shows its work, by its name."""
    return not _OWN_CLOCK & {*name.split("/")}


def _times(rows: list[Row], key: str) -> Series:
    values = []
    for row in rows:
        # before 1.1 it was always ns, and not said
        value, unit = row.get(key), str(row.get("time_unit", "ns"))
        if not is_number(value) or unit not in SCALES:
            shown = "null" if value is None else visible(repr(value))
            raise OutputError(f"its {key} is {shown} in {visible(unit)}, which is not a time")
        values.append(value * SCALES[unit])
    return Series("s", values)


def is_counter(key: str, value: Any) -> bool:
    """Return whether a number of a row is a counter, rather than what describes the row."""
    return key not in _OF_ROW and is_number(value) and math.isfinite(value)


def is_number(value: Any) -> TypeGuard[float]:
    """Return whether a value is a number, and no integer beyond all floats."""
    return isinstance(value, float) or (type(value) is int and abs(number(value) or 0.0) < math.inf)
