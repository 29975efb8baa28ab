"""BenchmarkDotNet's CSV: the measurements, and the report with units in its cells."""

from __future__ import annotations

import csv
import re
from array import array
from collections.abc import Iterator, Mapping

from gate.adapters.suites import NAME
from gate.adapters.values import OutputError
from gate.model.visible import visible
from gate.results.checking import aggregate, measured
from gate.results.checking import times as times_of
from gate.results.result import About, Failed, Result
from gate.results.source import Head, Source

CONFIDENCE = 0.999
"""Of BenchmarkDotNet's errors and intervals."""
_NS = 1e-9
_SEPARATORS = ",;\t"
# a report's sizes are of 1024 B, whatever they are called
_UNITS = {
    "ns": ("s", 1e-9), "us": ("s", 1e-6), "µs": ("s", 1e-6), "μs": ("s", 1e-6), "ms": ("s", 1e-3), "s": ("s", 1.0),
    "m": ("s", 60.0), "b": ("B", 1.0), "kb": ("B", 1024.0), "mb": ("B", 1024.0**2), "gb": ("B", 1024.0**3),
}  # fmt: skip
_STATISTICS = {
    "mean": "mean", "median": "p50", "min": "min", "max": "max", "q1": "p25", "q3": "p75",
}  # fmt: skip
_LAST_OF_JOB = ("WarmupCount", "UnrollFactor", "RunStrategy")
_NOT_PARAMETERS = {
    "Method", "Job", "Type", "Namespace", "Runtime", "Toolchain", "Categories", "LogicalGroup", "Baseline", "Arguments",
    "IterationCount", "LaunchCount", "InvocationCount", "Platform", "Jit", "Server", "Force", "Affinity",
}  # fmt: skip
_OF_MEASUREMENTS = {"Measurement_IterationMode", "Measurement_Nanoseconds"}
_TITLE = re.compile(rf"(?P<name>{NAME}|)\s*+\[(?P<unit>[^\[\]]+)\]")
_CELL = re.compile(r"(?P<number>-?[\d.,\s\u00a0\u202f'’]*\d)\s*(?P<unit>[^\d\s].*)?")
_GEN = re.compile(r"Gen ?(\d)")


def stage(mode: str, stage: str | None) -> str:
    """Say what a measurement is for: "result", "actual", or "" where it is not of the benchmark itself.

    Before 0.11.2 the mode said it all: "Result" and "MainTarget".
    """
    if stage is None:
        return {"Result": "result", "MainTarget": "actual"}.get(mode, "")
    return {"Result": "result", "Actual": "actual"}.get(stage, "") if mode in ("Workload", "Result") else ""


def kind(head: Head) -> str | None:
    """Return which table it begins: "measurements", "report", or None."""
    first = head.text.lstrip().split("\n", 1)[0]
    for separator in _SEPARATORS:
        titles = [title.strip('" ') for title in first.split(separator)]
        if set(titles) >= _OF_MEASUREMENTS:
            return "measurements"
        # a report of several types has their names in front of the method
        if {"Method", "Job"} <= set(titles[:4]) and any(_named(title) == "Mean" for title in titles):
            return "report"
    return None


def _named(title: str) -> str:
    match = _TITLE.fullmatch(title)
    return match["name"] if match else title


def read(source: Source) -> Iterator[Result]:
    """Yield what a table holds.

    Raises:
        OutputError: it is no table.
    """
    yield About(tool="BenchmarkDotNet")
    first = source.head.text.lstrip().split("\n", 1)[0]
    separator = max(_SEPARATORS, key=first.count)
    what = kind(source.head)
    with source.text_file() as file:
        rows = csv.reader(file, delimiter=separator)
        try:
            titles = [title.strip() for title in next(rows, [])]
            if what == "measurements" and set(titles) >= _OF_MEASUREMENTS:
                yield from _measurements(titles, rows)
            elif what == "report" and "Mean" in map(_named, titles):
                yield from _report(titles, rows, decimal="," if separator == ";" else ".")
            else:
                raise OutputError("the titles are not those of a report or of measurements")
        except csv.Error as error:
            raise OutputError(f"line {rows.line_num}: {error}") from None


def _measurements(titles: list[str], rows: Iterator[list[str]]) -> Iterator[Result]:
    place = {title: at for at, title in enumerate(titles)}
    names = [place[key] for key in ("Target_Namespace", "Target_Type", "Target_Method") if key in place]
    mode, stage_at = place["Measurement_IterationMode"], place.get("Measurement_IterationStage")
    nanoseconds, operations = place["Measurement_Nanoseconds"], place.get("Measurement_Operations")
    launch, params, job = (place.get(key) for key in ("Measurement_LaunchIndex", "Params", "Job_Id"))
    times: dict[tuple[str, str, str], dict[tuple[str, str], array[float]]] = {}
    for number, row in enumerate(rows, 2):
        # the last may be cut off
        own = stage(row[mode], None if stage_at is None else row[stage_at]) if len(row) >= len(titles) else ""
        if not own:
            continue
        time = _plain(row[nanoseconds])
        count = 1.0 if operations is None else _plain(row[operations])
        if time is None or not count:
            raise OutputError(f"line {number}: {row[nanoseconds]!r} is not a time, or it has no operations")
        name = ".".join(row[at] for at in names if row[at])
        key = (name, "" if params is None else row[params], "" if job is None else row[job])
        at = (own, "" if launch is None else row[launch])
        times.setdefault(key, {}).setdefault(at, array("d")).append(time / count * _NS)
    for (name, shown, id_), found in times.items():
        labels = {**_parameters(shown), **({"job": id_} if id_ else {})}
        results = [values for (own, _), values in found.items() if own == "result"] or list(found.values())
        for execution, values in enumerate(results):
            yield measured(name, {"time": times_of(values)}, execution=execution, labels=labels)


