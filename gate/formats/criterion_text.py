"""The lines that Criterion.rs prints of each benchmark."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gate.formats.parts.output import NAME, OutputError, shown
from gate.formats.parts.result import Aggregate, Failed, Format, Result
from gate.formats.parts.source import Source
from gate.formats.parts.written_units import written
from gate.model import Better
from gate.model.digits import Digits
from gate.units import to_base
from gate.writing.plain import visible

FORMAT = Format(
    title="Criterion.rs (standard output)",
    execution="the file; a benchmark that comes again is of another process",
    iteration="none: an estimate with its interval",
    trap="the estimate is a slope or a mean, which the text does not say; the folder target/criterion has the values",
)
_VALUE = r"(\d[\d.]*(?:e[+-]?\d+)?) +([^\s\d\]][^\s\]]*(?: [^\s\d\]][^\s\]]*)*)"
_LINE = re.compile(rf"(?P<name>{NAME})?\s++(?P<what>time|thrpt):\s+\[{_VALUE} {_VALUE} {_VALUE}\]\s*", re.ASCII)
# the lines below "change:" hold shares
_UNREAD = re.compile(r"(?P<name>.*?)\s(?P<what>time|thrpt): +\[(?!.*%)")
_BEGUN = re.compile(r"Benchmarking (?P<name>\S.*?)(?:: (?:Warming up|Collecting|Analyzing|Profiling|Complete).*|:)?")
_NOT_A_NAME = ("Benchmarking ", "Found ", "Warning:", "Running ", "Gnuplot ", "test ")
_RATE = re.compile(r"(?P<prefix>[KMGT]?)(?P<binary>i?)(?P<unit>B|elem(?:ent)?s?|bit|b)/s", re.ASCII)
_PREFIXES = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
# what a custom measurement takes for a byte or an element, of which less is better
_COST = re.compile(r"cp[be]|.+/.+")
_PANIC = re.compile(r"thread '.*' (?:\(\d+\) )?panicked at ")


def recognises(source: Source) -> bool:
    """Return whether it has a line with the estimate of a time."""
    return any((found := _LINE.fullmatch(line)) and found["what"] == "time" for line in source.head.lines)


def read(source: Source) -> Iterator[Result]:
    """Yield the estimate of each benchmark, and of its throughput; other lines are passed over."""
    seen: dict[str, int] = {}
    begun: dict[str, int] = {}
    name, above, measured = "", "", ""
    for place, line in enumerate(source.lines(), 1):
        found = _LINE.fullmatch(line) or _UNREAD.match(line)
        if found:
            if found["what"] == "time":
                # a name that is too long for the column stands on a line of its own
                name, above = (found["name"] or above).strip(), ""
                seen[name] = seen.get(name, -1) + 1
                measured = found[4] if found.re is _LINE else ""
            yield _estimate(found, name, seen.get(name, 0), place, measured)
        elif _PANIC.match(line):
            yield Failed(benchmark=None, status="a benchmark panicked", stderr=visible(line[:500]))
        elif begins := _BEGUN.fullmatch(line):
            above = begins["name"]
            begun.setdefault(above, place)
        elif line.strip() and not line.startswith((" ", *_NOT_A_NAME)):
            above = line
    for name, place in begun.items():
        if name not in seen:
            yield Failed(benchmark=name, status=f"line {place}: it began, and no estimate of it is there")


def _estimate(found: re.Match[str], name: str, execution: int, place: int, measured: str) -> Result:
    """Make an aggregate of a line, or a failure of one that is not whole; measured: the unit of the first line."""
    if found.re is not _LINE or not name:
        what = f"its {found['what']} cannot be read" if name else "an estimate without a name"
        why = f"line {place}: {what}: {shown(found.string.strip().encode())}"
        return Failed(benchmark=name or None, status=why, execution=execution)
    values = [_base(found[number], found[number + 1], place) for number in (3, 5, 7)]
    (low, unit), (value, _), (high, _) = values
    metric = "time" if unit == "s" else unit
    better: Better = "lower"
    if found["what"] == "thrpt":
        is_rate = written(unit).metric == "throughput"
        is_cost = not is_rate and (unit == to_base(measured)[0] or _COST.fullmatch(unit) is not None)
        better = "lower" if is_cost else "higher"
        metric = unit if is_cost and unit != to_base(measured)[0] else "throughput"
    return Aggregate(
            benchmark=name, metric=metric, statistic="value", value=value, unit=unit, better=better,
            low=min(low, high), high=max(low, high), execution=execution,
        )  # fmt: skip


def _base(number: str, unit: str, place: int) -> tuple[float, str]:
    try:
        value = Digits(number)
    except ValueError:
        raise OutputError(f"line {place}: {number} is not a number") from None
    rate = _RATE.fullmatch(unit)
    if rate:
        scale = 1024.0 ** "KMGT".index(rate["prefix"]) * 1024 if rate["binary"] else _PREFIXES[rate["prefix"]]
        return value * scale, {"B": "B/s", "b": "bit/s", "bit": "bit/s"}.get(rate["unit"], "1/s")
    own = written(unit)
    return value * own.scale, own.unit
