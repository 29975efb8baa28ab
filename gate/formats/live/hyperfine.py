"""The JSON and the error messages of hyperfine 1.13 to 2.x -> values."""

from __future__ import annotations

import math
import re
from typing import Any

import msgspec

from gate.formats.live.values import OutputError, Series

NEWEST_SCHEMA = 2
_BASE = {"second": ("s", 1.0), "byte": ("B", 1.0), "millisecond": ("s", 1e-3), "microsecond": ("s", 1e-6)}
_METRICS = {
    "time_wall_clock": "time",
    "time_user": "user",
    "time_system": "system",
    "memory_peak_resident": "memory",
}


_COMPLAINT = re.compile(r"Error: (Command terminated|Command '|The process has been terminated|Failed to run command)")


class _Quantity(msgspec.Struct):
    value: float
    unit: str = ""


class _Result1(msgspec.Struct):
    times: list[float]
    memory_usage_byte: list[float | None] | None = None


class _Export1(msgspec.Struct):
    results: list[_Result1]


class _Result2(msgspec.Struct):
    measurements: list[dict[str, Any]]


class _Export2(msgspec.Struct):
    results: list[_Result2]


class _Schema(msgspec.Struct):
    schema_version: int = 1


def parse(data: bytes, *, memory_by_run: bool = False) -> dict[str, Series]:
    """Read the values of each run from the file of --export-json, which holds one command.

    Only what hyperfine gives for each run is taken: from 1.x the wall time (user and system are means over all runs,
    warm-up included), from 2.x time, user, system and memory. Seconds and bytes.

    Args:
        memory_by_run: take memory_usage_byte; false for 1.18 to 1.20, whose values are a running maximum over the runs.

    Raises:
        OutputError: not such a file, a newer schema, or not exactly one command.
    """
    try:
        schema = msgspec.json.decode(data, type=_Schema).schema_version
        if schema > NEWEST_SCHEMA:
            raise OutputError(f"hyperfine's JSON has schema {schema}; this perfgate reads up to {NEWEST_SCHEMA}")
        series = _schema1(data, memory_by_run) if schema == 1 else _schema2(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise OutputError(f"hyperfine's JSON is not as expected: {error}") from None
    if not series["time"].values:
        raise OutputError("hyperfine's JSON holds no run")
    if not all(math.isfinite(value) and value >= 0 for each in series.values() for value in each.values):
        raise OutputError("hyperfine's JSON holds a negative value")
    return series


def _schema1(data: bytes, memory_by_run: bool) -> dict[str, Series]:
    result = _only(msgspec.json.decode(data, type=_Export1).results)
    series = {"time": Series("s", result.times)}
    memory = [value for value in result.memory_usage_byte or [] if value is not None]
    if memory_by_run and len(memory) == len(result.times):
        series["memory"] = Series("B", memory)
    return series


def _schema2(data: bytes) -> dict[str, Series]:
    runs = _only(msgspec.json.decode(data, type=_Export2).results).measurements
    series = {}
    for key, name in _METRICS.items():
        # memory is left out where the system does not tell it; a metric of some runs only would shift the others
        if name == "time" or (runs and all(key in run for run in runs)):
            read = [msgspec.convert(run.get(key), _Quantity) for run in runs]
            base = "B" if name == "memory" else "s"
            series[name] = Series(base, [_value(quantity, key, base) for quantity in read])
    return series


def _value(quantity: _Quantity, key: str, base: str) -> float:
    unit, scale = _BASE.get(quantity.unit, ("", 0.0))
    if unit != base:
        raise OutputError(f"hyperfine's JSON has {key} in {quantity.unit!r}, a unit this perfgate does not know")
    return quantity.value * scale


def _only(results: list[Any]) -> Any:
    if len(results) != 1:
        raise OutputError(f"hyperfine's JSON holds {len(results)} commands instead of one")
    return results[0]


def version(text: str) -> tuple[int, ...] | None:
    """Read the output of `hyperfine --version`; None when it is not hyperfine's."""
    match = re.match(r"hyperfine (\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?", text)
    return tuple(int(part) for part in match.groups(default="0")) if match else None


class Complaint(msgspec.Struct, frozen=True):
    """Why hyperfine gave up on a command: a status in words, and standard error without hyperfine's own message."""

    status: str
    stderr: str
    code: int | None = None
    """What the command exited with, if it did."""
    begun: bool = True
    """Whether it could be started."""
    missing: bool = False
    """There is no such program."""


def complaint(stderr: str) -> Complaint | None:
    """Read hyperfine's error message at the end of its standard error; None when it speaks of something else."""
    # with --output inherit the command's own standard error stands before it, with or without a last newline
    start = max((found.start() for found in _COMPLAINT.finditer(stderr)), default=len(stderr))
    message = stderr[start:]
    code = re.search(r"terminated with non-zero exit code:? (\d{1,9})", message)
    # the command itself may hold anything
    _, failed, why = message.rstrip().rpartition("': ")
    if code:
        return Complaint(f"exit {code[1]}", stderr[:start], code=int(code[1]))
    if "terminated by a signal" in message:
        return Complaint("ended by a signal", stderr[:start])
    if failed and "Failed to run command '" in message:
        why = re.sub(r" \(os error \d{1,9}\)\Z", "", why)
        absent = why.startswith("No such file")
        return Complaint(f"cannot start: {why.lower()}", stderr[:start], begun=False, missing=absent)
    return None
