"""hyperfine's --export-json (1.x and schema 2) with any number of commands, whatever they exited with; its CSV."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from gate.formats.live.values import OutputError
from gate.formats.parts.checking import entry
from gate.formats.parts.requests import float_of
from gate.formats.parts.result import Aggregate, Failed, Format, Measured, Result
from gate.formats.parts.source import Source
from gate.model import Metric
from gate.units import to_base

FORMAT = Format(
    title="hyperfine (`--export-json`, `--export-csv`)",
    execution="one call of hyperfine for one command",
    iteration="one run of the command; none of the CSV",
    trap=(
        "user and system times of 1.x are means over all runs, so they are aggregates; runs that exit with an error "
        "(-i) fail the benchmark; the CSV has statistics alone, and does not say that runs failed"
    ),
)
_METRICS = {"time_wall_clock": "time", "time_user": "user", "time_system": "system", "memory_peak_resident": "memory"}
_HEADER = "command,mean,stddev,median,user,system,min,max"
_PARAMETER = "parameter_"


class _Quantity(msgspec.Struct):
    value: float | None = None
    unit: str = ""


class _Run(msgspec.Struct):
    """A run of 2.0."""

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
    measurements: list[_Run] | None = None
    parameters: dict[str, str | int | float] = {}


class _Export(msgspec.Struct):
    results: list[Any]


def recognises(source: Source) -> bool:
    """Return whether it is a JSON document with "results" of commands, or begins with the header line of the CSV."""
    if source.head.text.startswith(_HEADER):
        return True
    first = source.head.element("results")
    return "command" in first and ("mean" in first or "measurements" in first)


def read(source: Source) -> Iterator[Result]:
    """Yield a process for each command, its parameters as labels; of the CSV aggregates."""
    if source.head.text.startswith(_HEADER):
        yield from _rows(source)
        return
    for place, each in enumerate(source.document(_Export, "hyperfine's JSON").results):
        result = entry(each, _Result, f"results[{place}]", "command")
        yield from [result] if isinstance(result, Failed) else _command(result)


def _command(result: _Result) -> Iterator[Result]:
    name, runs = result.command, result.measurements
    labels = {key: str(value) for key, value in result.parameters.items()}
    try:
        _refuse_failed(result.exit_codes or [r.exit_code for r in runs or () if r.exit_code is not msgspec.UNSET])
        metrics = _version_2(runs) if runs is not None else _version_1(result)
        if not metrics and result.mean is None:
            raise OutputError("neither times nor a mean in the file")
    except OutputError as error:
        yield Failed(benchmark=name, status=str(error), labels=labels)
        return
    if metrics:
        yield Measured(benchmark=name, metrics=metrics, labels=labels)
    yield from _aggregates(result, name, labels, without_times=not metrics)


def _refuse_failed(codes: Sequence[int | msgspec.UnsetType | None]) -> None:
    """Say how often the command failed, and how: a code of null is a signal."""
    counted = Counter(codes)
    failed = ", ".join(
        f"{'ended by a signal' if code is None else f'exit {code}'} in {count} of {len(codes)} runs"
        for code, count in counted.items()
        if code != 0
    )
    if failed:
        raise OutputError(failed)


def _rows(source: Source) -> Iterator[Result]:
    for number, row in enumerate(csv.DictReader(source.raw_lines()), 2):
        found = {key: float_of(row.get(key) or "") for key in _HEADER.split(",")[1:]}
        if found["mean"] is None:
            raise OutputError(f"line {number}: the mean is no number: is the file cut off?")
        labels = {
            key.removeprefix(_PARAMETER): value
            for key, value in row.items()
            if isinstance(key, str) and key.startswith(_PARAMETER) and value
        }
        command = row.get("command") or ""
        result = msgspec.convert({"command": command, **found}, _Result)
        yield from _aggregates(result, command, labels, without_times=True)


def _version_1(result: _Result) -> dict[str, Metric]:
    # memory_usage_byte of 1.18 to 1.20 is a running maximum over the runs, and the file does not name the version
    return {"time": Metric(unit="s", values=result.times)} if result.times else {}


def _version_2(runs: list[_Run]) -> dict[str, Metric]:
    metrics = {}
    for key, name in _METRICS.items():
        quantities: list[_Quantity] = [getattr(run, key) or _Quantity() for run in runs]
        units = [_unit(quantity.unit) for quantity in quantities if quantity.value is not None]
        if name == "time" and len(units) < len(runs):
            raise OutputError(f"{len(runs) - len(units)} of {len(runs)} runs have no {key}")
        # another metric of some runs only would shift the others
        if units and len(units) == len(runs):
            values = [(quantity.value or 0.0) * scale for quantity, (_, scale) in zip(quantities, units, strict=True)]
            metrics[name] = Metric(unit=units[0][0], values=values)
    return metrics


def _unit(name: str) -> tuple[str, float]:
    base, scale = to_base({"second": "s", "millisecond": "ms", "microsecond": "us", "byte": "B"}.get(name, name))
    if base not in ("s", "B"):
        raise OutputError(f"a value in {name!r}, a unit this perfgate does not know")
    return base, scale


def _aggregates(result: _Result, name: str, labels: dict[str, str], *, without_times: bool) -> Iterator[Aggregate]:
    for statistic in ("mean", "median", "min", "max") if without_times else ():
        value = getattr(result, statistic)
        if value is not None:
            yield Aggregate(
                benchmark=name, metric="time", statistic=statistic, value=value, unit="s", labels=labels,
                sd=result.stddev if statistic == "mean" else None,
            )  # fmt: skip
    for metric, value in (("user", result.user), ("system", result.system)):
        if value is not None and result.measurements is None:
            yield Aggregate(benchmark=name, metric=metric, statistic="mean", value=value, unit="s", labels=labels)
