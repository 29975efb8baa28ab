"""vitest bench --outputJson (1 to 4), and the JSON reporter of 5, which has benchmarks beside tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from gate.formats.parts.live import printed
from gate.formats.parts.result import About, Failed, Format, Result
from gate.formats.parts.source import Source
from gate.formats.tinybench import of_rates, of_times

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
        yield from of_times(name, times, {})
        if not times.get("samples"):
            yield from of_rates(name, rates, {})


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
                yield Failed(benchmark=_SEPARATOR.join(_parts(file, test)), status=f"its test failed{why}"[:200])


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
