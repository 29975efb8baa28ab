"""tinybench's tasks and results (2 to 6) as JSON.stringify writes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gate.formats.parts.result import About, Failed, Format, Result, aggregate, entry, sampled, statistics, threw
from gate.formats.parts.source import Source
from gate.model.bounds import number

FORMAT = Format(title="tinybench (`bench.tasks` or `bench.results` as JSON)", again="number")
_LISTS = ("tasks", "results", "benchmarks")
_CONFIDENCE = 0.95
"""Of the margin of error."""
_MS = 1e-3
_QUANTILES = {
    "p50": "p50", "median": "p50", "p75": "p75", "p99": "p99", "p995": "p99.5", "p999": "p99.9", "min": "min",
    "max": "max",
}  # fmt: skip


def recognises(source: Source) -> bool:
    """Return whether it is a list, or an object, of tinybench's results."""
    found = source.head.json
    # Google Benchmark and mitata have "benchmarks" too, and hyperfine "results", of another shape
    own = _entries(found)[:20] if isinstance(found, (dict, list)) else []
    return any(_is_result(_result(each)) for each in own if isinstance(each, dict))


def _entries(found: Any) -> list[Any]:
    own = found if isinstance(found, list) else next((found[key] for key in _LISTS if key in found), None)
    return own if isinstance(own, list) else []


def _result(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    own = entry.get("result")
    return own if isinstance(own, dict) else entry


def _is_result(result: Mapping[str, Any]) -> bool:
    # those that stand before the samples, at which the beginning of a file may end
    latency = result.get("latency")
    of_2_to_5 = {"hz", "period", "samples"} <= result.keys() or {"critical", "df", "hz"} <= result.keys()
    return of_2_to_5 or (isinstance(latency, dict) and {"critical", "df"} <= latency.keys())


def read(source: Source) -> Iterator[Result]:
    """Yield a process for each task with samples, and statistics for the others."""
    about = About(tool="tinybench")
    yield about
    for place, each in enumerate(_entries(source.document(object, "tinybench's JSON")), 1):
        own = entry(each, dict[str, Any], f"task {place}")
        if isinstance(own, Failed):
            yield own
            continue
        name = str(own.get("name") or f"task {place}")
        bench = own.get("bench")
        suite = bench.get("name") if isinstance(bench, dict) else None
        labels = {"bench": suite} if isinstance(suite, str) and suite else {}
        result = _result(own)
        # from 4 on
        told = {"runtime": result.get("runtime"), "version": result.get("runtimeVersion")}
        if not about.host and (host := {key: value for key, value in told.items() if isinstance(value, str) and value}):
            about = About(host=host, tool="tinybench")
            yield about
        if "error" in result or result.get("state") == "errored":
            yield Failed(benchmark=name, status=threw(result.get("error")), labels=labels)
        elif _is_result(result):
            latency, throughput = result.get("latency"), result.get("throughput")
            times = latency if isinstance(latency, dict) else result
            # 3 to 5 have the samples at both places, and users take those of one out
            samples = times.get("samples") or result.get("samples")
            yield from of_times(name, {**times, "samples": samples}, labels)
            if not samples:
                yield from of_rates(
                    name, throughput if isinstance(throughput, dict) else {"mean": result.get("hz")}, labels
                )
        else:
            yield Failed(benchmark=name, status="no values: it did not run", labels=labels)


def of_times(name: str, found: Mapping[str, Any], labels: Mapping[str, str]) -> Iterator[Result]:
    """Yield the samples of a benchmark, or its statistics where there are none."""
    samples = found.get("samples")
    if isinstance(samples, list) and samples:
        yield sampled(name, samples, _MS, labels)
        return
    mean = number(found.get("mean"))
    if mean is None:
        yield Failed(benchmark=name, status="no values: it failed, or did not run", labels=dict(labels))
        return
    low, high = _interval(mean, found)
    yield aggregate(
        name, "time", "mean", mean, unit="s", scale=_MS, low=low, high=high, confidence=_CONFIDENCE,
        sd=number(found.get("sd")), count=number(found.get("samplesCount", found.get("sampleCount"))), labels=labels,
    )  # fmt: skip
    yield from statistics(name, "time", found, _QUANTILES, unit="s", scale=_MS, labels=labels)


def of_rates(name: str, found: Mapping[str, Any], labels: Mapping[str, str]) -> Iterator[Result]:
    """Yield the mean rate of a benchmark without samples."""
    if (mean := number(found.get("mean"))) is not None:
        low, high = _interval(mean, found)
        yield aggregate(
            name, "throughput", "mean", mean, unit="1/s", better="higher", low=low, high=high,
            confidence=_CONFIDENCE, labels=labels,
        )  # fmt: skip


def _interval(mean: float, found: Mapping[str, Any]) -> tuple[float | None, float | None]:
    margin = number(found.get("moe"))
    return (None, None) if margin is None else (mean - margin, mean + margin)
