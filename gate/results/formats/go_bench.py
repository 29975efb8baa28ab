"""The output of `go test -bench`, as text or as -json wrote it, and other text in Go's benchmark format.

Format: golang.org/design/14313-benchmark-format, as golang.org/x/perf/benchfmt reads it; cmd/test2json.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

import msgspec

from gate.adapters import go
from gate.adapters.suites import why_unusable
from gate.adapters.values import OutputError, Series
from gate.model import Better, Metric
from gate.model.visible import visible
from gate.results.result import About, Failed, Format, Measured, Result
from gate.results.source import Source

FORMAT = Format(
    title="Go benchmarks (`go test -bench`, also with `-json`; whatever benchstat reads)",
    execution="one run of one package's test binary: the results up to its `PASS` or the next `goos:` or `pkg:` line",
    iteration="one line of results; `-count` gives several",
    trap=(
        "`-count` repeats within one process; only a loop around `go test` gives several, and only if its headers are "
        "kept: a file that `grep Benchmark` made is one process"
    ),
)
_RESULT = re.compile(r"^Benchmark\S*[ \t]+\d+[ \t]+[-+.\w]+[ \t]+[^\s\d]", re.MULTILINE)
_HEADER = re.compile(r"\A(?:goos: \S+\n(?:goarch: \S+\n)?)?pkg: \S+\n(?:cpu: .*\n)?(?:Benchmark|PASS|FAIL|---|panic)")
_ACTIONS = {"start", "run", "output", "pass", "fail", "skip", "bench", "build-output", "build-fail", "pause", "cont"}
_CONFIGURES = re.compile(r"([^\W\dA-Z_][^\sA-Z:]*):(?:[ \t]+(.*))?")
_PROCESS_BEGINS = ("goos", "pkg")
# lines of a program that crashed, and of testing itself, look like configuration
_NO_KEYS = ("panic", "testing", "exit", "error", "fatal", "warning")
_PACKAGE_FAILED = re.compile(r"FAIL[ \t]+(\S+)(?:[ \t]+(.*))?")
_BENCHMARK_FAILED = re.compile(r"--- FAIL: (Benchmark\S+)")
_HOST = ("goos", "goarch", "cpu")
_RATES = {"B/s": 1.0, "kB/s": 1e3, "KB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9}
_ALIASES = {"sec/op": ("time", "s", 1.0), "s/op": ("time", "s", 1.0), "B/s": ("MB/s", "B/s", 1.0)}

Labels = tuple[tuple[str, str], ...]


class _Event(msgspec.Struct):
    action: str = msgspec.field(name="Action", default="")
    package: str = msgspec.field(name="Package", default="")
    output: str = msgspec.field(name="Output", default="")
    time: str = msgspec.field(name="Time", default="")


@dataclass(slots=True)
class _Lines:
    """The lines of one benchmark in one process, under one configuration."""

    announced: str
    units: list[bytes] = field(default_factory=list)
    """Of the last line, in its order."""
    values: list[array[float]] = field(default_factory=list)
    """Of each of them."""
    by_unit: dict[bytes, array[float]] = field(default_factory=dict)

    def add(self, units: list[bytes], numbers: list[float]) -> None:
        """Keep a line, whose units may be others than those before."""
        if units != self.units:
            self.units = units
            self.values = [self.by_unit.setdefault(unit, array("d")) for unit in units]
        for values, number in zip(self.values, numbers, strict=True):
            values.append(number)


@dataclass(slots=True)
class _Stream:
    """What is known of one stream of lines while they go by; -json has one for each package."""

    labels: dict[str, str]
    reader: go.Reader = field(default_factory=go.Reader)
    process: int = -1
    """Within its package."""
    ended: bool = True
    """The next result is of a new process."""
    lines: dict[bytes, _Lines] | None = None
    """By name, under the present configuration and in this process; None: not known yet."""
    rest: str = ""
    """The beginning of a line whose end is not there yet."""
    crash: str = ""
    named: bool = False
    """A failure that names its benchmark was there in this process."""

    def new_process(self) -> None:
        """Begin another process with the next result."""
        self.ended, self.lines, self.named, self.crash = True, None, False, ""
        self.reader.announced = self.reader.pending = ""


@dataclass(slots=True)
class _File:
    """All that was read."""

    groups: dict[tuple[Labels, int], dict[bytes, _Lines]] = field(default_factory=dict)
    failed: dict[tuple[str | None, Labels, int], str] = field(default_factory=dict)
    better: dict[str, Better] = field(default_factory=dict)
    exact: set[str] = field(default_factory=set)
    processes: dict[str, int] = field(default_factory=dict)
    """Of each package, how many there were."""
    first: dict[str, str] = field(default_factory=dict)
    """The first value of each key."""
    created: str | None = None

    def lines_of(self, stream: _Stream) -> dict[bytes, _Lines]:
        """Return where results go now."""
        if stream.ended:
            package = stream.labels.get("pkg", "")
            stream.process = self.processes.get(package, 0)
            self.processes[package] = stream.process + 1
            stream.ended = False
        stream.lines = self.groups.setdefault((tuple(sorted(stream.labels.items())), stream.process), {})
        return stream.lines

    def fail(self, stream: _Stream, benchmark: str | None, status: str) -> None:
        """Keep a failure."""
        if stream.ended:
            self.lines_of(stream)
        labels = tuple(sorted(stream.labels.items()))
        self.failed.setdefault((benchmark, labels, stream.process), status)


def recognises(source: Source) -> bool:
    """Return whether a line is a result as the format has it, or all are events of test2json."""
    events = source.head.json_lines
    if events:
        return all(
            event.get("Action") in _ACTIONS and ("Package" in event or "ImportPath" in event) for event in events
        )
    text = source.head.text
    if text.lstrip()[:1] in ("{", "[", "<"):
        return False
    return bool(_RESULT.search(text) or _HEADER.match(text))


def read(source: Source) -> Iterator[Result]:
    """Yield each benchmark in each process; configuration and the parts of a name as labels."""
    file = _File()
    if source.head.json_lines:
        _read_events(source, file)
    else:
        stream = _Stream({})
        for line in source.bytes_lines():
            _read_line(file, stream, line)
        _end(file, stream)
    host = {key: file.first[key] for key in _HOST if key in file.first}
    yield About(host=host, commit=file.first.get("commit"), created=file.created, tool="go test")
    yield from _results(file)


def _read_events(source: Source, file: _File) -> None:
    streams: dict[str, _Stream] = {}
    decoder = msgspec.json.Decoder(_Event)
    for line in source.bytes_lines():
        try:
            event = decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            # what a build tool or a cut left between the events
            continue
        file.created = file.created or event.time or None
        if event.action != "output":
            continue
        stream = streams.get(event.package)
        if stream is None:
            stream = streams[event.package] = _Stream({"pkg": event.package} if event.package else {})
        # a line comes in several events: its name when the benchmark begins, its results when it ends
        *whole, stream.rest = (stream.rest + event.output).split("\n")
        for each in whole:
            _read_line(file, stream, each.encode("utf-8", "replace"))
    for stream in streams.values():
        _read_line(file, stream, stream.rest.encode("utf-8", "replace"))
        _end(file, stream)


def _read_line(file: _File, stream: _Stream, line: bytes) -> None:
    """Take a line of results fast, and leave all others to what knows them."""
    if line.startswith(b"Benchmark") and not stream.reader.pending:
        words = line.split()
        # what stands between a count and pairs of value and unit
        if len(words) >= 4 and len(words) % 2 == 0 and words[1].isdigit():
            try:
                numbers = list(map(float, words[2::2]))
            except ValueError:
                pass
            else:
                lines = file.lines_of(stream) if stream.lines is None else stream.lines
                found = lines.get(words[0])
                if found is None:
                    found = lines[words[0]] = _Lines(_announced(stream.reader, words[0]))
                found.add(words[3::2], numbers)
                return
    if line and not line.isspace():
        _read_other(file, stream, line.decode("utf-8", "replace"))


def _announced(reader: go.Reader, name: bytes) -> str:
    own = reader.announced
    return own if own and go.is_of(name.decode("utf-8", "replace"), own) else ""


def _read_other(file: _File, stream: _Stream, line: str) -> None:
    if line.startswith(("Unit ", "Unit\t")):
        _read_unit(file, line.split()[1:])
    elif match := _BENCHMARK_FAILED.match(line):
        file.fail(stream, match[1], visible(stream.crash) or "it failed")
        stream.named, stream.crash = True, ""
        stream.reader.pending = ""
    elif match := _PACKAGE_FAILED.match(line):
        _package_failed(file, stream, match[1], (match[2] or "").strip())
    elif line.startswith(("panic: ", "fatal error: ")):
        stream.crash = stream.crash or line
    elif line.startswith(("PASS", "ok  \t", "ok \t", "?   \t")):
        _end(file, stream)
    elif (match := _CONFIGURES.fullmatch(line)) and match[1] not in _NO_KEYS:
        _configure(file, stream, match[1], (match[2] or "").strip())
    elif not stream.crash:
        _read_mixed(file, stream, line)


def _read_unit(file: _File, words: list[str]) -> None:
    name = _metric(words[0].encode())[0] if words else ""
    for word in words[1:]:
        key, _, value = word.partition("=")
        if key == "better" and value in ("lower", "higher"):
            file.better.setdefault(name, "higher" if value == "higher" else "lower")
        elif (key, value) == ("assume", "exact"):
            file.exact.add(name)


def _package_failed(file: _File, stream: _Stream, package: str, why: str) -> None:
    """Keep that a package failed, if nothing says which of its benchmarks did."""
    crashed = stream.reader.pending or stream.reader.announced if stream.crash else ""
    if crashed:
        file.fail(stream, go.PROCS.sub("", crashed), visible(stream.crash))
    elif not stream.named:
        before = stream.labels.get("pkg")
        stream.labels["pkg"] = package
        status = visible(stream.crash) or (why if why.startswith("[") else "the package failed")
        file.fail(stream, None, f"{visible(package)}: {status}")
        if before is not None:
            stream.labels["pkg"] = before
        else:
            del stream.labels["pkg"]
    stream.new_process()


def _configure(file: _File, stream: _Stream, key: str, value: str) -> None:
    if key in _PROCESS_BEGINS:
        _end(file, stream)
    stream.lines = None
    if value:
        stream.labels[key] = visible(value)
        file.first.setdefault(key, visible(value))
    else:
        stream.labels.pop(key, None)


def _read_mixed(file: _File, stream: _Stream, line: str) -> None:
    """Read a name that -v announces, and results into which a benchmark printed."""
    reader = stream.reader
    if "\t" in line and not (reader.announced or reader.pending or line.startswith("Benchmark")):
        # "BEFORE: BenchmarkX-8 ...", which somebody wrote into the file
        return
    try:
        go.read_results(reader, line)
    except OutputError:
        # a name whose results never came, or results that belong to no name
        reader.pending = ""
    for result in reader.results:
        name = result.name.encode()
        found = file.lines_of(stream).setdefault(name, _Lines(result.announced))
        found.add([unit.encode() for unit in result.values], list(result.values.values()))
    reader.results.clear()


def _end(file: _File, stream: _Stream) -> None:
    """End a process, which may have crashed without a word from `go test`."""
    if stream.crash:
        crashed = stream.reader.pending or stream.reader.announced
        file.fail(stream, go.PROCS.sub("", crashed) if crashed else None, visible(stream.crash))
    stream.new_process()


def _results(file: _File) -> Iterator[Result]:
    suffixes = _suffixes(file)
    # a failure stands under the name without or with GOMAXPROCS
    bad = {(b.removesuffix(suffixes.get((ls, p), "")), ls, p) for b, ls, p in file.failed if b}
    shared: dict[tuple[Labels, bytes, str], tuple[str, dict[str, str]]] = {}
    for (labels, process), lines in file.groups.items():
        suffix = suffixes[labels, process]
        for raw, of in lines.items():
            if (labels, raw, suffix) not in shared:
                plain = visible(raw.decode("utf-8", "replace").removesuffix(suffix))
                shared[labels, raw, suffix] = plain, dict(labels) | _parts(plain, suffix)
            name, own = shared[labels, raw, suffix]
            if (name, labels, process) in bad:
                continue
            metrics, why = _metrics(file, of)
            if why:
                yield Failed(benchmark=name, status=why, execution=process, labels=own)
            else:
                yield Measured(benchmark=name, metrics=metrics, execution=process, labels=own)
    for (benchmark, labels, process), status in file.failed.items():
        suffix = suffixes.get((labels, process), "")
        name_or_none = None if benchmark is None else visible(benchmark.removesuffix(suffix))
        own = dict(labels) | (_parts(name_or_none, suffix) if name_or_none else {})
        yield Failed(benchmark=name_or_none, status=status, execution=process, labels=own)


def _suffixes(file: _File) -> dict[tuple[Labels, int], str]:
    """Find the GOMAXPROCS that ends the names of each process: one of the whole file, as the live instrument does.

    Where processes of several machines are in a file, each has its own.
    """
    names = {
        key: {(name.decode("utf-8", "replace"), of.announced) for name, of in lines.items()}
        for key, lines in file.groups.items()
        if lines
    }
    common = go.suffix_of(set().union(*names.values()))
    own = {key: common or go.suffix_of(each) for key, each in names.items()}
    usable = all(own.values())
    return {key: own.get(key, common) if usable else "" for key in file.groups}


def _parts(name: str, suffix: str) -> dict[str, str]:
    """Return what a name says of its parameters, "/format=json", as benchstat names them."""
    parts = {f"/{key}": value for part in name.split("/")[1:] for key, given, value in [part.partition("=")] if given}
    return parts | ({"/gomaxprocs": suffix[1:]} if suffix else {})


def _metrics(file: _File, of: _Lines) -> tuple[dict[str, Metric], str]:
    """Make metrics of all lines of a benchmark, or say why they cannot be used."""
    metrics: dict[str, Metric] = {}
    for raw in list(of.by_unit):
        # a file of 1 GB has no room for its values twice
        numbers = of.by_unit.pop(raw)
        name, unit, scale, better = _metric(raw)
        values = array("d", map(scale.__mul__, numbers)) if scale != 1.0 else numbers
        if why := why_unusable(name, Series(unit, values)):  # type: ignore[arg-type]  # an array is a sequence of floats, and a tenth of a list's size
            return {}, why
        if name in metrics:
            # the unit under both of its names
            values = array("d", [*metrics[name].values, *values])
        if name in file.exact and min(values) == max(values):
            values = values[:1]
        metrics[visible(name)] = Metric(unit=unit, better=file.better.get(name, better), values=values)
    return metrics, ""


@lru_cache(maxsize=1024)
def _metric(unit: bytes) -> tuple[str, str, float, Better]:
    """Return name, base unit, scale and direction of a unit, as the live instrument does, and its other names."""
    text = unit.decode("utf-8", "replace")
    if text in _ALIASES:
        name, base, scale = _ALIASES[text]
        return name, base, scale, "lower" if name == "time" else "higher"
    name, base, scale, better = go.metric_of(text)
    if base in _RATES:
        return name, "B/s", _RATES[base], better
    return name, base, scale, better
