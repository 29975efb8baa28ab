"""The lines of Go's benchmark format, and the events of test2json -> values by configuration, process and name."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

import msgspec

from gate.formats.parts import go_text as go
from gate.formats.parts.output import OutputError
from gate.formats.parts.source import Source
from gate.model import Better
from gate.model.digits import Digits
from gate.writing.plain import visible

_CONFIGURES = re.compile(r"([^\W\dA-Z_][^\sA-Z:]*):(?:[ \t]+(.*))?")
_PROCESS_BEGINS = ("goos", "pkg")
_OF_HEADER = ("goos", "goarch", "pkg", "cpu")
# lines of a program that crashed, and of testing itself, look like configuration
_NO_KEYS = ("panic", "testing", "exit", "error", "fatal", "warning")
_PACKAGE_FAILED = re.compile(r"FAIL[ \t]+(\S+)(?:[ \t]+(.*))?")
_OF_TESTING = {b"ns/op", b"MB/s", b"B/op", b"allocs/op", b"sec/op", b"B/s"}
_CRASHED = re.compile(r"(?:(Benchmark\S+)[ \t]+)?((?:panic: |fatal error: |\*\*\* Test killed).*)")
_FAILS = ("FAIL\t", "--- FAIL: ")
_RATES = {"B/s": 1.0, "kB/s": 1e3, "KB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9}
_ALIASES = {"sec/op": ("time", "s", 1.0), "s/op": ("time", "s", 1.0), "B/s": ("MB/s", "B/s", 1.0)}

Labels = tuple[tuple[str, str], ...]


class _Event(msgspec.Struct):
    action: str = msgspec.field(name="Action", default="")
    package: str = msgspec.field(name="Package", default="")
    output: str = msgspec.field(name="Output", default="")
    time: str = msgspec.field(name="Time", default="")


@dataclass(slots=True)
class Lines:
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

    def add(self, units: list[bytes], numbers: Iterable[float], written: Iterable[Digits]) -> None:
        """Keep a line, whose units may be others than those before; written: its numbers, which are seldom asked."""
        self.count += 1
        if units != self.units:
            self.units = units
            if len(set(units)) < len(units):
                self.problem = "one of its lines has a unit twice"
            for unit, own in zip(units, written, strict=True):
                self.steps.setdefault(unit, own.step)
            self.values = [self.by_unit.setdefault(unit, array("d")) for unit in units]
        for values, number in zip(self.values, numbers, strict=True):
            values.append(number)


@dataclass(slots=True)
class Stream:
    """What is known of one stream of lines while they go by; -json has one for each package."""

    labels: dict[str, str]
    reader: go.Reader = field(default_factory=go.Reader)
    process: int = -1
    """Within its package."""
    ended: bool = True
    """The next result is of a new process."""
    lines: dict[bytes, Lines] | None = None
    """By name, under the present configuration and in this process; None: not known yet."""
    rest: str = ""
    """The beginning of a line whose end is not there yet."""
    crash: str = ""
    passed: bool = False
    """A line of this process ends with PASS, behind what a benchmark may have printed."""
    named: bool = False
    """A failure that names its benchmark was there in this process."""
    behind: list[tuple[int, go.Result]] = field(default_factory=list)
    """Results in this process whose name stands behind something else, with their lines."""

    def new_process(self) -> None:
        """Begin another process with the next result."""
        self.ended, self.lines, self.named, self.passed, self.crash = True, None, False, False, ""
        self.reader.announced = self.reader.pending = ""
        self.reader.unread, self.reader.torn, self.behind = {}, {}, []


@dataclass(slots=True)
class File:
    """All that was read."""

    groups: dict[tuple[Labels, int], dict[bytes, Lines]] = field(default_factory=dict)
    failed: dict[tuple[str | None, Labels, int], str] = field(default_factory=dict)
    partly: dict[tuple[str | None, Labels, int], str] = field(default_factory=dict)
    """Benchmarks that have results, and others that cannot be read."""
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

    def lines_of(self, stream: Stream) -> dict[bytes, Lines]:
        """Return where results go now."""
        if stream.ended:
            package = stream.labels.get("pkg", "")
            stream.process = self.processes.get(package, 0)
            self.processes[package] = stream.process + 1
            stream.ended = False
        stream.lines = self.groups.setdefault((tuple(sorted(stream.labels.items())), stream.process), {})
        return stream.lines

    def fail(self, stream: Stream, benchmark: str | None, status: str) -> None:
        """Keep a failure."""
        if stream.ended:
            self.lines_of(stream)
        labels = tuple(sorted(stream.labels.items()))
        self.groups.setdefault((labels, stream.process), {})
        self.failed.setdefault((benchmark, labels, stream.process), status)

    def read_partly(self, stream: Stream, name: str, why: str) -> None:
        """Keep what cannot be read of a benchmark that has results."""
        self.left_out.append(f"{name}: {why}")
        self.partly.setdefault((name, tuple(sorted(stream.labels.items())), stream.process), why)


def read_events(source: Source, file: File) -> None:
    """Read the output of each package out of its events."""
    streams: dict[str, Stream] = {}
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
            stream = streams[event.package] = Stream({"pkg": event.package} if event.package else {})
        # a line comes in several events: its name when the benchmark begins, its results when it ends
        stream.reader.place = place
        *whole, stream.rest = (stream.rest + event.output).split("\n")
        for each in whole:
            read_line(file, stream, each.encode("utf-8", "replace"))
    for stream in streams.values():
        read_line(file, stream, stream.rest.encode("utf-8", "replace"))
        end(file, stream)


def read_line(file: File, stream: Stream, line: bytes) -> None:
    """Take a line of results fast, and leave all others to what knows them."""
    if line.startswith(b"Benchmark") and not stream.reader.pending:
        words = line.split()
        # what stands between a count and pairs of value and unit
        if len(words) >= 4 and len(words) % 2 == 0 and words[1].isdigit():
            try:
                numbers = list(map(float, texts := words[2::2]))
            except ValueError:
                pass
            else:
                lines = file.lines_of(stream) if stream.lines is None else stream.lines
                found = lines.get(words[0])
                if found is None:
                    found = lines[words[0]] = Lines(_announced(stream.reader, words[0]))
                elif stream.reader.announced != found.announced:
                    _tell_apart(found, _announced(stream.reader, words[0]))
                found.add(words[3::2], numbers, map(Digits, texts))
                return
    if line and not line.isspace():
        text = line.decode("utf-8", "replace")
        if text == "FAIL" or text.startswith(_FAILS):
            file.reported = file.reported or go.quoted(stream.crash or text)
        _read_other(file, stream, text)


def _announced(reader: go.Reader, name: bytes) -> str:
    own = reader.announced
    return own if own and go.is_of(name.decode("utf-8", "replace"), own) else ""


def _tell_apart(lines: Lines, announced: str) -> None:
    """Keep that results of two benchmarks have one name: of "a" with GOMAXPROCS=2, and of "a-2"."""
    if announced != lines.announced:
        lines.problem = "two benchmarks have this name"


def _read_other(file: File, stream: Stream, line: str) -> None:
    stream.passed = stream.passed or line.endswith("PASS")
    if line.startswith(("Unit ", "Unit\t")):
        _read_unit(file, line.split()[1:])
    elif match := go.FAILED.match(line):
        file.fail(stream, match[1], visible(stream.crash) or "it failed")
        stream.named, stream.crash = True, ""
        stream.reader.pending = ""
    elif match := _PACKAGE_FAILED.match(line):
        _package_failed(file, stream, match[1], (match[2] or "").strip())
    elif match := _CRASHED.match(line):
        stream.reader.pending = match[1] or stream.reader.pending
        stream.crash = stream.crash or match[2]
    elif line.startswith(("PASS", "ok  \t", "ok \t", "?   \t")):
        if "\t" in line:
            file.packages.add(line.split("\t")[1].strip())
        end(file, stream, complete=True)
    elif (
        (match := _CONFIGURES.fullmatch(line))
        and match[1] not in _NO_KEYS
        and (not stream.reader.pending or match[1] in _OF_HEADER)
    ):
        _configure(file, stream, match[1], (match[2] or "").strip())
    elif not stream.crash:
        for each in go.apart(line, stream.reader.pending):
            _read_mixed(file, stream, each)


def _read_unit(file: File, words: list[str]) -> None:
    name = metric_of(words[0].encode())[0] if words else ""
    for word in words[1:]:
        key, _, value = word.partition("=")
        if key == "better" and value in ("lower", "higher"):
            better: Better = "higher" if value == "higher" else "lower"
            if file.better.setdefault(name, better) != better:
                file.wrong = file.wrong or f"the unit {go.quoted(words[0])} is better both lower and higher"
        elif (key, value) == ("assume", "exact"):
            file.exact.add(name)


def _package_failed(file: File, stream: Stream, package: str, why: str) -> None:
    """Keep that a package failed, if nothing says which of its benchmarks did."""
    file.packages.add(package)
    crashed = stream.reader.pending or (stream.reader.announced if stream.crash else "")
    if crashed:
        file.fail(stream, crashed, visible(stream.crash) or "its results did not come")
        stream.reader.pending, stream.crash = "", ""
    elif not stream.named:
        before = stream.labels.get("pkg")
        stream.labels["pkg"] = package
        status = visible(stream.crash) or (why if why.startswith("[") else "the package failed")
        file.fail(stream, None, f"{visible(package)}: {status}")
        if before is not None:
            stream.labels["pkg"] = before
        else:
            del stream.labels["pkg"]
        stream.crash = ""
    end(file, stream, complete=True)


def _configure(file: File, stream: Stream, key: str, value: str) -> None:
    if key in _PROCESS_BEGINS:
        end(file, stream)
    stream.lines = None
    if key == "pkg":
        file.packages.add(value)
    if value:
        stream.labels[key] = visible(value)
        file.first.setdefault(key, visible(value))
    else:
        stream.labels.pop(key, None)


def _read_mixed(file: File, stream: Stream, line: str) -> None:
    """Read a name that -v announces, and results into which a benchmark printed."""
    reader = stream.reader
    if not (reader.announced or reader.pending or line.startswith("Benchmark")):
        _read_behind(file, stream, line)
        return
    try:
        go.read_results(reader, line)
    except OutputError as error:
        file.left_out.append(f"line {reader.place}: {error}")
        file.wrong = file.wrong or file.left_out[-1]
        return
    for result in reader.results:
        _keep(file, stream, result)
        if result.printed:
            what = f"something was printed into the results of {result.name}, read without it"
            file.left_out.append(f"line {reader.place}: {what}")
    reader.results.clear()


def _read_behind(file: File, stream: Stream, line: str) -> None:
    """Read a name, or results, behind something else on their line."""
    found = go.behind(line)
    if found is None:
        return
    place, of_testing = stream.reader.place, not stream.labels.keys().isdisjoint(_OF_HEADER)
    # where results end that have lost their tabs is not certain
    if "\t" not in line or (found.values and not (found.name and of_testing)):
        # what somebody may have written into the file
        stream.behind.append((place, found))
    elif found.values:
        _keep(file, stream, found)
        file.left_out.append(f"line {place}: a result of {found.name} read without what stands before it")
    elif of_testing:
        # its results come behind what the benchmark prints
        stream.reader.pending, stream.reader.began = found.name, place


def _keep(file: File, stream: Stream, result: go.Result) -> None:
    found = file.lines_of(stream).setdefault(result.name.encode(), Lines(result.announced))
    _tell_apart(found, result.announced)
    numbers = result.values.values()
    found.add([unit.encode() for unit in result.values], numbers, numbers)


def cut_off(file: File, stream: Stream, line: bytes) -> bool:
    """Return whether a last line without a newline ends within a unit, and keep that its benchmark is unread."""
    words = line.split()
    if not line.startswith(b"Benchmark") or len(words) < 4 or len(words) % 2:
        return False
    known = any(words[-1] in of.by_unit for lines in file.groups.values() for of in lines.values())
    if known or words[-1] in _OF_TESTING:
        return False
    name = words[0].decode("utf-8", "replace")
    why = f"line {stream.reader.place}: the file is cut off within its results"
    stream.reader.unread.setdefault(name, why)
    return True


def end(file: File, stream: Stream, *, complete: bool = False) -> None:
    """End a process, which may have crashed without a word from `go test`; complete: it says itself that it ended."""
    begun = not stream.ended or stream.reader.announced or stream.reader.pending
    of_testing = stream.reader.of_testing or "goos" in stream.labels or stream.crash
    if begun and of_testing and not (complete or stream.passed):
        why = go.quoted(stream.crash) if stream.crash else "it is cut short"
        file.wrong = file.wrong or f"{stream.labels.get('pkg', 'the output')} ends without PASS: {why}"
    if stream.crash:
        file.fail(stream, stream.reader.pending or stream.reader.announced or None, visible(stream.crash))
        stream.reader.pending = ""
    go.end_pending(stream.reader)
    if stream.reader.unread or stream.reader.torn or stream.behind:
        lines = file.lines_of(stream)
        names = {raw.decode("utf-8", "replace") for raw in lines}
        for place, result in stream.behind:
            _end_behind(file, stream, place, result, known=result.name in names)
        for name, why in (stream.reader.torn | stream.reader.unread).items():
            if not any(go.is_of(each, name) for each in names):
                file.fail(stream, name, why)
            elif name in stream.reader.unread:
                file.read_partly(stream, name, why)
    stream.new_process()


def _end_behind(file: File, stream: Stream, place: int, result: go.Result, *, known: bool) -> None:
    """Keep a result behind something else, which somebody may have written, where no line of its own has its name."""
    if not result.name:
        file.left_out.append(f"line {place}: results without a name")
        file.wrong = file.wrong or file.left_out[-1]
    elif result.values or known:
        how = "is left out: something stands before its name" if known else "read without what stands before it"
        file.left_out.append(f"line {place}: a result of {result.name} {how}")
        if not known:
            _keep(file, stream, result)
    else:
        file.fail(stream, result.name, f"line {place}: its results cannot be read: their tabs are lost")


@lru_cache(maxsize=1024)
def metric_of(unit: bytes) -> tuple[str, str, float]:
    """Return name, base unit and scale of a unit, as the live instrument does, and its other names."""
    text = unit.decode("utf-8", "replace")
    if text in _ALIASES:
        return _ALIASES[text]
    name, base, scale = go.metric_of(text)
    return (name, "B/s", _RATES[base]) if base in _RATES else (name, base, scale)
