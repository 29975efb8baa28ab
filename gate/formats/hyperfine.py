"""hyperfine's --export-json (1.x and schema 2) with any number of commands, whatever they exited with; its CSV."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any

import msgspec

from gate.formats.parts.live import results, sorted_by_name
from gate.formats.parts.output import OutputError, Series
from gate.formats.parts.result import FailedResult, Format, ProcessValues, Result, ToolAggregate, entry
from gate.formats.parts.source import Source
from gate.model import Metric
from gate.writing.units import to_base

FORMAT = Format(title="hyperfine (`--export-json`, `--export-csv`)")
_METRICS = {"time_wall_clock": "time", "time_user": "user", "time_system": "system", "memory_peak_resident": "memory"}
_HEADER = "command,mean,stddev,median,user,system,min,max"
_PARAMETER = "parameter_"
_UNITS = {"second": "s", "millisecond": "ms", "microsecond": "us", "byte": "B"}
_NEWEST_SCHEMA = 2
_COMPLAINT = re.compile(r"Error: (Command terminated|Command '|The process has been terminated|Failed to run command)")


class _Quantity(msgspec.Struct):
    value: float | None = None
    unit: str = ""


class _Run(msgspec.Struct):
    time_wall_clock: _Quantity | None = None
    time_user: _Quantity | None = None
    time_system: _Quantity | None = None
    memory_peak_resident: _Quantity | None = None
    exit_code: int | msgspec.UnsetType | None = msgspec.UNSET


class _Result(msgspec.Struct):
    command: str
    times: list[float] | None = None
    mean: float | None = None
    stddev: float | None = None
    median: float | None = None
    min: float | None = None
    max: float | None = None
    user: float | None = None
    system: float | None = None
    exit_codes: list[int | None] | None = None
    memory_usage_byte: list[float | None] | None = None
    measurements: list[_Run] | None = None
    parameters: dict[str, str | int | float] = {}


class _Export(msgspec.Struct):
    results: list[Any]
    schema_version: int = 1


def recognises(source: Source) -> bool:
    """Return whether it is a JSON document with "results" of commands, or begins with the header line of the CSV."""
    if source.head.text.startswith(_HEADER):
        return True
    first = source.head.element("results")
    return "command" in first and ("mean" in first or "measurements" in first)


def read(source: Source, *, memory_by_run: bool = False) -> Iterator[Result]:
    """Yield a process for each command, its parameters as labels; of the CSV aggregates.

    Args:
        memory_by_run: take memory_usage_byte of 1.x, which is a running maximum over the runs in 1.18 to 1.20; a file
            does not name the version.
    """
    if source.head.text.startswith(_HEADER):
        for number, row in enumerate(csv.DictReader(source.raw_lines()), 2):
            try:
                found = {key: float(row[key]) if row.get(key) else None for key in _HEADER.split(",")[1:]}
            except ValueError:
                found = {}
            if found.get("mean") is None:
                raise OutputError(f"line {number}: the mean is no number: is the file cut off?")
            command, known = row.get("command") or "", ((k, v) for k, v in row.items() if isinstance(k, str) and v)
            labels = {key.removeprefix(_PARAMETER): value for key, value in known if key.startswith(_PARAMETER)}
            made = msgspec.convert({"command": command, **found}, _Result)
            yield from _aggregates(made, command, labels, without_times=True)
        return
    export = source.document(_Export, "hyperfine's JSON")
    if export.schema_version > _NEWEST_SCHEMA:
        raise OutputError(
            f"hyperfine's JSON has schema {export.schema_version}; this perfgate reads up to {_NEWEST_SCHEMA}"
        )
    for place, each in enumerate(export.results):
        result = entry(each, _Result, f"results[{place}]", "command")
        yield from [result] if isinstance(result, FailedResult) else _command(result, memory_by_run)


def _command(result: _Result, memory_by_run: bool) -> Iterator[Result]:
    name, runs = result.command, result.measurements
    labels = {key: str(value) for key, value in result.parameters.items()}
    codes = result.exit_codes or [run.exit_code for run in runs or () if run.exit_code is not msgspec.UNSET]
    # a code of null is a signal
    failed = ", ".join(
        f"{'ended by a signal' if code is None else f'exit {code}'} in {count} of {len(codes)} runs"
        for code, count in Counter(codes).items()
        if code != 0
    )
    try:
        if failed:
            raise OutputError(failed)
        metrics = _version_2(runs or [])
        if result.times and runs is None:
            metrics["time"] = Metric(unit="s", values=result.times)
            memory = [value for value in result.memory_usage_byte or [] if value is not None]
            if memory_by_run and len(memory) == len(result.times):
                metrics["memory"] = Metric(unit="B", values=memory)
        if not metrics and result.mean is None:
            raise OutputError("neither times nor a mean in the file")
    except OutputError as error:
        yield FailedResult(benchmark=name, status=str(error), labels=labels)
        return
    if metrics:
        yield ProcessValues(benchmark=name, metrics=metrics, labels=labels)
    yield from _aggregates(result, name, labels, without_times=not metrics)


def _version_2(runs: list[_Run]) -> dict[str, Metric]:
    metrics: dict[str, Metric] = {}
    for key, name in _METRICS.items():
        found: list[_Quantity] = [each for run in runs if (each := getattr(run, key)) and each.value is not None]
        values, base = list[float](), "B" if name == "memory" else "s"
        for each in found:
            unit, scale = to_base(_UNITS.get(each.unit, each.unit))
            if unit != base:
                raise OutputError(f"a value in {each.unit!r}, a unit this perfgate does not know")
            values.append((each.value or 0.0) * scale)
        if name == "time" and len(values) < len(runs):
            raise OutputError(f"{len(runs) - len(values)} of {len(runs)} runs have no {key}")
        # another metric of some runs only would shift the others
        if values and len(values) == len(runs):
            metrics[name] = Metric(unit=base, values=values)
    return metrics


def _aggregates(result: _Result, name: str, labels: dict[str, str], *, without_times: bool) -> Iterator[ToolAggregate]:
    for statistic in ("mean", "median", "min", "max") if without_times else ():
        value = getattr(result, statistic)
        if value is not None:
            yield ToolAggregate(
                benchmark=name, metric="time", statistic=statistic, value=value, unit="s", labels=labels,
                sd=result.stddev if statistic == "mean" else None,
            )  # fmt: skip
    for metric, value in (("user", result.user), ("system", result.system)):
        if value is not None and result.measurements is None:
            yield ToolAggregate(benchmark=name, metric=metric, statistic="mean", value=value, unit="s", labels=labels)


def runs(data: bytes, *, memory_by_run: bool) -> dict[str, Series]:
    """Read the values of each run of the one command that an execution times.

    Raises: OutputError: not such a file, not exactly one command, or one that failed.
    """
    found = sorted_by_name(results(partial(read, memory_by_run=memory_by_run), data), "hyperfine's JSON holds no run")
    if (count := len(found.benchmarks) + len(found.errors)) != 1:
        raise OutputError(f"hyperfine's JSON holds {count} commands instead of one")
    for why in found.errors.values():
        raise OutputError(why)
    return next(iter(found.benchmarks.values()))


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
