"""github-action-benchmark's data.js, and the plain JSON of external-data-json-path: years of commits, a value each."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime

import msgspec

from gate.adapters.values import OutputError
from gate.model.visible import visible
from gate.results.checking import numbered
from gate.results.parts.action_benchmarks import Bench, of_bench
from gate.results.result import About, Format, Result
from gate.results.source import Source

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
_SHORT = 8
_BEGINS = re.compile(r"\s*(?:window\s*\.\s*)?BENCHMARK_DATA\s*=\s*")
# how the action writes it: JSON.stringify(data, null, 2)
_SUITE = re.compile(rb'    (".*"): \[\s*')
_ENTRY, _ENDS = b"      {", (b"      }", b"      },")


class _Commit(msgspec.Struct):
    id: str | None = None


class _Entry(msgspec.Struct):
    commit: _Commit = msgspec.field(default_factory=_Commit)
    date: float | None = None
    tool: str = ""
    benches: list[Bench] = []


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
            yield from of_bench(bench, entry.tool, names, labels, execution)


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
