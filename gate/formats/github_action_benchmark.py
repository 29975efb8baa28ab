"""github-action-benchmark's data.js, and the plain JSON of external-data-json-path: years of commits, a value each.

More is better where the tool of the suite or the unit (ops/s, iter/sec, MB/s) says so, of JMH too, where the action
errs. Its range, which each tool means otherwise, is left out.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Set
from datetime import UTC, datetime
from functools import partial
from typing import Any

import msgspec

from gate.formats.parts.output import Written, written
from gate.formats.parts.result import About, Format, Result, aggregate
from gate.formats.parts.source import Source
from gate.model import Better
from gate.model.bounds import Digits, number

FORMAT = Format(
    title="github-action-benchmark (`data.js`, or `external-data-json-path`)", again="number", column="commit"
)
_BIGGER = {"benchmarkjs", "pytest", "customBiggerIsBetter"}
_MEANS = {"benchmarkjs", "pytest", "googlecpp", "catch2", "jmh", "benchmarkdotnet"}
"""The tools whose value is a mean for certain."""
_CUSTOM = {"customBiggerIsBetter", "customSmallerIsBetter"}
_SHORT = 8
_BEGINS = re.compile(r"\s*window\.BENCHMARK_DATA\s*=\s*")


class _Bench(msgspec.Struct):
    name: Any = ""
    value: Any = None
    """A number, or its text."""
    unit: Any = None


class _Entry(msgspec.Struct):
    commit: dict[str, Any] = {}
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
    seen: Counter[tuple[str, str]] = Counter()
    # suites have their own lists, so one commit stands at several places
    for suite, entry in sorted(found, key=lambda each: each[1].date or 0.0):
        commit = str(entry.commit.get("id") or "")[:_SHORT]
        date = ""
        if entry.date is not None:
            with contextlib.suppress(ValueError, OverflowError, OSError):
                date = datetime.fromtimestamp(entry.date / 1000, UTC).isoformat(timespec="seconds")
        labels = {"suite": suite, "commit": commit, "date": date}
        execution = seen[suite, commit]
        seen[suite, commit] += 1
        names = {str(bench.name) for bench in entry.benches}
        for bench in entry.benches:
            yield from _of_bench(bench, entry.tool, names, partial(aggregate, labels=labels, execution=execution))


def _of_bench(bench: _Bench, tool: str, names: Set[str], made: Callable[..., Result]) -> Iterator[Result]:
    """Yield the value of a benchmark.

    Args:
        tool: of the suite, as the action names it.
        names: of all benchmarks beside it.
        made: makes the aggregate of its commit.
    """
    name, unit = str(bench.name), str(bench.unit or "")
    value, own = number(bench.value), written(unit)
    if isinstance(bench.value, str):
        with contextlib.suppress(ValueError):
            value = Digits(bench.value) if bench.value.isascii() and "_" not in bench.value else None
    if tool != "go":
        # a custom tool is named by the direction that it takes for better
        better: Better | None = "higher" if tool in _BIGGER else "lower" if tool in _CUSTOM else None
        statistic = "mean" if tool in _MEANS else "value"
        yield made(name, own.metric, statistic, value, unit=own.unit, scale=own.scale, better=better)
    elif (first := (unit.split() or [""])[0]) == unit or f"{name} - {first}" not in names:
        # one that has all units in one text is there for older versions: each unit has an element of its own
        called, kind = name.removesuffix(f" - {unit}"), "time" if first == "ns/op" else first or "value"
        # as go's adapter: MB of 10**6 B, and the unit is kept
        own = Written(first) if first == "MB/s" else written(first)
        yield made(called, kind, "mean", value, unit=own.unit, scale=own.scale)
