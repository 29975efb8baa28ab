"""The lines of Rust's own benches (`#[bench]`) and of the crate bencher, which prints the same -> values.

Format: library/test/src/formatters/pretty.rs of Rust, bencher's src/lib.rs, and BencherReport in Criterion's
src/report.rs, whose unit is that of its measurement.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from gate.formats.live.values import EmptyError, OutputError, Series, checked, refuse_cut_off, shown
from gate.model import Better
from gate.model.digits import Digits
from gate.units import to_base

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


class Row(NamedTuple):
    """A benchmark."""

    name: str
    line: int
    value: float | None = None
    """In its unit; None: it failed, or its result cannot be read."""
    unit: str = ""
    """As printed, without "/iter"."""
    rate: float | None = None
    """Megabytes a second, beside the time."""
    problem: str = ""


def rows(lines: Iterable[str]) -> Iterator[Row]:
    """Read benchmarks, and those that began and have no result that can be read; other lines are passed over.

    What a benchmark prints stands between its name and its result. A result without a name has the name "".
    """
    begun = Row("", 0)
    for place, line, result in parts(lines, _RESULT):
        name, rest = _named(line, certain=result is not None)
        if name and begun.name:
            yield begun._replace(problem=f"line {begun.line}: it began, and its result cannot be read")
            begun = Row("", 0)
        name = name or begun.name
        if result:
            yield (
                _row(name, place, result) if name else Row("", place, problem=f"line {place}: a result without a name")
            )
            begun = Row("", 0)
        elif rest == "FAILED":
            yield Row(name, place, problem="it failed")
        elif rest and rest.startswith("bench:"):
            yield Row(name, place, problem=f"line {place}: its result cannot be read: {shown(line.strip().encode())}")
        elif rest and not rest.startswith(_ENDED) and line.startswith("test "):
            begun = Row(name, place)
    if begun.name:
        yield begun._replace(problem=f"line {begun.line}: it began, and its result cannot be read")


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


def _row(name: str, place: int, result: re.Match[str]) -> Row:
    value, rate = Digits(result["value"].replace(",", "")), result["rate"]
    return Row(name, place, value, result["unit"].removesuffix(_EACH), Digits(rate) if rate else None)


def parse(data: bytes, units: Mapping[str, str | None]) -> dict[str, Series]:  # noqa: ARG001 - as all formats
    """Read "test NAME ... bench:  1,234.56 ns/iter (+/- 7)": one value for each benchmark, by its name.

    Times are in seconds, other units as printed; of rates more is better.

    Raises:
        OutputError: there is no such line, one cannot be read, two have one name, or a last line without a newline.
    """
    found: dict[str, Series] = {}
    for row in rows(data.decode("utf-8", "replace").splitlines()):
        if row.value is None:
            raise OutputError(f"benchmark {row.name!r}: {row.problem}")
        if row.name in found:
            raise OutputError(f"two benchmarks are called {row.name!r}: give each a name of its own")
        base, scale = to_base(row.unit)
        better: Better = "higher" if base.endswith("/s") else "lower"
        found[row.name] = Series(base, [checked(row.value * scale, base, row.name.encode())], better)
    if not found:
        raise EmptyError(
            'no benchmark in the output: lines such as "test NAME ... bench: 12 ns/iter (+/- 3)" are expected'
        )
    refuse_cut_off(data, "the output")
    return found


FORMAT = parse
