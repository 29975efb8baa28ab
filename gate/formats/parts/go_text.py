"""The text of `go test -bench` and of compiled test binaries -> values.

Format: golang.org/design/14313-benchmark-format, and testing/benchmark.go of Go 1.26, which writes it. Each line is
read in a time proportional to its length.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field

from gate.formats.parts.output import OutputError, shown
from gate.model.digits import Digits
from gate.units import to_base

# one value and its unit, as testing writes them behind a tab
_PAIR = re.compile(r" *([-+]?(?:\d+(?:\.\d+)?|NaN|Inf)) (\S+)", re.ASCII)
_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?|[-+]?(?:NaN|Inf)", re.ASCII)
_COUNTED = re.compile(r"\d+", re.ASCII)
_COUNT = 8
"""The width of the count of iterations in testing's lines, which tells it from what a benchmark prints into them."""
_NAME = "Benchmark"
_CALLED = re.compile(r"Benchmark[^\Wa-z]\S*")
# a name, and a count or a value as testing measures them
_BEGINS = re.compile(rf"({_CALLED.pattern})[ \t]+(?:\d|.*[ \t][-+.\d]+ (?:ns/op|MB/s|B/op|allocs/op)\b)", re.ASCII)
# a name with its results behind another word, whose end it may be, but for a name: "BenchmarkA/BenchmarkB-8" is one;
# longer names would make the search slow
_NEXT = re.compile(
    rf"((?<![ \t])[ \t]++(?:(?!{_NAME})\S)*+)(?={_CALLED.pattern[:-1]}{{0,500}}[ \t]+\d+[ \t]+[-+.\d]+ \S)", re.ASCII
)
# the same without tabs, anywhere on a line, or without a name at its beginning
_SPACED = re.compile(
    rf"(?:\b({_CALLED.pattern[:-1]}{{1,500}}) +|^ +)\d+ +(\d+(?:\.\d+)?) (ns/op|MB/s|B/op|allocs/op)(?!\S)", re.ASCII
)
PROCS = re.compile(r"-\d+$", re.ASCII)
FAILED = re.compile(r"(?:Benchmark\S*[ \t]+)?--- FAIL: (Benchmark\S+)")
_TIMES_AND_SIZES = ("ns", "us", "µs", "μs", "ms", "s", "B", "kB", "KB", "MB", "GB", "KiB", "MiB", "GiB")
_SPELLED_OUT = {"sec": "s", "bytes": "B"}


@dataclass(frozen=True, slots=True)
class Result:
    """A name, and the results behind it on its line."""

    name: str
    """As it says."""
    announced: str
    """As -v gave it before, without GOMAXPROCS, or ""."""
    values: dict[str, Digits]
    """By unit; empty: no results yet."""
    printed: bool = False
    """Something was printed between its name and its values, on the same line."""


@dataclass(slots=True)
class Reader:
    """What is known while the lines go by."""

    announced: str = ""
    pending: str = ""
    """A name whose results have not come yet."""
    place: int = 0
    """The line that is read, from 1."""
    began: int = 0
    """The line of that name."""
    unread: dict[str, str] = field(default_factory=dict)
    """Names whose results cannot be read, and why."""
    torn: dict[str, str] = field(default_factory=dict)
    """Names with what looks like their results, which may be what a benchmark printed, and why it cannot be read."""
    of_testing: bool = False
    """The package testing wrote it, which ends with PASS."""
    results: list[Result] = field(default_factory=list)


def apart(line: str, pending: str) -> list[str]:
    """Part a line before each name that has results, where another name or its results come before it.

    Files that are put together without a newline have such lines.

    Args:
        pending: a name whose results have not come yet, or "".
    """
    parts = _NEXT.sub(r"\1\n", line).split("\n")
    return parts if len(parts) > 1 and (pending or _CALLED.search(parts[0])) else [line]


def read_results(reader: Reader, line: str) -> None:
    """Take the results or the announcement out of a line that may hold what a benchmark printed, too.

    Raises:
        OutputError: results without a name.
    """
    found = _alone(reader, line) or _named(reader, line)
    if found is not None:
        end_pending(reader)
        reader.began = reader.place
    elif reader.pending:
        # what the benchmark printed came between its name and its results
        found = Result(reader.pending, reader.announced, _results(line.split("\t"), anything_before=True))
    elif _results(line.split("\t")):
        raise OutputError(f"results without a name: {quoted(line.strip())}")
    elif name := "" if line.startswith(("--- ", "    ")) else _last_name(line):
        reader.announced = name
        reader.of_testing = reader.of_testing or name == line
    elif begins := _BEGINS.match(line):
        why = f"line {reader.place}: its results cannot be read: {quoted(line)}"
        if not reader.announced:
            reader.unread.setdefault(begins[1], why)
        elif begins[1].startswith(reader.announced):
            # behind an announcement it may be what the benchmark prints
            reader.torn.setdefault(reader.announced, why)
    if found is None:
        return
    if found.values:
        own = found.announced if is_of(found.name, found.announced) else ""
        reader.results.append(Result(found.name, own, found.values, found.printed))
        reader.pending = ""
    else:
        reader.pending = found.name


def _alone(reader: Reader, line: str) -> Result | None:
    """Read a line of results as the format defines it: words between blanks, and nothing else on the line."""
    if not line.startswith(_NAME):
        return None
    words = line.split()
    if len(words) < 4 or len(words) % 2 or not _COUNTED.fullmatch(words[1]):
        return None
    numbers, units = words[2::2], words[3::2]
    if not all(map(_NUMBER.fullmatch, numbers)):
        return None
    return Result(words[0], reader.announced, _by_unit(list(zip(units, map(Digits, numbers), strict=True))))


