"""vitest bench --outputJson (1 to 4), and the JSON reporter of 5, which has benchmarks beside tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from gate.formats.parts.live import printed
from gate.formats.parts.result import About, FailedResult, Format, Result, aggregate, sampled
from gate.formats.parts.source import Source
from gate.model.bounds import number

FORMAT = Format(title="vitest bench (`--outputJson`; of 5 the JSON reporter)", again="number")
_SEPARATOR = " > "
_CONFIDENCE = 0.95
"""Of the margin of error."""
_MS = 1e-3
_QUANTILES = {
    "p50": "p50", "median": "p50", "p75": "p75", "p99": "p99", "p995": "p99.5", "p999": "p99.9", "min": "min",
    "max": "max",
}  # fmt: skip


def recognises(source: Source) -> bool:
    """Return whether it has files with groups of benchmarks, or test results with benchmarks."""
    found = source.head.json
    if not isinstance(found, dict):
        return False
    files = found.get("files")
    if isinstance(files, list):
        return bool(files) and all(isinstance(f, dict) and {"filepath", "groups"} <= f.keys() for f in files[:1])
    return "numTotalTests" in found and any(True for _ in _of_reporter(found.get("testResults")))


def read(source: Source) -> Iterator[Result]:
    """Yield the statistics of each benchmark, or its samples."""
    yield About(tool="vitest")
    found = source.document(dict[str, Any], "vitest's JSON")
    named = list(_of_reporter(found.get("testResults")))
    for file in _mappings(found.get("files")):
        for group in _benchmarks(file.get("groups")):
            for each in _benchmarks(group.get("benchmarks")):
                above = [str(group["fullName"])] if group.get("fullName") else []
                name = _SEPARATOR.join([*above, str(each.get("name", ""))])
                named.append((name, each, {"mean": each.get("hz")}))
    yield from _failed(found.get("testResults"))
    for name, times, rates in named:
        yield from _times(name, times)
        if not times.get("samples") and (mean := number(rates.get("mean"))) is not None:
            low, high = _interval(mean, rates)
            yield aggregate(
                name, "throughput", "mean", mean, unit="1/s", better="higher", low=low, high=high,
                confidence=_CONFIDENCE,
            )  # fmt: skip


def _times(name: str, found: Mapping[str, Any]) -> Iterator[Result]:
    samples = found.get("samples")
    if isinstance(samples, list) and samples:
        yield sampled(name, samples, _MS)
        return
    mean = number(found.get("mean"))
    if mean is None:
        yield FailedResult(benchmark=name, status="no values: it failed, or did not run")
        return
    low, high = _interval(mean, found)
    yield aggregate(
        name, "time", "mean", mean, unit="s", scale=_MS, low=low, high=high, confidence=_CONFIDENCE,
        sd=number(found.get("sd")), count=number(found.get("samplesCount", found.get("sampleCount"))),
    )  # fmt: skip
    known = {statistic: number(found[key]) for key, statistic in _QUANTILES.items() if key in found}
    for statistic, value in known.items():
        if value is not None:
            yield aggregate(name, "time", statistic, value, unit="s", scale=_MS)


def _interval(mean: float, found: Mapping[str, Any]) -> tuple[float | None, float | None]:
    margin = number(found.get("moe"))
    return (None, None) if margin is None else (mean - margin, mean + margin)


def _failed(results: Any) -> Iterator[Result]:
    """Yield the tests that failed among those with benchmarks: what they measured is not there."""
    for file in _mappings(results):
        tests = _mappings(file.get("assertionResults"))
        if not any(test.get("benchmarks") for test in tests):
            continue
        for test in tests:
            if test.get("status") == "failed" and not test.get("benchmarks"):
                messages = _texts(test.get("failureMessages"))
                why = f": {messages[0].partition(chr(10))[0]}" if messages else ""
                yield FailedResult(benchmark=_SEPARATOR.join(_parts(file, test)), status=f"its test failed{why}"[:200])


def _parts(file: Mapping[str, Any], test: Mapping[str, Any]) -> list[str]:
    # the whole path is of the machine
    path = PurePosixPath(str(file.get("name", "")).replace("\\", "/")).name
    parts = [path, *_texts(test.get("ancestorTitles")), test.get("title")]
    return [str(part) for part in parts if part]


def _of_reporter(results: Any) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    """Yield the name of each benchmark, its times and its rates."""
    for file in _mappings(results):
        for test in _mappings(file.get("assertionResults")):
            for benchmark in _benchmarks(test.get("benchmarks") or []):
                for task in _benchmarks(benchmark.get("tasks")):
                    name = _SEPARATOR.join([*_parts(file, test), str(task.get("name", ""))])
                    yield name, _mapping(task.get("latency")), _mapping(task.get("throughput"))


def _texts(found: Any) -> list[str]:
    return [text for text in found if isinstance(text, str)] if isinstance(found, list) else []


def _benchmarks(found: Any) -> list[dict[str, Any]]:
    """Give benchmarks, or groups of them; what is none has no values, and so has failed."""
    return [each if isinstance(each, dict) else {} for each in (found if isinstance(found, list) else [None])]


def _mappings(found: Any) -> list[dict[str, Any]]:
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _mapping(found: Any) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}


LIVE = printed(read, "the JSON of `vitest bench --outputJson` is expected", recognises)
