"""The percentile table that HdrHistogram prints (.hgrm), as text and CSV."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from gate.formats.parts.output import shown
from gate.formats.parts.requests import aggregates, float_of
from gate.formats.parts.result import Format, LeftOut, Result
from gate.formats.parts.source import Source
from gate.units import to_base

FORMAT = Format(title="HdrHistogram's percentile table (.hgrm, and `vegeta report -type=hdrplot`)")
_HEADER = re.compile(r'"?Value(?:\((\w+)\))?"?[,\s]+"?Percentile"?[,\s]+"?TotalCount"?[,\s]+"?1/\(1-Percentile\)"?')
_NAME = "histogram"
_WANTED = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}
_WIDTH = 4


@dataclass(slots=True)
class Spectrum:
    """A table, row by row."""

    found: dict[str, float | None] = field(default_factory=dict)
    """By statistic, in the order of the table."""
    sd: float | None = None
    count: float | None = None
    rows: int = 0

    def take(self, line: str) -> bool:
        """Take in a line, and return whether it is one of the table."""
        if line.startswith("#["):
            named = (part.partition("=") for part in line[2:].partition("]")[0].split(","))
            said = {name.strip(): value.split(maxsplit=1)[0] for name, _, value in named if value.strip()}
            mean, most = float_of(said.get("Mean", "")), float_of(said.get("Max", ""))
            if mean is not None:
                self.found["mean"] = mean
            if most is not None:
                self.found["max"] = most
            sd = float_of(said.get("StdDeviation", ""))
            self.sd = self.sd if sd is None else sd
            return True
        cells = [float_of(cell) for cell in re.split(r"[,\s]+", line.strip())]
        # 1/(1-Percentile) is left out of the last row by some writers
        if len(cells) not in (_WIDTH - 1, _WIDTH) or None in cells[: _WIDTH - 1]:
            return False
        value, share, count = (cell or 0.0 for cell in cells[: _WIDTH - 1])
        self.rows += 1
        for name, wanted in _WANTED.items():
            if name not in self.found and share >= wanted:
                self.found[name] = value
        if count > 0:
            self.count = count
        self.found["max"] = value if share >= 1 else self.found.get("max")
        return True


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
