"""The text of `go test -bench` and of compiled test binaries -> values.

Format: golang.org/design/14313-benchmark-format, and testing/benchmark.go of Go 1.26, which writes it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from gate.adapters.suites import Suite, add
from gate.adapters.values import OutputError, Series, shown
from gate.model import Better
from gate.units import to_base

# The count is at least 8 wide, which tells it from what a benchmark prints into the line.
_VALUES = r"(?=[ \d]{8}) *\d+(?P<pairs>(?:\t *[-+]?(?:\d+(?:\.\d+)?|NaN|Inf) \S+)+)\s*$"
_TAIL = re.compile(_VALUES)
_AFTER_NAME = re.compile(rf"(?P<procs>-\d+)? *\t(?:{_VALUES})?")
_NAME_AND_TAB = re.compile(rf"(?P<name>Benchmark\S*) *\t(?:{_VALUES})?")
_NAME_ALONE = re.compile(r"(?P<name>Benchmark\S*)$")
_PROCS = re.compile(r"-\d+$")
_FAILED = ("FAIL\t", "--- FAIL: ")
_ENDED = ("panic: ", "fatal error: ")
_SUMMARY = ("ok  \t", "?   \t")
_TIMES_AND_SIZES = ("ns", "us", "µs", "μs", "ms", "s", "B", "kB", "KB", "MB", "GB", "KiB", "MiB", "GiB")
_SPELLED_OUT = {"sec": "s", "bytes": "B"}


@dataclass(frozen=True, slots=True)
class _Result:
    """One line of results."""

    package: str
    name: str
    """As it says."""
    announced: str
    """As -v gave it before, without GOMAXPROCS, or ""."""
    values: dict[str, float]


@dataclass(slots=True)
class _Reader:
    """What is known while the lines go by."""

    package: str = ""
    packages: set[str] = field(default_factory=set)
    announced: str = ""
    pending: str = ""
    """A name whose results have not come yet."""
    complete: bool = True
    """Nothing came since the last PASS."""
    ended: str = ""
    results: list[_Result] = field(default_factory=list)


def parse(data: bytes, *, several: bool) -> Suite:
    """Read one value of each metric from each line of results; with -count several lines are of one benchmark.

    The GOMAXPROCS at the end of a name is left out, unless -cpu gave several. Metrics: "time" (ns/op) in seconds; what
    else a line holds under its unit's text ("B/op", "p99-ns"), times in seconds and sizes in bytes; of rates ("MB/s")
    more is better, and they keep their unit. A metric that only some lines of a benchmark have is left out.

    Args:
        several: the command may name several packages; then, and when the output does, names begin with the package.

    Raises:
        OutputError: a failure among the results, an end without PASS, or results that cannot be separated from what
            the benchmark prints.
    """
    if data.lstrip().startswith(b'{"'):
        raise OutputError("this is the JSON of test2json, but perfgate reads the text: remove -json")
    reader = _Reader()
    for line in data.decode("utf-8", "replace").split("\n"):
        _read(reader, line.rstrip("\r"))
    _must_be_complete(reader, "the output")
    suite = Suite({}, {})
    for (package, name, *_), results in _by_benchmark(reader.results).items():
        prefix = f"{package}." if package and (several or len(reader.packages) > 1) else ""
        try:
            add(suite, prefix + name, _series(results))
        except OutputError as error:
            suite.errors[prefix + name] = str(error)
    return suite


def _read(reader: _Reader, line: str) -> None:
    if line == "FAIL" or line.startswith(_FAILED):
        raise OutputError(f"the output reports a failure: {_shown(reader.ended or line)}")
    if line.startswith("pkg: "):
        _must_be_complete(reader, reader.package or "what comes before the first package")
        reader.package, reader.announced = line.removeprefix("pkg: ").strip(), ""
        reader.packages.add(reader.package)
    elif line.endswith("PASS") or line.startswith(_SUMMARY):
        _nothing_may_be_pending(reader)
        reader.complete = True
        if line.startswith(_SUMMARY):
            reader.packages.add(line.split("\t")[1].strip())
    elif line.startswith(_ENDED):
        reader.ended = reader.ended or line
    else:
        _read_results(reader, line)


def _read_results(reader: _Reader, line: str) -> None:
    name, announced, match = _named(reader, line)
    if name:
        _nothing_may_be_pending(reader)
        reader.complete = False
    elif reader.pending:
        name, announced, match = reader.pending, reader.announced, _TAIL.search(line)
    elif _TAIL.match(line):
        raise OutputError(f"results without a name: {_shown(line.strip())}")
    elif alone := None if line.startswith(("--- ", "    ")) else _NAME_ALONE.search(line):
        reader.announced, reader.complete = alone["name"], False
    if match and match["pairs"]:
        words = match["pairs"].split()
        values = {unit: float(number) for number, unit in zip(words[::2], words[1::2], strict=True)}
        own = announced if re.fullmatch(re.escape(announced) + r"(-\d+)?", name) else ""
        reader.results.append(_Result(reader.package, name, own, values))
        reader.pending = ""
    elif name:
        # what the benchmark prints comes between its name and its results
        reader.pending = name


def _named(reader: _Reader, line: str) -> tuple[str, str, re.Match[str] | None]:
    """Find a name at whose results a line begins, also after something that was printed without a newline."""
    at = line.rfind(reader.announced) if reader.announced else -1
    match = _AFTER_NAME.match(line, at + len(reader.announced)) if at >= 0 else None
    if match:
        return reader.announced + (match["procs"] or ""), reader.announced, match
    # four spaces: what b.Log wrote
    match = None if line.startswith("    ") else _NAME_AND_TAB.search(line)
    # after an announcement, another name without results is what the benchmark prints
    if match and (match["pairs"] or not reader.announced):
        return match["name"], "", match
    return "", "", None


def _nothing_may_be_pending(reader: _Reader) -> None:
    if reader.pending:
        raise OutputError(f"{_shown(reader.pending)} began and its results cannot be read: what it prints hides them")


def _must_be_complete(reader: _Reader, what: str) -> None:
    if not reader.complete:
        raise OutputError(f"{what} ends without PASS: " + (_shown(reader.ended) if reader.ended else "it is cut short"))


def _shown(line: str) -> str:
    return shown(line.replace("\t", " ").encode())


def _by_benchmark(results: list[_Result]) -> dict[tuple[str, str, str], list[_Result]]:
    """Group by package, name, and the name as announced, which tells "a-2" from "a" with GOMAXPROCS=2."""
    procs = {_procs_of(result) for result in results if result.announced}
    if not procs:
        # without -v: a suffix that all names have
        procs = {match[0] if (match := _PROCS.search(result.name)) else "" for result in results}
    suffix = next(iter(procs)) if len(procs) == 1 else ""
    grouped: dict[tuple[str, str, str], list[_Result]] = {}
    for result in results:
        key = (result.package, result.name.removesuffix(suffix), result.announced)
        grouped.setdefault(key, []).append(result)
    return grouped


def _procs_of(result: _Result) -> str:
    return result.name.removeprefix(result.announced)


def _series(results: list[_Result]) -> dict[str, Series]:
    series: dict[str, Series] = {}
    for unit in results[0].values:
        if any(unit not in result.values for result in results):
            continue
        name, base, scale, better = _metric(unit)
        if name in series:
            raise OutputError(f"two of its metrics are called {name!r}")
        series[name] = Series(base, [result.values[unit] * scale for result in results], better)
    if not series or ("time" not in series and any("ns/op" in result.values for result in results)):
        raise OutputError("ns/op is missing in some of its results")
    return series


def _metric(unit: str) -> tuple[str, str, float, Better]:
    """Return name, base unit, scale and direction of what a unit measures.

    As in golang.org/x/perf/benchunit, the words of a unit are joined by "-" and "*", and what is below "/" is no scale.
    """
    if unit == "ns/op":
        return "time", "s", 1e-9, "lower"
    above, _, below = unit.partition("/")
    if below in ("s", "sec", "second"):
        return unit, unit, 1.0, "higher"
    for word in re.split(r"[-*]", above):
        short = _SPELLED_OUT.get(word, word)
        if short in _TIMES_AND_SIZES:
            return unit, *to_base(short), "lower"
    return unit, "", 1.0, "higher" if unit == "throughput" else "lower"
