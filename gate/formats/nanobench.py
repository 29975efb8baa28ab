"""nanobench's JSON with measurements or medians alone, and the tables that it prints.

Format: detail/fmt of nanobench 4.6, src/include/nanobench.h.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from gate.formats.parts.json_text import parsed
from gate.formats.parts.live import printed
from gate.formats.parts.output import OutputError, shown
from gate.formats.parts.result import Aggregate, Failed, Format, Measured, Result
from gate.formats.parts.source import Source
from gate.model import Metric
from gate.model.bounds import number
from gate.model.digits import Digits
from gate.units import to_base

FORMAT = Format(title="nanobench (`templates::json()`, standard output)", again="number")
_COUNTERS = ("instructions", "cpucycles", "branchinstructions", "branchmisses", "pagefaults", "contextswitches")
# the templates do not escape names
_NAME = re.compile(r'("(?:title|name|unit)": *")([^\n]*?)"(?=, *"|,? *\n|[,} ]*$)')
_MEDIAN = "median(elapsed)"
# a mark, ":hand:" or ":wavy_dash:" of what is unstable, ":boom:" of what was not measured, and why
_TABLE_ROW = re.compile(r"\|(?P<cells>[^`:]*\|)\s*(?::\w+: ?(?P<why>[^`]*))?`(?P<name>.*?)`(?: \((?P<after>.*)\))?")
_NUMBER = re.compile(r"[0-9][0-9,]*(\.[0-9]+)?")
_DEFAULT_TITLE = "benchmark"


class _Result(msgspec.Struct):
    name: str
    title: str = ""
    unit: str = "op"
    batch: float = 1
    complexity: float = msgspec.field(default=-1, name="complexityN")
    median: float | None = msgspec.field(default=None, name=_MEDIAN)
    measurements: list[dict[str, Any]] = []
    problem: str = ""
    """Of a printed row, why it has no time."""


def recognises(source: Source) -> bool:
    """Return whether it is JSON with medians or epochs, or holds a table."""
    found = source.head.json
    if isinstance(found, (dict, list)):
        first = source.head.element(*(["results"] if isinstance(found, dict) else []))
        epochs = first.get("measurements")
        epoch = epochs[0] if isinstance(epochs, list) and epochs else None
        return "name" in first and (_MEDIAN in first or (isinstance(epoch, dict) and "elapsed" in epoch))
    text = source.head.text
    if text.lstrip().startswith(("{", "[")) and f'"{_MEDIAN}":' in text:
        return True
    return any(_is_header(line) for line in source.head.lines)


def read(source: Source) -> Iterator[Result]:
    """Yield the epochs of each benchmark, or its median."""
    for found in _results(source):
        name = _full_name(found.title, found.name)
        labels = {"unit": found.unit} if found.unit not in ("op", "") else {}
        if found.complexity > 0:
            labels["complexityN"] = f"{found.complexity:.12g}"
        batch = found.batch if found.batch > 0 else 1.0
        epochs = found.measurements
        if found.problem:
            yield Failed(benchmark=name, status=found.problem, labels=labels)
        elif not epochs and found.median is not None:
            # a division would lose which digits were printed
            value = found.median if batch == 1 else found.median / batch
            yield Aggregate(benchmark=name, metric="time", statistic="median", value=value, unit="s", labels=labels)
        elif (times := _values(epochs, "elapsed", batch)) is None:
            yield Failed(benchmark=name, status="an epoch has no time", labels=labels)
        else:
            metrics = {"time": Metric(unit="s", values=times)}
            for counter in _COUNTERS:
                # all 0: not counted on that machine
                counts = _values(epochs, counter, batch)
                if counts and any(counts):
                    metrics[counter] = Metric(unit="", better="lower", values=counts)
            yield Measured(benchmark=name, metrics=metrics, labels=labels)


def _results(source: Source) -> Iterator[_Result]:
    text = source.head.text
    if text.lstrip().startswith(("{", "[")):
        try:
            found = source.document(object, "nanobench's JSON")
        except OutputError:
            found = parsed(_NAME.sub(lambda m: f"{m[1]}{json.dumps(m[2])[1:]}", source.text()))
            if found is None:
                raise
        results = found.get("results") if isinstance(found, dict) else found
        yield from msgspec.convert(results, list[_Result], strict=False)
    else:
        yield from _rows(source.lines())


def _values(epochs: list[dict[str, Any]], key: str, batch: float) -> list[float] | None:
    found = [epoch.get(key) for epoch in epochs]
    numbers = [value / batch for each in found if (value := number(each)) is not None]
    return numbers if numbers and len(numbers) == len(found) else None


def _full_name(title: str, name: str) -> str:
    return name if title in ("", _DEFAULT_TITLE) else f"{title}/{name}"


def _is_header(line: str) -> bool:
    """Return whether a line is the header of a table; the spread was called MdAPE in version 3."""
    return bool({"err%", "MdAPE"} & set(_header(line)[0]))


def _header(line: str) -> tuple[list[str], str]:
    """Read the columns and the title of a header, `| ns/op | op/s | err% | total | title`; no columns: it is none."""
    cells, _, title = line.strip().rpartition("| ")
    first, *columns = [cell.strip() for cell in cells.split("|")]
    is_header = not first and any(column.endswith("/s") for column in columns[1:-1])
    return (columns, title.strip()) if is_header else ([], "")


def _rows(lines: Iterable[str]) -> Iterator[_Result]:
    """Read the rows of all tables, also those without a time above 0; other lines are passed over."""
    columns: list[str] = []
    title = ""
    for place, line in enumerate(lines, 1):
        # something may be printed before a row, without a newline
        row, header = _TABLE_ROW.fullmatch(line[max(0, line.find("|")) :].rstrip()), _header(line)
        if row and columns:
            # a tick in a name is doubled, and one at its end is not told from the mark
            name = _full_name(title, row["name"].replace("``", "`"))
            cells = dict(zip(columns, map(str.strip, row["cells"].removesuffix("|").split("|")), strict=False))
            # what one time is of ("op"), and the time by the column with more digits: its own, or operations a second
            rate_name = next((name for name in cells if name.endswith("/s")), "")
            unit = rate_name.removesuffix("/s")
            times = (name for name in cells if name.endswith(f"/{unit}") and to_base(name.split("/")[0])[0] == "s")
            time_name = next(times, "")
            rate, time = cells.get(rate_name, ""), cells.get(time_name, "")
            digits = {text: len(text.replace(",", "").replace(".", "").lstrip("0")) for text in (rate, time)}
            per_second = float(rate.replace(",", "")) if _NUMBER.fullmatch(rate) else 0.0
            seconds = 1 / per_second if per_second else 0.0
            if _NUMBER.fullmatch(time) and digits[time] > digits[rate]:
                seconds = Digits(time.replace(",", "")) * to_base(time_name.split("/")[0])[1]
            why = f"line {place}: it has no time: {row['why'] or row['after'] or shown(line.strip().encode())}"
            yield _Result(name, unit=unit, median=seconds) if seconds else _Result(name, unit="", problem=why.strip())
        elif header[0]:
            columns, title = header


LIVE = printed(read, "the tables that nanobench prints are expected")
