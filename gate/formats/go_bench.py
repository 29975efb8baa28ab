"""The output of `go test -bench`, as text or as -json wrote it, and other text in Go's benchmark format.

Format: golang.org/design/14313-benchmark-format, as golang.org/x/perf/benchfmt reads it; testing/benchmark.go of Go
1.26, which writes it; cmd/test2json. Each line is read in a time proportional to its length.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import msgspec

from gate.formats.parts.live import results, sorted_by_name
from gate.formats.parts.output import OutputError, Suite, refuse_cut_off, shown, why_unusable
from gate.formats.parts.result import About, FailedResult, Format, LeftOut, ProcessValues, Result
from gate.formats.parts.source import Source
from gate.model import Better, Metric
from gate.model.bounds import Digits
from gate.writing.plain import visible
from gate.writing.units import to_base

FORMAT = Format(title="Go benchmarks (`go test -bench`, also with `-json`; whatever benchstat reads)")
# JMH's table of a class named Benchmark... has a mode behind the parameter
_RESULT = re.compile(r"^Benchmark\S*[ \t]+\d+[ \t]+[-+]?(?:[.\d]|(?i:nan|inf))[-+.\w]*[ \t]+[^\s\d]", re.MULTILINE)
_HEADER = re.compile(r"\A(?:goos: \S+\n(?:goarch: \S+\n)?)?pkg: \S+\n(?:cpu: .*\n)?(?:Benchmark|PASS|FAIL|---|panic)")
_EVENT = re.compile(r'^\{.*"Action":.*\}$', re.MULTILINE)
_ACTIONS = {"start", "run", "output", "pass", "fail", "skip", "bench", "build-output", "build-fail", "pause", "cont"}
_HOST = ("goos", "goarch", "cpu")
_CONFIGURES = re.compile(r"([^\W\dA-Z_][^\sA-Z:]*):(?:[ \t]+(.*))?")
_PROCESS_BEGINS = ("goos", "pkg")
_OF_HEADER = ("goos", "goarch", "pkg", "cpu")
# lines of a program that crashed, and of testing itself, look like configuration
_NO_KEYS = ("panic", "testing", "exit", "error", "fatal", "warning")
_PACKAGE_FAILED = re.compile(r"FAIL[ \t]+(\S+)(?:[ \t]+(.*))?")
_OF_TESTING = {b"ns/op", b"MB/s", b"B/op", b"allocs/op", b"sec/op", b"B/s"}
_CRASHED = re.compile(r"(?:(Benchmark\S+)[ \t]+)?((?:panic: |fatal error: |\*\*\* Test killed).*)")
_FAILS = ("FAIL\t", "--- FAIL: ")
_FAILED = re.compile(r"(?:Benchmark\S*[ \t]+)?--- FAIL: (Benchmark\S+)")
# what b.Log writes
_LOGGED = re.compile(r"--- |(?:    |\t)\s*[^\s\d]")
# one value and its unit, as testing writes them behind a tab
_PAIR = re.compile(r" *[-+]?(?:\d+(?:\.\d+)?|NaN|Inf) \S+", re.ASCII)
_COUNT = 8
"""The width of the count of iterations in testing's lines, which tells it from what a benchmark prints into them."""
_NAME = "Benchmark"
_CALLED = re.compile(r"Benchmark[^\Wa-z]\S*")
# a name, and a count or a value as testing measures them
_BEGINS = re.compile(rf"({_CALLED.pattern})[ \t]+(?:\d|.*[ \t][-+.\d]+ (?:ns/op|MB/s|B/op|allocs/op)\b)", re.ASCII)
_WORD, _FOLLOWS = re.compile(r"\S+"), re.compile(r"[ \t]+\d+[ \t]+[-+.\d]+ +\S", re.ASCII)
_PROCS = re.compile(r"-\d+$", re.ASCII)
_TIMES_AND_SIZES = ("ns", "us", "µs", "μs", "ms", "s", "B", "kB", "KB", "MB", "GB", "KiB", "MiB", "GiB")
_RATES = {"B/s": 1.0, "kB/s": 1e3, "KB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9}
# what the live instrument calls them, and their other names
_METRICS = {
    "ns/op": ("time", "s", 1e-9), "sec/op": ("time", "s", 1.0), "s/op": ("time", "s", 1.0), "B/s": ("MB/s", "B/s", 1.0),
    "cpu-ns/op": ("cpu_time", "s", 1e-9),
}  # fmt: skip
_OTHER, _MOST_OTHER = "other-share", 0.05
"""How much of its time a benchmark waits or collects garbage, and up to which share its CPU time is its own."""
_Labels = tuple[tuple[str, str], ...]
_Process = tuple[_Labels, int]
"""A configuration, and the process within its package."""


class _Event(msgspec.Struct, rename="pascal"):
    action: str = ""
    package: str = ""
    output: str = ""
    time: str = ""


@dataclass(slots=True)
class _Lines:
    """The lines of one benchmark in one process, under one configuration."""

    announced: str
    count: int = 0
    """How many there are."""
    problem: str = ""
    """What a strict reader refuses in them."""
    units: list[bytes] = field(default_factory=list)
    """Of the last line, in its order."""
    values: list[array[float]] = field(default_factory=list)
    """Of each of them."""
    by_unit: dict[bytes, array[float]] = field(default_factory=dict)
    steps: dict[bytes, float] = field(default_factory=dict)
    """Of the last digit of each unit's first value."""

    def add(self, announced: str, units: list[bytes], numbers: list[float], written: list[bytes]) -> None:
        """Keep a line, whose units may be others than those before; written: its numbers, whose digits may count."""
        # of "a" with GOMAXPROCS=2, and of "a-2"
        if announced != self.announced:
            self.problem = "two benchmarks have this name"
        self.count += 1
        if units != self.units:
            self.units = units
            if len(set(units)) < len(units):
                self.problem = "one of its lines has a unit twice"
            for unit, own in zip(units, written, strict=True):
                self.steps.setdefault(unit, Digits(own).step)
            self.values = [self.by_unit.setdefault(unit, array("d")) for unit in units]
        for values, number in zip(self.values, numbers, strict=True):
            values.append(number)


@dataclass(slots=True)
class _File:
    groups: dict[_Process, dict[bytes, _Lines]] = field(default_factory=dict)
    failed: dict[tuple[str | None, _Labels, int], str] = field(default_factory=dict)
    better: dict[str, Better] = field(default_factory=dict)
    exact: set[str] = field(default_factory=set)
    processes: dict[str, int] = field(default_factory=dict)
    """Of each package, how many there were."""
    first: dict[str, str] = field(default_factory=dict)
    """The first value of each key."""
    created: str | None = None
    left_out: list[str] = field(default_factory=list)
    packages: set[str] = field(default_factory=set)
    reported: str = ""
    """The first failure that it reports."""
    wrong: str = ""
    """The first thing that a strict reader refuses."""

    def read_unit(self, words: list[str]) -> None:
        """Take a line "Unit NAME better=higher assume=exact"."""
        name = _metric_of(words[0].encode())[0] if words else ""
        for word in words[1:]:
            key, _, value = word.partition("=")
            if key == "better" and value in ("lower", "higher"):
                better: Better = "higher" if value == "higher" else "lower"
                if self.better.setdefault(name, better) != better:
                    self.wrong = self.wrong or f"the unit {_quoted(words[0])} is better both lower and higher"
            elif (key, value) == ("assume", "exact"):
                self.exact.add(name)


@dataclass(slots=True)
class _Stream:
    """What is known of one stream of lines while they go by; -json has one for each package."""

    file: _File
    labels: dict[str, str]
    place: int = 0
    """The line that is read, from 1."""
    process: int = -1
    """Within its package."""
    rest: str = ""
    """The beginning of a line whose end is not there yet."""
    of_testing: bool = False
    """The package testing wrote it, which ends with PASS."""
    # what a new process begins without
    ended: bool = True
    """The next result is of a new process."""
    lines: dict[bytes, _Lines] | None = None
    """By name, under the present configuration and in this process; None: not known yet."""
    announced: str = ""
    pending: str = ""
    """A name whose results have not come yet."""
    began: int = 0
    """The line of that name."""
    unread: dict[str, str] = field(default_factory=dict)
    """Names whose results cannot be read, and why."""
    crash: str = ""
    passed: bool = False
    """A line of this process ends with PASS, behind what a benchmark may have printed."""
    named: bool = False
    """A failure that names its benchmark was there in this process."""

    def read(self, line: bytes) -> None:
        """Take a line of results fast, and leave all others to what knows them."""
        if line.startswith(b"Benchmark") and self._keep(line.split()):
            return
        if line and not line.isspace():
            text = line.decode("utf-8", "replace")
            if text == "FAIL" or text.startswith(_FAILS):
                self.file.reported = self.file.reported or _quoted(self.crash or text)
            self._read_other(text)

    def _key(self, labels: dict[str, str] | None = None) -> _Process:
        """Return under which key results go now, and failures: that of the stream, or of its process elsewhere."""
        own = self.labels if labels is None else labels
        if self.ended:
            package = own.get("pkg", "")
            self.process = self.file.processes.get(package, 0)
            self.file.processes[package] = self.process + 1
            self.ended = False
        key = tuple(sorted(own.items())), self.process
        self.lines = self.file.groups.setdefault(key, {})
        return key

    def _keep(self, words: list[bytes]) -> bool:
        """Keep a name, a count and pairs of value and unit; return whether they are that."""
        if len(words) < 4 or len(words) % 2 or not words[1].isdigit():
            return False
        try:
            numbers = list(map(float, written := words[2::2]))
        except ValueError:
            return False
        self._end_pending()
        lines = self.file.groups[self._key()] if self.lines is None else self.lines
        found, announced = lines.get(words[0]), self.announced
        if found is None or announced != found.announced:
            announced = announced if _is_of(words[0].decode("utf-8", "replace"), announced) else ""
            found = found or lines.setdefault(words[0], _Lines(announced))
        found.add(announced, words[3::2], numbers, written)
        return True

    def _fail(self, benchmark: str | None, status: str, package: str | None = None) -> None:
        """Keep a failure; package: the one that failed, if it is not that of the stream."""
        labels = self.labels | ({} if package is None else {"pkg": package})
        self.file.failed.setdefault((benchmark, *self._key(labels)), status)

    def _leave_out(self, what: str) -> None:
        """Keep something that is left out or read in part."""
        self.file.left_out.append(f"line {self.place}: {what}")

    def _end_pending(self) -> None:
        # "Benchmarking" is the name of nothing that testing runs
        if _CALLED.fullmatch(self.pending):
            self.unread.setdefault(self.pending, f"line {self.began}: what it prints hides its results")
        self.pending = ""

    def _read_other(self, line: str) -> None:
        self.passed = self.passed or line.endswith("PASS")
        if line.startswith(("Unit ", "Unit\t")):
            self.file.read_unit(line.split()[1:])
        elif match := _FAILED.match(line):
            self._fail(match[1], visible(self.crash) or "it failed")
            self.named, self.crash, self.pending = True, "", ""
        elif match := _PACKAGE_FAILED.match(line):
            self._package_failed(match[1], (match[2] or "").strip())
        elif match := _CRASHED.match(line):
            self.pending = match[1] or self.pending
            self.crash = self.crash or match[2]
        elif line.startswith(("PASS", "ok  \t", "ok \t", "?   \t")):
            if "\t" in line:
                self.file.packages.add(line.split("\t")[1].strip())
            self.end(complete=True)
        elif (
            (match := _CONFIGURES.fullmatch(line))
            and match[1] not in _NO_KEYS
            and (not self.pending or match[1] in _OF_HEADER)
        ):
            self._configure(match[1], (match[2] or "").strip())
        elif not self.crash and not _LOGGED.match(line):
            before = ""
            for part in _apart(line):
                self._read_odd(part, strange=bool(before.strip()) and not _CALLED.search(before))
                before = part

    def _package_failed(self, package: str, why: str) -> None:
        """Keep that a package failed, if nothing says which of its benchmarks did."""
        self.file.packages.add(package)
        crashed = self.pending or (self.announced if self.crash else "")
        if crashed:
            self._fail(crashed, visible(self.crash) or "its results did not come")
            self.pending, self.crash = "", ""
        elif not self.named:
            status = visible(self.crash) or (why if why.startswith("[") else "the package failed")
            self._fail(None, f"{visible(package)}: {status}", package)
            self.crash = ""
        self.end(complete=True)

    def _configure(self, key: str, value: str) -> None:
        if key in _PROCESS_BEGINS:
            self.end()
        self.lines = None
        if key == "pkg":
            self.file.packages.add(value)
        if value:
            self.labels[key] = visible(value)
            self.file.first.setdefault(key, visible(value))
        else:
            self.labels.pop(key, None)

    def _read_odd(self, text: str, *, strange: bool) -> None:
        """Read results behind other text, or into which a benchmark printed, and a name that begins or is announced.

        Args:
            strange: something else stands before it on its line.
        """
        before, words = (text.split()[0], text.split()[1:]) if _is_result(text) else _tail(text)
        name = next((_named(word) for word in reversed(before.split()) if _NAME in word), "") or self.pending
        if not words:
            self._begin(text)
        elif not name:
            self._leave_out("results without a name")
            self.file.wrong = self.file.wrong or self.file.left_out[-1]
        elif (strange or (before and not before.startswith(name))) and not (
            "\t" in text and (self.announced or self._has_header)
        ):
            # what somebody may have written into the file
            self._leave_out(f"a result of {name} is left out: something stands before its name")
        else:
            self.pending = "" if name == self.pending else self.pending
            if not self._keep([name.encode(), *(word.encode() for word in words)]):
                self.unread.setdefault(name, f"line {self.place}: its results cannot be read: {_quoted(text)}")
            elif strange or before not in ("", name):
                self._leave_out(f"something was printed into the results of {name}, read without it")

    def _begin(self, text: str) -> None:
        """Take a name whose results come later, or what begins like results and cannot be read."""
        names = [name for part in text.split("\t")[:-1] if (name := _last_name(part.rstrip(" ")))]
        certain = text.startswith(_NAME) or self._has_header
        if names and certain and (not self.announced or _is_of(names[-1], self.announced)):
            self._end_pending()
            self.pending, self.began = names[-1], self.place
        elif name := _last_name(text):
            self.announced = name
            self.of_testing = self.of_testing or name == text
        elif not self.announced and (begins := _BEGINS.match(text)):
            self.unread.setdefault(begins[1], f"line {self.place}: its results cannot be read: {_quoted(text)}")

    @property
    def _has_header(self) -> bool:
        return not self.labels.keys().isdisjoint(_OF_HEADER)

    def end(self, *, complete: bool = False) -> None:
        """End a process, which may have crashed without a word from `go test`; complete: it says itself it ended."""
        begun = not self.ended or self.announced or self.pending
        of_testing = self.of_testing or "goos" in self.labels or self.crash
        if begun and of_testing and not (complete or self.passed):
            why = _quoted(self.crash) if self.crash else "it is cut short"
            self.file.wrong = self.file.wrong or f"{self.labels.get('pkg', 'the output')} ends without PASS: {why}"
        if self.crash:
            self._fail(self.pending or self.announced or None, visible(self.crash))
            self.pending = ""
        self._end_pending()
        names = {raw.decode("utf-8", "replace") for raw in self.file.groups[self._key()]} if self.unread else set()
        for name, why in self.unread.items():
            if not any(_is_of(each, name) for each in names):
                self._fail(name, why)
            else:
                # it has results, and others that cannot be read
                self.file.left_out.append(f"{name}: {why}")
        # another process begins with the next result
        self.ended, self.lines, self.named, self.passed, self.crash = True, None, False, False, ""
        self.announced, self.unread = "", {}


def recognises(source: Source) -> bool:
    """Return whether a line is a result as the format has it, or of test2json."""
    if source.head.json_lines:
        return all(map(_is_event, source.head.json_lines))
    return _is_text(source.head.text) or _has_events(source.head.text)


def _is_text(text: str) -> bool:
    return not text.lstrip().startswith("<") and bool(_RESULT.search(text) or _HEADER.match(text))


def _is_event(found: Any) -> bool:
    return isinstance(found, dict) and found.get("Action") in _ACTIONS and ("Package" in found or "ImportPath" in found)


def _has_events(text: str) -> bool:
    """Return whether lines are events of test2json, beside those that a build or a download left there."""
    for found in _EVENT.finditer(text):
        try:
            if _is_event(msgspec.json.decode(found[0])):
                return True
        except msgspec.DecodeError:
            continue
    return False


def read(source: Source) -> Iterator[Result]:
    """Yield each benchmark in each process; configuration and the parts of a name as labels."""
    file = _file(source)
    host = {key: file.first[key] for key in _HOST if key in file.first}
    yield About(host=host, commit=file.first.get("commit"), created=file.created, tool="go test")
    yield from _results(file)
    yield from map(LeftOut, file.left_out)


def suite(data: bytes, *, several: bool, failed: bool = False) -> Suite:
    """Read one value of each metric from each line of an execution; with -count several lines are of one benchmark.

    A metric that only some lines of a benchmark have is left out.

    Args:
        several: the command may name several packages; then, and when the output does, names begin with the package.
        failed: it ended with an error: what failed is an error of that benchmark, or of its package, and the others
            are read.

    Raises:
        OutputError: a failure among the results, an end without PASS or in the middle of a line, or results without a
            name. Results that cannot be separated from what the benchmark prints are an error of that benchmark.
    """
    [file] = results(lambda source: map(_file, [source]), data)
    if file.reported and not failed:
        raise OutputError(f"the output reports a failure: {file.reported}")
    if file.wrong:
        raise OutputError(file.wrong)
    refuse_cut_off(data, "the output")
    several = several or len(file.packages) > 1
    seen: Counter[str] = Counter()
    named: list[ProcessValues | FailedResult] = []
    for each in _results(file, strict=True):
        package = each.labels.get("pkg", "")
        name = f"{package}.{each.benchmark}" if package and several and each.benchmark else each.benchmark or package
        status = {"status": each.status.removeprefix(f"{package}: ")} if isinstance(each, FailedResult) else {}
        named.append(msgspec.structs.replace(each, benchmark=name, execution=seen[name], **status))
        seen[name] += 1
    return sorted_by_name(named, "")


def _file(source: Source) -> _File:
    file = _File()
    text = source.head.text
    if source.head.json_lines or (_has_events(text) and not _is_text(text)):
        _read_events(source, file)
        return file
    stream = _Stream(file, {})
    for line in source.bytes_lines():
        stream.place += 1
        words = line.split() if source.unended and line.startswith(b"Benchmark") else []
        known = (of.by_unit for lines in file.groups.values() for of in lines.values())
        if len(words) >= 4 and len(words) % 2 == 0 and not any(words[-1] in units for units in (_OF_TESTING, *known)):
            # the last line may end within a unit, and another unit has another metric
            why = f"line {stream.place}: the file is cut off within its results"
            stream.unread.setdefault(words[0].decode("utf-8", "replace"), why)
        else:
            stream.read(line)
    stream.end()
    return file


def _read_events(source: Source, file: _File) -> None:
    streams: dict[str, _Stream] = {}
    decoder = msgspec.json.Decoder(_Event)
    for place, line in enumerate(source.bytes_lines(), 1):
        try:
            event = decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            # what a build tool or a cut left between the events
            if b'"Output"' in line:
                file.left_out.append(f"line {place}: it is no whole event of test2json")
            continue
        file.created = file.created or event.time or None
        if event.action != "output":
            continue
        stream = streams.get(event.package)
        if stream is None:
            stream = streams[event.package] = _Stream(file, {"pkg": event.package} if event.package else {})
        # a line comes in several events: its name when the benchmark begins, its results when it ends
        stream.place = place
        *whole, stream.rest = (stream.rest + event.output).split("\n")
        for each in whole:
            stream.read(each.encode("utf-8", "replace"))
    for stream in streams.values():
        stream.read(stream.rest.encode("utf-8", "replace"))
        stream.end()


def _apart(line: str) -> list[str]:
    """Part a line before each name that has results right behind it: files are put together without a newline.

    "BenchmarkA/BenchmarkB-8" is one name.
    """
    places = [0]
    for word in _WORD.finditer(line):
        at = word.start() + word[0].find(_NAME)
        if at > max(places[-1], word.start() - 1) and _CALLED.match(line, at) and _FOLLOWS.match(line, word.end()):
            places.append(at)
    return [line[at:end] for at, end in zip(places, [*places[1:], len(line)], strict=True)]


def _is_result(text: str) -> bool:
    word = _WORD.match(text)
    return word is not None and _CALLED.match(text) is not None and _FOLLOWS.match(text, word.end()) is not None


def _tail(text: str) -> tuple[str, list[str]]:
    """Read a count and pairs of value and unit at the end of a line, as testing writes them between tabs.

    Returns:
        What stands before them, and their words; [] where it does not end so.
    """
    parts = text.rstrip().split("\t")
    first = len(parts)
    while first > 1 and _PAIR.fullmatch(parts[first - 1]):
        first -= 1
    count = parts[first - 1]
    before = count.rstrip("0123456789")
    if first == len(parts) or before == count or len(count) - len(before.rstrip(" ")) < _COUNT:
        return "", []
    words = [count[len(before) :], *" ".join(parts[first:]).split()]
    return "\t".join([*parts[: first - 1], before]).rstrip(), words


def _last_name(text: str) -> str:
    """Return the name of a benchmark with which a text ends; "" where it ends with none."""
    if not text or text[-1].isspace():
        return ""
    return _named(text.rsplit(None, 1)[-1])


def _named(word: str) -> str:
    at = word.find(_NAME)
    return word[at:] if at >= 0 else ""


def _is_of(name: str, announced: str) -> bool:
    return bool(announced) and (name == announced or _PROCS.sub("", name) == announced)


def _quoted(line: str) -> str:
    return shown(line.replace("\t", " ").encode())


def _suffix_of(names: Collection[tuple[str, str]]) -> str:
    """Return the GOMAX_PROCS that ends names (as a line of results has them, and -v announced them), or "".

    Such as "-8"; "" also where -cpu gave several.
    """
    procs = {name.removeprefix(announced) for name, announced in names if announced}
    if not procs:
        # without -v: a suffix that all names have
        procs = {match[0] if (match := _PROCS.search(name)) else "" for name, _ in names}
    return next(iter(procs)) if len(procs) == 1 else ""


@lru_cache(maxsize=1024)
def _metric_of(raw: bytes) -> tuple[str, str, float]:
    """Return name, base unit and scale of what a unit measures.

    As in golang.org/x/perf/benchunit, the words of a unit are joined by "-" and "*", and what is below "/" is no scale.
    """
    unit = raw.decode("utf-8", "replace")
    above, _, below = unit.partition("/")
    if unit in _METRICS:
        return _METRICS[unit]
    if below in ("s", "sec", "second"):
        return unit, "B/s" if unit in _RATES else unit, _RATES.get(unit, 1.0)
    for word in re.split(r"[-*]", above):
        short = {"sec": "s", "bytes": "B"}.get(word, word)
        if short in _TIMES_AND_SIZES:
            return unit, *to_base(short)
    return unit, "", 1.0


def _results(file: _File, *, strict: bool = False) -> Iterator[ProcessValues | FailedResult]:
    # the GOMAXPROCS that ends the names of each process: one of the whole file, as the live instrument does, or each
    # its own where processes of several machines are in a file
    names = {
        key: {(name.decode("utf-8", "replace"), of.announced) for name, of in lines.items()}
        for key, lines in file.groups.items()
        if lines
    }
    common = _suffix_of(set().union(*names.values()))
    ends = {key: common or _suffix_of(each) for key, each in names.items()}
    suffixes = {key: ends.get(key, common) if all(ends.values()) else "" for key in file.groups}
    # number the processes of each configuration: what a key tells apart are no repetitions
    counts: Counter[tuple[_Labels, str]] = Counter()
    executions: dict[_Process, int] = {}
    for (labels, process), suffix in suffixes.items():
        executions[labels, process] = counts[labels, suffix]
        counts[labels, suffix] += 1
    named = lru_cache(None)(_names)
    for key, lines in file.groups.items():
        for raw, of in lines.items():
            name = raw.decode("utf-8", "replace")
            own = named(name, key[0], suffixes[key], announced=bool(of.announced))
            metrics, why = _metrics(file, of, strict=strict)
            if why:
                yield FailedResult(status=why, execution=executions[key], **own)
            else:
                yield ProcessValues(metrics=metrics, execution=executions[key], **own)
    for (benchmark, labels, process), status in file.failed.items():
        own = {"benchmark": None, "labels": dict(labels)}
        if benchmark is not None:
            own = named(benchmark, labels, suffixes.get((labels, process), ""), announced=False)
        yield FailedResult(status=status, execution=executions[labels, process], **own)


def _names(raw: str, labels: _Labels, suffix: str, *, announced: bool) -> dict[str, Any]:
    """Give the names of a benchmark, without the GOMAXPROCS at its end; announced: -v says that it is that."""

    def labelled(name: str, procs: str) -> dict[str, str]:
        # what a name says of its parameters, "/format=json", as benchstat names them
        parts = (part.partition("=") for part in name.split("/")[1:])
        own = dict(labels) | {f"/{key}": value for key, given, value in parts if given}
        return own | ({"/gomaxprocs": procs[1:]} if procs else {})

    name = visible(raw.removesuffix(suffix))
    certain = announced or not suffix or not raw.endswith(suffix)
    otherwise = None if certain else (visible(raw), labelled(visible(raw), ""))
    return {"benchmark": name, "labels": labelled(name, suffix), "otherwise": otherwise}


def _metrics(file: _File, of: _Lines, *, strict: bool) -> tuple[dict[str, Metric], str]:
    metrics: dict[str, Metric] = {}
    whole = [raw for raw, values in of.by_unit.items() if not strict or len(values) == of.count]
    if strict and (of.problem or (b"ns/op" in of.by_unit and b"ns/op" not in whole)):
        return {}, of.problem or "ns/op is missing in some of its results"
    for raw in whole:
        # a file of 1 GB has no room for its values twice
        numbers = of.by_unit.pop(raw)
        name, unit, scale = _metric_of(raw)
        values = array("d", map(scale.__mul__, numbers)) if scale != 1.0 else numbers
        if why := why_unusable(name, values, unit):
            return {}, why
        if name in metrics and strict:
            return {}, f"two of its metrics are called {name!r}"
        if name in metrics:
            # the unit under both of its names
            values = array("d", [*metrics[name].values, *values])
        if name in file.exact and not strict and min(values) == max(values):
            values = values[:1]
        step = of.steps[raw] * scale
        metrics[visible(name)] = Metric(unit=unit, better=file.better.get(name), values=values, step=step)
    other, cpu = metrics.pop(_OTHER, None), metrics.pop("cpu_time", None)
    if cpu is not None and other is not None:
        # what harness/build/go_clock.py has testing tell; a benchmark that takes its ns/op back wants no other time
        sharp = sum(other.values) <= _MOST_OTHER * len(other.values)
        cpu = msgspec.structs.replace(cpu, view_of="time", sharp=sharp) if "time" in metrics else None
    return metrics if cpu is None else {**metrics, "cpu_time": cpu}, ""
