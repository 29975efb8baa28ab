"""hyperfine's --export-json (1.x and schema 2) with any number of commands, whatever they exited with; its CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any

import msgspec

from gate.adapters.values import OutputError
from gate.model import Metric
from gate.model.visible import visible
from gate.results.parts.requests import float_of
from gate.results.result import Aggregate, Failed, Format, Measured, Result
from gate.results.source import Source
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
    measurements: list[dict[str, Any]] | None = None
    parameters: dict[str, str | int | float] = {}


class _Export(msgspec.Struct):
    results: list[_Result]


def recognises(source: Source) -> bool:
    """Return whether it is a JSON document with "results" of commands, or begins with the header line of the CSV."""
    if source.head.text.startswith(_HEADER):
        return True
    found = source.head.json
    results = found.get("results") if isinstance(found, dict) else None
    first = results[0] if isinstance(results, list) and results else None
    return isinstance(first, dict) and "command" in first and ("mean" in first or "measurements" in first)


def read(source: Source) -> Iterator[Result]:
    """Yield a process for each command, its parameters as labels; of the CSV aggregates."""
    if source.head.text.startswith(_HEADER):
        yield from _rows(source)
        return
    for result in source.document(_Export, "hyperfine's JSON").results:
        name = visible(result.command)
        labels = {key: str(value) for key, value in result.parameters.items()}
        codes = result.exit_codes or [run.get("exit_code") for run in result.measurements or ()]
        bad = [code for code in codes if code != 0]
        if bad and any(code is not None for code in codes):
            runs = f"{len(bad)} of {len(codes)} runs"
            ended = "ended by a signal" if bad[0] is None else f"exit {bad[0]}"
            yield Failed(benchmark=name, status=f"{ended} in {runs}", labels=labels)
            continue
        metrics = _version_2(result.measurements) if result.measurements is not None else _version_1(result)
        if metrics:
            yield Measured(benchmark=name, metrics=metrics, labels=labels)
        yield from _aggregates(result, name, labels, without_times=not metrics)


def _rows(source: Source) -> Iterator[Result]:
    with source.text_file() as file:
        for number, row in enumerate(csv.DictReader(file), 2):
            found = {key: float_of(row.get(key) or "") for key in _HEADER.split(",")[1:]}
            if found["mean"] is None:
                raise OutputError(f"line {number}: the mean is no number: is the file cut off?")
            labels = {
                key.removeprefix(_PARAMETER): visible(value)
                for key, value in row.items()
                if isinstance(key, str) and key.startswith(_PARAMETER) and value
            }
            command = row.get("command") or ""
            result = msgspec.convert({"command": command, **found}, _Result)
            yield from _aggregates(result, visible(command), labels, without_times=True)


def _version_1(result: _Result) -> dict[str, Metric]:
    # memory_usage_byte of 1.18 to 1.20 is a running maximum over the runs, and the file does not name the version
    return {"time": Metric(unit="s", values=result.times)} if result.times else {}


def _version_2(runs: list[dict[str, Any]]) -> dict[str, Metric]:
    metrics = {}
    for key, name in _METRICS.items():
        # a metric of some runs only would shift the others
        if runs and all(isinstance(run.get(key), dict) for run in runs):
            unit = _unit(str(runs[0][key].get("unit", "")))
            metrics[name] = Metric(unit=unit[0], values=[float(run[key]["value"]) * unit[1] for run in runs])
    return metrics


def _unit(name: str) -> tuple[str, float]:
    base, scale = to_base({"second": "s", "millisecond": "ms", "microsecond": "us", "byte": "B"}.get(name, name))
    if base not in ("s", "B"):
        raise OutputError(f"a value in {visible(name)!r}, a unit this perfgate does not know")
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
