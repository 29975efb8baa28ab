"""The table that C++'s nanobench prints -> values. Format: detail/fmt of nanobench 4.6, src/include/nanobench.h."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from gate.adapters.suites import times
from gate.adapters.values import Series, refuse_cut_off

_ROW = re.compile(r"\|(?P<cells>[^`:]*\|)\s*(?::wavy_dash: )?`(?P<name>.*?)`( \(Unstable with .*)?")
_HEADER = re.compile(r"\|(?P<cells>.*\|.*/s \|.*\|) (?P<title>.*)")
_DEFAULT_TITLE = "benchmark"


def parse(data: bytes, units: Mapping[str, str | None]) -> dict[str, Series]:  # noqa: ARG001 - as all formats
    """Read the median time of each benchmark, in seconds for one operation, named "title/name".

    It is taken from the column of operations a second, which has more digits than the time beside it.

    Raises:
        OutputError: there is no table, two benchmarks have one name, or the last line has no newline.
    """
    read = times(_medians(data.decode("utf-8", "replace")), "the tables that nanobench prints are expected")
    refuse_cut_off(data, "the output")
    return read


def _medians(text: str) -> Iterator[tuple[str, float]]:
    columns: list[str] = []
    title = ""
    for line in text.splitlines():
        row, header = _ROW.fullmatch(line.rstrip()), _HEADER.fullmatch(line.rstrip())
        if row and columns:
            cells = dict(zip(columns, _cells(row["cells"]), strict=False))
            rate = next((cells[name] for name in cells if name.endswith("/s")), "")
            number = float(rate.replace(",", "")) if re.fullmatch(r"[0-9][0-9,]*(\.[0-9]+)?", rate) else 0.0
            if number:
                yield f"{title}{row['name']}", 1 / number
        elif header:
            columns = _cells(header["cells"])
            title = "" if header["title"] == _DEFAULT_TITLE else f"{header['title']}/"


def _cells(text: str) -> list[str]:
    return [cell.strip() for cell in text.removesuffix("|").split("|")]


FORMAT = parse
