"""What JMH writes: its JSON (-rf json) with the values, and its CSV (-rf csv, scsv) with means alone."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator

from gate.formats.live.jmh import Number, Scores, forks, is_median, known_unit, named, number
from gate.formats.live.jmh import Result as Jmh
from gate.formats.live.values import OutputError
from gate.formats.parts.checking import aggregate, entry, fault, measured, numbered
from gate.formats.parts.result import About, Aggregate, Failed, Format, Measured, Result
from gate.formats.parts.source import Source
from gate.model import Metric

FORMAT = Format(
    title="JMH (`-rf json`, `csv` or `scsv`)",
    execution="a fork",
    iteration="a measurement iteration; in mode sample its mean",
    trap=(
        "only JSON holds values: CSV gives means with the error of 99.9%, and what JMH prints (-rf text) is not read; "
        "-f 1 is one execution; of ops/... more is better"
    ),
)
_CONFIDENCE = 0.999
"""Of JMH's errors and intervals."""
_CSV = re.compile(r'"?Benchmark"?([,;\t])"?Mode"?\1"?Threads"?\1"?Samples"?\1"?Score"?\1')
_QUANTILE = re.compile(r"p([01]\.\d+)")
_OF_PRIMARY = ("time", "throughput")


def recognises(source: Source) -> bool:
    """Return whether it is JMH's JSON or its CSV."""
    if isinstance(source.head.json, list):
        return {"benchmark", "mode", "primaryMetric"} <= source.head.element().keys()
    return _CSV.match(source.head.text.lstrip()) is not None


def read(source: Source) -> Iterator[Result]:
    """Yield a process for each fork, and means where the values are not there."""
    separator = _CSV.match(source.head.text.lstrip())
    yield from _read_json(source) if separator is None else numbered(_read_csv(source, separator[1]))


def _read_json(source: Source) -> Iterator[Result]:
    before: Counter[tuple[str, str]] = Counter()
    about: About | None = None
    for place, each in enumerate(source.items("", "JMH's JSON")):
        result = entry(each, Jmh, f"result {place + 1}", "benchmark")
        if isinstance(result, Failed):
            yield result
            continue
        if about is None:
            about = _about(result)
            yield about
        name = named(result.benchmark, result.params, result.mode)
        labels = {**(result.params or {}), "mode": result.mode}
        if result.threads is not None:
            labels["threads"] = f"{result.threads:g}"
        # files of several calls put together have a benchmark twice
        first = before[name, labels.get("threads", "")]
        read_ = list(_benchmark(result, name, labels, first))
        processes = [each.execution for each in read_ if isinstance(each, (Measured, Failed))]
        before[name, labels.get("threads", "")] = max([first, *(execution + 1 for execution in processes)])
        yield from read_


def _about(result: Jmh) -> About:
    host = {
        "jvm": result.jvm, "jdkVersion": result.jdkVersion, "vmName": result.vmName, "vmVersion": result.vmVersion,
        "jvmArgs": result.jvmArgs,
    }  # fmt: skip
    return About(
        host={key: value for key, value in host.items() if value or isinstance(value, list)},
        tool=f"JMH {result.jmhVersion}" if result.jmhVersion else "JMH",
    )


def _benchmark(result: Jmh, name: str, labels: dict[str, str], first: int) -> Iterator[Result]:
    unit, scale = known_unit(result.primaryMetric.scoreUnit)
    metric = _metric(unit)
    try:
        by_fork = [values for values in forks(result.primaryMetric) if values]
        secondaries = {key: _usable(own) for key, own in result.secondaryMetrics.items()}
    except OutputError as error:
        yield Failed(benchmark=name, status=str(error), labels=labels)
        return
    for fork, values in enumerate(by_fork):
        metrics = {metric: Metric(unit=unit, values=[value * scale for value in values])}
        for key, own in secondaries.items():
            # in every iteration, or its values would not belong to those of the others
            if fork < len(own) and len(own[fork]) == len(values):
                base, factor = known_unit(result.secondaryMetrics[key].scoreUnit)
                view_of = "time" if is_median(key) and metric == "time" else None
                metrics[_secondary(key)] = Metric(
                    unit=base, values=[v * factor for v in own[fork]], view_of=view_of, sharp=view_of is not None
                )
        yield measured(name, metrics, execution=first + fork, labels=labels)
    lost = int(result.forks or 0) - len(by_fork)
    if by_fork and lost > 0:
        # JMH goes on without a fork that failed, unless -foe says otherwise
        status = f"{lost} of {result.forks:g} forks gave no values"
        yield Failed(benchmark=name, status=status, labels=labels, execution=first + len(by_fork))
    if not by_fork:
        yield _mean(name, metric, result.primaryMetric, labels)
    for key, own in secondaries.items():
        if not own and _number(result.secondaryMetrics[key].score) is not None:
            yield _mean(name, _secondary(key), result.secondaryMetrics[key], labels)


