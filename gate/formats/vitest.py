"""vitest bench --outputJson (1 to 4), the JSON reporter of 0.x and that of 5, which has benchmarks beside tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from gate.formats.parts.live import printed
from gate.formats.parts.result import About, Failed, Format, Result
from gate.formats.parts.source import Source
from gate.formats.tinybench import of_rates, of_times
from gate.model.bounds import number

FORMAT = Format(title="vitest bench (`--outputJson`; of 5 the JSON reporter)", again="number")
_SEPARATOR = " > "


def recognises(source: Source) -> bool:
    """Return whether it has files with groups of benchmarks, or test results with benchmarks."""
    found = source.head.json
    if not isinstance(found, dict):
        return False
    files = found.get("files")
    if isinstance(files, list):
        return bool(files) and all(isinstance(f, dict) and {"filepath", "groups"} <= f.keys() for f in files[:1])
    results = found.get("testResults")
    if isinstance(results, dict):
        return "numTotalTests" in found and any(
            (isinstance(each, list) and bool(each) and isinstance(each[0], dict) and "hz" in each[0])
            for each in results.values()
        )
    return isinstance(results, list) and "numTotalTests" in found and any(True for _ in _of_reporter(results))


def read(source: Source) -> Iterator[Result]:
    """Yield the statistics of each benchmark, or its samples."""
    yield About(tool="vitest")
    found = source.document(dict[str, Any], "vitest's JSON")
    results = found.get("testResults")
    if isinstance(results, list):
        yield from _failed(results)
        for name, task in _of_reporter(results):
            yield from of_times(name, _mapping(task.get("latency")), {})
            if not _mapping(task.get("latency")).get("samples"):
                yield from of_rates(name, _mapping(task.get("throughput")), {})
        return
    named = _of_suites(results) if isinstance(results, dict) else _of_groups(found.get("files"))
    for name, benchmark in named:
        yield from of_times(name, benchmark, {})
        rate = number(benchmark.get("hz"))
        if rate is not None and not benchmark.get("samples"):
            yield from of_rates(name, {"mean": rate}, {})


def _failed(results: Any) -> Iterator[Result]:
    """Yield the tests that failed among those with benchmarks: what they measured is not there."""
    for file in _mappings(results):
        tests = _mappings(file.get("assertionResults"))
        if not any(test.get("benchmarks") for test in tests):
            continue
        for test in tests:
            if test.get("status") == "failed" and not test.get("benchmarks"):
                name = _SEPARATOR.join(_parts(file, test))
                messages = _texts(test.get("failureMessages"))
                why = f": {messages[0].partition(chr(10))[0]}" if messages else ""
                yield Failed(benchmark=name, status=f"its test failed{why}"[:200])


def _parts(file: Mapping[str, Any], test: Mapping[str, Any]) -> list[str]:
    # the whole path is of the machine
    path = PurePosixPath(str(file.get("name", "")).replace("\\", "/")).name
    parts = [path, *_texts(test.get("ancestorTitles")), test.get("title")]
    return [str(part) for part in parts if part]


def _of_groups(files: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for file in _mappings(files):
        for group in _benchmarks(file.get("groups")):
            for benchmark in _benchmarks(group.get("benchmarks")):
                yield f"{group.get('fullName', '')}{_SEPARATOR}{benchmark.get('name', '')}", benchmark


def _of_suites(suites: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for suite, benchmarks in suites.items():
        for benchmark in _benchmarks(benchmarks):
            yield (
                f"{suite}{_SEPARATOR}{benchmark.get('name', '')}" if suite else str(benchmark.get("name", "")),
                benchmark,
            )


def _of_reporter(results: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for file in _mappings(results):
        for test in _mappings(file.get("assertionResults")):
            for benchmark in _benchmarks(test.get("benchmarks") or []):
                for task in _benchmarks(benchmark.get("tasks")):
                    yield _SEPARATOR.join([*_parts(file, test), str(task.get("name", ""))]), task


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
