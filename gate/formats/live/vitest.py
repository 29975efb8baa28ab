"""The JSON of `vitest bench --outputJson FILE` -> values. Format: reporters/benchmark of vitest 1 to 4."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from gate.formats.live.suites import read_json, times
from gate.formats.live.values import OutputError, Series

_MILLISECOND = 1e-3


class _Benchmark(msgspec.Struct):
    name: str
    mean: float | None = None
    median: float | None = None
    """Written since vitest 2."""
    min: float | None = None


class _Group(msgspec.Struct, rename="camel"):
    full_name: str
    benchmarks: list[_Benchmark]


class _File(msgspec.Struct):
    groups: list[_Group]


class _Document(msgspec.Struct):
    files: list[_File]


def parse(data: bytes, units: Mapping[str, str | None]) -> dict[str, Series]:  # noqa: ARG001 - as all formats
    """Read the mean time of one call of each benchmark, in seconds, named "file > suite > name", and its views.

    Raises:
        OutputError: it is no such JSON, there is no benchmark, one failed, or two have one name.
    """
    document = read_json(data, _Document, "the JSON of vitest bench")
    return times(_times(document), "the JSON of `vitest bench --outputJson` is expected")


def _times(document: _Document) -> Iterator[tuple[str, float, *tuple[float | None, ...]]]:
    for group in (group for file in document.files for group in file.groups):
        for benchmark in group.benchmarks:
            name = f"{group.full_name} > {benchmark.name}"
            if benchmark.mean is None:
                raise OutputError(f"benchmark {name!r} failed")
            views = (None if each is None else each * _MILLISECOND for each in (benchmark.median, benchmark.min))
            yield name, benchmark.mean * _MILLISECOND, *views


FORMAT = parse
