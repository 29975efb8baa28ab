"""The text of `go test -bench` and of compiled test binaries -> values.

Format: golang.org/design/14313-benchmark-format, and testing/benchmark.go of Go 1.26, which writes it. Each line is
read in a time proportional to its length.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from gate.formats.parts.live import sorted_by_name
from gate.formats.parts.output import OutputError, Suite, refuse_cut_off, shown
from gate.formats.parts.result import Failed, Measured
from gate.model import Better, Metric
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
PROCS = re.compile(r"-\d+$", re.ASCII)
FAILED = re.compile(r"(?:Benchmark\S*[ \t]+)?--- FAIL: (Benchmark\S+)")
_FAILED = ("FAIL\t", "--- FAIL: ")
_ENDED = ("panic: ", "fatal error: ")
_SUMMARY = ("ok  \t", "?   \t")
# what testing writes before its first result; files of other programs that write the format need not end with PASS
_OF_TESTING = "goos: "
_TIMES_AND_SIZES = ("ns", "us", "µs", "μs", "ms", "s", "B", "kB", "KB", "MB", "GB", "KiB", "MiB", "GiB")
_SPELLED_OUT = {"sec": "s", "bytes": "B"}


@dataclass(frozen=True, slots=True)
class Result:
    """One line of results."""

    package: str
    name: str
    """As it says."""
    announced: str
    """As -v gave it before, without GOMAXPROCS, or ""."""
    values: dict[str, Digits]
    printed: bool = False
    """Something was printed between its name and its values, on the same line."""


@dataclass(frozen=True, slots=True)
class _Named:
    """A name that stands before a tab, and what stands behind it; no values: no results yet."""

    name: str
    announced: str
    values: dict[str, Digits]
    printed: bool = False


@dataclass(slots=True)
class Reader:
    """What is known while the lines go by."""

    package: str = ""
    packages: set[str] = field(default_factory=set)
    announced: str = ""
    pending: str = ""
    """A name whose results have not come yet."""
    place: int = 0
    """The line that is read, from 1."""
    began: int = 0
    """The line of that name."""
    unread: dict[tuple[str, str], str] = field(default_factory=dict)
    """Packages and names whose results cannot be read, and why."""
    complete: bool = True
    """Nothing came since the last PASS."""
    of_testing: bool = False
    """The package testing wrote it, which ends with PASS."""
    ended: str = ""
    failing: bool = False
    """A benchmark of this package is known to have failed."""
    better: dict[str, Better] = field(default_factory=dict)
    """What lines tell of units."""
    results: list[Result] = field(default_factory=list)


def parse(data: bytes, *, several: bool, failed: bool = False) -> Suite:
    """Read one value of each metric from each line of results; with -count several lines are of one benchmark.

    The GOMAXPROCS at the end of a name is left out, unless -cpu gave several. Metrics: "time" (ns/op) in seconds; what
    else a line holds under its unit's text ("B/op", "p99-ns"), times in seconds and sizes in bytes; of rates ("MB/s")
    more is better, and they keep their unit. A metric that only some lines of a benchmark have is left out.

    Args:
        several: the command may name several packages; then, and when the output does, names begin with the package.
        failed: it ended with an error: what failed is an error of that benchmark, or of its package, and the others
            are read.

    Raises:
        OutputError: a failure among the results, an end without PASS or in the middle of a line, or results without a
            name. Results that cannot be separated from what the benchmark prints are an error of that benchmark.
    """
    if data.lstrip().startswith(b'{"'):
        raise OutputError("this is the JSON of test2json, but perfgate reads the text: remove -json")
    reader = Reader()
    for reader.place, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
        if not (failed and _read_failure(reader, line.rstrip("\r"))):
            _read(reader, line.rstrip("\r"))
    _must_be_complete(reader, "the output")
    end_pending(reader)
    refuse_cut_off(data, "the output")
    return sorted_by_name(_named_results(reader, several=several or len(reader.packages) > 1), "")


def _named_results(reader: Reader, *, several: bool) -> Iterator[Measured | Failed]:
    for (package, own, *_), results in _by_benchmark(reader.results).items():
        name = f"{package}.{own}" if package and several else own
        try:
            yield Measured(benchmark=name, metrics=_metrics(results, reader.better))
        except OutputError as error:
            yield Failed(benchmark=name, status=str(error))
    suffix = suffix_of([(result.name, result.announced) for result in reader.results])
    for (package, raw), why in reader.unread.items():
        prefix = f"{package}." if package and several else ""
        yield Failed(benchmark=prefix + raw.removesuffix(suffix) if raw else package, status=why, execution=1)


def _read(reader: Reader, line: str) -> None:
    if line == "FAIL" or line.startswith(_FAILED):
        raise OutputError(f"the output reports a failure: {quoted(reader.ended or line)}")
    if line.startswith(("pkg: ", "pkg:\t")):
        _must_be_complete(reader, reader.package or "what comes before the first package")
        reader.package, reader.announced = line.removeprefix("pkg:").strip(), ""
        reader.packages.add(reader.package)
    elif line.startswith(("Unit ", "Unit\t")):
        read_unit(reader, line.split()[1:])
    elif line.endswith("PASS") or line.startswith(_SUMMARY):
        end_pending(reader)
        reader.complete = True
        if line.startswith(_SUMMARY):
            reader.packages.add(line.split("\t")[1].strip())
    elif line.startswith(_ENDED):
        reader.ended = reader.ended or line
    elif line.startswith(_OF_TESTING):
        reader.of_testing = True
    else:
        for each in apart(line, reader.pending):
            read_results(reader, each)


def apart(line: str, pending: str) -> list[str]:
    """Part a line before each name that has results, where another name or its results come before it.

    Files that are put together without a newline have such lines.

    Args:
        pending: a name whose results have not come yet, or "".
    """
    parts = _NEXT.sub(r"\1\n", line).split("\n")
    return parts if len(parts) > 1 and (pending or _CALLED.search(parts[0])) else [line]


def _read_failure(reader: Reader, line: str) -> bool:
    """Keep which benchmark failed, or which package where no line says; return whether a line is about that."""
    benchmark = FAILED.match(line)
    if benchmark:
        reader.unread[reader.package, benchmark[1]] = "it failed"
        reader.pending, reader.failing = "", True
    elif line.startswith(_ENDED):
        reader.ended = reader.ended or line
    elif line.startswith("FAIL\t"):
        package = line.split("\t")[1].partition(" ")[0]
        crashed = reader.pending or (reader.announced if reader.ended else "")
        if crashed or not reader.failing:
            reader.unread[package, crashed] = quoted(reader.ended or line)
        reader.packages.add(package)
        reader.pending = reader.announced = reader.ended = ""
        reader.failing, reader.complete = False, True
    elif line != "FAIL" and not line.startswith("exit status ") and not reader.ended:
        # behind a panic come its stacks
        return False
    return True


def read_unit(reader: Reader, words: list[str]) -> None:
    """Read what a line says of a unit: in which direction it is better.

    Raises:
        OutputError: an earlier line says the opposite.
    """
    for word in words[1:]:
        key, _, value = word.partition("=")
        if key == "better" and value in ("lower", "higher"):
            better: Better = "lower" if value == "lower" else "higher"
            if reader.better.setdefault(words[0], better) != better:
                raise OutputError(f"the unit {quoted(words[0])} is better both lower and higher")


def read_results(reader: Reader, line: str) -> None:
    """Take the results or the announcement out of a line that may hold what a benchmark printed, too.

    Raises:
        OutputError: results without a name.
    """
    found = _alone(reader, line) or _named(reader, line)
    if found is not None:
        end_pending(reader)
        reader.complete, reader.began = False, reader.place
    elif reader.pending:
        # what the benchmark printed came between its name and its results
        found = _Named(reader.pending, reader.announced, _results(line.split("\t"), anything_before=True))
    elif _results(line.split("\t")):
        raise OutputError(f"results without a name: {quoted(line.strip())}")
    elif name := "" if line.startswith(("--- ", "    ")) else _last_name(line):
        reader.announced, reader.complete = name, False
        reader.of_testing = reader.of_testing or name == line
    elif not reader.announced and (begins := _BEGINS.match(line)):
        # behind an announcement it is what a benchmark prints
        why = f"line {reader.place}: its results cannot be read: {quoted(line)}"
        reader.unread.setdefault((reader.package, begins[1]), why)
    if found is None:
        return
    if found.values:
        own = found.announced if is_of(found.name, found.announced) else ""
        reader.results.append(Result(reader.package, found.name, own, found.values, found.printed))
        reader.pending = ""
    else:
        reader.pending = found.name


def _alone(reader: Reader, line: str) -> _Named | None:
    """Read a line of results as the format defines it: words between blanks, and nothing else on the line."""
    if not line.startswith(_NAME):
        return None
    words = line.split()
    if len(words) < 4 or len(words) % 2 or not _COUNTED.fullmatch(words[1]):
        return None
    numbers, units = words[2::2], words[3::2]
    if not all(map(_NUMBER.fullmatch, numbers)):
        return None
    return _Named(words[0], reader.announced, _by_unit(list(zip(units, map(Digits, numbers), strict=True))))


def _named(reader: Reader, line: str) -> _Named | None:
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


def _with_results(name: str, announced: str, behind: list[str], *, alone: bool) -> _Named:
    """Read the results behind a name; alone: it begins the line, so what is printed between them is not another's."""
    values = _results(behind)
    printed = _results(behind, anything_before=True) if alone and not values else {}
    return _Named(name, announced, values or printed, printed=bool(printed))


