"""mitata's JSON (format: "json" of 1.x, json: true of 0.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from gate.formats.parts.checking import aggregate, entry, measured, scaled, times
from gate.formats.parts.result import About, Failed, Format, Result
from gate.formats.parts.source import Source
from gate.model.bounds import number

FORMAT = Format(
    title='mitata (`format: "json"`)',
    execution="the file",
    iteration="a sample, often the mean of a batch of calls; none without `samples: true`",
    trap=(
        "samples are sorted and without their extremes, so neither a trend over time nor the largest is there; a "
        "benchmark that threw has an error in place of values"
    ),
    again="number",
)
_NS = 1e-9
_STATISTICS = {
    "avg": "mean",
    "min": "min",
    "p25": "p25",
    "p50": "p50",
    "p75": "p75",
    "p99": "p99",
    "p999": "p99.9",
    "max": "max",
}


class _Around(msgspec.Struct):
    """What stands beside the benchmarks, which may be large."""

    layout: Any = None
    context: Any = None
    cpu: Any = None
    runtime: Any = None


def recognises(source: Source) -> bool:
    """Return whether it is an object with benchmarks that have runs, or stats of a kind."""
    first = source.head.element("benchmarks")
    if "runs" in first:
        return {"alias", "kind"} <= first.keys() and isinstance(first["runs"], list)
    return {"name", "group", "baseline", "async"} <= first.keys() and ("stats" in first or "error" in first)


def read(source: Source) -> Iterator[Result]:
    """Yield a process for each run with samples, and statistics for the others."""
    around = source.document(_Around, "mitata's JSON")
    yield _about(around)
    groups = _group_names(around.layout)
    for place, each in enumerate(source.items("benchmarks", "mitata's JSON")):
        benchmark = entry(each, dict[str, Any], f"benchmarks[{place}]")
        if isinstance(benchmark, Failed):
            yield benchmark
            continue
        labels = _group(benchmark.get("group"), groups)
        runs = benchmark.get("runs")
        for at, own in enumerate(runs if isinstance(runs, list) and runs else [benchmark]):
            run = entry(own, dict[str, Any], f"benchmarks[{place}].runs[{at}]")
            if isinstance(run, Failed):
                yield run
                continue
            name = str(run.get("name") or benchmark.get("alias") or benchmark.get("name") or f"benchmarks[{place}]")
            given = run.get("args")
            args = {str(key): _text(value) for key, value in given.items()} if isinstance(given, dict) else {}
            yield from _run(name, run, {**labels, **args})


def _about(around: _Around) -> About:
    context = around.context
    if not isinstance(context, dict):
        context = {"cpu": {"name": around.cpu}, "runtime": around.runtime}
    cpu = context.get("cpu")
    host = {
        "cpu": cpu.get("name") if isinstance(cpu, dict) else None, "arch": context.get("arch"),
        "runtime": context.get("runtime"), "version": context.get("version"),
    }  # fmt: skip
    return About(host={key: value for key, value in host.items() if isinstance(value, str)}, tool="mitata")


def _group_names(layout: Any) -> list[str | None]:
    return [
        each.get("name")
        for each in ([each for each in layout if isinstance(each, dict)] if isinstance(layout, list) else [])
    ]


def _group(group: Any, names: list[str | None]) -> dict[str, str]:
    """Name a group: 1.x has its place in the layout, 0.1 its name."""
    name = names[group] if isinstance(group, int) and 0 <= group < len(names) else group
    return {"group": name} if isinstance(name, str) and name else {}


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _run(name: str, run: Mapping[str, Any], labels: dict[str, str]) -> Iterator[Result]:
    statistics = run.get("stats")
    if not isinstance(statistics, dict):
        error = run.get("error")
        message = error.get("message") if isinstance(error, dict) else error
        status = f"it threw: {message}"[:200] if isinstance(message, str) and message else "it threw an error"
        yield Failed(benchmark=name, status=status, labels=labels)
        return
    samples = statistics.get("samples")
    if isinstance(samples, list) and samples:
        values = scaled(samples, _NS)
        if values is None:
            yield Failed(benchmark=name, status="not all of its samples are numbers", labels=labels)
            return
        yield measured(name, {"time": times(values)}, labels=labels)
    elif number(statistics.get("avg")) is None:
        yield Failed(benchmark=name, status="no values", labels=labels)
    else:
        yield from _aggregates(name, "time", "s", _NS, statistics, labels)
    # what is measured beside the time, of which there are never samples
    for key, metric, unit, scale in (("heap", "heap", "B", 1.0), ("gc", "gc", "s", _NS)):
        own = statistics.get(key)
        if isinstance(own, dict):
            yield from _aggregates(name, metric, unit, scale, own, labels)
    counters = statistics.get("counters")
    for key, own in counters.items() if isinstance(counters, dict) else ():
        if isinstance(own, dict):
            yield from _aggregates(name, str(key), "", 1.0, own, labels)


def _aggregates(
    name: str, metric: str, unit: str, scale: float, found: Mapping[str, Any], labels: dict[str, str]
) -> Iterator[Result]:
    for key, statistic in _STATISTICS.items():
        value = number(found.get(key))
        if value is not None:
            yield aggregate(name, metric, statistic, value, unit=unit, scale=scale, labels=labels)
