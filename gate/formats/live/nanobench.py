"""The table that C++'s nanobench prints -> values. Format: detail/fmt of nanobench 4.6, src/include/nanobench.h."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from gate.formats.live.suites import times
from gate.formats.live.values import OutputError, Series, refuse_cut_off, shown
from gate.model.digits import Digits
from gate.units import to_base

# a mark, ":hand:" or ":wavy_dash:" of what is unstable, ":boom:" of what was not measured, and why
_ROW = re.compile(r"\|(?P<cells>[^`:]*\|)\s*(?::\w+: ?(?P<why>[^`]*))?`(?P<name>.*?)`(?: \((?P<after>.*)\))?")
_NUMBER = re.compile(r"[0-9][0-9,]*(\.[0-9]+)?")
_DEFAULT_TITLE = "benchmark"


class Row(NamedTuple):
    """A benchmark of a table."""

    name: str
    """With its title in front: "title/name"."""
    unit: str
    """What one time is of: "op"."""
    seconds: float
    problem: str = ""
    """Why it has no time, and on which line; "": it has one."""


def parse(data: bytes, units: Mapping[str, str | None]) -> dict[str, Series]:  # noqa: ARG001 - as all formats
    """Read the median time of each benchmark, in seconds for one operation, named "title/name".

    It is taken from the column with more digits: operations a second, unless they are few.

    Raises:
        OutputError: there is no table, two benchmarks have one name, or the last line has no newline.
    """
    read = times(_medians(data.decode("utf-8", "replace")), "the tables that nanobench prints are expected")
    refuse_cut_off(data, "the output")
    return read


def _medians(text: str) -> Iterator[tuple[str, float]]:
    for row in rows(text.splitlines()):
        if row.problem:
            raise OutputError(f"benchmark {row.name!r}: {row.problem}")
        yield row.name, row.seconds


def full_name(title: str, name: str) -> str:
    """Name a benchmark by its title, where it has one."""
    return name if title in ("", _DEFAULT_TITLE) else f"{title}/{name}"


def is_header(line: str) -> bool:
    """Return whether a line is the header of a table; the spread was called MdAPE in version 3."""
    return bool({"err%", "MdAPE"} & set(_header(line)[0]))


def _header(line: str) -> tuple[list[str], str]:
    """Read the columns and the title of a header, `| ns/op | op/s | err% | total | title`; no columns: it is none."""
    cells, _, title = line.strip().rpartition("| ")
    first, *columns = [cell.strip() for cell in cells.split("|")]
    is_header = not first and any(column.endswith("/s") for column in columns[1:-1])
    return (columns, title.strip()) if is_header else ([], "")


def rows(lines: Iterable[str]) -> Iterator[Row]:
    """Read the rows of all tables, also those without a time above 0; other lines are passed over."""
    columns: list[str] = []
    title = ""
    for place, line in enumerate(lines, 1):
        # something may be printed before a row, without a newline
        row, header = _ROW.fullmatch(line[max(0, line.find("|")) :].rstrip()), _header(line)
        if row and columns:
            # a tick in a name is doubled, and one at its end is not told from the mark
            name = full_name(title, row["name"].replace("``", "`"))
            found = _median(dict(zip(columns, _cells(row["cells"]), strict=False)))
            why = f"line {place}: it has no time: {row['why'] or row['after'] or shown(line.strip().encode())}"
            yield Row(name, found.unit, found.seconds) if found else Row(name, "", 0.0, why.strip())
        elif header[0]:
            columns, title = header


def _median(cells: dict[str, str]) -> Row | None:
    """Read the time of one operation from the column with more digits: its own, or operations a second."""
    rate_name = next((name for name in cells if name.endswith("/s")), "")
    unit = rate_name.removesuffix("/s")
    time_name = next(
        (name for name in cells if name.endswith(f"/{unit}") and to_base(name.split("/")[0])[0] == "s"), ""
    )
    rate, time = cells.get(rate_name, ""), cells.get(time_name, "")
    digits = {text: len(text.replace(",", "").replace(".", "").lstrip("0")) for text in (rate, time)}
    if _NUMBER.fullmatch(time) and digits[time] > digits[rate]:
        return Row("", unit, Digits(time.replace(",", "")) * to_base(time_name.split("/")[0])[1])
    number = float(rate.replace(",", "")) if _NUMBER.fullmatch(rate) else 0.0
    return Row("", unit, 1 / number) if number else None


def _cells(text: str) -> list[str]:
    return [cell.strip() for cell in text.removesuffix("|").split("|")]


FORMAT = parse
