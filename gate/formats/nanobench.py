"""The tables that nanobench prints. Format: src/include/nanobench.h of nanobench 4.6."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gate.formats.parts.live import printed
from gate.formats.parts.output import shown
from gate.formats.parts.result import FailedResult, Format, Result, ToolAggregate
from gate.formats.parts.source import Source
from gate.model.bounds import Digits
from gate.writing.units import to_base

FORMAT = Format(title="nanobench (standard output)", again="number")
# a mark, ":hand:" or ":wavy_dash:" of what is unstable, ":boom:" of what was not measured, and why
_TABLE_ROW = re.compile(r"\|(?P<cells>[^`:]*\|)\s*(?::\w+: ?(?P<why>[^`]*))?`(?P<name>.*?)`(?: \((?P<after>.*)\))?")
_NUMBER = re.compile(r"[0-9][0-9,]*(\.[0-9]+)?")
_DEFAULT_TITLE = "benchmark"


def recognises(source: Source) -> bool:
    """Return whether it holds the header of a table; the spread was called MdAPE in version 3."""
    return any({"err%", "MdAPE"} & set(_header(line)[0]) for line in source.head.lines)


def read(source: Source) -> Iterator[Result]:
    """Yield the time of each row of all tables, which is a median; other lines are passed over."""
    columns: list[str] = []
    title = ""
    for place, line in enumerate(source.lines(), 1):
        # something may be printed before a row, without a newline
        row, header = _TABLE_ROW.fullmatch(line[max(0, line.find("|")) :].rstrip()), _header(line)
        if row and columns:
            # a tick in a name is doubled, and one at its end is not told from the mark
            name = row["name"].replace("``", "`")
            name = name if title in ("", _DEFAULT_TITLE) else f"{title}/{name}"
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
            labels = {"unit": unit} if unit not in ("op", "") else {}
            if seconds:
                yield ToolAggregate(
                    benchmark=name, metric="time", statistic="median", value=seconds, unit="s", labels=labels
                )
            else:
                why = row["why"] or row["after"] or shown(line.strip().encode())
                yield FailedResult(benchmark=name, status=f"line {place}: it has no time: {why}".strip())
        elif header[0]:
            columns, title = header


def _header(line: str) -> tuple[list[str], str]:
    """Read the columns and the title of a header, `| ns/op | op/s | err% | total | title`; no columns: it is none."""
    cells, _, title = line.strip().rpartition("| ")
    first, *columns = [cell.strip() for cell in cells.split("|")]
    is_header = not first and any(column.endswith("/s") for column in columns[1:-1])
    return (columns, title.strip()) if is_header else ([], "")


LIVE = printed(read, "the tables that nanobench prints are expected")
