"""benchmark.js: the lines of String(event.target).

Format: toStringBench of benchmark.js 2.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from gate.formats.libtest import parts
from gate.formats.parts.live import printed
from gate.formats.parts.output import shown
from gate.formats.parts.result import About, FailedResult, Format, Result, ToolAggregate, aggregate
from gate.formats.parts.source import Source
from gate.model.bounds import Digits

FORMAT = Format(title="benchmark.js (what it prints)", again="number")
_CONFIDENCE = 0.95
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


def recognises(source: Source) -> bool:
    """Return whether one of its lines is as benchmark.js prints it."""
    return any(True for _ in _printed(source.head.lines[:5000]))


def read(source: Source) -> Iterator[Result]:
    """Yield a rate for each line."""
    yield About(tool="benchmark.js")
    yield from (result for result, _ in _printed(source.lines()))


def _rate(name: str, found: re.Match[str]) -> ToolAggregate | FailedResult:
    try:
        rate, margin = Digits(found["rate"].replace(",", "")), float(found["margin"]) / 100
    except ValueError:
        return FailedResult(benchmark=name, status=f"{found['rate']} is not a number")
    if not 0 < rate < float("inf"):
        return FailedResult(benchmark=name, status=f"it gives {found['rate']} ops/sec, which is no rate of calls")
    return aggregate(
        name, "throughput", "mean", rate, unit="1/s", better="higher", low=rate * (1 - margin),
        high=rate * (1 + margin), confidence=_CONFIDENCE, count=int(found["count"][:15]),
    )  # fmt: skip


def _printed(lines: Iterable[str]) -> Iterator[tuple[ToolAggregate | FailedResult, bool]]:
    """Read the benchmarks of all suites, and whether each threw; other lines are not read.

    Suites often have cases of the same names, such as the libraries that they compare: a benchmark is named with the
    heading above it and, from the second of one name, a number: "Strings/clsx (2)".
    """
    heading, seen = "", dict[str, int]()
    for place, line, found in parts(lines, _RESULT):
        threw = None if found else _THREW.fullmatch(line)
        own, why = line, ""
        if threw:
            own, why = threw["name"], f"it threw: {threw['why'][:_LONGEST]}"
        elif not found:
            # its line is not whole, or it is of no benchmark
            own, _, rest = line.partition(" x ")
            own = own if re.match(r"\d[\d,.]* ops", rest) else ""
            why = f"its rate cannot be read: {shown(line.strip().encode())}"
        if not own.strip():
            decorated = _HEADING.fullmatch(line) if len(line) < _LONGEST else None
            heading = decorated["text"] if decorated else heading
            continue
        name = f"{heading}/{own.strip()}" if heading else own.strip()
        seen[name] = seen.get(name, 0) + 1
        name += f" ({seen[name]})" if seen[name] > 1 else ""
        failed = FailedResult(benchmark=name, status=f"line {place}: {why}")
        yield _rate(name, found) if found else failed, threw is not None


# a benchmark that threw is missed where the other side has it
LIVE = printed(
    lambda source: (result for result, threw in _printed(source.lines()) if not threw),
    'lines such as "name x 1,234 ops/sec ±0.50% (90 runs sampled)"',
)
