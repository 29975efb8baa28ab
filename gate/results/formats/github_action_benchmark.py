"""github-action-benchmark's data.js, and the plain JSON of external-data-json-path: years of commits, a value each."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Set
from datetime import UTC, datetime
from typing import Any

import msgspec

from gate.adapters.values import OutputError
from gate.model import Better
from gate.model.visible import visible
from gate.results.checking import aggregate, number, numbered
from gate.results.result import About, Format, Result
from gate.results.source import Source
from gate.results.written_units import Written, written

FORMAT = Format(
    title="github-action-benchmark (`data.js`, or `external-data-json-path`)",
    execution="one run of the action for one commit",
    iteration="none: a value a benchmark",
    trap=(
        "one value a commit, of one build, mostly on a shared runner, so nothing can be decided; more is better where "
        "the tool of the suite or the unit (ops/s, iter/sec, MB/s) says so, of JMH too, where the action errs; a range "
        "is what the tool gave: of benchmark.js an interval of 95%, of others of no known confidence"
    ),
    column="commit",
)
_BIGGER = {"benchmarkjs", "pytest", "customBiggerIsBetter"}
_MEANS = {"benchmarkjs", "pytest", "googlecpp", "catch2", "jmh", "benchmarkdotnet"}
"""The tools whose value is a mean for certain."""
_CUSTOM = {"customBiggerIsBetter", "customSmallerIsBetter"}
_RANGE = re.compile(r"\s*+(?:±|\+/-|\+-|\ufffd)?\s*+(\d[\d,]*+(?:\.\d*+)?(?:[eE][-+]?\d++)?)\s*+(%)?\s*+")
_COUNT = re.compile(r"^(?:rounds: (\d{1,15})|(\d{1,15}) samples)$", re.MULTILINE)
_MEAN = re.compile(r"^mean: (\S+) (nsec|usec|msec|sec)$", re.MULTILINE)
_STDDEV = re.compile(r"stddev: (\S+)")
_SECONDS = {"nsec": 1e-9, "usec": 1e-6, "msec": 1e-3, "sec": 1.0}
_SHORT = 8
_BEGINS = re.compile(r"\s*(?:window\s*\.\s*)?BENCHMARK_DATA\s*=\s*")
# how the action writes it: JSON.stringify(data, null, 2)
_SUITE = re.compile(rb'    (".*"): \[\s*')
_ENTRY, _ENDS = b"      {", (b"      }", b"      },")


class _Bench(msgspec.Struct):
    """An element of "benches"."""

    name: Any = ""
    value: Any = None
    """A number, or its text."""
    unit: Any = None
    range: Any = None
    extra: Any = None
    """Lines of text, or what else users write."""


class _Commit(msgspec.Struct):
    id: str | None = None


class _Entry(msgspec.Struct):
    commit: _Commit = msgspec.field(default_factory=_Commit)
    date: float | None = None
    tool: str = ""
    benches: list[_Bench] = []


class _Data(msgspec.Struct):
    entries: dict[str, list[_Entry]]


_DECODER = msgspec.json.Decoder(_Entry, strict=False)


def recognises(source: Source) -> bool:
    """Return whether it sets BENCHMARK_DATA, or is such data itself."""
    if _BEGINS.match(source.head.text[:200]):
        return True
    found = source.head.json
    entries = found.get("entries") if isinstance(found, dict) else None
    return isinstance(found, dict) and isinstance(entries, dict) and {"lastUpdate", "repoUrl"} <= found.keys()


def read(source: Source) -> Iterator[Result]:
    """Yield the value of each benchmark of each commit, oldest first."""
    return numbered(_read(source))


def _read(source: Source) -> Iterator[Result]:
    yield About(tool="github-action-benchmark")
    lines = source.head.text.split("\n", 5)
    by_line = len(lines) > 4 and lines[1].startswith('  "') and '"entries": {' in lines[3]
    found = list(_lines(source) if by_line else _whole(source))
    # suites have their own lists, so one commit stands at several places
    found.sort(key=lambda each: each[1].date or 0.0)
    seen: Counter[tuple[str, str]] = Counter()
    for suite, entry in found:
        commit = (entry.commit.id or "")[:_SHORT]
        labels = {"suite": visible(suite), "commit": visible(commit), "date": _date(entry.date)}
        execution = seen[suite, commit]
        seen[suite, commit] += 1
        names = {str(bench.name) for bench in entry.benches}
        for bench in entry.benches:
            yield from _of_bench(bench, entry.tool, names, labels, execution)


def _date(date: float | None) -> str:
    try:
        return "" if date is None else datetime.fromtimestamp(date / 1000, UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return ""


def _whole(source: Source) -> Iterator[tuple[str, _Entry]]:
    text = source.text()
    begins = _BEGINS.match(text)
    text = text[begins.end() if begins else 0 :].strip().removesuffix(";")
    try:
        data = msgspec.convert(json.loads(text, strict=False, parse_int=float), _Data, strict=False)
    except (ValueError, RecursionError) as error:
        raise OutputError(f"the data is not as expected: {visible(str(error)).replace('`', '')}") from None
    for suite, entries in data.entries.items():
        yield from ((suite, entry) for entry in entries)


def _lines(source: Source) -> Iterator[tuple[str, _Entry]]:
    """Read commit after commit by how the action indents, which takes little memory; the last may be cut off."""
    suite, entry, place = "", list[bytes](), 0
    for at, line in enumerate(source.bytes_lines(), 1):
        if entry:
            entry.append(line)
            if line in _ENDS:
                yield suite, _decoded(b"\n".join(entry).removesuffix(b","), place)
                entry = []
        elif line == _ENTRY:
            entry, place = [line], at
        elif (match := _SUITE.fullmatch(line)) is not None:
            suite = _name(match[1])


def _decoded(data: bytes, place: int) -> _Entry:
    try:
        return _DECODER.decode(data)
    except (ValueError, RecursionError) as error:
        why = visible(str(error)).replace("`", "")
        raise OutputError(f"the commit that begins at line {place} is not as expected: {why}") from None


def _name(quoted: bytes) -> str:
    try:
        return str(json.loads(quoted))
    except ValueError:
        return quoted.decode("utf-8", "replace").strip('"')


def _of_bench(bench: _Bench, tool: str, names: Set[str], labels: Mapping[str, str], execution: int) -> Iterator[Result]:
    """Yield the value of a benchmark, and of go bench and pytest what else its texts hold.

    Args:
        tool: of the suite, as the action names it.
        names: of all benchmarks beside it.
    """
    name, unit = str(bench.name), str(bench.unit or "")
    if tool == "go":
        yield from _of_go(bench, name, unit, names, labels, execution)
        return
    own = written(unit)
    better: Better = own.better
    if tool in _CUSTOM:
        better = "higher" if tool in _BIGGER else "lower"
    elif tool in _BIGGER:
        better = "higher"
    value = _number(bench.value)
    low, high, sd, confidence = _spread(bench, tool, value)
    statistic = "mean" if tool in _MEANS else "value"
    yield aggregate(
        name, own.metric, statistic, value, unit=own.unit, scale=own.scale, better=better, low=low, high=high,
        confidence=confidence, sd=sd, count=_count(bench), labels=labels, execution=execution,
    )  # fmt: skip
    if tool == "pytest":
        yield from _mean_of_pytest(bench, name, labels, execution)


def _spread(
    bench: _Bench, tool: str, value: float | None
) -> tuple[float | None, float | None, float | None, float | None]:
    """Return the interval, the standard deviation and the confidence that a range means."""
    match = _RANGE.fullmatch(str(bench.range)) if bench.range is not None else None
    half = _number(match[1].replace(",", "")) if match else None
    # the deviation of Catch2 is in a unit of its own, which is left out; that of pytest is of the time
    if match is None or half is None or value is None or tool in ("catch2", "pytest"):
        return None, None, None, None
    if tool == "benchmarkdotnet":
        return None, None, half, None
    half = abs(value) * half / 100 if match[2] else half
    return value - half, value + half, None, 0.95 if tool == "benchmarkjs" else None


def _count(bench: _Bench) -> int | None:
    match = _COUNT.search(str(bench.extra or ""))
    return int(match[1] or match[2]) if match else None


def _mean_of_pytest(bench: _Bench, name: str, labels: Mapping[str, str], execution: int) -> Iterator[Result]:
    match = _MEAN.search(str(bench.extra or ""))
    mean = _number(match[1]) if match else None
    if match and mean is not None:
        stddev = _STDDEV.fullmatch(str(bench.range or ""))
        scale = _SECONDS[match[2]]
        sd = _number(stddev[1]) if stddev else None
        yield aggregate(
            name, "time", "mean", mean * scale, unit="s", sd=sd, count=_count(bench), labels=labels, execution=execution
        )


def _of_go(
    bench: _Bench, name: str, unit: str, names: Set[str], labels: Mapping[str, str], execution: int
) -> Iterator[Result]:
    """Yield what a line of go bench holds: before 1.18 of the action all units after the first are in one text."""
    units, values = [unit], [_number(bench.value)]
    words = unit.split()
    if len(words) > 1:
        if f"{name} - {words[0]}" in names:
            # it is there for older versions: each unit has an element of its own
            return
        units, values = words[::2], [values[0], *map(_number, words[1::2])]
    for own, value in zip(units, values, strict=False):
        meaning = written(own)
        metric = "time" if own == "ns/op" else own
        if own == "MB/s":
            # as go's adapter: of 10**6 B, and the unit is kept
            meaning = Written(own, 1.0, "higher")
        yield aggregate(
            name.removesuffix(f" - {own}"), metric or "value", "mean", value, unit=meaning.unit, scale=meaning.scale,
            better=meaning.better, labels=labels, execution=execution,
        )  # fmt: skip


def _number(value: Any) -> float | None:
    if not isinstance(value, str):
        return number(value)
    try:
        return float(value) if value.isascii() and "_" not in value else None
    except ValueError:
        return None
