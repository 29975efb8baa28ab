"""benchmark.js: the lines of String(event.target), and a suite or its benchmarks as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gate.formats.live import benchmark_js as lines
from gate.formats.parts.checking import aggregate, entry, measured, numbered, scaled, times
from gate.formats.parts.result import About, Aggregate, Failed, Format, Result
from gate.formats.parts.source import Source
from gate.model.digits import Digits

FORMAT = Format(
    title="benchmark.js (what it prints, or a suite as JSON)",
    execution="the file",
    iteration="a sample, the mean of a batch of calls; of printed lines none",
    trap=(
        "printed lines hold a rate with the margin of error of 95% alone, and one that threw holds no rate and has "
        "failed; of ops/sec more is better"
    ),
)
_CONFIDENCE = 0.95


def recognises(source: Source) -> bool:
    """Return whether one of its lines is as benchmark.js prints it, or it is JSON of its benchmarks."""
    found = source.head.json
    if isinstance(found, (dict, list)):
        return any(_has_sample(each) for each in _benchmarks(found))
    return any(True for _ in lines.rows(source.head.lines[:5000]))


def _benchmarks(found: Any) -> list[Any]:
    """Give the benchmarks of a list or a suite, which has them under "0", "1" and so on."""
    return found if isinstance(found, list) else [each for key, each in found.items() if str(key).isdigit()]


def _has_sample(found: Any) -> bool:
    stats = found.get("stats") if isinstance(found, dict) else None
    return isinstance(stats, dict) and isinstance(stats.get("sample"), list)


def read(source: Source) -> Iterator[Result]:
    """Yield a rate for each line, or a process for each benchmark of JSON."""
    return numbered(_read(source))


def _read(source: Source) -> Iterator[Result]:
    yield About(tool="benchmark.js")
    if isinstance(source.head.json, (dict, list)):
        document = source.document(object, "the JSON of benchmark.js")
        for place, each in enumerate(_benchmarks(document) if isinstance(document, (dict, list)) else ()):
            benchmark = entry(each, dict[str, Any], f"benchmark {place}")
            yield benchmark if isinstance(benchmark, Failed) else _of_json(benchmark)
        return
    for row in lines.rows(source.lines()):
        yield _of_line(row)


def _of_line(row: lines.Row) -> Aggregate | Failed:
    if row.problem:
        return Failed(benchmark=row.name, status=row.problem)
    try:
        rate, margin = Digits(row.rate.replace(",", "")), float(row.margin) / 100
    except ValueError:
        return Failed(benchmark=row.name, status=f"{row.rate} is not a number")
    return aggregate(
        row.name, "throughput", "mean", rate, unit="1/s", better="higher", low=rate * (1 - margin),
        high=rate * (1 + margin), confidence=_CONFIDENCE, count=int(row.samples[:15]),
    )  # fmt: skip


def _of_json(benchmark: Mapping[str, Any]) -> Result:
    name = str(benchmark.get("name") or f"benchmark {benchmark.get('id', '')}")
    if "error" in benchmark:
        return Failed(benchmark=name, status="it threw an error")
    if not _has_sample(benchmark):
        return Failed(benchmark=name, status="no sample in the file")
    values = scaled(benchmark["stats"]["sample"], 1.0)
    if values is None:
        return Failed(benchmark=name, status="not all of its samples are numbers")
    return measured(name, {"time": times(values)})
