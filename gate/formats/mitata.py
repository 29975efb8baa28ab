"""mitata's JSON (format: "json" of 1.x)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from gate.formats.parts.result import About, Failed, Format, Result, entry, sampled, statistics, threw
from gate.formats.parts.source import Source
from gate.model.bounds import number

FORMAT = Format(title='mitata (`format: "json"`)', again="number")
_NS = 1e-9
_STATISTICS = {
    "avg": "mean", "min": "min", "p25": "p25", "p50": "p50", "p75": "p75", "p99": "p99", "p999": "p99.9", "max": "max",
}  # fmt: skip


class _Report(msgspec.Struct):
    benchmarks: list[Any]
    layout: Any = None
    context: dict[str, Any] = {}


def recognises(source: Source) -> bool:
    """Return whether it is an object with benchmarks that have an alias, a kind and runs."""
    first = source.head.element("benchmarks")
    return {"alias", "kind", "runs"} <= first.keys() and isinstance(first["runs"], list)


def read(source: Source) -> Iterator[Result]:
    """Yield a process for each run with samples, and statistics for the others."""
    report = source.document(_Report, "mitata's JSON")
    cpu = report.context.get("cpu")
    host = {key: report.context.get(key) for key in ("arch", "runtime", "version")}
    host = {"cpu": cpu.get("name") if isinstance(cpu, dict) else None, **host}
    yield About(host={key: value for key, value in host.items() if isinstance(value, str)}, tool="mitata")
    layout = report.layout if isinstance(report.layout, list) else []
    names = [each.get("name") for each in layout if isinstance(each, dict)]
    for place, each in enumerate(report.benchmarks):
        benchmark = entry(each, dict[str, Any], f"benchmarks[{place}]")
        if isinstance(benchmark, Failed):
            yield benchmark
            continue
        # the place of its group in the layout
        at = benchmark.get("group")
        group = names[at] if isinstance(at, int) and 0 <= at < len(names) else None
        labels = {"group": group} if isinstance(group, str) and group else {}
        runs = benchmark.get("runs")
        for at, own in enumerate(runs if isinstance(runs, list) and runs else [benchmark]):
            run = entry(own, dict[str, Any], f"benchmarks[{place}].runs[{at}]")
            if isinstance(run, Failed):
                yield run
                continue
            name = str(run.get("name") or benchmark.get("alias") or f"benchmarks[{place}]")
            given = run.get("args")
            args = given if isinstance(given, dict) else {}
            args = {str(key): f"{value:g}" if isinstance(value, float) else str(value) for key, value in args.items()}
            yield from _run(name, run, {**labels, **args})


def _run(name: str, run: Mapping[str, Any], labels: dict[str, str]) -> Iterator[Result]:
    found = run.get("stats")
    if not isinstance(found, dict):
        yield Failed(benchmark=name, status=threw(run.get("error")), labels=labels)
        return
    samples = found.get("samples")
    if isinstance(samples, list) and samples:
        own = sampled(name, samples, _NS, labels)
        yield own
        if isinstance(own, Failed):
            return
    elif number(found.get("avg")) is None:
        yield Failed(benchmark=name, status="no values", labels=labels)
    else:
        yield from statistics(name, "time", found, _STATISTICS, unit="s", scale=_NS, labels=labels)
    # what is measured beside the time, of which there are never samples
    counters = found.get("counters")
    beside = [("heap", found.get("heap"), "B", 1.0), ("gc", found.get("gc"), "s", _NS)]
    beside += [(str(key), own, "", 1.0) for key, own in counters.items()] if isinstance(counters, dict) else []
    for metric, of, unit, scale in beside:
        if isinstance(of, dict):
            yield from statistics(name, metric, of, _STATISTICS, unit=unit, scale=scale, labels=labels)
