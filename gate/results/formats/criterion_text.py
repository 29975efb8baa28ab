"""The lines that Criterion.rs prints of each benchmark."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gate.adapters.suites import NAME
from gate.adapters.values import OutputError
from gate.model import Better
from gate.model.visible import visible
from gate.results.result import Aggregate, Failed, Format, Result
from gate.results.source import Source
from gate.units import to_base

FORMAT = Format(
    title="Criterion.rs (standard output)",
    execution="the file; a benchmark that comes again is of another process",
    iteration="none: an estimate with its interval",
    trap="the estimate is a slope or a mean, which the text does not say; the folder target/criterion has the values",
)
_VALUE = r"(\d[\d.]*(?:e[+-]?\d+)?) +(\S+)"
_LINE = re.compile(rf"(?P<name>{NAME})?\s++(?P<what>time|thrpt):\s+\[{_VALUE} {_VALUE} {_VALUE}\]\s*", re.ASCII)
_NOT_A_NAME = ("Benchmarking ", "Found ", "Warning:", "Running ", "Gnuplot ", "test ")
_PREFIXES = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_RATE = re.compile(r"(?P<prefix>[KMGT]?)(?P<binary>i?)(?P<unit>B|elem|bit|b)/s", re.ASCII)
_PANIC = re.compile(r"thread '.*' (?:\(\d+\) )?panicked at ")


def recognises(source: Source) -> bool:
    """Return whether it has a line with the estimate of a time."""
    return any((found := _LINE.fullmatch(line)) and found["what"] == "time" for line in source.head.lines)


def read(source: Source) -> Iterator[Result]:
    """Yield the estimate of each benchmark, and of its throughput; other lines are passed over."""
    seen: dict[str, int] = {}
    name, above = "", ""
    for place, line in enumerate(source.lines(), 1):
        found = _LINE.fullmatch(line)
        if found:
            if found["what"] == "time":
                # a name that is too long for the column stands on a line of its own
                name = visible((found["name"] or above).strip())
                seen[name] = seen.get(name, -1) + 1
            if name:
                yield _estimate(found, name, seen[name], place)
        elif _PANIC.match(line):
            yield Failed(benchmark=None, status="a benchmark panicked", stderr=visible(line[:500]))
        elif line.strip() and not line.startswith((" ", *_NOT_A_NAME)):
            above = line


def _estimate(found: re.Match[str], name: str, execution: int, place: int) -> Result:
    better: Better = "lower" if found["what"] == "time" else "higher"
    values = [_base(found[number], found[number + 1], place) for number in (3, 5, 7)]
    (low, unit), (value, _), (high, _) = values
    metric = "throughput" if better == "higher" else "time" if unit == "s" else unit
    return Aggregate(
            benchmark=name, metric=metric, statistic="value", value=value, unit=unit, better=better,
            low=min(low, high), high=max(low, high), execution=execution,
        )  # fmt: skip


def _base(number: str, unit: str, place: int) -> tuple[float, str]:
    try:
        value = float(number)
    except ValueError:
        raise OutputError(f"line {place}: {visible(number)} is not a number") from None
    rate = _RATE.fullmatch(unit)
    if rate:
        scale = 1024.0 ** "KMGT".index(rate["prefix"]) * 1024 if rate["binary"] else _PREFIXES[rate["prefix"]]
        return value * scale, {"B": "B/s", "elem": "1/s"}.get(rate["unit"], "bit/s")
    if unit == "ps":
        return value * 1e-12, "s"
    base, factor = to_base(unit)
    return value * factor, visible(base)
