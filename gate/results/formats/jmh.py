"""What JMH writes: its JSON (-rf json) with the values, its CSV (-rf csv, scsv) and its table with means alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from gate.adapters.jmh import Number, Scores, forks, known_unit, named, number
from gate.adapters.jmh import Result as Jmh
from gate.adapters.values import OutputError
from gate.model import Metric
from gate.model.visible import visible
from gate.results.checking import aggregate, fault, measured, numbered
from gate.results.parts import jmh_log as log
from gate.results.parts import jmh_tables as tables
from gate.results.result import About, Aggregate, Failed, Format, Measured, Result
from gate.results.source import Source

FORMAT = Format(
    title="JMH (`-rf json`, `csv`, `scsv` or `text`, or what it prints)",
    execution="a fork",
    iteration="a measurement iteration; in mode sample its mean",
    trap=(
        "only JSON, and a log as far as its three decimals are three digits, hold values: CSV and the table give means "
        "with the error of 99.9%, and the table shortens names; -f 1 is one execution; of ops/... more is better"
    ),
)


def recognises(source: Source) -> bool:
    """Return whether it is JMH's JSON, its CSV, its table, or what it prints."""
    found = source.head.json
    if isinstance(found, list):
        first = found[0] if found else None
        return isinstance(first, dict) and {"benchmark", "mode", "primaryMetric"} <= first.keys()
    return tables.is_csv(source.head) or tables.is_printed(source.head)


def read(source: Source) -> Iterator[Result]:
    """Yield a process for each fork, and means where the values are not there."""
    if tables.is_csv(source.head):
        yield from numbered(tables.read_csv(source))
    elif tables.is_printed(source.head):
        yield from numbered(log.read_printed(source))
    else:
        yield from _read_json(source)


def _read_json(source: Source) -> Iterator[Result]:
    before: Counter[tuple[str, str]] = Counter()
    for place, result in enumerate(source.items("", Jmh, "JMH's JSON")):
        if not place:
            yield _about(result)
        name = named(result.benchmark, result.params, result.mode)
        labels = {**(result.params or {}), "mode": result.mode}
        if result.threads is not None:
            labels["threads"] = f"{result.threads:g}"
        # files of several calls put together have a benchmark twice
        first = before[name, labels.get("threads", "")]
        read_ = list(_benchmark(result, name, labels, first))
        before[name, labels.get("threads", "")] += len([each for each in read_ if isinstance(each, Measured)])
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
    unit, scale, better = known_unit(result.primaryMetric.scoreUnit)
    metric = tables.metric(unit)
    try:
        by_fork = [values for values in forks(result.primaryMetric) if values]
        secondaries = {key: _usable(own) for key, own in result.secondaryMetrics.items()}
    except OutputError as error:
        yield Failed(benchmark=visible(name), status=str(error), labels=labels)
        return
    for fork, values in enumerate(by_fork):
        metrics = {metric: Metric(unit=unit, better=better, values=[value * scale for value in values])}
        for key, own in secondaries.items():
            # in every iteration, or its values would not belong to those of the others
            if fork < len(own) and len(own[fork]) == len(values):
                base, factor, way = known_unit(result.secondaryMetrics[key].scoreUnit)
                metrics[tables.secondary(key)] = Metric(unit=base, better=way, values=[v * factor for v in own[fork]])
        yield measured(name, metrics, execution=first + fork, labels=labels)
    if not by_fork:
        yield _mean(name, metric, result.primaryMetric, labels)
    for key, own in secondaries.items():
        if not own and _number(result.secondaryMetrics[key].score) is not None:
            yield _mean(name, tables.secondary(key), result.secondaryMetrics[key], labels)


def _usable(scores: Scores) -> list[list[float]]:
    """Return the values of a secondary metric by fork; none where some cannot be used."""
    unit, scale, _ = known_unit(scores.scoreUnit)
    try:
        found = [fork for fork in forks(scores) if fork]
    except OutputError:
        return []
    return [] if any(fault([value * scale for value in fork], unit) for fork in found) else found


def _mean(name: str, metric: str, scores: Scores, labels: dict[str, str]) -> Aggregate | Failed:
    unit, scale, better = known_unit(scores.scoreUnit)
    low, high = (*map(_number, scores.scoreConfidence[:2]), None, None)[:2]
    return aggregate(
        name, metric, "mean", _number(scores.score), unit=unit, scale=scale, better=better, low=low, high=high,
        confidence=tables.CONFIDENCE, labels=labels,
    )  # fmt: skip


def _number(value: Number | None) -> float | None:
    try:
        return None if value is None else number(value)
    except OutputError:
        return None
