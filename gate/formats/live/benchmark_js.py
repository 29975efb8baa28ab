"""The lines that benchmark.js prints (`String(event.target)`) -> values. Format: toStringBench of benchmark.js 2.1."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from gate.formats.live.libtest import parts
from gate.formats.live.suites import times
from gate.formats.live.values import OutputError, Series, refuse_cut_off, shown

_RESULT = re.compile(
    r" x +(?P<rate>\d[\d,.]*|NaN|Infinity) ops/sec (?:±|\+-|\ufffd)(?P<margin>[\d.]+|NaN|Infinity)% "
    r"\((?P<count>\d+) runs? sampled\)"
)
"""What follows a name. The name is no part of it: from each place of a long line, all the rest would be searched."""
_HEADING = re.compile(r"\s*(?:#+|=+|-{2,}|\*{2,})\s*(?P<text>[^\s#=*-].*?)\s*[#=*-]*\s*")
"""A heading is decorated: `# Strings`, `=== Strings ===`, `-- Strings --`. Other text may differ from run to run."""
_THREW = re.compile(r"\s*(?P<name>\S.{0,200}?): (?P<why>(?:[A-Z]\w*)?Error\b.*)")
_LONGEST = 200
"""Characters of a heading."""


class Row(NamedTuple):
    """A printed benchmark."""

    name: str
    """Its own, with the heading above it and, from the second of one name, a number: "Strings/clsx (2)"."""
    rate: str
    """Calls a second, as printed."""
    margin: str
    """The margin of error at 95%, in percent, as printed."""
    samples: str
    problem: str = ""
    """Why it has no rate, and on which line; "": it has one."""
    threw: bool = False


def parse(data: bytes, units: Mapping[str, str | None]) -> dict[str, Series]:  # noqa: ARG001 - as all formats
    """Read the mean time of one call of each benchmark, in seconds, named "heading/name".

    Raises:
        OutputError: there is no benchmark, a rate is no usable number, or the last line has no newline.
    """
    read = times(
        _means(data.decode("utf-8", "replace")), 'lines such as "name x 1,234 ops/sec ±0.50% (90 runs sampled)"'
    )
    refuse_cut_off(data, "the output")
    return read


def _means(text: str) -> Iterator[tuple[str, float]]:
    for row in rows(text.splitlines()):
        if row.threw:
            # a metric that the other side has is missed there
            continue
        if row.problem:
            raise OutputError(f"benchmark {row.name!r}: {row.problem}")
        try:
            rate = float(row.rate.replace(",", ""))
        except ValueError:
            rate = 0.0
        if not 0 < rate < float("inf"):
            raise OutputError(f"benchmark {row.name!r} gives {row.rate} ops/sec, which is no time of a call")
        yield row.name, 1 / rate


def rows(lines: Iterable[str]) -> Iterator[Row]:
    """Read the benchmarks of all suites, each under a name of its own, and those that threw; other lines are not read.

    Suites often have cases of the same names, such as the libraries that they compare.
    """
    heading, seen = "", dict[str, int]()
    for place, line, found in parts(lines, _RESULT):
        own, problem, threw = line.strip() if found else "", "", None
        if not found and (unread := _unread(line)):
            own, problem, threw = unread[0], f"line {place}: {unread[1]}", _THREW.fullmatch(line)
        if not own:
            decorated = _HEADING.fullmatch(line) if len(line) < _LONGEST else None
            heading = decorated["text"] if decorated else heading
            continue
        name = f"{heading}/{own}" if heading else own
        seen[name] = seen.get(name, 0) + 1
        number = f" ({seen[name]})" if seen[name] > 1 else ""
        rate, margin, count = found.group("rate", "margin", "count") if found else ("", "", "")
        yield Row(name + number, rate, margin, count, problem, threw is not None)


def _unread(line: str) -> tuple[str, str] | None:
    """Return the name and the fault of a benchmark that threw, or whose line is not whole; None: it is none."""
    threw = _THREW.fullmatch(line)
    if threw:
        return threw["name"].strip(), f"it threw: {threw['why'][:_LONGEST]}"
    name, _, rest = line.partition(" x ")
    if name.strip() and re.match(r"\d[\d,.]* ops", rest):
        return name.strip(), f"its rate cannot be read: {shown(line.strip().encode())}"
    return None


FORMAT = parse
