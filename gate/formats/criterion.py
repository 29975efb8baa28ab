"""Criterion.rs (0.3.4 to 0.8): the folder target/criterion, one above it or a part of it, and what it prints.

A printed estimate is a slope or a mean, which the text does not say.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from gate.formats.parts.live import sorted_by_name
from gate.formats.parts.output import NAME, OutputError, Suite, shown, written
from gate.formats.parts.result import FailedResult, Format, ProcessValues, Result, ToolAggregate
from gate.formats.parts.source import GZIP, Source
from gate.model import Better, Metric
from gate.model.bounds import Digits
from gate.walking import walk
from gate.writing.plain import visible

FORMAT = Format(
    title="Criterion.rs (the folder `target/criterion`, or a part of it; standard output)", column="baseline"
)
_SAMPLE, _BENCHMARK = "sample.json", "benchmark.json"
_NO_BASELINE = ("change", "report")
_OF_CARGO = {"debug", "release", "doc", "package", "tmp"}
"""Folders in target/ that are large, and hold no results."""
MOST = 20_000
"""Folders that are looked at."""
_NANOSECOND = 1e-9
T = TypeVar("T")
_VALUE = r"(\d[\d.]*(?:e[+-]?\d+)?) +([^\s\d\]][^\s\]]*(?: [^\s\d\]][^\s\]]*)*)"
_LINE = re.compile(rf"(?P<name>{NAME})?\s++(?P<what>time|thrpt):\s+\[{_VALUE} {_VALUE} {_VALUE}\]\s*", re.ASCII)
# the lines below "change:" hold shares
_UNREAD = re.compile(r"(?P<name>.*?)\s(?P<what>time|thrpt): +\[(?!.*%)")
_BEGUN = re.compile(r"Benchmarking (?P<name>\S.*?)(?:: (?:Warming up|Collecting|Analyzing|Profiling|Complete).*|:)?")
_NOT_A_NAME = ("Benchmarking ", "Found ", "Warning:", "Running ", "Gnuplot ", "test ")
_RATE = re.compile(r"(?P<prefix>[KMGT]?)(?P<binary>i?)(?P<unit>B|elem(?:ent)?s?|bit|b)/s", re.ASCII)
_PREFIXES = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_PANIC = re.compile(r"thread '.*' (?:\(\d+\) )?panicked at ")


class _Id(msgspec.Struct):
    full_id: str


class _Sample(msgspec.Struct):
    iters: list[float]
    times: list[float]


def recognises(source: Source) -> bool:
    """Return whether a folder holds benchmark.json beside samples, or what is printed a time."""
    if source.is_folder and source.path is not None:
        return next(_folders(source.path), None) is not None
    return any(found["what"] == "time" for found in map(_LINE.fullmatch, source.head.lines) if found)


def read(source: Source) -> Iterator[Result]:
    """Yield a process for each baseline of each benchmark, the oldest baselines first, or what was printed of each."""
    if source.path is None or not source.is_folder:
        yield from _printed(source)
        return
    found = list(_baselines(source.path))
    # of several projects a benchmark and its baseline may be there twice
    times = Counter((each.benchmark, folder.name) for folder, each in found)
    written: dict[str, float] = {}
    for folder, _ in found:
        time = folder.stat().st_mtime
        written[folder.name] = min(written.get(folder.name, time), time)
    ranks = {"base": -1, "new": 1}
    for folder, each in sorted(found, key=lambda each: (ranks.get(own := each[0].name, 0), written[own], own)):
        labels = {"baseline": folder.name}
        if times[each.benchmark, folder.name] > 1:
            labels["folder"] = str(folder.parent.relative_to(source.path))
        yield msgspec.structs.replace(each, labels=labels)


def _folders(root: Path) -> Iterator[Path]:
    below = [root / "criterion", root / "target" / "criterion"]
    root = next((path for path in below if path.is_dir()), root)
    for count, (folder, inner, files) in enumerate(walk(root)):
        if count > MOST:
            return
        path = Path(folder)
        if path.name not in _NO_BASELINE and {_SAMPLE, _BENCHMARK} <= set(files):
            yield path
        never = {"report", "node_modules"} | (_OF_CARGO if "CACHEDIR.TAG" in files else set())
        inner[:] = sorted(name for name in inner if name not in never and not name.startswith("."))


def _baselines(root: Path) -> Iterator[tuple[Path, ProcessValues | FailedResult]]:
    """Read the baselines of all benchmarks with their folders, without those that are copies."""
    benchmarks: dict[Path, dict[str, bytes]] = {}
    for folder in _folders(root):
        benchmarks.setdefault(folder.parent, {})[folder.name] = (folder / _SAMPLE).read_bytes()
    for above, found in benchmarks.items():
        if (new := found.get("new")) is not None:
            if found.get("base") == new:
                del found["base"]
            if list(found.values()).count(new) > 1:
                del found["new"]
        for name, data in found.items():
            benchmark, why = _name(above / name, root)
            try:
                if why is not None:
                    raise OutputError(why)
                yield above / name, _measured(benchmark, _sample(data), {})
            except OutputError as error:
                yield above / name, FailedResult(benchmark=benchmark, status=str(error))


def _name(folder: Path, root: Path) -> tuple[str, str | None]:
    """Name a benchmark, and say why its name could not be read."""
    own = folder.parent.relative_to(root) if folder != root else Path(folder.parent.name)
    try:
        return _json((folder / _BENCHMARK).read_bytes(), _Id, _BENCHMARK).full_id, None
    except (OSError, OutputError) as error:
        return own.as_posix(), str(error)


def _measured(name: str, values: list[float], labels: dict[str, str]) -> ProcessValues:
    metrics = {"time": Metric(unit="s", values=[value * _NANOSECOND for value in values])}
    return ProcessValues(benchmark=name, metrics=metrics, labels=labels)


class Files(NamedTuple):
    """What Criterion wrote for one benchmark in an execution."""

    benchmark: bytes | None
    sample: bytes | None
    again: bool
    """It compared two measurements of it, so it measured it twice."""


def suite(found: Mapping[str, Files]) -> Suite:
    """Read the values of each benchmark in order; those of growing batches weigh alike, as in Criterion's own mean.

    Args:
        found: by directory, for the messages.
    """
    results: list[Result] = []
    for name, files in found.items():
        try:
            if files.benchmark is None:
                raise OutputError(f"{_BENCHMARK} is missing: a write failed")
            name = _json(files.benchmark, _Id, _BENCHMARK).full_id
            if files.sample is None:
                raise OutputError(f"{_SAMPLE} is missing: a write failed")
            if files.again:
                why = "measured twice into one directory: do two bench targets have a benchmark of this name?"
                raise OutputError(why)
            results.append(_measured(name, _sample(files.sample), {}))
        except OutputError as error:
            results.append(FailedResult(benchmark=name, status=str(error)))
    return sorted_by_name(results, "")


def _json(data: bytes, shape: type[T], what: str) -> T:
    # a program's output is not trusted: it may unpack to more than there is memory
    if data.startswith(GZIP):
        raise OutputError(f"{what} is packed: write it as it is")
    return Source(what, None, data).document(shape, what)


def _sample(data: bytes) -> list[float]:
    sample = _json(data, _Sample, _SAMPLE)
    if len(sample.iters) != len(sample.times) or not all(count > 0 for count in sample.iters):
        raise OutputError(f"the times in {_SAMPLE} have not one number of iterations each")
    return [time / count for time, count in zip(sample.times, sample.iters, strict=True)]


def _printed(source: Source) -> Iterator[Result]:
    """Yield the estimate of each benchmark, and of its throughput; other lines are passed over."""
    seen: dict[str, int] = {}
    begun: dict[str, int] = {}
    name, above = "", ""
    for place, line in enumerate(source.lines(), 1):
        found = _LINE.fullmatch(line) or _UNREAD.match(line)
        if found:
            if found["what"] == "time":
                # a name that is too long for the column stands on a line of its own
                name, above = (found["name"] or above).strip(), ""
                seen[name] = seen.get(name, -1) + 1
            yield _estimate(found, name, seen.get(name, 0), place)
        elif _PANIC.match(line):
            yield FailedResult(benchmark=None, status="a benchmark panicked", stderr=visible(line[:500]))
        elif begins := _BEGUN.fullmatch(line):
            above = begins["name"]
            begun.setdefault(above, place)
        elif line.strip() and not line.startswith((" ", *_NOT_A_NAME)):
            above = line
    for name, place in begun.items():
        if name not in seen:
            yield FailedResult(benchmark=name, status=f"line {place}: it began, and no estimate of it is there")


def _estimate(found: re.Match[str], name: str, execution: int, place: int) -> Result:
    """Make an aggregate of a line, or a failure of one that is not whole."""
    if found.re is not _LINE or not name:
        what = f"its {found['what']} cannot be read" if name else "an estimate without a name"
        why = f"line {place}: {what}: {shown(found.string.strip().encode())}"
        return FailedResult(benchmark=name or None, status=why, execution=execution)
    values = [_base(found[number], found[number + 1], place) for number in (3, 5, 7)]
    (low, unit), (value, _), (high, _) = values
    metric = "throughput" if found["what"] == "thrpt" else "time" if unit == "s" else unit
    # a custom measurement may have what a byte or an element takes in its place, such as cycles/byte
    better: Better = "higher" if metric == "throughput" and written(unit).metric == "throughput" else "lower"
    return ToolAggregate(
            benchmark=name, metric=metric, statistic="value", value=value, unit=unit, better=better,
            low=min(low, high), high=max(low, high), execution=execution,
        )  # fmt: skip


def _base(number: str, unit: str, place: int) -> tuple[float, str]:
    try:
        value = Digits(number)
    except ValueError:
        raise OutputError(f"line {place}: {number} is not a number") from None
    rate = _RATE.fullmatch(unit)
    if rate:
        scale = 1024.0 ** "KMGT".index(rate["prefix"]) * 1024 if rate["binary"] else _PREFIXES[rate["prefix"]]
        return value * scale, {"B": "B/s", "b": "bit/s", "bit": "bit/s"}.get(rate["unit"], "1/s")
    own = written(unit)
    return value * own.scale, own.unit
