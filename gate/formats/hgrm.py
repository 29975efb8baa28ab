"""The percentile table that HdrHistogram prints (.hgrm), as text and CSV."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gate.formats.parts.output import shown
from gate.formats.parts.requests import aggregates
from gate.formats.parts.result import Format, LeftOut, Result
from gate.formats.parts.source import Source
from gate.formats.parts.spectrum import Spectrum
from gate.units import to_base

FORMAT = Format(
    title="HdrHistogram's percentile table (.hgrm, and `vegeta report -type=hdrplot`)",
    execution="the file",
    iteration="none",
    trap=(
        "the table names neither the benchmark nor, but for vegeta's, the unit, so values are bare numbers; a "
        "percentile is the value of the first row at or above it"
    ),
)
_HEADER = re.compile(r'"?Value(?:\((\w+)\))?"?[,\s]+"?Percentile"?[,\s]+"?TotalCount"?[,\s]+"?1/\(1-Percentile\)"?')
_NAME = "histogram"


def recognises(source: Source) -> bool:
    """Return whether its first line is the header of the table; comments may stand before it."""
    return _header(source) is not None


def _header(source: Source) -> re.Match[str] | None:
    first = next((line for line in source.head.lines if not line.startswith("#")), "")
    return _HEADER.fullmatch(first.strip())


def read(source: Source) -> Iterator[Result]:
    """Yield the aggregates of the table."""
    header = _header(source)
    base, scale = to_base(header[1] if header and header[1] else "")
    table = Spectrum()
    for place, line in enumerate(map(str.strip, source.lines()), 1):
        if line and not (table.take(line) or line.startswith("#") or _HEADER.fullmatch(line)):
            yield LeftOut(f"line {place} is no row of the table: {shown(line.encode())}")
    found = {statistic: value * scale for statistic, value in table.found.items() if value is not None}
    yield from aggregates(
        _NAME, "time" if base == "s" else "value", found, unit=base, count=table.count,
        sd=None if table.sd is None else table.sd * scale,
    )  # fmt: skip
