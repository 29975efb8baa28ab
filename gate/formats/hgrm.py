"""The percentile table that HdrHistogram prints (.hgrm), as text and CSV."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gate.formats.parts.output import shown
from gate.formats.parts.requests import aggregates, float_of
from gate.formats.parts.result import Format, LeftOut, Result
from gate.formats.parts.source import Source
from gate.units import to_base

FORMAT = Format(title="HdrHistogram's percentile table (.hgrm, and `vegeta report -type=hdrplot`)")
_HEADER = re.compile(r'"?Value(?:\((\w+)\))?"?[,\s]+"?Percentile"?[,\s]+"?TotalCount"?[,\s]+"?1/\(1-Percentile\)"?')
_NAME = "histogram"
_WANTED = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}
_SAID = {"Mean": "mean", "Max": "max"}
_WIDTH = 4


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
    found = dict[str, float]()
    sd = count = None
    for place, line in enumerate(map(str.strip, source.lines()), 1):
        if line.startswith("#["):
            named = (part.partition("=") for part in line[2:].partition("]")[0].split(","))
            said = {name.strip(): float_of(value.split(maxsplit=1)[0]) for name, _, value in named if value.strip()}
            found |= {own: value for name, own in _SAID.items() if (value := said.get(name)) is not None}
            sd = said.get("StdDeviation", sd)
            continue
        cells = [float_of(cell) for cell in re.split(r"[,\s]+", line)]
        # 1/(1-Percentile) is left out of the last row by some writers
        if len(cells) in (_WIDTH - 1, _WIDTH) and None not in cells[: _WIDTH - 1]:
            value, share, below = (cell or 0.0 for cell in cells[: _WIDTH - 1])
            for name, wanted in _WANTED.items():
                if share >= wanted:
                    found.setdefault(name, value)
            count = below or count
            found |= {"max": value} if share >= 1 else {}
        elif line and not line.startswith("#") and not _HEADER.fullmatch(line):
            yield LeftOut(f"line {place} is no row of the table: {shown(line.encode())}")
    yield from aggregates(
        _NAME, "time" if base == "s" else "value", {name: value * scale for name, value in found.items()}, unit=base,
        count=count, sd=None if sd is None else sd * scale,
    )  # fmt: skip