def behind(line: str) -> Result | None:
    """Find a name that stands behind something else on its line, with the results on it; None: there is none.

    Results without a name have the name "".
    """
    parts = line.split("\t")
    # four spaces: what b.Log wrote
    if len(parts) == 1 or line.startswith("    B"):
        return None
    for place in range(len(parts) - 2, -1, -1):
        name = _last_name(parts[place].rstrip(" "))
        if _CALLED.fullmatch(name):
            return Result("", name, "", _results(parts[place + 1 :], anything_before=True))
    values = _results(parts)
    return Result("", "", "", values) if values else None


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
        reader.unread.setdefault((reader.package, reader.pending), why)
    reader.pending = ""


def _must_be_complete(reader: Reader, what: str) -> None:
    if not reader.complete and (reader.of_testing or reader.ended):
        raise OutputError(f"{what} ends without PASS: " + (quoted(reader.ended) if reader.ended else "it is cut short"))


def quoted(line: str) -> str:
    """Quote the beginning of a line for a message."""
    return shown(line.replace("\t", " ").encode())


def _by_benchmark(results: list[Result]) -> dict[tuple[str, str, str], list[Result]]:
    """Group by package, name, and the name as announced, which tells "a-2" from "a" with GOMAXPROCS=2."""
    suffix = suffix_of([(result.name, result.announced) for result in results])
    grouped: dict[tuple[str, str, str], list[Result]] = {}
    for result in results:
        key = (result.package, result.name.removesuffix(suffix), result.announced)
        grouped.setdefault(key, []).append(result)
    return grouped


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


def _metrics(results: list[Result], told: Mapping[str, Better]) -> dict[str, Metric]:
    metrics: dict[str, Metric] = {}
    for unit in results[0].values:
        if any(unit not in result.values for result in results):
            continue
        name, base, scale = metric_of(unit)
        if name in metrics:
            raise OutputError(f"two of its metrics are called {name!r}")
        values = [result.values[unit] * scale for result in results]
        metrics[name] = Metric(unit=base, values=values, better=told.get(unit))
    if not metrics or ("time" not in metrics and any("ns/op" in result.values for result in results)):
        raise OutputError("ns/op is missing in some of its results")
    return metrics


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