def _usable(scores: Scores) -> list[list[float]]:
    """Return the values of a secondary metric by fork; none where some cannot be used."""
    unit, scale = known_unit(scores.scoreUnit)
    try:
        found = [fork for fork in forks(scores) if fork]
    except OutputError:
        return []
    return [] if any(fault([value * scale for value in fork], unit) for fork in found) else found


def _mean(name: str, metric: str, scores: Scores, labels: dict[str, str]) -> Aggregate | Failed:
    unit, scale = known_unit(scores.scoreUnit)
    low, high = (*map(_number, scores.scoreConfidence[:2]), None, None)[:2]
    return aggregate(
        name, metric, "mean", _number(scores.score), unit=unit, scale=scale, low=low, high=high,
        confidence=_CONFIDENCE, labels=labels,
    )  # fmt: skip


def _number(value: Number | None) -> float | None:
    try:
        return None if value is None else number(value)
    except OutputError:
        return None


def _metric(unit: str) -> str:
    """Name the primary metric of a base unit."""
    return {"s": "time", "1/s": "throughput"}.get(unit, "score")


def _secondary(name: str) -> str:
    """Name a secondary metric, never as the primary one: as JMH prints it."""
    return f":{name}" if name in _OF_PRIMARY else name


def _read_csv(source: Source, separator: str) -> Iterator[Result]:
    rows = csv.reader(source.raw_lines(), delimiter=separator)
    titles = [title.strip() for title in next(rows, [])]
    places = {title.partition(" (")[0]: place for place, title in enumerate(titles)}
    parameters = {title.partition(": ")[2]: at for at, title in enumerate(titles) if title.startswith("Param: ")}
    error, unit = places.get("Score Error"), places.get("Unit")
    if error is None or unit is None:
        raise OutputError("the titles lack Score Error or Unit: this is not the CSV of JMH")
    yield About(tool="JMH")
    for row in rows:
        # other calls may have been appended
        if not any(row) or row[0] == "Benchmark":
            continue
        if len(row) < len(titles):
            yield Failed(benchmark=row[0], status="its row is cut off")
            continue
        labels = {name: row[at] for name, at in sorted(parameters.items()) if row[at]}
        yield _row(row, labels, row[error], row[unit])


def _row(row: list[str], params: dict[str, str], error: str, unit: str) -> Aggregate | Failed:
    name, mode, threads, count, score = row[:5]
    base, scale = known_unit(unit)
    own, _, key = name.partition(":")
    # "sampled·p0.50" before 1.36
    quantile = _QUANTILE.fullmatch(key.rpartition("·")[2])
    value, half = _decimal(score), _decimal(error)
    low, high = (None, None) if half is None or value is None else (value - half, value + half)
    return aggregate(
        named(own, params, mode), _metric(base) if not key or quantile else _secondary(key),
        f"p{float(quantile[1]) * 100:g}" if quantile else "mean", value, unit=base, scale=scale,
        low=low, high=high, confidence=_CONFIDENCE, labels={**params, "mode": mode, "threads": threads},
        count=None if quantile else _decimal(count),
    )  # fmt: skip


def _decimal(text: str) -> float | None:
    """Read a number as the machine's language writes it: "1,5" too; None: it is none."""
    own = text.strip()
    if own.count(",") == 1 and "." not in own:
        own = own.replace(",", ".")
    try:
        own = own.replace(",", "").replace("∞", "inf")
        return float(own) if own.isascii() and "_" not in own else None
    except ValueError:
        return None
