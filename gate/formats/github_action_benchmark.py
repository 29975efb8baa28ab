"""github-action-benchmark's data.js, and the plain JSON of external-data-json-path: years of commits, a value each.

More is better where the tool of the suite or the unit (ops/s, iter/sec, MB/s) says so, of JMH too, where the action
errs. A range is what the tool gave: of benchmark.js an interval of 95%, of others of no known confidence.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Set
from datetime import UTC, datetime
from functools import partial
from typing import Any

import msgspec

from gate.formats.parts.output import Written, written
from gate.formats.parts.result import About, Format, Result, aggregate
from gate.formats.parts.source import Source
from gate.model import Better
from gate.model.bounds import number
from gate.model.digits import Digits

FORMAT = Format(
    title="github-action-benchmark (`data.js`, or `external-data-json-path`)", again="number", column="commit"
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
_BEGINS = re.compile(r"\s*window\.BENCHMARK_DATA\s*=\s*")


class _Bench(msgspec.Struct):
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


def recognises(source: Source) -> bool:
    """Return whether it sets BENCHMARK_DATA, or is such data itself."""
    if _BEGINS.match(source.head.text):
        return True
    found = source.head.json
    entries = found.get("entries") if isinstance(found, dict) else None
    return isinstance(found, dict) and isinstance(entries, dict) and {"lastUpdate", "repoUrl"} <= found.keys()


def read(source: Source) -> Iterator[Result]:
    """Yield the value of each benchmark of each commit, oldest first."""
    yield About(tool="github-action-benchmark")
    text = source.text()
    begins = _BEGINS.match(text)
    plain = text[begins.end() if begins else 0 :].strip().removesuffix(";")
    data = Source(source.name, None, plain.encode()).document(_Data, "the data, which the action writes as JSON,")
    found = [(suite, entry) for suite, entries in data.entries.items() for entry in entries]
    # suites have their own lists, so one commit stands at several places
    found.sort(key=lambda each: each[1].date or 0.0)
    seen: Counter[tuple[str, str]] = Counter()
    for suite, entry in found:
        commit = (entry.commit.id or "")[:_SHORT]
        date = ""
        if entry.date is not None:
            with contextlib.suppress(ValueError, OverflowError, OSError):
                date = datetime.fromtimestamp(entry.date / 1000, UTC).isoformat(timespec="seconds")
        labels = {"suite": suite, "commit": commit, "date": date}
        execution = seen[suite, commit]
        seen[suite, commit] += 1
        names = {str(bench.name) for bench in entry.benches}
        for bench in entry.benches:
            yield from _of_bench(bench, entry.tool, names, labels, execution)


def _of_bench(bench: _Bench, tool: str, names: Set[str], labels: Mapping[str, str], execution: int) -> Iterator[Result]:
    """Yield the value of a benchmark, and of go bench and pytest what else its texts hold.

    Args:
        tool: of the suite, as the action names it.
        names: of all benchmarks beside it.
    """
    name, unit, extra = str(bench.name), str(bench.unit or ""), str(bench.extra or "")
    made = partial(aggregate, labels=labels, execution=execution)
    if tool == "go":
        # before 1.18 of the action all units after the first are in one text
        units, values = [unit], [_number(bench.value)]
        words = unit.split()
        if len(words) > 1 and f"{name} - {words[0]}" in names:
            # it is there for older versions: each unit has an element of its own
            return
        if len(words) > 1:
            units, values = words[::2], [values[0], *map(_number, words[1::2])]
        for metric, value in zip(units, values, strict=False):
            # as go's adapter: MB of 10**6 B, and the unit is kept
            own = Written(metric) if metric == "MB/s" else written(metric)
            called, kind = name.removesuffix(f" - {metric}"), "time" if metric == "ns/op" else metric or "value"
            yield made(called, kind, "mean", value, unit=own.unit, scale=own.scale)
        return
    own = written(unit)
    # a custom tool is named by the direction that it takes for better
    better: Better | None = "higher" if tool in _BIGGER else "lower" if tool in _CUSTOM else None
    value, count = _number(bench.value), _COUNT.search(extra)
    low = high = sd = confidence = None
    match = _RANGE.fullmatch(str(bench.range)) if bench.range is not None else None
    half = _number(match[1].replace(",", "")) if match else None
    # the deviation of Catch2 is in a unit of its own, which is left out; that of pytest is of the time
    if match and half is not None and value is not None and tool not in ("catch2", "pytest"):
        if tool == "benchmarkdotnet":
            sd = half
        else:
            half = abs(value) * half / 100 if match[2] else half
            low, high, confidence = value - half, value + half, 0.95 if tool == "benchmarkjs" else None
    number = int(count[1] or count[2]) if count else None
    yield made(
        name, own.metric, "mean" if tool in _MEANS else "value", value, unit=own.unit, scale=own.scale, better=better,
        low=low, high=high, confidence=confidence, sd=sd, count=number,
    )  # fmt: skip
    mean = _MEAN.search(extra) if tool == "pytest" else None
    if mean and (seconds := _number(mean[1])) is not None:
        stddev = _STDDEV.fullmatch(str(bench.range or ""))
        sd = _number(stddev[1]) if stddev else None
        yield made(name, "time", "mean", seconds * _SECONDS[mean[2]], unit="s", sd=sd, count=number)


def _number(value: Any) -> float | None:
    if not isinstance(value, str):
        return number(value)
    try:
        return Digits(value) if value.isascii() and "_" not in value else None
    except ValueError:
        return None
