"""One column of a CSV file with a header line -> values."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence

from gate.adapters.values import OutputError, Series, checked, number, plain_metric, shown, usable
from gate.units import to_base

_DELIMITERS = ",;\t"
_SUFFIXES = {
    **dict.fromkeys(("ns", "nanos", "nanoseconds"), "ns"),
    # micro sign and Greek mu: both are typed
    **dict.fromkeys(("us", "µs", "μs", "micros", "microseconds"), "us"),
    **dict.fromkeys(("ms", "msec", "msecs", "millis", "milliseconds"), "ms"),
    **dict.fromkeys(("s", "sec", "secs", "seconds"), "s"),
    **dict.fromkeys(("b", "bytes"), "B"),
    "kb": "kB", "mb": "MB", "gb": "GB", "kib": "KiB", "mib": "MiB", "gib": "GiB",
}  # fmt: skip


def parse(data: bytes, column: str, units: Mapping[str, str | None]) -> dict[str, Series]:
    """Read the column of that name; the delimiter (comma, semicolon or tab) is the header line's.

    The metric is the only declared one. Without one, a column whose name ends with a unit gives a metric of the rest of
    its name ("latency_ms": latency, in ms), and any other column is what plain numbers are: time, in seconds. A
    declared unit goes before the one in the name. Blank lines are passed over.

    Args:
        units: the declared metrics and their units (None: not said).

    Raises:
        OutputError: there is no such column, or a cell that is no value, by its line from 1.
    """
    text = _text(data)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    cells: list[str] = []
    lines: list[int] = []
    try:
        header = next((row for row in reader if not _is_blank(row)), None)
        if header is None:
            return {}
        place = _place(header, column)
        for row in reader:
            if len(row) > place and not (place == 0 and _is_blank(row)):
                cells.append(row[place])
                lines.append(reader.line_num)
            elif not _is_blank(row):
                raise OutputError(f"line {reader.line_num} of the CSV: ends before the column {column!r}")
    except csv.Error as error:
        raise OutputError(f"line {reader.line_num} of the CSV: {error}") from None
    name, base, scale = _metric(column, units)
    values = _values(cells, lines, column, base, scale)
    return {name: Series(base, values)} if values else {}


def _text(data: bytes) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise OutputError("the CSV is UTF-16: write it as UTF-8")
    return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")


def _delimiter(text: str) -> str:
    header = re.sub(r'"[^"]*"', "", text.lstrip().partition("\n")[0])
    return max(_DELIMITERS, key=header.count)


def _is_blank(row: Sequence[str]) -> bool:
    return not row or (len(row) == 1 and not row[0].strip())


def _place(header: Sequence[str], column: str) -> int:
    names = [name.strip() for name in header]
    if column not in names:
        listed = shown(", ".join(names).encode()) if any(names) else "none"
        raise OutputError(f"the CSV has no column {column!r}: there are {listed}")
    if names.count(column) > 1:
        raise OutputError(f"the CSV has {names.count(column)} columns {column!r}")
    return names.index(column)


def _metric(column: str, units: Mapping[str, str | None]) -> tuple[str, str, float]:
    """Return the metric's name, its base unit and the factor that takes a cell there."""
    stem, _, suffix = column.rpartition("_")
    unit = _SUFFIXES.get(suffix.lower())
    if len(units) == 1:
        name = plain_metric(units)
    elif stem and unit is not None:
        name = stem
    else:
        name = "time"
    declared = units.get(name)
    if declared is None:
        declared = unit if unit is not None else "s" if name == "time" else ""
    base, scale = to_base(declared)
    return name, base, scale


def _values(cells: Sequence[str], lines: Sequence[int], column: str, base: str, scale: float) -> list[float]:
    try:
        values = [value * scale for value in map(float, cells)]
        # float() would take 1_000
        if usable(values, base) and "_" not in "".join(cells):
            return values
    except ValueError:
        pass
    values = []
    for cell, line in zip(cells, lines, strict=True):
        raw = cell.encode("utf-8", "replace")
        try:
            values.append(checked(number(raw) * scale, base, raw))
        except OutputError as error:
            raise OutputError(f"line {line} of the CSV, column {column!r}: {error}") from None
    return values
