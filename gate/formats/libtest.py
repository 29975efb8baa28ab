"""The lines of Rust's own benches, of bencher and of Criterion's `--output-format bencher`.

Format: library/test/src/formatters/pretty.rs of Rust, bencher's src/lib.rs, and BencherReport in Criterion's
src/report.rs, whose unit is that of its measurement.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from gate.formats.parts.live import printed
from gate.formats.parts.output import shown, written
from gate.formats.parts.result import FailedResult, Format, LeftOut, Result, ToolAggregate
from gate.formats.parts.source import Source
from gate.model import Better
from gate.model.bounds import Digits

FORMAT = Format(
    title="Rust's libtest and bencher (`test NAME ... bench:` lines, also of Criterion's `--output-format bencher`)",
    again="process",
)
_RESULT = re.compile(
    r"bench:\s+(?P<value>\d[\d,]*(?:\.\d+)?) (?P<unit>[^\s\d(][^\s(]*(?: [^\s\d(][^\s(]*)*)"
    r" \((?:[^)\n]*\)(?: = (?P<rate>\d+) MB/s)?)?",
    re.ASCII,
)
"""A value, and the bytes that are worked through in millions a second if the benchmark says how many."""
_TEST = re.compile(r"(?:^|(?<=\s))test ")
_BEHIND = re.compile(r"test ")
"""The same, where something else was printed before it without a blank."""
_ENDED = ("ok", "FAILED", "ignored")
_EACH = "/iter"


def recognises(source: Source) -> bool:
    """Return whether one of its lines is a benchmark's."""
    return any(isinstance(each, ToolAggregate) for each in _printed(source.head.lines))


def read(source: Source) -> Iterator[Result]:
    """Yield the median of each benchmark; other lines are passed over."""
    yield from _printed(source.lines())


def _median(name: str, value: float, printed: str, rate: float | None) -> Iterator[ToolAggregate]:
    """Yield what is given of a benchmark: a value in a unit as printed, and megabytes a second."""
    own = written(printed)
    # a unit of one's own is a metric of its own
    metric = own.unit if own.metric == "value" else own.metric
    better: Better = "higher" if own.metric == "throughput" else "lower"
    yield ToolAggregate(
        benchmark=name, metric=metric, statistic="median", value=value * own.scale, unit=own.unit, better=better
    )
    if rate:
        yield ToolAggregate(
            benchmark=name, metric="throughput", statistic="median", value=rate * 1e6, unit="B/s", better="higher"
        )


def _printed(lines: Iterable[str]) -> Iterator[ToolAggregate | FailedResult | LeftOut]:
    """Read benchmarks, and those that began and have no result that can be read; other lines are passed over.

    What a benchmark prints stands between its name and its result.
    """
    begun, line_of = "", 0
    for place, line, result in parts(lines, _RESULT):
        name, rest = _named(line, certain=result is not None)
        if name and begun:
            yield FailedResult(benchmark=begun, status=f"line {line_of}: it began, and its result cannot be read")
            begun = ""
        name = name or begun
        if result and name:
            value, rate = Digits(result["value"].replace(",", "")), result["rate"]
            yield from _median(name, value, result["unit"].removesuffix(_EACH), Digits(rate) if rate else None)
        elif result:
            yield LeftOut(f"line {place}: a result without a name")
        elif rest == "FAILED":
            yield FailedResult(benchmark=name, status="it failed")
        elif rest and rest.startswith("bench:"):
            why = f"line {place}: its result cannot be read: {shown(line.strip().encode())}"
            yield FailedResult(benchmark=name, status=why)
        if result:
            begun = ""
        elif rest and not rest.startswith((*_ENDED, "bench:")) and line.startswith("test "):
            begun, line_of = name, place
    if begun:
        yield FailedResult(benchmark=begun, status=f"line {line_of}: it began, and its result cannot be read")


def parts(lines: Iterable[str], pattern: re.Pattern[str]) -> Iterator[tuple[int, str, re.Match[str] | None]]:
    """Number lines, and give what stands before each result, with the result; what is behind the last one has none.

    Files that are put together without a newline have several on a line.
    """
    for place, line in enumerate(lines, 1):
        at = 0
        for result in pattern.finditer(line):
            yield place, line[at : result.start()], result
            at = result.end()
        if not at or line[at:].strip():
            yield place, line[at:].lstrip() if at else line, None


def _named(line: str, *, certain: bool) -> tuple[str, str]:
    """Return the name that a line begins with, also behind a log's own words, and what follows it; "": it has none.

    Args:
        certain: its result follows, so that it has a name, whatever stands before that.
    """
    before, dots, rest = line.partition("... ")
    called = dots and before[-1:] in (" ", "\t")
    test = (_TEST.search(before) or (_BEHIND.search(before) if certain else None)) if called else None
    name = before[test.end() :].strip() if test else ""
    return (name, rest.strip() or " ") if name else ("", "")


LIVE = printed(read, 'lines such as "test NAME ... bench: 12 ns/iter (+/- 3)" are expected')