def _parameters(text: str) -> dict[str, str]:
    parts = (part.partition("=") for part in re.split(r"&(?=[^&=]+=)", text) if "=" in part)
    return {name: value for name, _, value in parts}


def _report(titles: list[str], rows: Iterator[list[str]], *, decimal: str) -> Iterator[Result]:
    names = [_named(title) for title in titles]
    mean = names.index("Mean")
    before = [names.index(last) + 1 for last in _LAST_OF_JOB if last in names]
    of_job = max(before, default=1)
    params = [at for at in range(of_job, mean) if names[at] not in _NOT_PARAMETERS]
    for row in rows:
        if len(row) < len(titles):
            if any(row):
                yield Failed(benchmark=visible(row[0]), status="its row is cut off")
            continue
        cells = dict(zip(names, row, strict=False))
        name = ".".join(cells[key] for key in ("Namespace", "Type", "Method") if cells.get(key))
        labels = {names[at]: row[at] for at in params}
        labels.update(
            {key.lower(): cells[key] for key in ("Job", "Runtime") if cells.get(key) not in (None, "", "Default")}
        )
        units = {_named(title): match["unit"] for title in titles if (match := _TITLE.fullmatch(title))}
        yield from _row(name, cells, units, labels, decimal)


def _row(
    name: str, cells: Mapping[str, str], units: Mapping[str, str], labels: Mapping[str, str], decimal: str
) -> Iterator[Result]:
    def value(title: str) -> tuple[float, str] | None:
        return _cell(cells.get(title, ""), units.get(title, ""), decimal)

    mean = value("Mean")
    if mean is None:
        status = f"its mean is {visible(cells.get('Mean', ''))!r}"
        yield Failed(benchmark=visible(name), status=status, labels=dict(labels))
        return
    half, deviation = value("Error"), value("StdDev")
    for title in cells:
        statistic = _STATISTICS.get(title.lower()) or (title.lower() if re.fullmatch(r"P\d{1,3}", title) else None)
        found = value(title) if statistic else None
        if statistic is None or found is None:
            continue
        is_mean = statistic == "mean"
        low, high = (found[0] - half[0], found[0] + half[0]) if is_mean and half else (None, None)
        yield aggregate(
            name, "time", statistic, found[0], unit=found[1], low=low, high=high, confidence=CONFIDENCE,
            sd=deviation[0] if is_mean and deviation else None, labels=labels,
        )  # fmt: skip
    yield from _others(name, cells, units, labels, decimal)


def _others(
    name: str, cells: Mapping[str, str], units: Mapping[str, str], labels: Mapping[str, str], decimal: str
) -> Iterator[Result]:
    """Yield what stands beside the times: memory, collections a thousand operations, and the rate."""
    for title, cell in cells.items():
        found = _cell(cell, units.get(title, ""), decimal)
        if found is None:
            continue
        if title == "Allocated":
            yield aggregate(name, "memory", "value", found[0], unit="B", labels=labels)
        elif title == "Op/s":
            yield aggregate(name, "throughput", "mean", found[0], unit="1/s", better="higher", labels=labels)
        elif (gen := _GEN.fullmatch(title)) is not None:
            yield aggregate(name, f"Gen{gen[1]}Collects", "value", found[0], labels=labels)


def _cell(text: str, unit: str, decimal: str) -> tuple[float, str] | None:
    """Read "14.65 us" into seconds, "1.97 MB" into bytes; None where there is no number, such as "NA"."""
    match = _CELL.fullmatch(text.strip())
    if match is None:
        return None
    digits = re.sub(r"[\s\u00a0\u202f'’]", "", match["number"])
    both = "." in digits and "," in digits
    mark = max(".,", key=digits.rfind) if both else decimal
    other = "," if mark == "." else "."
    number = _plain(digits.replace(other, "").replace(mark, "."))
    base, scale = _UNITS.get((match["unit"] or unit).strip().lower(), ("", 1.0))
    return None if number is None else (number * scale, base)


def _plain(text: str) -> float | None:
    """Read a number without marks of thousands, with a point or a comma."""
    own = text.strip().replace(",", ".")
    try:
        return float(own) if own.isascii() and "_" not in own else None
    except ValueError:
        return None
