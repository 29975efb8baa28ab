"""The output of `go test -bench`, as text or as -json wrote it, and other text in Go's benchmark format.

Format: golang.org/design/14313-benchmark-format, as golang.org/x/perf/benchfmt reads it; cmd/test2json.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from gate.formats.parts import go_text as go
from gate.formats.parts.go_lines import File, Labels, Lines, Stream, cut_off, end, metric_of, read_events, read_line
from gate.formats.parts.live import results, sorted_by_name
from gate.formats.parts.output import OutputError, Suite, refuse_cut_off, why_unusable
from gate.formats.parts.result import About, Failed, Format, LeftOut, Measured, Otherwise, Result
from gate.formats.parts.source import Source
from gate.model import Metric
from gate.writing.plain import visible

FORMAT = Format(
    title="Go benchmarks (`go test -bench`, also with `-json`; whatever benchstat reads)",
    execution="one run of one package's test binary: the results up to its `PASS` or the next `goos:` or `pkg:` line",
    iteration="one line of results; `-count` gives several",
    trap=(
        "`-count` repeats within one process; only a loop around `go test` gives several, and only if its headers are "
        "kept: a file that `grep Benchmark` made is one process"
    ),
)
# JMH's table of a class named Benchmark... has a mode behind the parameter
_RESULT = re.compile(r"^Benchmark\S*[ \t]+\d+[ \t]+[-+]?(?:[.\d]|(?i:nan|inf))[-+.\w]*[ \t]+[^\s\d]", re.MULTILINE)
_HEADER = re.compile(r"\A(?:goos: \S+\n(?:goarch: \S+\n)?)?pkg: \S+\n(?:cpu: .*\n)?(?:Benchmark|PASS|FAIL|---|panic)")
_EVENT = re.compile(r'^\{.*"Action":.*\}$', re.MULTILINE)
_ACTIONS = {"start", "run", "output", "pass", "fail", "skip", "bench", "build-output", "build-fail", "pause", "cont"}
_HOST = ("goos", "goarch", "cpu")


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
    return sorted_by_name(_by_package(file, several=several or len(file.packages) > 1), "")


def _by_package(file: File, *, several: bool) -> Iterator[Measured | Failed]:
    """Yield the results of a strict reading, named with their package, in their order."""
    seen: Counter[str] = Counter()
    for each in _results(file, strict=True):
        package = each.labels.get("pkg", "")
        name = f"{package}.{each.benchmark}" if package and several and each.benchmark else each.benchmark or package
        status = {"status": each.status.removeprefix(f"{package}: ")} if isinstance(each, Failed) else {}
        yield msgspec.structs.replace(each, benchmark=name, execution=seen[name], **status)
        seen[name] += 1


def _file(source: Source) -> File:
    file = File()
    text = source.head.text
    if source.head.json_lines or (_has_events(text) and not _is_text(text)):
        read_events(source, file)
    else:
        stream = Stream({})
        for line in source.bytes_lines():
            stream.reader.place += 1
            if not (source.unended and cut_off(file, stream, line)):
                read_line(file, stream, line)
        end(file, stream)
    return file


def _results(file: File, *, strict: bool = False) -> Iterator[Measured | Failed]:
    suffixes = _suffixes(file)
    executions = _executions(suffixes)
    shared: dict[tuple[Labels, bytes, str, bool], _Named] = {}
    for (labels, process), lines in file.groups.items():
        suffix, execution = suffixes[labels, process], executions[labels, process]
        for raw, of in lines.items():
            key = labels, raw, suffix, bool(of.announced)
            if key not in shared:
                shared[key] = _named(raw.decode("utf-8", "replace"), labels, suffix, announced=bool(of.announced))
            own = shared[key]
            metrics, why = _metrics(file, of, strict=strict)
            if why:
                yield Failed(
                    benchmark=own.name, status=why, execution=execution, labels=own.labels, otherwise=own.otherwise
                )  # fmt: skip
            else:
                yield Measured(
                    benchmark=own.name, metrics=metrics, execution=execution, labels=own.labels,
                    otherwise=own.otherwise,
                )  # fmt: skip
    for (benchmark, labels, process), status in (file.failed | file.partly if strict else file.failed).items():
        execution = executions[labels, process]
        if benchmark is None:
            yield Failed(benchmark=None, status=status, execution=execution, labels=dict(labels))
            continue
        own = _named(benchmark, labels, suffixes.get((labels, process), ""), announced=False)
        yield Failed(benchmark=own.name, status=status, execution=execution, labels=own.labels, otherwise=own.otherwise)


class _Named(NamedTuple):
    name: str
    labels: dict[str, str]
    otherwise: Otherwise | None


def _named(raw: str, labels: Labels, suffix: str, *, announced: bool) -> _Named:
    """Name a benchmark without the GOMAXPROCS at its end; announced: -v says that it is that."""
    name = visible(raw.removesuffix(suffix))
    own = dict(labels) | _parts(name, suffix)
    if announced or not suffix or not raw.endswith(suffix):
        return _Named(name, own, None)
    return _Named(name, own, Otherwise(visible(raw), dict(labels) | _parts(visible(raw), "")))


def _suffixes(file: File) -> dict[tuple[Labels, int], str]:
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


def _executions(suffixes: dict[tuple[Labels, int], str]) -> dict[tuple[Labels, int], int]:
    """Number the processes of each configuration: what a key tells apart are no repetitions."""
    counts: Counter[tuple[Labels, str]] = Counter()
    numbers: dict[tuple[Labels, int], int] = {}
    for (labels, process), suffix in suffixes.items():
        numbers[labels, process] = counts[labels, suffix]
        counts[labels, suffix] += 1
    return numbers


def _parts(name: str, suffix: str) -> dict[str, str]:
    """Return what a name says of its parameters, "/format=json", as benchstat names them."""
    parts = {f"/{key}": value for part in name.split("/")[1:] for key, given, value in [part.partition("=")] if given}
    return parts | ({"/gomaxprocs": suffix[1:]} if suffix else {})


def _metrics(file: File, of: Lines, *, strict: bool) -> tuple[dict[str, Metric], str]:
    """Make metrics of all lines of a benchmark, or say why they cannot be used."""
    metrics: dict[str, Metric] = {}
    whole = [raw for raw, values in of.by_unit.items() if not strict or len(values) == of.count]
    if strict and (of.problem or (b"ns/op" in of.by_unit and b"ns/op" not in whole)):
        return {}, of.problem or "ns/op is missing in some of its results"
    for raw in whole:
        # a file of 1 GB has no room for its values twice
        numbers = of.by_unit.pop(raw)
        name, unit, scale = metric_of(raw)
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
    return metrics, ""