def _named(reader: Reader, line: str) -> Result | None:
    """Find a name at whose results a line begins, also after something that was printed without a newline."""
    parts = line.split("\t")
    if reader.announced:
        for place in range(len(parts) - 2, -1, -1):
            before = parts[place].rstrip(" ")
            plain = before if before.endswith(reader.announced) else PROCS.sub("", before)
            if plain.endswith(reader.announced):
                name = reader.announced + before[len(plain) :]
                return _with_results(name, reader.announced, parts[place + 1 :], alone=before == name)
    # four spaces: what b.Log wrote
    if line.startswith("    "):
        return None
    for place, part in enumerate(parts[:-1]):
        name = _last_name(part.rstrip(" "))
        if name:
            found = _with_results(name, "", parts[place + 1 :], alone=not place and part.rstrip(" ") == name)
            # after an announcement, another name without results is what the benchmark prints
            return found if found.values or not reader.announced else None
    return None


def _with_results(name: str, announced: str, behind: list[str], *, alone: bool) -> Result:
    """Read the results behind a name; alone: it begins the line, so what is printed between them is not another's."""
    values = _results(behind)
    printed = _results(behind, anything_before=True) if alone and not values else {}
    return Result(name, announced, values or printed, printed=bool(printed))


def behind(line: str) -> Result | None:
    """Find a name that stands behind something else on its line, with the results on it; None: there is none.

    Results without a name have the name "".
    """
    parts = line.split("\t")
    # four spaces: what b.Log wrote
    if line.startswith("    B"):
        return None
    if len(parts) == 1:
        # find a name or results on a line whose tabs are lost; a name has no values: where they end is not certain
        found = _SPACED.search(line)
        if found is None:
            return None
        return Result(found[1] or "", "", {} if found[1] else {found[3]: Digits(found[2])})
    for place in range(len(parts) - 2, -1, -1):
        name = _last_name(parts[place].rstrip(" "))
        if _CALLED.fullmatch(name):
            return Result(name, "", _results(parts[place + 1 :], anything_before=True))
    values = _results(parts)
    return Result("", "", values) if values else None


def _results(parts: list[str], *, anything_before: bool = False) -> dict[str, Digits]:
    """Read what stands between tabs as a count and pairs of value and unit; empty where it is not that.

    Args:
        anything_before: pairs are at the end, after a count, after anything.
    """
    ends = len(parts)
    while ends > 1 and not parts[ends - 1].strip():
        ends -= 1
    first, found = ends, []
    while first > 1 and (pair := _PAIR.fullmatch(parts[first - 1].rstrip() if first == ends else parts[first - 1])):
        found.append((pair[2], Digits(pair[1])))
        first -= 1
    if not found or (first > 1 and not anything_before):
        return {}
    count = parts[first - 1]
    before = count.rstrip("0123456789")
    wide = len(count) - len(before.rstrip(" "))
    if len(before) == len(count) or wide < _COUNT or (before.strip(" ") and not anything_before):
        return {}
    return _by_unit(found[::-1])


def _by_unit(pairs: list[tuple[str, Digits]]) -> dict[str, Digits]:
    found = dict(pairs)
    if len(found) != len(pairs):
        units = [unit for unit, _ in pairs]
        twice = next(unit for unit in units if units.count(unit) > 1)
        raise OutputError(f"a line of results has the unit {quoted(twice)} twice")
    return found


def _last_name(text: str) -> str:
    """Return the name of a benchmark with which a text ends; "" where it ends with none."""
    if not text or text[-1].isspace():
        return ""
    word = text.rsplit(None, 1)[-1]
    at = word.find(_NAME)
    return word[at:] if at >= 0 else ""


def is_of(name: str, announced: str) -> bool:
    """Return whether a name is the announced one, with or without GOMAXPROCS."""
    return bool(announced) and (name == announced or PROCS.sub("", name) == announced)


def end_pending(reader: Reader) -> None:
    """Keep that the results of a name did not come, if one began."""
    # "Benchmarking" is the name of nothing that testing runs
    if _CALLED.fullmatch(reader.pending):
        why = f"line {reader.began}: what it prints hides its results"
        reader.unread.setdefault(reader.pending, why)
    reader.pending = ""


def quoted(line: str) -> str:
    """Quote the beginning of a line for a message."""
    return shown(line.replace("\t", " ").encode())


def suffix_of(names: Collection[tuple[str, str]]) -> str:
    """Return the GOMAXPROCS that ends names, such as "-8"; "" where -cpu gave several, or none does.

    Args:
        names: each as its line of results has it, and as -v announced it, or "".
    """
    procs = {name.removeprefix(announced) for name, announced in names if announced}
    if not procs:
        # without -v: a suffix that all names have
        procs = {match[0] if (match := PROCS.search(name)) else "" for name, _ in names}
    return next(iter(procs)) if len(procs) == 1 else ""


def metric_of(unit: str) -> tuple[str, str, float]:
    """Return name, base unit and scale of what a unit measures.

    As in golang.org/x/perf/benchunit, the words of a unit are joined by "-" and "*", and what is below "/" is no scale.
    """
    if unit == "ns/op":
        return "time", "s", 1e-9
    above, _, below = unit.partition("/")
    if below in ("s", "sec", "second"):
        return unit, unit, 1.0
    for word in re.split(r"[-*]", above):
        short = _SPELLED_OUT.get(word, word)
        if short in _TIMES_AND_SIZES:
            return unit, *to_base(short)
    return unit, "", 1.0
